//! Every epoch key that a member ever held, kept for a judge who must know what an ex-member could open with all its state.
//! Never kept outside of tests: [`crate::Config::danger_keeps_keys`].

use crate::Member;
use crate::message::{Data, Payload};
use base::{Cipher, MemberId, Secret, Service, ViewId};
use bytes::Bytes;
use folkmoot_base as base;
use folkmoot_flush::message::{self as flush, Frame};
use folkmoot_keying::Epoch;
use folkmoot_session::{Attempt, Config, KeptKey, Opened, Session, danger_attempt};

/// One epoch: its name on the wire, and what opens it.
#[derive(Debug, Clone)]
struct Kept {
    tag: Bytes,
    view: ViewId,
    members: Vec<MemberId>,
    key: Secret<[u8; 32]>,
    cipher: Cipher,
}

impl Kept {
    fn session(&self, me: MemberId) -> Option<Session> {
        let mut session = Session::new(me, self.view.group, Config::default());
        session.open_epoch(self.view, &self.members, &self.key, self.cipher).ok()?;
        Some(session)
    }
}

/// Where a sealed message names its epoch: docs/protocol/session.md.
fn tag(sealed: &Bytes) -> Option<Bytes> {
    sealed.get(1..9).map(|tag| sealed.slice_ref(tag))
}

/// What a thief of a member's whole past would have.
#[derive(Debug, Clone, Default)]
pub struct Spoils(Vec<Kept>);

impl Spoils {
    pub(crate) fn keep(&mut self, view: ViewId, members: &[MemberId], epoch: &Epoch) {
        let (key, cipher) = (epoch.key.clone(), epoch.cipher);
        let mut kept = Kept { tag: Bytes::new(), view, members: members.to_vec(), key, cipher };
        let first = members.first().and_then(|member| kept.session(*member));
        let named = first.and_then(|mut session| session.seal(b"").ok()).and_then(|sealed| tag(&sealed));
        kept.tag = named.unwrap_or_default();
        self.0.push(kept);
    }

    /// How many epochs there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The keys themselves, to look for in places where they must not be.
    pub fn danger_keys(&self) -> impl Iterator<Item = &[u8; 32]> {
        self.0.iter().map(|kept| kept.key.expose())
    }

    /// Whether one of the keys opens `sealed`, whoever sent it. Believes nothing but the keys: no window, no sender's word.
    pub fn danger_opens(&self, sealed: &Bytes) -> bool {
        let Some(wanted) = tag(sealed) else { return false };
        self.0.iter().filter(|kept| kept.tag == wanted).any(|kept| {
            kept.members.iter().any(|sender| {
                let session = kept.session(*sender);
                session.is_some_and(|mut session| {
                    let opened = session.open(*sender, Service::Agreed, sealed.clone(), &|_, _, _| true);
                    matches!(opened, Ok(Opened::Message(_)))
                })
            })
        })
    }

    /// Tries every key on `sealed`, under its own view and every candidate's: nothing but the key can be missing.
    pub fn danger_attempt(&self, sealed: &Bytes, candidates: &[(ViewId, Vec<MemberId>)]) -> Attempt {
        let kept = self.0.iter().map(|kept| KeptKey {
            view: kept.view,
            members: kept.members.clone(),
            key: kept.key.clone(),
            cipher: kept.cipher,
        });
        danger_attempt(&kept.collect::<Vec<_>>(), sealed, candidates)
    }
}

impl Member {
    /// Tries every key this member ever held on the sealed message in `payload`, a payload as nodes order them; `None` if
    /// there is none in it.
    #[doc(hidden)]
    pub fn danger_attempt(&self, payload: &Bytes, candidates: &[(ViewId, Vec<MemberId>)]) -> Option<Attempt> {
        let Some(Payload::Flush(frame)) = Payload::decode(payload) else { return None };
        let Ok(Frame::Data { payload, .. }) = flush::decode(&frame) else { return None };
        let Some(Data::Sealed(sealed)) = Data::decode(&payload) else { return None };
        Some(self.spoils.danger_attempt(&sealed, candidates))
    }
}
