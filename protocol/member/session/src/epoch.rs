//! One epoch: a key for each sender, derived from the group key; this member's counter; a window
//! for each sender.
//!
//! ```text
//!  group key ─ HKDF-SHA-256(salt "folkmoot session v1") ─┬─ "epoch tag" ‖ context          ─> 8 bytes
//!                                                        ├─ "letters" ‖ context          ─> 32 bytes, seed of the door key
//!                                                        └─ "sender" ‖ context ‖ place u16 ─> the cipher's key
//!  context = GroupId ‖ ViewId ‖ SHA-256(members) ‖ the cipher's name
//! ```

use crate::base::codec::Serialize as _;
use crate::base::{Cipher, Danger, Digest, MemberId, Mutant, Secret, Service, ViewId, digest};
use crate::error::{OpenError, SealError, SessionError};
use crate::identity::{Signature, Stamp};
use crate::message::{Content, EpochTag, HEADER_BYTES, Header, Origin, TAG_BYTES, front, parts};
use crate::window::Window;
use crate::{LettersSeed, Message, Verify};
use aws_lc_rs::aead::{AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use bytes::{Buf as _, Bytes, BytesMut};
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::{Zeroize as _, Zeroizing};

/// Keys and counters of one epoch. Dropping it erases the keys.
pub(crate) struct Epoch {
    pub(crate) tag: EpochTag,
    pub(crate) sealed: u64,
    me: u16,
    view: ViewId,
    members: Vec<MemberId>,
    senders: Vec<(LessSafeKey, Window)>,
    /// GroupId ‖ ViewId: what follows the header in the additional data.
    bound: Vec<u8>,
    letters: Secret<[u8; 32]>,
    danger: Mutant,
}

impl Epoch {
    pub(crate) fn new(
        me: &MemberId,
        view: &ViewId,
        members: &[MemberId],
        (key, cipher): (&Secret<[u8; 32]>, Cipher),
        danger: Mutant,
    ) -> Result<Self, SessionError> {
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let place = members.iter().position(|member| member == me).ok_or(SessionError::LocalMembers)?;
        let place = u16::try_from(place).map_err(|_| SessionError::LocalMembers)?;
        if sorted.len() != members.len() || u16::try_from(members.len()).is_err() {
            return Err(SessionError::LocalMembers);
        }
        let context = Context::new(view, members, cipher);
        let hkdf = extract(key);
        let named = |use_for: &'static [u8], out: &mut [u8]| {
            expand(&hkdf, &[use_for, &context.bound, &context.list, context.cipher.as_str().as_bytes()], out);
        };
        let (mut tag, mut letters) = (EpochTag::default(), Zeroizing::new([0; 32]));
        named(b"epoch tag", &mut tag);
        named(b"letters", letters.as_mut());
        let mut senders = Vec::with_capacity(members.len());
        for place in 0..context.places {
            senders.push((sender_key(&hkdf, &context, place)?, Window::new()));
        }
        let (bound, letters, members) = (context.bound, Secret::new(*letters), members.to_vec());
        Ok(Self { tag, sealed: 0, me: place, view: *view, members, senders, bound, letters, danger })
    }

    /// What the key for letters is derived from.
    pub(crate) fn letters(&self) -> LettersSeed<'_> {
        LettersSeed { view: self.view, epoch: self.tag, seed: &self.letters }
    }

    /// What a signature of the next message covers, besides its text.
    pub(crate) fn next_stamp(&self, service: Service) -> Result<Stamp, SealError> {
        let me = self.members.get(usize::from(self.me)).ok_or(SealError::NoEpoch)?;
        Ok(Stamp { view: self.view, epoch: self.tag, sender: *me, number: self.sealed, service })
    }

    /// Seals under the next counter. The caller checks length and bound.
    pub(crate) fn seal(
        &mut self,
        plaintext: &[u8],
        content: Content,
        signature: Option<&Signature>,
    ) -> Result<Bytes, SealError> {
        let counter = self.sealed;
        let header = Header { epoch: self.tag, sender: self.me, counter }.encode();
        let aad = self.aad(&header);
        let (key, _) = self.senders.get(usize::from(self.me)).ok_or(SealError::NoEpoch)?;
        let (front, length) = front(content, signature);
        let front = front.get(..length).ok_or(SealError::NoEpoch)?;
        let room =
            [HEADER_BYTES, length, plaintext.len(), TAG_BYTES].into_iter().fold(0, usize::saturating_add);
        let mut out = BytesMut::with_capacity(room);
        out.extend_from_slice(&header);
        out.extend_from_slice(front);
        out.extend_from_slice(plaintext);
        // Used up before it is used: whatever happens next, this counter never comes again.
        self.sealed = counter.saturating_add(1);
        if self.danger.is(Danger::SessionPlain) {
            out.extend_from_slice(&[0; TAG_BYTES]);
            return Ok(out.freeze());
        }
        let body = out.get_mut(HEADER_BYTES..).ok_or(SealError::NoEpoch)?;
        let tag = key
            .seal_in_place_separate_tag(nonce(counter), Aad::from(&aad), body)
            .map_err(|_| SealError::EpochSpent)?;
        out.extend_from_slice(tag.as_ref());
        Ok(out.freeze())
    }

    /// Opens what `sender` sealed. It opens in place if nobody else holds the bytes, otherwise with
    /// the one copy. Only a message that is handed up is marked as seen.
    pub(crate) fn open(
        &mut self,
        (sender, service): (MemberId, Service),
        header: Header,
        sealed: Bytes,
        verify: Verify<'_>,
    ) -> Result<Message, OpenError> {
        let place = usize::from(header.sender);
        if self.members.get(place) != Some(&sender) {
            return Err(OpenError::PeerNotSender(sender));
        }
        let aad = self.aad(&header.encode());
        let check = !self.danger.is(Danger::SessionNoReplayCheck);
        let plain = self.danger.is(Danger::SessionPlain);
        let (key, window) = self.senders.get_mut(place).ok_or(OpenError::PeerNotSender(sender))?;
        if check && !window.is_new(header.counter) {
            return Err(OpenError::PeerReplayed(sender));
        }
        let opened = if plain { strip(sealed) } else { decrypt(key, header.counter, &aad, sealed)? };
        let origin = Origin { epoch: self.tag, number: header.counter, signature: None };
        let message = read(&opened, origin, &origin.stamp(self.view, sender, service), verify)?;
        if check {
            window.mark(header.counter);
        }
        Ok(message)
    }

    fn aad(&self, header: &[u8; HEADER_BYTES]) -> [u8; AAD_BYTES] {
        aad(header, &self.bound)
    }
}

/// What the keys of an epoch are derived under.
pub(crate) struct Context {
    /// GroupId ‖ ViewId.
    bound: Vec<u8>,
    /// Digest of the member list.
    list: Digest,
    places: u16,
    cipher: Cipher,
}

impl Context {
    pub(crate) fn new(view: &ViewId, members: &[MemberId], cipher: Cipher) -> Self {
        let list: Vec<&[u8]> = members.iter().map(|member| member.0.as_slice()).collect();
        let places = u16::try_from(members.len()).unwrap_or(u16::MAX);
        Self { bound: bound(view), list: digest(&list), places, cipher }
    }
}

/// The keys of all senders under `key` in `context`.
pub(crate) fn sender_keys(key: &Secret<[u8; 32]>, context: &Context) -> Vec<LessSafeKey> {
    let hkdf = extract(key);
    (0..context.places).filter_map(|place| sender_key(&hkdf, context, place).ok()).collect()
}

/// Whether `key` opens `sealed` with `bound` in the additional data.
pub(crate) fn opens(key: &LessSafeKey, header: Header, bound: &Context, sealed: &Bytes) -> bool {
    decrypt(key, header.counter, &aad(&header.encode(), &bound.bound), sealed.clone()).is_ok()
}

fn aad(header: &[u8; HEADER_BYTES], bound: &[u8]) -> [u8; AAD_BYTES] {
    let mut out = [0; AAD_BYTES];
    out.iter_mut().zip(header.iter().chain(bound)).for_each(|(to, from)| *to = *from);
    out
}

fn extract(key: &Secret<[u8; 32]>) -> Hkdf<Sha256> {
    Hkdf::new(Some(b"folkmoot session v1"), key.expose())
}

/// GroupId (32) and ViewId (8 + 32 + 16 + 8 + 32).
const BOUND_BYTES: usize = 128;
const AAD_BYTES: usize = HEADER_BYTES + BOUND_BYTES;

fn bound(view: &ViewId) -> Vec<u8> {
    let mut bound = view.group.0.to_vec();
    let written = view.tls_serialize(&mut bound);
    assert!(written.is_ok() && bound.len() == BOUND_BYTES, "a view id has one length");
    bound
}

fn expand(hkdf: &Hkdf<Sha256>, info: &[&[u8]], out: &mut [u8]) {
    let done = hkdf.expand_multi_info(info, out);
    assert!(done.is_ok(), "HKDF gives up to 8,160 bytes");
}

fn sender_key(hkdf: &Hkdf<Sha256>, context: &Context, place: u16) -> Result<LessSafeKey, SessionError> {
    let mut key = [0_u8; 32];
    let cipher = context.cipher.as_str().as_bytes();
    expand(hkdf, &[b"sender", &context.bound, &context.list, &place.to_be_bytes(), cipher], &mut key);
    let unbound = UnboundKey::new(algorithm(context.cipher), &key);
    key.zeroize();
    Ok(LessSafeKey::new(unbound.map_err(|_| SessionError::LocalMembers)?))
}

fn algorithm(cipher: Cipher) -> &'static Algorithm {
    match cipher {
        Cipher::Aes256Gcm => &AES_256_GCM,
        Cipher::ChaCha20Poly1305 => &CHACHA20_POLY1305,
    }
}

fn nonce(counter: u64) -> Nonce {
    let mut nonce = [0; 12];
    nonce.iter_mut().skip(4).zip(counter.to_be_bytes()).for_each(|(to, from)| *to = from);
    Nonce::assume_unique_for_key(nonce)
}

fn decrypt(key: &LessSafeKey, counter: u64, aad: &[u8], sealed: Bytes) -> Result<Bytes, OpenError> {
    let forged = OpenError::WireForged;
    match sealed.try_into_mut() {
        Ok(mut owned) => {
            let body = owned.get_mut(HEADER_BYTES..).ok_or(forged)?;
            let length = key.open_in_place(nonce(counter), Aad::from(aad), body).map_err(|_| forged)?.len();
            owned.advance(HEADER_BYTES);
            owned.truncate(length);
            Ok(owned.freeze())
        }
        Err(shared) => {
            let body = shared.get(HEADER_BYTES..).ok_or(forged)?;
            let (ciphertext, tag) =
                body.len().checked_sub(TAG_BYTES).and_then(|at| body.split_at_checked(at)).ok_or(forged)?;
            let mut out = BytesMut::zeroed(ciphertext.len());
            key.open_separate_gather(nonce(counter), Aad::from(aad), ciphertext, tag, &mut out)
                .map_err(|_| forged)?;
            Ok(out.freeze())
        }
    }
}

/// Text and origin of an opened message. If there is a signature in it, it must verify (SES-12,
/// SES-13).
fn read(opened: &Bytes, origin: Origin, stamp: &Stamp, verify: Verify<'_>) -> Result<Message, OpenError> {
    let (content, signature, payload) = parts(opened).ok_or(OpenError::PeerContent(stamp.sender))?;
    let Some(signature) = signature else { return Ok(Message { payload, origin, content }) };
    let forged = OpenError::PeerSignature(stamp.sender);
    let signature = Signature::from_wire(&signature).map_err(|_| forged)?;
    if !verify(stamp, &payload, &signature) {
        return Err(forged);
    }
    Ok(Message { payload, origin: Origin { signature: Some(signature), ..origin }, content })
}

/// How the mutant opens: it believes everything.
fn strip(sealed: Bytes) -> Bytes {
    let end = sealed.len().saturating_sub(TAG_BYTES).max(HEADER_BYTES);
    sealed.slice(HEADER_BYTES..end)
}
