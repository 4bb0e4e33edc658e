//! How this member keeps its shares: the one in use, and those that a run gave it and that no
//! decision has taken into use yet.

use crate::call::{Call, Out};
use crate::store;
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::codec::{self, Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Danger, Digest, Entropy, Instant, Secret, StoreKey, digest};
use folkmoot_identity::{Identity, Mode};
use folkmoot_signing::shared::{self, SharingFacts};
use folkmoot_transcript::{Change, Effect, Roster, Transcript};
use std::collections::BTreeMap;
use zeroize::Zeroize as _;

/// Most shares that wait for a decision.
const WAITING_MAX: usize = 4;
/// `ADM-75`: how long a sharing may wait for a decision. Then its holders take their yes back, and
/// another is made: one of them may have gone for good before it stored its share.
const UNDECIDED: Duration = Duration::from_secs(120);

/// The transcript had taken the sharing when this was written. If it has another now, this one is
/// over.
const IN_USE: u8 = 1;
const WAITING: u8 = 2;

/// How a share lies on disk, before it is sealed.
#[derive(Debug, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct Stored {
    /// [`IN_USE`] or [`WAITING`].
    state: u8,
    /// Of one that waits: what was in use when it was made.
    after: Digest,
    public: Blob,
    authority: Blob,
    /// Empty: none.
    share: Blob,
}

/// A share that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) facts: SharingFacts,
    /// The sharing that was in use when it was made; zeros if there was none.
    pub(super) after: Digest,
    pub(super) public: Bytes,
    pub(super) share: Option<Secret<Vec<u8>>>,
    /// The certificate of the group's key, once there is one.
    pub(super) authority: Option<Bytes>,
    /// A run has given it since the last vote on it.
    pub(super) anew: bool,
    /// Since when it waits, in this life of the program.
    pub(super) since: Option<Instant>,
}

/// All shares, by the digest of the sharing's public part.
#[derive(Debug, Default)]
pub(super) struct Shares {
    current: Option<(Digest, Secret<Vec<u8>>)>,
    waiting: BTreeMap<Digest, Waiting>,
    /// The sharing that the transcript had when shares were last put into use and erased, whether
    /// or not we hold a share of it.
    followed: Option<Digest>,
}

impl Waiting {
    /// Whether the voters could take it into use now.
    pub(super) fn fits(&self, roster: &Roster) -> bool {
        self.facts.threshold == roster.threshold()
            && self.facts.holders.iter().all(|member| roster.may_vote(member))
    }

    /// The effect that takes it into use, once it is whole.
    pub(super) fn effect(&self) -> Option<Effect> {
        let (public, authority) = (self.public.clone().into(), self.authority.clone()?.into());
        Some(Change::Sharing { public, authority }.into())
    }

    /// Whether it has waited too long for a decision.
    fn is_late(&self, now: Instant) -> bool {
        self.since.is_some_and(|since| now.since(since) >= UNDECIDED)
    }

    /// Whether too many voters have no share of it. If so, it is not proposed again.
    fn was_refused(&self, call: &Call<'_>) -> bool {
        self.effect().is_some_and(|effect| call.transcript.is_rejected(&effect, None))
    }
}

impl Shares {
    /// The share of the sharing with this public part.
    pub(super) fn of(&self, public: &[u8]) -> Option<&Secret<Vec<u8>>> {
        let name = digest(&[public]);
        let current = self.current.as_ref().filter(|(held, _)| *held == name).map(|(_, share)| share);
        current.or_else(|| self.waiting.get(&name).and_then(|waiting| waiting.share.as_ref()))
    }

    /// Whether this member has a share of the sharing in use.
    pub(super) fn holds(&self, roster: &Roster) -> bool {
        roster.sharing().is_some_and(|now| self.of(&now.public).is_some())
    }

    /// Whether there is a share in use here.
    pub(super) fn has_current(&self) -> bool {
        self.current.is_some()
    }

    /// The waiting sharing with this share-epoch.
    pub(super) fn waiting_of(&self, epoch: &Digest) -> Option<&Waiting> {
        self.waiting.values().find(|waiting| waiting.facts.epoch == *epoch)
    }

    /// The effects of those that runs have given since this was last asked, with a share.
    pub(super) fn take_anew(&mut self) -> Vec<Effect> {
        let effect = |waiting: &mut Waiting| {
            let anew = core::mem::take(&mut waiting.anew) && waiting.share.is_some();
            waiting.effect().filter(|_| anew)
        };
        self.waiting.values_mut().filter_map(effect).collect()
    }

    /// Whether a share of the sharing with this name waits here.
    pub(super) fn has_waiting(&self, name: &Digest) -> bool {
        self.waiting.get(name).is_some_and(|waiting| waiting.share.is_some())
    }

    /// The waiting sharing that the voters could take into use now, if they have not refused it.
    pub(super) fn next(&self, call: &Call<'_>) -> Option<&Waiting> {
        let mut fitting = self.waiting.values().filter(|waiting| waiting.fits(call.transcript.roster()));
        fitting.find(|waiting| !waiting.was_refused(call) && !waiting.is_late(call.now))
    }

    /// Notes since when what was read from disk waits. The effects of those that have waited too
    /// long.
    pub(super) fn late(&mut self, now: Instant) -> Vec<Effect> {
        for waiting in self.waiting.values_mut() {
            waiting.since.get_or_insert(now);
        }
        self.waiting.values().filter(|waiting| waiting.is_late(now)).filter_map(Waiting::effect).collect()
    }

    /// A run gave a sharing, and perhaps a share: it is on disk before anything else is said of it.
    pub(super) fn keep_waiting(
        &mut self,
        call: &Call<'_>,
        waiting: Waiting,
        entropy: &mut dyn Entropy,
        out: &mut Out,
    ) {
        let name = digest(&[&waiting.public]);
        if self.waiting.len() >= WAITING_MAX && !self.waiting.contains_key(&name) {
            // A sharing that no vote could take any more makes room. Otherwise four that came to
            // nothing would end all resharing.
            let roster = call.transcript.roster();
            let useless = |waiting: &Waiting| !waiting.fits(roster) || waiting.was_refused(call);
            let over = self.waiting.iter().find(|(_, waiting)| useless(waiting));
            let Some(over) = over.map(|(name, _)| *name) else {
                return out.trace("a sharing more than may wait for a decision");
            };
            self.waiting.remove(&over);
            out.persist(store::delete_share(&over));
        }
        persist_waiting(call, &name, &waiting, entropy, out);
        if call.config.danger.is(Danger::AdmissionErasesEarly)
            && let Some((old, _)) = self.current.take()
        {
            out.persist(store::delete_share(&old));
        }
        self.waiting.insert(name, waiting);
    }

    /// `ADM-76`: the others have given us our share of the sharing in use again.
    pub(super) fn keep_repaired(
        &mut self,
        call: &Call<'_>,
        (public, share): (&[u8], Secret<Vec<u8>>),
        entropy: &mut dyn Entropy,
        out: &mut Out,
    ) {
        let Some(now) = call.transcript.roster().sharing().filter(|now| *now.public == *public) else {
            return out.trace("a share came of a sharing that is over");
        };
        let name = digest(&[public]);
        let stored = Stored {
            state: IN_USE,
            after: name,
            public: now.public.clone().into(),
            authority: now.authority.clone().into(),
            share: blob(Some(&share)),
        };
        persist_share(call, &name, stored, entropy, out);
        self.followed = Some(name);
        self.current = Some((name, share));
    }

    /// The group's key has a certificate now.
    pub(super) fn keep_authority(
        &mut self,
        call: &Call<'_>,
        name: &Digest,
        authority: Bytes,
        entropy: &mut dyn Entropy,
        out: &mut Out,
    ) {
        let Some(mut waiting) = self.waiting.remove(name) else { return };
        waiting.authority = Some(authority);
        persist_waiting(call, name, &waiting, entropy, out);
        self.waiting.insert(*name, waiting);
    }

    /// The transcript has another sharing: its share comes into use, all others are erased.
    /// Returns whether that is new.
    pub(super) fn follow(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy, out: &mut Out) -> bool {
        let roster = call.transcript.roster();
        let Some(sharing) = roster.sharing() else { return false };
        let name = digest(&[&sharing.public]);
        if self.followed == Some(name) {
            return false;
        }
        self.followed = Some(name);
        let next = self.waiting.remove(&name);
        let old = self.current.take();
        let keeps = call.config.danger.is(Danger::AdmissionKeepsOldShares);
        for (name, waiting) in core::mem::take(&mut self.waiting) {
            drop(waiting);
            out.persist(store::delete_share(&name));
        }
        if let Some((name, _)) = old.filter(|_| !keeps) {
            out.persist(store::delete_share(&name));
        }
        if let Some(next) = next {
            self.take_into_use(call, name, next, entropy, out);
        }
        true
    }

    fn take_into_use(
        &mut self,
        call: &Call<'_>,
        name: Digest,
        next: Waiting,
        entropy: &mut dyn Entropy,
        out: &mut Out,
    ) {
        let Some(share) = next.share else {
            return out.persist(store::delete_share(&name));
        };
        let stored = Stored {
            state: IN_USE,
            after: next.after,
            public: next.public.into(),
            authority: next.authority.unwrap_or_default().into(),
            share: blob(Some(&share)),
        };
        persist_share(call, &name, stored, entropy, out);
        self.current = Some((name, share));
    }

    pub(super) fn load(
        &mut self,
        transcript: &Transcript,
        identity: &Identity,
        key: &StoreKey,
        value: &[u8],
        out: &mut Out,
    ) -> Option<()> {
        let name: Digest = key.key.as_ref().try_into().ok()?;
        let plain = store::open_share(identity, &name, value)?;
        let mut stored: Stored = codec::decode(plain.expose()).ok()?;
        let share = (!stored.share.0.is_empty()).then(|| Secret::new(stored.share.0.to_vec()));
        wipe(&mut stored);
        let now = in_use(transcript.roster());
        let decided = now == Some(name);
        match share {
            // A share that is decided and still waits here: the process was stopped before all else
            // was erased. That is done first.
            Some(share) if decided && stored.state == IN_USE => self.current = Some((name, share)),
            // Stopped after the transcript took the next one and before this one was erased.
            _ if !decided && (stored.state == IN_USE || stored.after != now.unwrap_or_default()) => {
                out.persist(store::delete_share(&name));
            }
            share => {
                // If an authority signs certificates, the group's key has no certificate, and needs
                // none.
                let central = transcript.roster().charter().mode() == Mode::Centralised;
                let whole = central || !stored.authority.0.is_empty();
                let authority = whole.then_some(stored.authority.0);
                let facts = shared::facts(transcript.roster().charter().scheme(), &stored.public.0).ok()?;
                let public = stored.public.0;
                let (after, anew, since) = (stored.after, false, None);
                self.waiting.insert(name, Waiting { facts, after, public, share, authority, anew, since });
            }
        }
        Some(())
    }

    /// After all shares were read back: shares that are over have been erased by then, unless the
    /// one in use still waits to be put into use.
    pub(super) fn loaded(&mut self, transcript: &Transcript) {
        self.followed = in_use(transcript.roster()).filter(|now| !self.waiting.contains_key(now));
    }
}

fn persist_waiting(
    call: &Call<'_>,
    name: &Digest,
    waiting: &Waiting,
    entropy: &mut dyn Entropy,
    out: &mut Out,
) {
    let stored = Stored {
        state: WAITING,
        after: waiting.after,
        public: waiting.public.clone().into(),
        authority: waiting.authority.clone().unwrap_or_default().into(),
        share: blob(waiting.share.as_ref()),
    };
    persist_share(call, name, stored, entropy, out);
}

fn persist_share(
    call: &Call<'_>,
    name: &Digest,
    mut stored: Stored,
    entropy: &mut dyn Entropy,
    out: &mut Out,
) {
    let plain = Secret::new(codec::encode(&stored));
    let waits = stored.state == WAITING;
    wipe(&mut stored);
    if waits && call.config.danger.is(Danger::AdmissionForgetsShare) {
        return;
    }
    match store::seal_share(call.identity, name, &plain, entropy) {
        Some(sealed) => out.persist(store::put_share(name, sealed)),
        None => out.trace("a share cannot be kept: its seal has no key"),
    }
}

/// The name of the sharing in use.
pub(super) fn in_use(roster: &Roster) -> Option<Digest> {
    roster.sharing().map(|sharing| digest(&[&sharing.public]))
}

fn blob(share: Option<&Secret<Vec<u8>>>) -> Blob {
    share.map(|share| share.expose().clone()).unwrap_or_default().into()
}

/// Erases the share in what is read from disk or written to it.
fn wipe(stored: &mut Stored) {
    let share = core::mem::take(&mut stored.share.0);
    if let Ok(mut share) = share.try_into_mut() {
        share.as_mut().zeroize();
    }
}
