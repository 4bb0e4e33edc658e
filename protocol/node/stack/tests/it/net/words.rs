//! What the members above the nodes say of their group.

use super::{Net, papers, person};
use bytes::Bytes;
use folkmoot_attach::ToNode;
use folkmoot_base::{ConfigurationId, GroupId, Join, Persist, Said, Says, StoreKey, Word};
use folkmoot_identity::Prover;
use std::collections::BTreeMap;

/// What a store has after these writes.
pub fn stored(persists: &[Persist]) -> Vec<(StoreKey, Bytes)> {
    let mut store: BTreeMap<StoreKey, Bytes> = BTreeMap::new();
    for persist in persists {
        match &persist.value {
            Some(value) => _ = store.insert(persist.key.clone(), value.clone()),
            None => _ = store.remove(&persist.key),
        }
    }
    store.into_iter().collect()
}

impl Net {
    /// `voter` admits `who`, on top of what its node knows.
    pub fn admit(&mut self, who: usize, voter: usize) {
        let item = papers::admission_of(self.node(voter).transcript(), person(who), &[voter]);
        self.item(voter, item);
    }

    /// The member of `who` says something about the ring's charter.
    pub fn item(&mut self, who: usize, item: Bytes) {
        let charter = self.node(who).transcript().group();
        self.tell(who, ToNode::Item(charter, item));
    }

    pub fn join(&mut self, who: usize) {
        self.join_at(who, who, self.group);
    }

    /// The member of `who` lives on the node `at`, and joins this group there: in its present
    /// configuration, and again in each later one.
    pub fn join_at(&mut self, at: usize, who: usize, group: GroupId) {
        let player = self.players.get_mut(&at).unwrap();
        player.wants.insert((who, group));
        if let Some(configuration) = player.configuration {
            self.say_join(at, (who, group), configuration);
        }
    }

    pub(super) fn say_join(
        &mut self,
        at: usize,
        (who, group): (usize, GroupId),
        configuration: ConfigurationId,
    ) {
        let node = person(at).node();
        self.say(at, who, Says::Join(Join { group, node, configuration }));
    }

    pub fn leave_at(&mut self, at: usize, who: usize) {
        self.players.get_mut(&at).unwrap().wants.remove(&(who, self.group));
        self.say(at, who, Says::Leave { group: self.group });
    }

    fn say(&mut self, at: usize, who: usize, says: Says) {
        self.count += 1;
        let word = Word { party: person(who).member().into(), number: self.count, says };
        let said = Said::sign(word, &Prover::new(person(who).key().clone()));
        self.tell(at, ToNode::Word(Box::new(said)));
    }
}
