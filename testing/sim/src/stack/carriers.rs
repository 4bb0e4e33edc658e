//! Carriers: nodes with keys of their own, under a charter of their own, which carry the players'
//! group and another one. Two members of that other group are attached at the nodes of the first
//! two players. They talk, and nothing of it is told: they are there so that nothing in the
//! players' group depends on being alone.

use super::company::Names;
use super::forger::{Forger, Rumours};
use super::tap::{Desk, Tap};
use crate::machine::Entrance;
use crate::record::Player;
use crate::rng::Rng;
use crate::schedule::Schedule;
use bytes::Bytes;
use folkmoot_attach::stored_for;
use folkmoot_base::{GroupId, GroupName, Locator, NodeId, Party, StoreKey, UnixTime};
use folkmoot_group::message::Scope;
use folkmoot_identity::{CharterDraft, Identity, SignedCharter};
use folkmoot_member::Member;
use std::sync::Arc;

const TERM: (UnixTime, UnixTime) = (UnixTime(1_800_000_000), UnixTime(2_200_000_000));

/// The nodes of all players, and the members of the other group.
#[derive(Debug)]
pub(super) struct Carriers {
    nodes: Vec<Identity>,
    ring: Bytes,
    others: Vec<Identity>,
    other: Bytes,
    other_group: GroupId,
    ring_group: GroupId,
    seed: u64,
    /// Whose node forges, and what it hears.
    forger: Option<(Player, Rumours)>,
}

impl Carriers {
    pub(super) fn new(schedule: &Schedule) -> Self {
        let nodes = people(schedule, "carrier", schedule.players);
        let others = people(schedule, "other", 2);
        let (ring, ring_group) = charter(schedule, "ring", &nodes);
        let (other, other_group) = charter(schedule, "other", &others);
        let forger = crate::forger::of(schedule).map(|forger| (forger, Rumours::default()));
        Self { nodes, ring, others, other, other_group, ring_group, seed: schedule.seed, forger }
    }

    /// The nodes, in the order of their players.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.nodes.iter().map(Identity::node)
    }

    /// Where everything is noted that programs say, if a node forges.
    pub(super) fn rumours(&self) -> Option<Rumours> {
        self.forger.as_ref().map(|(_, rumours)| rumours.clone())
    }

    /// What a player's node does if it forges. `own`: those of this group who are attached there.
    pub(super) fn forger(&self, entrance: &Entrance<'_>, own: Vec<Party>, group: GroupId) -> Option<Forger> {
        let (player, rumours) = self.forger.as_ref().filter(|(player, _)| *player == entrance.player)?;
        let rng = Rng::new(self.seed, "forgeries", entrance.life.into());
        let scope = Scope { ring: self.ring_group, tables: group };
        Some(Forger::new(rng, self.nodes.get(usize::from(*player))?, rumours.clone(), own, scope))
    }

    /// The settings of a player's node.
    pub(super) fn config(
        &self,
        player: Player,
        group: &Bytes,
        at: Locator,
    ) -> Result<folkmoot_node::Config, String> {
        let own = self.nodes.get(usize::from(player)).ok_or("no such carrier")?;
        let mut config = folkmoot_node::Config::new(own.clone(), self.ring.clone(), at);
        config.carries = vec![group.clone(), self.other.clone()];
        Ok(config)
    }

    /// The member of the other group that lives with this player, if one does.
    pub(super) fn quiet(
        &self,
        tap: &Tap,
        entrance: &Entrance<'_>,
        stored: &[(StoreKey, Bytes)],
        names: &Arc<Names>,
    ) -> Result<Option<(Party, Desk)>, String> {
        let Some(identity) = self.others.get(usize::from(entrance.player)) else { return Ok(None) };
        let mut config = folkmoot_member::Config::new(identity.clone(), self.other.clone());
        config.danger = entrance.danger.into();
        config.node = tap.node.id();
        let party = Party::from(identity.member());
        let transcript = tap.node.carried(&self.other_group).ok_or("the other group is not carried")?;
        let member = Member::with_transcript(config, transcript.clone(), &stored_for(&party, stored));
        let member = member.map_err(|error| error.to_string())?;
        Ok(Some((party, Desk::quiet(member, tap, Arc::clone(names)))))
    }
}

#[expect(clippy::expect_used, reason = "every schedule draws what stands")]
fn people(schedule: &Schedule, kind: &str, count: u8) -> Vec<Identity> {
    let mut rng = Rng::new(schedule.seed, kind, 0);
    let person = |number: u8| Identity::new(&format!("{kind}{number}"), &mut rng, TERM.0, TERM.1);
    (0..count).map(person).collect::<Result<_, _>>().expect("an identity")
}

#[expect(clippy::expect_used, reason = "every schedule draws what stands")]
fn charter(schedule: &Schedule, name: &str, people: &[Identity]) -> (Bytes, GroupId) {
    let mut rng = Rng::new(schedule.seed, name, 1);
    let founders: Vec<&Identity> = people.iter().collect();
    let named = founders.iter().map(|founder| founder.certificate().into()).collect();
    let draft = CharterDraft::new(GroupName::new(name).expect("a name"), 1, named, &mut rng);
    let signed = SignedCharter::sign(&draft.to_toml(), &founders).expect("a charter");
    (Bytes::copy_from_slice(signed.der()), signed.charter().group())
}
