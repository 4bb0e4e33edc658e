//! Names of channels: 1 to 63 bytes, none of them NUL.

/// Longest name of a channel.
pub const CHANNEL_BYTES_MAX: usize = 63;

/// The name of a channel. LCM does not say what the bytes mean; programs use ASCII.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Channel {
    /// The name, and zeros after it: so two names are equal if these are.
    bytes: [u8; CHANNEL_BYTES_MAX],
    length: u8,
}

/// Why bytes are no name of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// There are none, or too many.
    #[error("a channel's name has 1 to {CHANNEL_BYTES_MAX} bytes; this one has {0}")]
    Length(usize),
    /// One is NUL, which ends a name on the wire.
    #[error("a channel's name has no NUL byte in it")]
    Nul,
}

impl Channel {
    /// The channel of this name.
    ///
    /// # Errors
    /// [`ChannelError`].
    pub fn new(name: impl AsRef<[u8]>) -> Result<Self, ChannelError> {
        let name = name.as_ref();
        if name.contains(&0) {
            return Err(ChannelError::Nul);
        }
        let mut bytes = [0; CHANNEL_BYTES_MAX];
        match bytes.get_mut(..name.len()) {
            Some(place) if !name.is_empty() => place.copy_from_slice(name),
            _ => return Err(ChannelError::Length(name.len())),
        }
        let length = u8::try_from(name.len()).map_err(|_| ChannelError::Length(name.len()))?;
        Ok(Self { bytes, length })
    }

    /// The bytes of the name.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or_default()
    }

    /// The name with the NUL that ends it on the wire, and how many bytes these are.
    pub(crate) fn with_nul(&self) -> ([u8; CHANNEL_BYTES_MAX + 1], usize) {
        let mut name = [0; CHANNEL_BYTES_MAX + 1];
        name.iter_mut().zip(self.bytes).for_each(|(to, from)| *to = from);
        (name, usize::from(self.length) + 1)
    }

    /// The name as text. Bytes that are not UTF-8 are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(self.as_bytes()).into_owned()
    }
}

impl core::fmt::Debug for Channel {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "{:?}", self.text())
    }
}
