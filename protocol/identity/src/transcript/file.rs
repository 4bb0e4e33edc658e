//! A transcript as a file: how it travels outside the group. Member → anyone.
//!
//! ```text
//! file  = "folkmoot transcript v1" ‖ 00 ‖ version byte ‖ GroupId 32 ‖ count u32 ‖ (length u32 ‖ entry)*     big endian
//! order = by depth (steps from the first entry, on the longest way), then by EntryId
//! ```
//! Parents are less deep than their children, so they come first. One set of entries makes one
//! file, byte for byte, whoever writes it. The reader takes the file in pieces of any size, and
//! keeps no more than one entry and the last piece.

use super::Transcript;
use bytes::{Buf, Bytes, BytesMut};
use folkmoot_base::codec::{self, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{DecodeError, GroupId, limits};

/// First bytes of every transcript file.
pub const FILE_LABEL: &[u8] = b"folkmoot transcript v1\0";
/// Version byte, group, count.
const HEAD_BYTES: usize = 1 + 32 + 4;

/// Why bytes are not a transcript file. Nothing in them is signed by itself, so nobody is to blame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// `TRN-40` It does not begin like a transcript file.
    #[error("it is not a transcript file (TRN-40)")]
    WireLabel,
    /// `TRN-40` A version that this release does not read.
    #[error("the head of the file is malformed (TRN-40)")]
    WireHead(#[source] DecodeError),
    /// `TRN-41` No entries, or more than a transcript has.
    #[error("its number of entries is {0}; 1 to {most} are allowed (TRN-41)", most = limits::ENTRIES_MAX)]
    WireCount(u32),
    /// `TRN-41` It ends before the last of its entries does.
    #[error("it is cut short: {here} of {count} entries are there (TRN-41)")]
    WireShort {
        /// Entries that are complete.
        here: u32,
        /// Entries that the head announces.
        count: u32,
    },
    /// `TRN-41` More bytes follow the last entry.
    #[error("{0} bytes or more follow the last entry (TRN-41)")]
    WireLeftover(usize),
    /// `TRN-01` More bytes than any entry has.
    #[error("the entry has {0} bytes; at most {most} are allowed (TRN-01)", most = limits::ENTRY_BYTES_MAX)]
    WireTooLong(u32),
}

/// What a file says about itself before its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct Head {
    group: GroupId,
    count: u32,
}

/// Takes a transcript file apart, piece by piece. It checks the form, not the truth.
#[derive(Debug, Clone, Default)]
pub struct FileReader {
    head: Option<Head>,
    taken: u32,
    buffer: BytesMut,
}

impl FileReader {
    /// Hands in the next bytes. Take all entries out ([`Self::next_entry`]) before you hand in
    /// more: that bounds memory.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The group that the file names; `None` while the head is not complete.
    ///
    /// # Errors
    /// `TRN-40`, `TRN-41`.
    pub fn group(&mut self) -> Result<Option<GroupId>, FileError> {
        Ok(self.head()?.map(|head| head.group))
    }

    /// How many entries the file says it has; zero while the head is not complete.
    pub fn count(&self) -> u32 {
        self.head.map_or(0, |head| head.count)
    }

    /// The next entry's bytes; `None` if they are not all here yet, or that was the last.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn next_entry(&mut self) -> Result<Option<Bytes>, FileError> {
        let Some(head) = self.head()? else { return Ok(None) };
        if self.taken >= head.count {
            return match self.buffer.len() {
                0 => Ok(None),
                more => Err(FileError::WireLeftover(more)),
            };
        }
        let Some(length) = self.buffer.first_chunk().map(|length| u32::from_be_bytes(*length)) else {
            return Ok(None);
        };
        let bytes = usize::try_from(length).unwrap_or(usize::MAX);
        if bytes > limits::ENTRY_BYTES_MAX {
            return Err(FileError::WireTooLong(length));
        }
        if self.buffer.len() < bytes.saturating_add(4) {
            return Ok(None);
        }
        self.buffer.advance(4);
        self.taken = self.taken.saturating_add(1);
        // A copy: the entry is kept, the buffer is not.
        Ok(Some(Bytes::copy_from_slice(&self.buffer.split_to(bytes))))
    }

    /// Whether everything that the head announces came; call it when no more bytes come.
    ///
    /// # Errors
    /// `TRN-40`, `TRN-41`.
    pub fn finish(&mut self) -> Result<(), FileError> {
        let head = self.head()?.ok_or(FileError::WireLabel)?;
        match (self.taken == head.count, self.buffer.len()) {
            (true, 0) => Ok(()),
            (true, more) => Err(FileError::WireLeftover(more)),
            (false, _) => Err(FileError::WireShort { here: self.taken, count: head.count }),
        }
    }

    fn head(&mut self) -> Result<Option<Head>, FileError> {
        if self.head.is_some() {
            return Ok(self.head);
        }
        let label = self.buffer.len().min(FILE_LABEL.len());
        if self.buffer.get(..label) != FILE_LABEL.get(..label) {
            return Err(FileError::WireLabel);
        }
        let Some(bytes) = self.buffer.get(FILE_LABEL.len()..FILE_LABEL.len() + HEAD_BYTES) else {
            return Ok(None);
        };
        let head: Head = codec::decode(bytes).map_err(FileError::WireHead)?;
        if !(1..=limits::ENTRIES_MAX).contains(&usize::try_from(head.count).unwrap_or(usize::MAX)) {
            return Err(FileError::WireCount(head.count));
        }
        self.buffer.advance(FILE_LABEL.len() + HEAD_BYTES);
        self.head = Some(head);
        Ok(self.head)
    }
}

impl Transcript {
    /// This transcript as a file, in pieces to be written one after another.
    pub fn file(&self) -> impl Iterator<Item = Bytes> {
        let entries: Vec<Bytes> = self.graph.placed().into_iter().cloned().collect();
        pieces(self.group(), entries)
    }

    /// A file of these entries in this order, right or wrong: to try a reader with.
    pub fn file_of(group: GroupId, entries: &[Bytes]) -> Vec<u8> {
        pieces(group, entries.to_vec()).flatten().collect()
    }

    /// The entries of a file, in its order. It checks the form, not the truth ([`super::Audit`]).
    ///
    /// # Errors
    /// [`FileError`].
    pub fn entries_of(file: &[u8]) -> Result<(GroupId, Vec<Bytes>), FileError> {
        let mut reader = FileReader::default();
        reader.push(file);
        let mut entries = Vec::new();
        while let Some(entry) = reader.next_entry()? {
            entries.push(entry);
        }
        reader.finish()?;
        let group = reader.group()?.ok_or(FileError::WireLabel)?;
        Ok((group, entries))
    }
}

fn pieces(group: GroupId, entries: Vec<Bytes>) -> impl Iterator<Item = Bytes> {
    let count = u32::try_from(entries.len()).unwrap_or(u32::MAX);
    let head = [FILE_LABEL, &codec::encode(&Head { group, count })].concat();
    let framed = entries.into_iter().flat_map(|entry| {
        let length = u32::try_from(entry.len()).unwrap_or(u32::MAX).to_be_bytes();
        [Bytes::copy_from_slice(&length), entry]
    });
    std::iter::once(Bytes::from(head)).chain(framed)
}
