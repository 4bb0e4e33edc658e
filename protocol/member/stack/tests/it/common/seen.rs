//! What the members show: views, texts, failures; and what must hold for all of them.

use super::Moot;
use super::people::party;
use bytes::Bytes;
use folkmoot_base::{Cause, Party, ViewId};
use folkmoot_flush::message::{For, Frame, decode};
use folkmoot_member::{Event, SendError};
use std::collections::{BTreeMap, BTreeSet};

impl Moot {
    /// The members that are in the group together with `number`, according to the table.
    pub fn circle(&self, number: usize) -> BTreeSet<usize> {
        self.sides[self.side_of(number)].circle.clone()
    }

    /// The newest secure view of a member: id, members, key's name.
    pub fn view(&self, number: usize) -> Option<(ViewId, Vec<Party>, String)> {
        self.chairs[number].events.iter().rev().find_map(|event| match event {
            Event::View { id, members, epoch, .. } => Some((*id, members.clone(), epoch.clone())),
            _ => None,
        })
    }

    pub fn texts(&self, number: usize) -> Vec<String> {
        let text = |event: &Event| match event {
            Event::Message { payload, .. } => Some(String::from_utf8_lossy(payload).into_owned()),
            _ => None,
        };
        self.chairs[number].events.iter().filter_map(text).collect()
    }

    pub fn failures(&self, number: usize) -> Vec<SendError> {
        let failure = |event: &Event| match event {
            Event::SendFailed { error } => Some(error.clone()),
            _ => None,
        };
        self.chairs[number].events.iter().filter_map(failure).collect()
    }

    pub fn removals(&self, number: usize) -> Vec<Cause> {
        let removal = |event: &Event| match event {
            Event::Removed { cause, .. } => Some(*cause),
            _ => None,
        };
        self.chairs[number].events.iter().filter_map(removal).collect()
    }

    pub fn activity(&self, number: usize) -> String {
        self.chairs[number].member.status(self.now).activity
    }

    /// All members that are in the group on each side have one view of exactly them, under one key,
    /// and can send in it.
    ///
    /// # Errors
    /// A member that does not, and what it waits for.
    pub fn is_well(&self) -> Result<(), String> {
        for side in &self.sides {
            let mut members: Vec<Party> = side.circle.iter().map(|number| party(*number)).collect();
            members.sort_unstable();
            let views: BTreeSet<_> = side.circle.iter().map(|number| self.view(*number)).collect();
            for number in &side.circle {
                let view = self.view(*number).ok_or(format!("{number} has no view"))?;
                if view.1 != members || views.len() != 1 {
                    return Err(format!("{number} has another view: {}", self.activity(*number)));
                }
            }
        }
        if self.complaints > 0 {
            return Err("somebody complained".into());
        }
        self.no_key_for_the_gone()
    }

    /// K3: no member opens, with everything that it ever held, a message sealed by somebody who
    /// knew it to be off the roster.
    ///
    /// # Errors
    /// The member that opens one, and whose message it is.
    pub fn no_key_for_the_gone(&self) -> Result<(), String> {
        let views = self.views();
        for (number, chair) in self.chairs.iter().enumerate() {
            for (off, payload) in &chair.sealed {
                for gone in off.iter().filter(|gone| **gone < self.chairs.len() && **gone != number) {
                    let attempt = self.chairs[*gone].member.danger_attempt(payload, &views);
                    if attempt.is_some_and(|attempt| attempt.opened) {
                        return Err(format!("{gone} opens what {number} sealed after it was gone"));
                    }
                }
            }
        }
        Ok(())
    }

    /// How many messages this member sealed in each epoch, by the epoch's name on the wire.
    pub fn sealed_by_epoch(&self, number: usize) -> BTreeMap<Bytes, u64> {
        let mut counts = BTreeMap::new();
        for (_, payload) in &self.chairs[number].sealed {
            if let Ok(Frame::Data { to: For::Session, payload, .. }) = decode(payload) {
                *counts.entry(payload.freeze().slice(..8)).or_default() += 1;
            }
        }
        counts
    }

    fn views(&self) -> Vec<(ViewId, Vec<Party>)> {
        let mut views: BTreeMap<ViewId, Vec<Party>> = BTreeMap::new();
        for event in self.chairs.iter().flat_map(|chair| &chair.events) {
            if let Event::View { id, members, .. } = event {
                views.insert(*id, members.clone());
            }
        }
        views.into_iter().collect()
    }
}
