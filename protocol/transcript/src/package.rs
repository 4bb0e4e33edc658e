//! What leads somebody on that has been away for so long that the decisions after its head are not
//! kept any more, or a newcomer to an old group.
//!
//! ```text
//! "folkmoot skip v1" 00 | handovers[Standing] last(Standing) state(blob)
//! ```

use crate::proposal::Standing;
use crate::{ItemError, Taken, Transcript};
use bytes::Bytes;
use folkmoot_base::codec::{self, Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{DecodeError, Head};

/// What a package begins with; no item does.
pub const PACKAGE_LABEL: &[u8] = b"folkmoot skip v1\0";
/// Longest package, in bytes.
pub const PACKAGE_BYTES_MAX: usize = 6 * 1024 * 1024;

#[derive(Debug, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct Package {
    handovers: Vec<Standing>,
    last: Standing,
    state: Blob,
}

impl Transcript {
    /// Whether somebody at this head needs a package: the decision that follows it is not kept.
    pub fn has_left_behind(&self, head: &Head) -> bool {
        let next = head.number.saturating_add(1);
        head.number < self.state().head().number && !self.line().decisions().contains_key(&next)
    }

    /// The package for somebody at this head; `None` if it would be too long.
    pub fn package(&self, head: &Head) -> Option<Bytes> {
        let (handovers, last) = self.line().handovers_since(head.number)?;
        let state = Blob::from(self.state().encode());
        let package = codec::encode(&Package { handovers, last, state });
        let bytes = [PACKAGE_LABEL, &package].concat();
        (bytes.len() <= PACKAGE_BYTES_MAX).then(|| Bytes::from(bytes))
    }

    /// Goes on by a package: [`Self::skip`].
    ///
    /// # Errors
    /// [`ItemError`]; the transcript is then as it was.
    pub fn take_package(&mut self, bytes: &[u8]) -> Result<Taken, ItemError> {
        let body = bytes.strip_prefix(PACKAGE_LABEL).ok_or(DecodeError::Malformed)?;
        let package: Package = codec::decode_at_most(body, PACKAGE_BYTES_MAX)?;
        self.skip(&package.handovers, &package.last, &package.state.0)
    }
}
