//! One group at this member: flush, keying and session joined, and what the group is waiting for.

use crate::credentials::Who;
use crate::returns::Returns;
use base::{
    Cipher, Digest, Entropy, GroupId, Instant, MemberId, ModuleName, Mutant, Party, Secret, Service,
    Signatures, ViewId,
};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_attach::Side;
use folkmoot_base as base;
use folkmoot_flush::message::{DataHeader, For, RECEIPT_BYTES};
use folkmoot_flush::{self as flush, Flush};
use folkmoot_identity::{Charter, Minority, SigningKey, Stamp};
use folkmoot_keying::{self as keying, Keying, KeyingError};
use folkmoot_session::{self as session, Body, Content, SealError, Session};
use folkmoot_transcript::Roster;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// How often a join is asked for again until a notice comes.
const JOIN_AGAIN: Duration = Duration::from_millis(1_000);

/// The secure view that the application sees.
#[derive(Debug, Clone)]
pub(crate) struct Installed {
    pub(crate) view: ViewId,
    pub(crate) members: Vec<Party>,
    pub(crate) epoch: String,
    /// The module that agreed on its key, and the cipher that the key is used with.
    pub(crate) suite: (ModuleName, Cipher),
}

/// How a message is to be sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    pub(crate) service: Service,
    pub(crate) signed: bool,
    /// The layer that the plaintext belongs to.
    pub(crate) content: Content,
}

/// Flush, keying and session of one group, joined.
pub(crate) struct GroupStack {
    pub(crate) flush: Flush,
    pub(crate) keying: Keying,
    pub(crate) session: Session,
    /// How the messages that the session holds are to be sent; in the same order as the messages.
    pub(crate) held: VecDeque<Manner>,
    pub(crate) installed: Option<Installed>,
    /// When the key in use was made, or a new key was last asked for because of the key's age.
    pub(crate) keyed_at: Instant,
    step_deadline: Duration,
    /// What the charter allows this side to do: `Continue`, unless the installed view has no quorum
    /// of the electorate.
    pub(crate) minority: Minority,
    /// The same for people, and what else follows.
    pub(crate) side: Side,
    /// Parties of the newest notice.
    pub(crate) noticed: Vec<Party>,
    /// A notice listed us: the join took effect.
    pub(crate) joined: bool,
    /// A join was handed to the node, and may still take effect.
    pub(crate) asked: bool,
    /// When to ask for the join again.
    pub(crate) ask_at: Instant,
    /// What was sent and has not come back.
    pub(crate) returns: Returns,
}

/// The parts of a group's stack.
pub(crate) struct Parts<'a> {
    pub(crate) me: Party,
    pub(crate) group: GroupId,
    pub(crate) heads: Digest,
    pub(crate) signatures: Arc<dyn Signatures>,
    /// What the receipts of flush follow from; drawn for this stack.
    pub(crate) secret: Secret<[u8; RECEIPT_BYTES]>,
    pub(crate) stored_instance: Option<&'a [u8]>,
    pub(crate) step_deadline: Duration,
    pub(crate) patience: Duration,
    pub(crate) danger: Mutant,
    pub(crate) seals_per_epoch_max: u64,
}

impl GroupStack {
    pub(crate) fn new(parts: &Parts<'_>, now: Instant) -> Result<Self, KeyingError> {
        let &Parts { me, group, heads, danger, .. } = parts;
        let (signatures, secret) = (Arc::clone(&parts.signatures), parts.secret.clone());
        let keys = keying::Config { step_deadline: parts.step_deadline, danger };
        let sessions = session::Config {
            danger,
            seals_per_epoch_max: parts.seals_per_epoch_max,
            ..session::Config::default()
        };
        let mut stack = Self {
            flush: Flush::new(flush::Config { me, group, signatures, secret, danger }, heads),
            keying: Keying::new(me, group, keys, parts.stored_instance)?,
            session: Session::new(me, group, sessions),
            held: VecDeque::new(),
            installed: None,
            keyed_at: now,
            step_deadline: parts.step_deadline,
            minority: Minority::Continue,
            side: Side::default(),
            noticed: Vec::new(),
            joined: false,
            asked: false,
            ask_at: now,
            returns: Returns::default(),
        };
        stack.wait(now, parts.patience);
        Ok(stack)
    }

    /// FLU-14, KEY-15: how long this party waits from now on for a step of another, and for what it
    /// sent to come back: as usual, or for `patience` if that is longer. Then a ring takes long to
    /// form, too, and what is awaited is awaited anew.
    pub(crate) fn wait(&mut self, now: Instant, patience: Duration) {
        let step = self.step_deadline.max(patience);
        self.flush.wait(step);
        self.keying.wait(step);
        self.returns.wait(patience);
        if patience > self.step_deadline {
            self.flush.wait_anew(now);
            self.keying.wait_anew(now);
        }
    }

    /// What the roster now means for the installed view. MEM-03: nothing is sealed any more for a
    /// member that is off the roster (K3, at the item's place, because its notice may come later).
    /// MEM-04: what the charter allows these members to do together; that is everything, if a
    /// quorum of the electorate is among them.
    pub(crate) fn follow(&mut self, roster: &Roster) {
        let Some(installed) = &self.installed else { return };
        if installed.members.iter().any(|party| !roster.is_member(&party.member)) {
            self.session.stop();
        }
        // Members are counted, not parties.
        let present: BTreeSet<MemberId> = installed.members.iter().map(|party| party.member).collect();
        let whole = roster.is_quorum(&present);
        self.minority = if whole { Minority::Continue } else { roster.charter().minority() };
        let (voters, count) = (roster.voters(), |all: usize| u32::try_from(all).unwrap_or(u32::MAX));
        self.side = Side {
            whole,
            may_send: self.minority == Minority::Continue,
            may_admit: whole || roster.charter().minority_may_admit(),
            voters: count(voters.intersection(&present).count()),
            of_voters: count(voters.len()),
        };
    }

    /// MEM-05: whether the charter now names another module or cipher than the key in use has. By
    /// size, a module is chosen for near or for distant members when a view comes.
    pub(crate) fn is_behind(&self, charter: &Charter) -> bool {
        self.installed.as_ref().is_some_and(|installed| {
            let (keying, cipher) = charter.suite(&installed.view.group);
            let fits = |far| installed.suite == (keying.module(installed.members.len(), far), cipher);
            !fits(true) && !fits(false)
        })
    }

    /// MEM-06: when this party asks for a new key because of the age of this one. The first party
    /// of the view asks; each of the others only if those before it did not.
    pub(crate) fn renew_at(&self, me: &Party, charter: &Charter) -> Option<Instant> {
        let installed = self.installed.as_ref()?;
        let place = installed.members.iter().position(|party| party == me)?;
        let turn = self.step_deadline.saturating_mul(u32::try_from(place).unwrap_or(u32::MAX));
        let set = charter.timeouts().refresh_ms;
        let age = set.map_or(base::limits::EPOCH_AGE, |ms| Duration::from_millis(ms.into()));
        let secure = self.keying.state() == keying::State::Secure;
        secure.then_some(self.keyed_at + age.saturating_add(turn))
    }

    /// Whether a message would be sealed and sent now.
    pub(crate) fn can_send(&self) -> bool {
        self.held.is_empty() && self.may_seal()
    }

    /// Whether the session has a key that may be used, and flush allows messages.
    pub(crate) fn may_seal(&self) -> bool {
        self.session.can_seal() && self.flush.may_send() && self.keying.state() == keying::State::Secure
    }

    /// Seals a message of one text, signed with `key` if it is to be signed, behind its flush
    /// header. Returns the payload for the node, and the service with which it travels.
    pub(crate) fn seal(
        &mut self,
        manner: Manner,
        text: Bytes,
        key: &SigningKey,
    ) -> Result<(Service, Bytes), SealError> {
        if !manner.signed {
            let letters = manner.content == Content::Letters;
            return self
                .seal_body(manner.service, if letters { Body::letters(text) } else { Body::text(text) });
        }
        let (travels, header) = self.header(manner.service)?;
        // With the service that the receivers are told: the signature covers it.
        let sign = |stamp: &Stamp, text: &[u8]| stamp.sign(key, text);
        let sealed = self.session.seal_signed(header.as_slice(), manner.service, text, sign)?;
        self.returns.sent(manner.service);
        Ok((travels, sealed))
    }

    /// Seals what nobody signs.
    pub(crate) fn seal_body(&mut self, service: Service, body: Body) -> Result<(Service, Bytes), SealError> {
        let (travels, header) = self.header(service)?;
        let sealed = self.session.seal(header.as_slice(), body)?;
        self.returns.sent(service);
        Ok((travels, sealed))
    }

    fn header(&mut self, service: Service) -> Result<(Service, DataHeader), SealError> {
        self.flush.data_header(service, For::Session).map_err(|_| SealError::NoEpoch)
    }

    pub(crate) fn keying(
        &mut self,
        now: Instant,
        input: keying::Input,
        who: &Who<'_>,
        entropy: &mut dyn Entropy,
    ) -> Result<(), KeyingError> {
        self.keying.handle(now, input, who, entropy)
    }

    /// Whether it is time to ask for the join again. If so, sets the next time.
    pub(crate) fn asks(&mut self, now: Instant) -> bool {
        let due = !self.joined && self.ask_at <= now;
        if due {
            self.asked = true;
            self.ask_at = now + JOIN_AGAIN;
        }
        due
    }

    /// When to wake. `able`: whether the node could order a join now. If it could not, asking waits
    /// for that.
    pub(crate) fn poll_timeout(&self, able: bool, me: &Party, charter: &Charter) -> Option<Instant> {
        let ask = (able && !self.joined).then_some(self.ask_at);
        let renew = self.renew_at(me, charter);
        let returns = self.returns.poll_timeout();
        [self.flush.poll_timeout(), self.keying.poll_timeout(), ask, renew, returns]
            .into_iter()
            .flatten()
            .min()
    }
}
