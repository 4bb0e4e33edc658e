//! The first frame of each side: which versions of attach it speaks.
//!
//! A greeting is the same in all versions. Each side works out the version from both lists, so no
//! answer can choose a lower one, and who shares none can name both lists.

use super::FrameError;
use bytes::{BufMut as _, Bytes, BytesMut};
use folkmoot_base::codec::{self, TlsDeserializeBytes, TlsSerialize, TlsSize, Wire};
use folkmoot_base::{DecodeError, Versions};

/// The versions of attach that this release speaks.
pub const VERSIONS: Versions = Versions::of(&[1]);

/// Longest greeting, in bytes; a later one may have a little more behind what it has now, and is
/// refused by this release.
pub const GREETING_BYTES_MAX: usize = 64;

const HELLO: [u8; 16] = *b"folkmoot attach>";
const WELCOME: [u8; 16] = *b"folkmoot attach<";

#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct Greeting {
    label: [u8; 16],
    versions: Versions,
}

/// What a program says first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello {
    /// What it speaks.
    pub versions: Versions,
}

/// What a node answers, also if the two share no version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Welcome {
    /// What it speaks.
    pub versions: Versions,
}

impl Hello {
    /// Appends its frame.
    pub fn encode(self, out: &mut BytesMut) {
        put(Greeting { label: HELLO, versions: self.versions }, out);
    }

    /// Reads a frame, without its length.
    ///
    /// # Errors
    /// [`FrameError::TooLong`] and [`FrameError::Head`].
    pub fn decode(frame: &[u8]) -> Result<Self, FrameError> {
        read(frame, HELLO).map(|versions| Self { versions })
    }
}

impl Welcome {
    /// Appends its frame.
    pub fn encode(self, out: &mut BytesMut) {
        put(Greeting { label: WELCOME, versions: self.versions }, out);
    }

    /// Reads a frame, without its length.
    ///
    /// # Errors
    /// [`FrameError::TooLong`] and [`FrameError::Head`].
    pub fn decode(frame: &[u8]) -> Result<Self, FrameError> {
        read(frame, WELCOME).map(|versions| Self { versions })
    }
}

/// Both sides speak no version in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the other side speaks versions {theirs} of attach, and this side speaks {ours}")]
pub struct NoCommonVersion {
    /// What this side speaks.
    pub ours: Versions,
    /// What the other side speaks.
    pub theirs: Versions,
}

/// The version that two sides speak: the highest one that both list.
///
/// # Errors
/// [`NoCommonVersion`]: end the connection, after the node's [`Welcome`] has gone out.
pub fn agree(ours: Versions, theirs: Versions) -> Result<u8, NoCommonVersion> {
    ours.common(theirs).ok_or(NoCommonVersion { ours, theirs })
}

fn put(greeting: Greeting, out: &mut BytesMut) {
    let bytes: Bytes = codec::encode(&greeting).into();
    out.put_u32(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
    out.put(bytes);
}

fn read(frame: &[u8], label: [u8; 16]) -> Result<Versions, FrameError> {
    let greeting: Greeting = at_most(frame)?;
    if greeting.label == label { Ok(greeting.versions) } else { Err(DecodeError::Malformed.into()) }
}

fn at_most<T: Wire>(frame: &[u8]) -> Result<T, FrameError> {
    let (got, most) = (frame.len(), GREETING_BYTES_MAX);
    if got > most { Err(FrameError::TooLong { got, most }) } else { Ok(codec::decode(frame)?) }
}
