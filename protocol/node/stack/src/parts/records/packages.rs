//! What leads on whoever was left behind, or over to another line: made for others, and tried and
//! taken here.

use super::Records;
use crate::message::ITEMS_BATCH_BYTES;
use crate::parts::{Outbox, Package};
use base::Head;
use bytes::Bytes;
use folkmoot_attach::ToMember;
use folkmoot_base as base;
use folkmoot_transcript::{Have, ItemError, Taken};

/// What a peer that asks is given.
pub(crate) enum Answer {
    /// What it lacks of the part that it named; none if it lacks nothing.
    Items(Vec<Bytes>),
    /// What leads it on.
    Package(Bytes),
    /// Nothing leads it on.
    TooFar,
}

impl Records {
    /// What a peer lacks. One whose head is older than the decisions kept here is led on by a
    /// package.
    pub(crate) fn answer(&self, have: &Have) -> Answer {
        if self.transcript.has_left_behind(&have.head) {
            return self.transcript.package(&have.head).map_or(Answer::TooFar, Answer::Package);
        }
        Answer::Items(self.transcript.lacking_part(have, ITEMS_BATCH_BYTES))
    }

    /// Tries a package on a copy. Whether it leads on; one that shows another line is taken at
    /// once.
    ///
    /// # Errors
    /// [`ItemError`].
    pub(crate) fn try_package(
        &mut self,
        package: &Bytes,
        resolves: Option<Head>,
        out: &mut Outbox,
    ) -> Result<bool, ItemError> {
        let mut tried = self.transcript.clone();
        tried.take_package(package, resolves, self.wall.clock())?;
        let leads = tried.state().head() != self.transcript.state().head();
        if !leads && tried.line().forks() != self.transcript.line().forks() {
            self.show_side(package, out);
        }
        Ok(leads)
    }

    /// Another line has shown that it comes to ours: that moves nobody here, and stays.
    fn show_side(&mut self, package: &Bytes, out: &mut Outbox) {
        if self.transcript.take_package(package, None, self.wall.clock()).is_ok() {
            for persist in self.kept.after_skip(&self.transcript) {
                self.write(persist, out);
            }
            out.tell_of(
                &self.transcript.group(),
                ToMember::Package { package: package.clone(), resolves: None },
            );
        }
    }

    /// Goes on, or over, by a package: nobody shares our order. What has changed by it.
    pub(crate) fn skip(&mut self, package: Package, out: &mut Outbox) -> Option<Taken> {
        let Package { bytes: package, resolves } = package;
        let taken = match self.transcript.take_package(&package, resolves, self.wall.clock()) {
            Ok(taken) => taken,
            Err(error) => {
                out.refuse("transcript", &base::whole(&error));
                return None;
            }
        };
        self.stage.clear();
        for persist in self.kept.after_skip(&self.transcript) {
            self.write(persist, out);
        }
        let head = self.transcript.state().head();
        out.trace("transcript", format!("went on to {head} by a package (NODE-14, NODE-15)"));
        out.tell_of(&self.transcript.group(), ToMember::Package { package, resolves });
        self.mark_due = true;
        self.announce = true;
        Some(taken)
    }

    /// Our person says that a decision that waits for the clock is applied now (`LINE-77`). What
    /// has changed by it; none if this one does not wait.
    pub(crate) fn take_ahead(&mut self, head: &Head, out: &mut Outbox) -> Option<Taken> {
        self.transcript.ahead().iter().find(|one| one.head() == *head)?;
        let taken = self.transcript.take_ahead_of_clock();
        self.stage.clear();
        for persist in self.kept.after_skip(&self.transcript) {
            self.write(persist, out);
        }
        (self.mark_due, self.announce) = (true, true);
        Some(taken)
    }

    /// `LINE-78`: we share a ring with others now.
    pub(crate) fn shares_ring(&mut self, out: &mut Outbox) {
        if let Some(note) = self.transcript.shares_ring(self.wall.clock()) {
            self.write(note, out);
        }
    }

    /// NODE-33: goes on by a package that has its place in the order, if it leads on here. What has
    /// changed by it.
    pub(crate) fn go_on(&mut self, package: &Bytes, out: &mut Outbox) -> Option<Taken> {
        match self.try_package(package, None, out) {
            Ok(true) => self.skip(Package { bytes: package.clone(), resolves: None }, out),
            Ok(false) => None,
            Err(error) => {
                out.refuse("transcript", &base::whole(&error));
                None
            }
        }
    }

    /// For a peer that goes over to our line, if that has this decision.
    pub(crate) fn side_package(&self, first: &Head) -> Option<Bytes> {
        self.transcript.side_package(first)
    }

    /// The line to which ours goes, while ours waits for word that it comes to ours.
    pub(crate) fn awaits_coming(&self) -> Option<Head> {
        let (state, set) = (self.known().state(), self.known().set());
        state.rejoin().filter(|_| state.may_outlast() && !set.goes_on(state))
    }

    /// What shows that the line of this decision comes to ours.
    pub(crate) fn coming(&self, first: &Head) -> Option<Bytes> {
        self.transcript.coming(first)
    }

    /// The decisions at forks from which on other lines lead over to theirs: where our own line has
    /// decided a Rejoin, and every one if our person goes over (`goes`).
    pub(crate) fn sides(&self, goes: bool) -> Vec<Head> {
        let forks = self.transcript.line().forks().values();
        let forks = forks.map(|fork| fork.theirs.head()).filter(|_| goes);
        self.transcript.state().rejoin().into_iter().chain(forks).collect()
    }
}
