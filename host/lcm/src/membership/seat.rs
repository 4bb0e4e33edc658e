//! One domain: its machine, and what is told of it.

use super::{Keyed, Options, channels};
use bytes::Bytes;
use core::num::NonZeroU64;
use folkmoot_base::{DecodeError, Digest, UnixTime};
use folkmoot_pubsub::Channel;
use folkmoot_pubsub::discovery::message::Signed;
use folkmoot_pubsub::discovery::{Discovery, Epoch, Event, Input, Settings};
use folkmoot_pubsub::secured::{
    Credentials, Domain, DomainKey, Material, Member, Mode, Right, SenderId, Signing, Suite,
};
use folkmoot_system::OsEntropy;
use std::collections::BTreeSet;
use tokio::time::Instant;

/// A domain that this program's certificate names.
pub(super) struct Seat<C> {
    pub(super) domain: Domain,
    pub(super) sender: SenderId,
    /// Where its agreement is spoken about.
    pub(super) channel: Option<Channel>,
    machine: Discovery<C>,
    credentials: C,
    settings: Settings,
    suite: Suite,
    signing: Signing,
    /// What the disk has.
    pub(super) stored: Option<Vec<u8>>,
    /// What is to be written in its place, before anything relies on it; and since when.
    pub(super) unwritten: Option<(Instant, Bytes)>,
    keyed: Keyed,
    /// Of those who have the key.
    certificates: Vec<Bytes>,
}

impl<C: Credentials + Clone> Seat<C> {
    pub(super) fn new(
        right: Right,
        credentials: C,
        options: &Options,
        stored: Option<Vec<u8>>,
    ) -> Result<Self, DecodeError> {
        let domain = right.domain;
        let named = domain.pattern_text().and_then(|text| Channel::new(text).ok());
        let signing = domain.channel().or(named.as_ref()).and_then(|channel| options.signing.get(channel));
        let settings = Settings { times: options.waits, ..Settings::new(domain.to_string().as_bytes()) };
        let machine = Discovery::new(credentials.clone(), settings.clone(), stored.as_deref())?;
        let keyed = Keyed {
            domain,
            number: None,
            members: Vec::new(),
            out: false,
            failed: 0,
            refused: 0,
            duplicate: None,
            behind: false,
            twin: false,
            full: false,
        };
        Ok(Self {
            domain,
            sender: right.sender,
            channel: channels::of(&domain),
            machine,
            credentials,
            settings,
            suite: options.suite,
            signing: signing.copied().unwrap_or_default(),
            stored,
            unwritten: None,
            keyed,
            certificates: Vec::new(),
        })
    }

    pub(super) fn keyed(&self) -> Keyed {
        Keyed { refused: self.machine.refused(), ..self.keyed.clone() }
    }

    /// Asks to join, under the time of day: also again, when the key is used up.
    pub(super) fn begin(&mut self, now: folkmoot_base::Instant, wall: UnixTime, entropy: &mut OsEntropy) {
        // What this process wrote can be read; if it could not, the machine goes on as it is.
        if let Ok(fresh) =
            Discovery::new(self.credentials.clone(), self.settings.clone(), self.stored.as_deref())
        {
            self.machine = fresh;
        }
        self.machine.handle(now, Input::Wall(wall), entropy);
        self.machine.handle(now, Input::Start, entropy);
    }

    /// Hands in what came; whose it is, if it was new, and of somebody who may say it.
    pub(super) fn hear(
        &mut self,
        now: folkmoot_base::Instant,
        said: &[u8],
        entropy: &mut OsEntropy,
    ) -> Option<SenderId> {
        let before = self.machine.accepted();
        self.machine.handle(now, Input::Message(said), entropy);
        let new = self.machine.accepted() > before;
        Signed::read(said).ok().filter(|_| new).and_then(|(_, body)| SenderId::new(body.sender))
    }

    pub(super) fn handle(&mut self, now: folkmoot_base::Instant, input: Input<'_>, entropy: &mut OsEntropy) {
        self.machine.handle(now, input, entropy);
    }

    /// The credentials with another certificate of the same holder.
    pub(super) fn renewed(&self, certificate: &[u8]) -> Option<C> {
        self.credentials.renewed(certificate)
    }

    /// Uses these when it begins anew.
    pub(super) fn take(&mut self, credentials: C) {
        self.credentials = credentials;
        (self.keyed.out, self.keyed.duplicate) = (false, None);
    }

    pub(super) fn papers(&self) -> &C {
        self.machine.papers()
    }

    pub(super) fn excludes(&self, holder: &Digest) -> bool {
        self.machine.excludes(holder)
    }

    pub(super) fn machine(&mut self) -> &mut Discovery<C> {
        &mut self.machine
    }

    pub(super) fn due(&self) -> Option<folkmoot_base::Instant> {
        self.machine.poll_timeout()
    }

    /// The key of an epoch, to be installed.
    pub(super) fn key(&self, epoch: &Epoch) -> Option<DomainKey> {
        let material = Material::derive(self.suite, &self.domain, epoch.key.expose());
        let member = |(uid, certificate): (&u16, &Bytes)| {
            let key = self.machine.papers().key_of(certificate);
            SenderId::new(*uid).map(|sender| Member { sender, key })
        };
        let members = epoch.members.iter().zip(&epoch.certificates).filter_map(member);
        let key = DomainKey::new(Mode::Own, self.domain, &material, members)?;
        if self.domain.is_of_names() { Some(key) } else { key.with_signing(self.signing) }
    }

    /// The key of this epoch is the one that is used.
    pub(super) fn took(&mut self, epoch: &Epoch) {
        let numbers = epoch.members.iter().filter_map(|uid| SenderId::new(*uid));
        // By rank they are in the order in which they came.
        self.keyed.members = numbers.collect::<BTreeSet<_>>().into_iter().collect();
        self.certificates.clone_from(&epoch.certificates);
        self.keyed.number = NonZeroU64::new(epoch.number);
    }

    /// The statements against those who have the key and may not any more.
    pub(super) fn lapsed(&self) -> Vec<Bytes> {
        let lapsed = |certificate: &Bytes| self.credentials.lapsed(&self.domain, certificate);
        self.certificates.iter().filter_map(lapsed).collect()
    }

    /// Whether this exclusion is known, and whoever it names shares no key with this program, which
    /// is not out itself.
    pub(super) fn is_without(&self, holder: &Digest) -> bool {
        let papers = self.machine.papers();
        let shares = self.certificates.iter().any(|certificate| papers.holder(certificate) == *holder);
        self.machine.is_without(holder) && !shares && !self.keyed.out
    }

    pub(super) fn note(&mut self, event: Event) {
        tracing::debug!(domain = %self.domain, ?event, "keys");
        match event {
            Event::Failed(_) => self.keyed.failed = self.keyed.failed.saturating_add(1),
            Event::Out => {
                self.keyed.out = true;
                self.keyed.members.clear();
            }
            Event::Duplicate(uid) => self.keyed.duplicate = SenderId::new(uid),
            // One of the two certificates of that number is out.
            Event::Excluded(uid) if self.keyed.duplicate == SenderId::new(uid) => self.keyed.duplicate = None,
            Event::Full => self.keyed.full = true,
            Event::Behind => self.keyed.behind = true,
            Event::Twin => self.keyed.twin = true,
            _ => {}
        }
    }
}
