//! Items that have their place in the order.

use super::Records;
use crate::parts::Outbox;
use base::{Danger, MemberId};
use bytes::Bytes;
use folkmoot_attach::ToMember;
use folkmoot_base as base;
use folkmoot_transcript::{Item, Taken};

impl Records {
    /// An item has its place in the order: takes it, keeps it, and hands it up. What has changed by
    /// it, if it says anything new.
    pub(crate) fn take(&mut self, item: &Bytes, out: &mut Outbox) -> Option<Taken> {
        self.stage.arrived(item);
        let forks = self.transcript.line().forks().len();
        let mark = self.transcript.mark();
        let taken = match self.transcript.take(item, self.wall.clock()) {
            Ok(taken) => taken,
            Err(error) => {
                // The stage took it on top of something that did not come.
                self.stage.renew();
                out.refuse("transcript", &base::whole(&error));
                return None;
            }
        };
        self.stage.follow(item, self.wall.clock());
        self.stage.finish();
        if let Ok(Item::Past { time }) = Item::decode(item) {
            self.not_yet(time, out);
        }
        // What waits for our clock is not in the copy either; whom it removes is out all the same.
        let moved = !taken.went.is_empty() || self.transcript.mark() != mark;
        if taken.new || moved || self.transcript.line().forks().len() > forks {
            self.keep(item, &taken, out);
            return Some(taken);
        }
        None
    }

    fn keep(&mut self, item: &Bytes, taken: &Taken, out: &mut Outbox) {
        for persist in self.kept.after(&self.transcript, item, taken) {
            if !self.danger.is(Danger::NodeForgetsItem) {
                self.write(persist, out);
            }
        }
        out.tell_of(&self.transcript.group(), ToMember::Item(item.clone()));
        if !taken.liars.is_empty() {
            let names: Vec<String> = taken.liars.iter().map(MemberId::to_string).collect();
            out.trace("transcript", format!("a fork: {} signed both sides", names.join(", ")));
        }
        self.mark_due |= taken.new;
        self.announce |= taken.new;
    }
}
