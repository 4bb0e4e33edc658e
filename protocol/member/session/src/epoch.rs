//! One epoch: a key for each party, derived from the group key; this party's counter; a window for
//! each party. Two parties of one member are two senders, with a key and a window each.
//!
//! ```text
//!  group key ─ HKDF-SHA-256(salt "folkmoot session v1") ─┬─ "epoch tag" ‖ context          ─> 8 bytes
//!                                                        ├─ "letters" ‖ context          ─> 32 bytes, seed of the door key
//!                                                        └─ "sender" ‖ context ‖ place u16 ─> the cipher's key
//!  context = GroupId ‖ ViewId ‖ SHA-256(parties: member ‖ port u16 each) ‖ the cipher's name
//! ```

use crate::base::codec::Serialize as _;
use crate::base::{Buffer, Cipher, Danger, Digest, Mutant, Party, Pool, Secret, Service, ViewId, digest};
use crate::error::{OpenError, SealError, SessionError};
use crate::identity::{Signature, Stamp};
use crate::message::{
    Body, Content, EpochTag, HEADER_BYTES, Header, Origin, TAG_BYTES, count_texts, front, parts,
};
use crate::window::{WINDOW, Window};
use crate::{LettersSeed, Message, Verify};
use aws_lc_rs::aead::{AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use bytes::{Buf as _, Bytes};
use hkdf::Hkdf;
use sha2::Sha256;
use std::collections::VecDeque;
use zeroize::{Zeroize as _, Zeroizing};

/// Keys and counters of one epoch. Dropping it erases the keys.
pub(crate) struct Epoch {
    pub(crate) tag: EpochTag,
    pub(crate) sealed: u64,
    me: Party,
    view: ViewId,
    /// By party, sorted.
    senders: Vec<Sender>,
    /// Own messages that have not come back, in the order in which they were sealed.
    own: VecDeque<Own>,
    letters: Secret<[u8; 32]>,
    danger: Mutant,
}

/// What it cost to take a message in.
#[derive(Debug, Default)]
pub(crate) struct Cost {
    pub(crate) openings: u64,
    /// Bytes.
    pub(crate) copied: usize,
}

struct Sender {
    party: Party,
    key: LessSafeKey,
    window: Window,
}

/// An own message on its way. When it comes back as it was sealed, it need not be opened.
struct Own {
    counter: u32,
    /// The end of the sealed message: it is right for these bytes only.
    tag: [u8; TAG_BYTES],
    body: Body,
    signature: Option<Signature>,
}

impl Epoch {
    pub(crate) fn new(
        me: &Party,
        view: &ViewId,
        members: &[Party],
        (key, cipher): (&Secret<[u8; 32]>, Cipher),
        danger: Mutant,
    ) -> Result<Self, SessionError> {
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let here = sorted.binary_search(me).is_ok();
        if !here || sorted.len() != members.len() || u16::try_from(members.len()).is_err() {
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
        for (party, place) in members.iter().zip(0..) {
            let key = sender_key(&hkdf, &context, place)?;
            senders.push(Sender { party: *party, key, window: Window::new() });
        }
        senders.sort_unstable_by_key(|sender| sender.party);
        let letters = Secret::new(*letters);
        Ok(Self { tag, sealed: 0, me: *me, view: *view, senders, own: VecDeque::new(), letters, danger })
    }

    /// What the key for letters is derived from.
    pub(crate) fn letters(&self) -> LettersSeed<'_> {
        LettersSeed { view: self.view, epoch: self.tag, seed: &self.letters }
    }

    /// What a signature of the next message covers, besides its text.
    pub(crate) fn next_stamp(&self, service: Service) -> Stamp {
        Stamp { view: self.view, epoch: self.tag, sender: self.me, number: self.sealed, service }
    }

    /// Seals under the next counter, behind the bytes of `before`. The caller checks length and
    /// bound.
    pub(crate) fn seal(
        &mut self,
        before: &[u8],
        body: Body,
        signature: Option<Signature>,
        pool: &mut Pool,
    ) -> Result<Bytes, SealError> {
        let counter = u32::try_from(self.sealed).map_err(|_| SealError::EpochSpent)?;
        let header = Header { epoch: self.tag, counter }.encode();
        let me = sender_of(&mut self.senders, &self.me).ok_or(SealError::NoEpoch)?;
        let (front, length) = front(body.content, signature.as_ref());
        let front = front.get(..length).ok_or(SealError::NoEpoch)?;
        let parts = [before, &header, front, &body.bytes];
        let room = parts.iter().map(|part| part.len()).fold(TAG_BYTES, usize::saturating_add);
        let mut out = pool.buffer(room);
        parts.iter().for_each(|part| out.extend_from_slice(part));
        // Used up before it is used: whatever happens next, this counter never comes again.
        self.sealed = self.sealed.saturating_add(body.count.into());
        let start = before.len().saturating_add(HEADER_BYTES);
        let mut tag = [0; TAG_BYTES];
        if !self.danger.is(Danger::SessionPlain) {
            let sealed = out.get_mut(start..).ok_or(SealError::NoEpoch)?;
            let made = me.key.seal_in_place_separate_tag(nonce(counter), Aad::from(&header), sealed);
            let made = made.map_err(|_| SealError::EpochSpent)?;
            tag.iter_mut().zip(made.as_ref()).for_each(|(to, from)| *to = *from);
        }
        out.extend_from_slice(&tag);
        self.own.push_back(Own { counter, tag, body, signature });
        Ok(out.freeze())
    }

    /// Opens what `sender` sealed. It opens in place if nobody else holds the bytes, otherwise with
    /// the one copy; an own message that is as it was sealed is not opened at all. Only a message
    /// that is handed up is marked as seen.
    pub(crate) fn open(
        &mut self,
        (party, service): (Party, Service),
        header: Header,
        sealed: Buffer,
        pool: &mut Pool,
        verify: Verify<'_>,
    ) -> Result<(Message, Cost), OpenError> {
        let check = !self.danger.is(Danger::SessionNoReplayCheck);
        let plain = self.danger.is(Danger::SessionPlain);
        let own = if party == self.me { self.own_message(&header, &sealed) } else { None };
        let sender = sender_of(&mut self.senders, &party).ok_or(OpenError::PeerNotSender(party))?;
        if check && !sender.window.is_new(header.counter.into()) {
            return Err(OpenError::PeerReplayed(party));
        }
        let origin = Origin { epoch: self.tag, number: header.counter.into(), signature: None };
        let result = if let Some(Own { body, signature, .. }) = own {
            let origin = Origin { signature, ..origin };
            (Message { payload: body.bytes, origin, content: body.content }, Cost::default())
        } else {
            let copied = if matches!(sealed, Buffer::Owned(_)) { 0 } else { sealed.len() };
            let opened = if plain { strip(sealed) } else { decrypt(&sender.key, header, sealed, pool)? };
            let stamp = origin.stamp(self.view, party, service);
            let message = read(&opened, origin, &stamp, verify)?;
            (message, Cost { openings: 1, copied })
        };
        let texts = if result.0.content == Content::Texts { count_texts(&result.0.payload) } else { None };
        let first = u64::from(header.counter);
        let numbers = first..first.saturating_add(texts.unwrap_or(1).into());
        // Several texts have several numbers: no other message may have had one of them.
        if check && !numbers.clone().all(|number| sender.window.is_new(number)) {
            return Err(OpenError::PeerReplayed(party));
        }
        if check {
            numbers.for_each(|number| sender.window.mark(number));
        }
        Ok(result)
    }

    /// The own message with this header, if these are its bytes. It may have overtaken others,
    /// which come later.
    fn own_message(&mut self, header: &Header, sealed: &[u8]) -> Option<Own> {
        let oldest = u64::from(header.counter).saturating_sub(WINDOW);
        while self.own.front().is_some_and(|own| u64::from(own.counter) < oldest) {
            self.own.pop_front();
        }
        // Nearly always it is the oldest.
        let is_first = self.own.front().is_some_and(|own| own.counter == header.counter);
        let search = || self.own.binary_search_by_key(&header.counter, |own| own.counter).ok();
        let place = if is_first { 0 } else { search()? };
        let same = self.own.get(place).is_some_and(|own| sealed.ends_with(&own.tag));
        if same && !self.danger.is(Danger::SessionPlain) { self.own.remove(place) } else { None }
    }
}

fn sender_of<'a>(senders: &'a mut [Sender], party: &Party) -> Option<&'a mut Sender> {
    let place = senders.binary_search_by_key(party, |sender| sender.party).ok()?;
    senders.get_mut(place)
}

/// What the keys of an epoch are derived under.
pub(crate) struct Context {
    /// GroupId ‖ ViewId.
    bound: Vec<u8>,
    /// Digest of the list of parties.
    list: Digest,
    places: u16,
    cipher: Cipher,
}

impl Context {
    pub(crate) fn new(view: &ViewId, members: &[Party], cipher: Cipher) -> Self {
        let list: Vec<[u8; Party::BYTES]> = members.iter().map(Party::to_bytes).collect();
        let places = u16::try_from(members.len()).unwrap_or(u16::MAX);
        Self { bound: bound(view), list: digest(&[list.as_flattened()]), places, cipher }
    }
}

/// The keys of all senders under `key` in `context`.
pub(crate) fn sender_keys(key: &Secret<[u8; 32]>, context: &Context) -> Vec<LessSafeKey> {
    let hkdf = extract(key);
    (0..context.places).filter_map(|place| sender_key(&hkdf, context, place).ok()).collect()
}

/// Whether `key` opens `sealed`.
pub(crate) fn opens(key: &LessSafeKey, header: Header, sealed: &Bytes) -> bool {
    decrypt(key, header, sealed.clone().into(), &mut Pool::default()).is_ok()
}

fn extract(key: &Secret<[u8; 32]>) -> Hkdf<Sha256> {
    Hkdf::new(Some(b"folkmoot session v1"), key.expose())
}

/// GroupId (32) and ViewId (8 + 32 + 16 + 8 + 32).
const BOUND_BYTES: usize = 128;

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

fn nonce(counter: u32) -> Nonce {
    let mut nonce = [0; 12];
    nonce.iter_mut().skip(8).zip(counter.to_be_bytes()).for_each(|(to, from)| *to = from);
    Nonce::assume_unique_for_key(nonce)
}

fn decrypt(key: &LessSafeKey, header: Header, sealed: Buffer, pool: &mut Pool) -> Result<Bytes, OpenError> {
    let forged = OpenError::WireForged;
    let (nonce, aad) = (nonce(header.counter), Aad::from(header.encode()));
    match sealed {
        Buffer::Owned(mut owned) => {
            let body = owned.get_mut(HEADER_BYTES..).ok_or(forged)?;
            // `open_in_place` would copy the whole text onto itself (aws-lc-rs 1.18).
            let (text, tag) = split_tag(body).ok_or(forged)?;
            let length = key.open_in_place_separate_tag(nonce, aad, tag, text).map_err(|_| forged)?.len();
            owned.advance(HEADER_BYTES);
            owned.truncate(length);
            Ok(owned.freeze())
        }
        Buffer::Shared(shared) => {
            let body = shared.get(HEADER_BYTES..).ok_or(forged)?;
            let (ciphertext, tag) =
                body.len().checked_sub(TAG_BYTES).and_then(|at| body.split_at_checked(at)).ok_or(forged)?;
            let mut out = pool.buffer(ciphertext.len());
            out.resize(ciphertext.len(), 0);
            key.open_separate_gather(nonce, aad, ciphertext, tag, &mut out).map_err(|_| forged)?;
            Ok(out.freeze())
        }
    }
}

fn split_tag(sealed: &mut [u8]) -> Option<(&mut [u8], &[u8])> {
    let (text, tag) = sealed.split_at_mut_checked(sealed.len().checked_sub(TAG_BYTES)?)?;
    Some((text, tag))
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
fn strip(sealed: Buffer) -> Bytes {
    let end = sealed.len().saturating_sub(TAG_BYTES).max(HEADER_BYTES);
    sealed.freeze().slice(HEADER_BYTES..end)
}
