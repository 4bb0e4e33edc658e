//! The key of one domain in one epoch: ready to use, and erased with the last one who holds it.

use super::cipher::{Material, SALT_BYTES, Suite};
use super::{Domain, Mode, SenderId};
use crate::Channel;
use crate::packets::NAME_BYTES_MAX;
use aws_lc_rs::aead::{AES_128_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::cipher::{AES_128, EncryptingKey, EncryptionContext, UnboundCipherKey};
use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit as _, StreamCipher as _};
use folkmoot_base::{Digest, Secret, hmac_sha256};
use folkmoot_signing::plain::VerifyingKey;
use std::sync::Arc;

/// Bytes by which a sealed content is longer.
pub(crate) const TAG_BYTES: usize = 16;
const NONCE_BYTES: usize = 12;

/// Whether what is said on a channel is signed by its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Signing {
    /// It is not: anyone with the channel's key may have said it.
    #[default]
    Nobody,
    /// Each message is.
    Each,
    /// Many at a time are, after they left: [`super::Sealer::attest`].
    Batches,
}

/// One of those who agreed on a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its number.
    pub sender: SenderId,
    /// What its signatures verify under. Without it, it cannot speak where messages are signed.
    pub key: Option<VerifyingKey>,
}

impl From<SenderId> for Member {
    fn from(sender: SenderId) -> Self {
        Self { sender, key: None }
    }
}

/// A key, for what, and for whom. A copy is another hold on the same key.
#[derive(Clone)]
pub struct DomainKey(Arc<Inner>);

struct Inner {
    mode: Mode,
    domain: Domain,
    signing: Signing,
    cipher: Cipher,
    salt: [u8; SALT_BYTES],
    tag: u8,
    print: Digest,
    /// By number, sorted.
    members: Vec<Member>,
}

#[expect(clippy::large_enum_variant, reason = "there is one for each key, and it lies behind an Arc")]
enum Cipher {
    HidesAes(EncryptingKey),
    HidesChaCha(Secret<[u8; 32]>),
    Seals(LessSafeKey),
}

impl DomainKey {
    /// A key on which `members` have agreed. `None` if two of them have one number.
    pub fn new(
        mode: Mode,
        domain: Domain,
        material: &Material,
        members: impl IntoIterator<Item = Member>,
    ) -> Option<Self> {
        let mut members: Vec<Member> = members.into_iter().collect();
        members.sort_by_key(|member| member.sender);
        if members.windows(2).any(|pair| pair.first().map(of) == pair.last().map(of)) {
            return None;
        }
        let print = material.print(&domain);
        // One byte of another digest: it tells one key from the next, and nothing about either.
        let tag = hmac_sha256(&print, &[b"folkmoot lcm epoch tag v1"]);
        Some(Self(Arc::new(Inner {
            mode,
            domain,
            signing: Signing::Nobody,
            cipher: Cipher::new(&domain, material)?,
            salt: material.salt(),
            tag: tag.first().copied()?,
            print,
            members,
        })))
    }

    /// The same, and whether messages are signed there. `None` if others hold the key already, if
    /// it is a multicast group's, if the mode has no signatures, or if batches are to be signed and
    /// it is a pattern's.
    pub fn with_signing(self, signing: Signing) -> Option<Self> {
        let mut inner = Arc::into_inner(self.0)?;
        if signing != Signing::Nobody && (inner.domain.is_of_names() || inner.mode != Mode::Own) {
            return None;
        }
        // An attestation does not say on which of several channels a message was.
        if signing == Signing::Batches && inner.domain.channel().is_none() {
            return None;
        }
        inner.signing = signing;
        Some(Self(Arc::new(inner)))
    }

    /// What it is for.
    pub fn domain(&self) -> &Domain {
        &self.0.domain
    }

    /// How it is used.
    pub fn mode(&self) -> Mode {
        self.0.mode
    }

    /// Whether messages are signed there.
    pub fn signing(&self) -> Signing {
        self.0.signing
    }

    /// What names it. It says nothing about the key.
    pub fn print(&self) -> &Digest {
        &self.0.print
    }

    /// The byte by which a header says that it is this key.
    pub fn tag(&self) -> u8 {
        match self.0.mode {
            Mode::Own => self.0.tag,
            Mode::Compatible => 0,
        }
    }

    /// Who agreed on it.
    pub fn members(&self) -> &[Member] {
        &self.0.members
    }

    /// The one with this number.
    pub fn member(&self, sender: SenderId) -> Option<&Member> {
        let place = self.0.members.binary_search_by_key(&sender, of).ok()?;
        self.0.members.get(place)
    }

    fn nonce(&self, sender: SenderId, sequence: u32) -> [u8; NONCE_BYTES] {
        let (sender, sequence) = match self.0.mode {
            Mode::Own => (sender.get().to_be_bytes(), sequence.to_be_bytes()),
            Mode::Compatible => (sender.get().to_le_bytes(), sequence.to_le_bytes()),
        };
        let mut nonce = [0; NONCE_BYTES];
        let said = self.0.salt.iter().chain(&sender).chain(&sequence);
        nonce.iter_mut().zip(said).for_each(|(to, from)| *to = *from);
        nonce
    }

    /// Hides a name, or shows what was hidden: both are the same.
    pub(crate) fn hide(&self, sender: SenderId, sequence: u32, name: &mut [u8]) -> Option<()> {
        let nonce = self.nonce(sender, sequence);
        match &self.0.cipher {
            Cipher::HidesAes(key) => {
                let mut counter = [0_u8; 16];
                counter.iter_mut().zip(nonce).for_each(|(to, from)| *to = from);
                let context = EncryptionContext::Iv128(counter.into());
                key.less_safe_encrypt(name, context).ok().map(drop)
            }
            Cipher::HidesChaCha(key) => {
                ChaCha20::new(key.expose().into(), &nonce.into()).try_apply_keystream(name).ok()
            }
            Cipher::Seals(_) => None,
        }
    }

    /// The name that is hidden at the beginning of `bytes`, and its length with the NUL.
    pub(crate) fn show(&self, sender: SenderId, sequence: u32, bytes: &[u8]) -> Option<(Channel, usize)> {
        let mut room = [0; NAME_BYTES_MAX];
        let length = bytes.len().min(room.len());
        let name = room.get_mut(..length)?;
        name.copy_from_slice(bytes.get(..length)?);
        self.hide(sender, sequence, name)?;
        let end = name.iter().position(|byte| *byte == 0)?;
        Some((Channel::new(name.get(..end)?).ok()?, end + 1))
    }

    /// Seals `plain` and `more` into `sealed`, which has room for both and for the tag.
    pub(crate) fn seal(
        &self,
        (sender, sequence, channel): (SenderId, u32, &Channel),
        (plain, more): (&[u8], &[u8]),
        sealed: &mut [u8],
        lax: Lax,
    ) -> Option<()> {
        let Cipher::Seals(key) = &self.0.cipher else { return None };
        let aad = if lax.any_channel { Bound::default() } else { self.bound(channel) };
        let (body, tag) = sealed.split_at_mut_checked(plain.len())?;
        let nonce = Nonce::assume_unique_for_key(self.nonce(sender, sequence));
        key.seal_out_of_place_scatter(nonce, Aad::from(aad.bytes()), plain, body, more, tag).ok()
    }

    /// Opens in place; the length of what was sealed. Believes nothing that is not right to the
    /// bit. After a failure the bytes are worth nothing.
    pub(crate) fn open(
        &self,
        (sender, sequence, channel): (SenderId, u32, &Channel),
        sealed: &mut [u8],
        lax: Lax,
    ) -> Option<usize> {
        let Cipher::Seals(key) = &self.0.cipher else { return None };
        let aad = if lax.any_channel { Bound::default() } else { self.bound(channel) };
        let nonce = Nonce::assume_unique_for_key(self.nonce(sender, sequence));
        if lax.anything {
            // A second sealing takes the first one's key stream off again.
            let length = sealed.len().checked_sub(TAG_BYTES)?;
            let body = sealed.get_mut(..length)?;
            let _ = key.seal_in_place_separate_tag(nonce, Aad::from(aad.bytes()), body).ok()?;
            return Some(length);
        }
        key.open_in_place(nonce, Aad::from(aad.bytes()), sealed).ok().map(|plain| plain.len())
    }

    /// What the sealed content is bound to beside its key: the channel's name, a NUL behind it if
    /// messages are signed, and two if batches are. So nobody takes a signature for content, or
    /// content for a signature.
    fn bound(&self, channel: &Channel) -> Bound {
        let mut bound = Bound::default();
        let name = channel.as_bytes();
        bound.bytes.iter_mut().zip(name).for_each(|(to, from)| *to = *from);
        let nuls = match self.0.signing {
            Signing::Nobody => 0,
            Signing::Each => 1,
            Signing::Batches => 2,
        };
        bound.length = name.len().saturating_add(nuls);
        bound
    }

    /// How many hold the key.
    #[cfg(test)]
    pub(crate) fn holds(&self) -> usize {
        Arc::strong_count(&self.0)
    }
}

/// Names no secret.
impl core::fmt::Debug for DomainKey {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "DomainKey({} {:02x})", self.0.domain, self.0.tag)
    }
}

/// Which checks an opening leaves out; none outside of tests.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lax {
    pub(crate) anything: bool,
    pub(crate) any_channel: bool,
}

struct Bound {
    bytes: [u8; NAME_BYTES_MAX + 1],
    length: usize,
}

impl Default for Bound {
    fn default() -> Self {
        Self { bytes: [0; NAME_BYTES_MAX + 1], length: 0 }
    }
}

impl Bound {
    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

fn of(member: &Member) -> SenderId {
    member.sender
}

impl Cipher {
    fn new(domain: &Domain, material: &Material) -> Option<Self> {
        let key = material.key();
        Some(match (domain.is_of_names(), material.suite()) {
            (true, Suite::Aes128) => {
                Self::HidesAes(EncryptingKey::ctr(UnboundCipherKey::new(&AES_128, key).ok()?).ok()?)
            }
            (true, Suite::ChaCha20) => Self::HidesChaCha(Secret::new(key.try_into().ok()?)),
            (false, suite) => {
                let algorithm = match suite {
                    Suite::Aes128 => &AES_128_GCM,
                    Suite::ChaCha20 => &CHACHA20_POLY1305,
                };
                Self::Seals(LessSafeKey::new(UnboundKey::new(algorithm, key).ok()?))
            }
        })
    }
}
