//! How this member keeps its shares: the one in use, and those that a run gave it and that no
//! decision has taken into use yet.

use super::state::Waiting;
use crate::call::Call;
use crate::desk::Desk;
use crate::store;
use bytes::Bytes;
use folkmoot_base::codec::{self, Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Danger, Digest, Entropy, Secret, StoreKey, digest};
use folkmoot_identity::{Identity, Mode};
use folkmoot_signing::shared::{self};
use folkmoot_transcript::{Change, Effect, Roster, Transcript};
use zeroize::Zeroize as _;

/// Most shares that wait for a decision.
const WAITING_MAX: usize = 4;

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

impl Desk {
    /// A run gave a sharing, and perhaps a share: it is on disk before anything else is said of it.
    pub(crate) fn keep_waiting(&mut self, call: &Call<'_>, waiting: Waiting, entropy: &mut dyn Entropy) {
        let name = digest(&[&waiting.public]);
        if self.signers.shares.waiting.len() >= WAITING_MAX
            && !self.signers.shares.waiting.contains_key(&name)
        {
            // A sharing that no vote could take any more makes room. Otherwise four that came to
            // nothing would end all resharing.
            let roster = call.transcript.roster();
            let useless = |waiting: &Waiting| !waiting.fits(roster) || self.was_refused(call, waiting);
            let over = self.signers.shares.waiting.iter().find(|(_, waiting)| useless(waiting));
            let Some(over) = over.map(|(name, _)| *name) else {
                return self.out.trace("a sharing more than may wait for a decision");
            };
            self.signers.shares.waiting.remove(&over);
            self.out.persist(store::delete_share(&over));
        }
        self.persist_waiting(call, &name, &waiting, entropy);
        self.signers.shares.waiting.insert(name, waiting);
    }

    /// The group's key has a certificate now.
    pub(crate) fn keep_authority(
        &mut self,
        call: &Call<'_>,
        name: &Digest,
        authority: Bytes,
        entropy: &mut dyn Entropy,
    ) {
        let Some(mut waiting) = self.signers.shares.waiting.remove(name) else { return };
        waiting.authority = Some(authority);
        self.persist_waiting(call, name, &waiting, entropy);
        self.signers.shares.waiting.insert(*name, waiting);
    }

    fn persist_waiting(
        &mut self,
        call: &Call<'_>,
        name: &Digest,
        waiting: &Waiting,
        entropy: &mut dyn Entropy,
    ) {
        let stored = Stored {
            state: WAITING,
            after: waiting.after,
            public: waiting.public.clone().into(),
            authority: waiting.authority.clone().unwrap_or_default().into(),
            share: blob(waiting.share.as_ref()),
        };
        self.persist_share(call, name, stored, entropy);
    }

    fn persist_share(
        &mut self,
        call: &Call<'_>,
        name: &Digest,
        mut stored: Stored,
        entropy: &mut dyn Entropy,
    ) {
        let plain = Secret::new(codec::encode(&stored));
        let waits = stored.state == WAITING;
        wipe(&mut stored);
        if waits && call.config.danger.is(Danger::AdmissionForgetsShare) {
            return;
        }
        match store::seal_share(call.identity, name, &plain, entropy) {
            Some(sealed) => self.out.persist(store::put_share(name, sealed)),
            None => self.out.trace("a share cannot be kept: its seal has no key"),
        }
    }

    /// The transcript has another sharing: its share comes into use, all others are erased.
    pub(crate) fn follow_sharing(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) {
        let roster = call.transcript.roster();
        let Some(sharing) = roster.sharing() else { return };
        let name = digest(&[&sharing.public]);
        if self.signers.shares.followed == Some(name) {
            return;
        }
        self.signers.shares.followed = Some(name);
        // What was begun with shares that are over comes to nothing, and the runs hold copies of
        // them.
        self.signers.sessions.clear();
        self.signers.silent.clear();
        self.signers.set_aside.clear();
        self.signers.failures.clear();
        self.signers.wanted = None;
        let next = self.signers.shares.waiting.remove(&name);
        let old = self.signers.shares.current.take();
        let keeps = call.config.danger.is(Danger::AdmissionKeepsOldShares);
        for (name, waiting) in core::mem::take(&mut self.signers.shares.waiting) {
            drop(waiting);
            self.out.persist(store::delete_share(&name));
        }
        if let Some((name, _)) = old.filter(|_| !keeps) {
            self.out.persist(store::delete_share(&name));
        }
        let Some(next) = next else { return };
        let Some(share) = next.share else {
            return self.out.persist(store::delete_share(&name));
        };
        let stored = Stored {
            state: IN_USE,
            after: next.after,
            public: next.public.into(),
            authority: next.authority.unwrap_or_default().into(),
            share: blob(Some(&share)),
        };
        self.persist_share(call, &name, stored, entropy);
        self.signers.shares.current = Some((name, share));
    }

    /// The effect that takes a waiting sharing into use.
    pub(crate) fn sharing_effect(waiting: &Waiting) -> Option<Effect> {
        let (public, authority) = (waiting.public.clone().into(), waiting.authority.clone()?.into());
        Some(Change::Sharing { public, authority }.into())
    }

    pub(crate) fn load_share(
        &mut self,
        transcript: &Transcript,
        identity: &Identity,
        key: &StoreKey,
        value: &[u8],
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
            Some(share) if decided && stored.state == IN_USE => {
                self.signers.shares.current = Some((name, share))
            }
            // Stopped after the transcript took the next one and before this one was erased.
            _ if !decided && (stored.state == IN_USE || stored.after != now.unwrap_or_default()) => {
                self.out.persist(store::delete_share(&name));
            }
            share => {
                // If an authority signs certificates, the group's key has no certificate, and needs
                // none.
                let central = transcript.roster().charter().mode() == Mode::Centralised;
                let whole = central || !stored.authority.0.is_empty();
                let authority = whole.then_some(stored.authority.0);
                let facts = shared::facts(transcript.roster().charter().scheme(), &stored.public.0).ok()?;
                let public = stored.public.0;
                self.signers
                    .shares
                    .waiting
                    .insert(name, Waiting { facts, after: stored.after, public, share, authority });
            }
        }
        Some(())
    }

    /// After all shares were read back: shares that are over have been erased by then, unless the
    /// one in use still waits to be put into use.
    pub(crate) fn loaded_shares(&mut self, transcript: &Transcript) {
        let shares = &mut self.signers.shares;
        shares.followed = in_use(transcript.roster()).filter(|now| !shares.waiting.contains_key(now));
    }
}

/// The name of the sharing in use.
pub(crate) fn in_use(roster: &Roster) -> Option<Digest> {
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
