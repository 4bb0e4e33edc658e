//! Credit of the parties here (NODE-36): what each may have on its way to the ring, in each of its
//! groups. So a group that is full stops nobody but those who send to it.

use crate::parts::Outbox;
use attach::ToMember;
use attach::credit::{CreditError, Ledger, START};
use base::{Danger, GroupId, Indication, Mutant, Party};
use folkmoot_attach as attach;
use folkmoot_base as base;
use std::collections::BTreeMap;

/// What all accounts share that have something on its way; each has at least [`START`].
pub(crate) const SHARED: u64 = 2 * 1024 * 1024;

/// One party in one group.
#[derive(Debug)]
struct Account {
    of: (Party, GroupId),
    ledger: Ledger,
}

/// The accounts, open from the first notice that a party has of a group until it is out of it: both
/// sides of attach see these two in the same order.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    /// By number. No number comes again soon; 0 is nobody's.
    open: BTreeMap<u32, Account>,
    numbers: BTreeMap<(Party, GroupId), u32>,
    last: u32,
    /// Of whom the last message was: mostly the next is too.
    recent: Option<((Party, GroupId), u32)>,
    /// How many have something on its way.
    busy: u64,
    danger: Mutant,
}

impl Accounts {
    pub(crate) fn new(danger: Mutant) -> Self {
        Self { danger, ..Self::default() }
    }

    /// What a party here is told of a group.
    pub(crate) fn told(&mut self, party: Party, indication: &Indication) {
        match indication {
            Indication::Notice { group, .. } => self.open(party, *group),
            Indication::Removed { group, .. } => self.close(&(party, *group)),
            _ => {}
        }
    }

    fn open(&mut self, party: Party, group: GroupId) {
        let of = (party, group);
        if self.numbers.contains_key(&of) {
            return;
        }
        self.last = self.last.checked_add(1).unwrap_or(1);
        self.numbers.insert(of, self.last);
        self.open.insert(self.last, Account { of, ledger: Ledger::default() });
    }

    fn close(&mut self, of: &(Party, GroupId)) {
        self.recent = None;
        let closed = self.numbers.remove(of).and_then(|number| self.open.remove(&number));
        if closed.is_some_and(|account| account.ledger.waiting() > 0) {
            self.busy = self.busy.saturating_sub(1);
        }
    }

    /// The party is gone, with all its accounts.
    pub(crate) fn detached(&mut self, party: &Party) {
        let of: Vec<_> = self.numbers.keys().filter(|(one, _)| one == party).copied().collect();
        of.iter().for_each(|of| self.close(of));
    }

    /// A party here sends: the number of its account, 0 if it has none in that group.
    pub(crate) fn receive(&mut self, party: Party, group: GroupId, bytes: usize) -> Result<u32, CreditError> {
        let of = (party, group);
        let number = match self.recent {
            Some((recent, number)) if recent == of => number,
            _ => self.numbers.get(&of).copied().unwrap_or_default(),
        };
        let Some(account) = self.open.get_mut(&number) else { return Ok(0) };
        self.recent = Some((of, number));
        let idle = account.ledger.waiting() == 0;
        match account.ledger.receive(bytes) {
            Err(_) if self.danger.is(Danger::NodeLendsAnything) => return Ok(0),
            received => received?,
        }
        self.busy = self.busy.saturating_add(idle.into());
        Ok(number)
    }

    /// Messages of an account have left: whoever sent them may send more.
    pub(crate) fn left(&mut self, number: u32, (messages, bytes): (u64, u64), out: &mut Outbox) {
        let Some(account) = self.open.get_mut(&number) else { return };
        let waited = account.ledger.waiting() > 0;
        account.ledger.take(messages, bytes);
        // Its own share counts, also if nothing of it waits any more.
        let share = SHARED.checked_div(self.busy.max(1)).unwrap_or(START);
        if waited && account.ledger.waiting() == 0 {
            self.busy = self.busy.saturating_sub(1);
        }
        let (party, group) = account.of;
        if let Some(grant) = account.ledger.grant(share) {
            out.tell_one(party, ToMember::Credit { group, grant });
        }
    }
}
