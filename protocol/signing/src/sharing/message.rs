//! The messages of sharing in bytes: version, kind, then numbers and elements, each in its one
//! encoding, and nothing after.

use crate::PrimeGroup;
use crate::base::{Digest, MemberId};
use zeroize::Zeroize;

/// Version of everything that this module writes; the first byte.
const VERSION: u8 = 1;

/// What a message is; the second byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Digest of an opening to come.
    Commit = 1,
    /// A dealer's commitments and proofs.
    Open = 2,
    /// A holder's numbers, from one dealer.
    Piece = 3,
    /// Who dealt wrongly.
    Accuse = 4,
    /// The numbers in dispute.
    Answer = 5,
    /// A helper's masks times the generator.
    Masks = 6,
    /// One mask.
    Mask = 7,
    /// A helper's masked part of a newcomer's share.
    Part = 8,
    /// A signer's masked product of k and a, proven.
    Product = 9,
    /// A signer's part of s, proven.
    Signed = 10,
    /// A [`super::Sharing`].
    Sharing = 16,
    /// A [`super::Share`].
    Share = 17,
    /// A key, whole, as its dealer keeps it.
    Secret = 18,
}

/// Writes one message.
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    /// Begins a message of `kind` with room for `room` bytes more, so that no secret is left behind
    /// by growing.
    pub(crate) fn new(kind: Kind, room: usize) -> Self {
        let mut bytes = Vec::with_capacity(room.saturating_add(2));
        bytes.extend_from_slice(&[VERSION, kind as u8]);
        Self(bytes)
    }

    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// A length of at most 65,535, which every list here keeps ([`crate::SIGNERS_MAX`]).
    pub(crate) fn length(self, length: usize) -> Self {
        self.bytes(&u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes())
    }

    pub(crate) fn scalar<G: PrimeGroup>(self, scalar: &G::Scalar) -> Self {
        let mut bytes = G::encode_scalar(scalar);
        let next = self.bytes(&bytes);
        bytes.zeroize();
        next
    }

    pub(crate) fn element<G: PrimeGroup>(self, element: &G::Element) -> Self {
        self.bytes(&G::encode(element))
    }

    /// A length, then the ids.
    pub(crate) fn members(self, members: &[MemberId]) -> Self {
        members.iter().fold(self.length(members.len()), |writer, member| writer.bytes(&member.0))
    }

    /// The group's name, so that no group reads another's.
    pub(crate) fn group<G: PrimeGroup>(self) -> Self {
        self.length(G::NAME.len()).bytes(G::NAME)
    }

    pub(crate) fn end(self) -> Vec<u8> {
        self.0
    }
}

/// Reads one message; every step gives none if the bytes are not what it asks for.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8], kind: Kind) -> Option<Self> {
        let mut reader = Self(bytes);
        (reader.take(2)? == [VERSION, kind as u8]).then_some(reader)
    }

    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(head)
    }

    pub(crate) fn length(&mut self) -> Option<usize> {
        let bytes: [u8; 2] = self.take(2)?.try_into().ok()?;
        Some(usize::from(u16::from_be_bytes(bytes)))
    }

    pub(crate) fn digest(&mut self) -> Option<Digest> {
        self.take(32)?.try_into().ok()
    }

    pub(crate) fn scalar<G: PrimeGroup>(&mut self) -> Option<G::Scalar> {
        G::decode_scalar(self.take(G::SCALAR_BYTES)?)
    }

    pub(crate) fn element<G: PrimeGroup>(&mut self) -> Option<G::Element> {
        G::decode(self.take(G::ELEMENT_BYTES)?)
    }

    pub(crate) fn elements<G: PrimeGroup>(&mut self, count: usize) -> Option<Vec<G::Element>> {
        (0..count).map(|_| self.element::<G>()).collect()
    }

    /// At most `most` ids, strictly ascending.
    pub(crate) fn members(&mut self, most: usize) -> Option<Vec<MemberId>> {
        let count = self.length().filter(|count| *count <= most)?;
        let members = (0..count).map(|_| self.digest().map(MemberId)).collect::<Option<Vec<_>>>()?;
        members.is_sorted_by(|left, right| left < right).then_some(members)
    }

    pub(crate) fn group<G: PrimeGroup>(&mut self) -> Option<()> {
        let length = self.length()?;
        (self.take(length)? == G::NAME).then_some(())
    }

    pub(crate) fn end(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}
