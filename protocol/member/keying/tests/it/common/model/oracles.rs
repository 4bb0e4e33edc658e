//! What must hold in every schedule: one key for one view, and members that move on together
//! installed the same views.

use super::{Checked, World, number_of};
use crate::common::member;
use folkmoot_base::{Party, ViewId};
use folkmoot_keying::{SecureView, State};
use std::collections::BTreeSet;

impl World {
    pub(super) fn use_key(&mut self, key: [u8; 32], place: (ViewId, usize)) -> Checked {
        let known = self.used.entry(key).or_insert(place);
        if *known != place {
            return Err(format!("one key for two epochs: {} and {}", known.0, place.0));
        }
        Ok(())
    }

    pub(super) fn rostered(&self, number: usize, members: &[Party]) -> Checked {
        let off = &self.nodes[number].off;
        match members.iter().find(|member| off.contains(&number_of(member))) {
            Some(gone) => Err(format!("member {number} has a key with {gone:?}, who is off the roster")),
            None => Ok(()),
        }
    }

    pub(super) fn install(&mut self, number: usize, view: SecureView, by: Option<u64>) -> Checked {
        self.rostered(number, &view.members)?;
        self.secure_views += 1;
        self.nodes[number].signals = 0;
        let at = self.room_of(number);
        if self.rooms[at].view != Some(view.id) {
            return Err("a secure view that is not the view".into());
        }
        let key = *view.epoch.key.expose();
        if *self.keys.entry(view.id).or_insert(key) != key {
            return Err("two keys in one view".into());
        }
        self.use_key(key, (view.id, 0))?;
        self.deciding.entry(view.id).or_default().extend(by);
        for other in view.members.iter().map(number_of).filter(|other| *other != number) {
            if !self.keyed.contains(&(other, view.id)) {
                return Err(format!("installed before member {other} had the key"));
            }
        }
        self.keyed.insert((number, view.id));
        if self.nodes[number].installed.insert(view.id, view).is_some() {
            return Err("one view installed twice".into());
        }
        Ok(())
    }

    /// Members that move on together installed the same views, with the same refreshes.
    pub(super) fn moved_together(&self, part: &BTreeSet<usize>) -> Checked {
        for room in self.rooms.iter().filter(|room| room.members.is_subset(part)) {
            let Some(view) = room.view else { continue };
            let told: BTreeSet<_> = room
                .members
                .iter()
                .map(|number| {
                    let node = &self.nodes[*number];
                    (node.installed.contains_key(&view), node.refreshed.get(&view).cloned())
                })
                .collect();
            if told.len() > 1 {
                return Err(format!("of those who moved on together, some installed view {view}"));
            }
        }
        Ok(())
    }

    /// Nothing moves any more: every living member is secure, and the last oracles hold.
    pub(super) fn settled(&self) -> Checked {
        for (number, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.alive) {
            let room = &self.rooms[self.room_of(number)];
            if room.changing || node.keying.state() != State::Secure {
                return Err(format!("deadlock: member {number} stays in {:?}", node.keying.state()));
            }
        }
        // A member installed a view because of messages that every survivor of the view holds as
        // well.
        for (number, view) in &self.left {
            let missing = |entry: &&u64| !self.nodes[*number].delivered.contains(entry);
            if self.deciding.get(view).is_some_and(|entries| entries.iter().any(|entry| missing(&entry))) {
                return Err(format!("member {number} survived view {view} without what decided it"));
            }
        }
        for (i, one) in self.nodes.iter().enumerate() {
            for (j, two) in self.nodes.iter().enumerate() {
                for (id, view) in &one.installed {
                    let Some(other) = two.installed.get(id) else { continue };
                    let knows = view.transitional_set.contains(&member(j));
                    if knows != other.transitional_set.contains(&member(i)) {
                        return Err(format!("{i} and {j} differ on who came along to {id}"));
                    }
                }
            }
        }
        Ok(())
    }
}
