//! The types that several layers share: identifiers, views, services, time, entropy, secrets, the
//! encoding of messages, limits.
//!
//! Everything here is plain data. Nothing reads a clock, opens a socket, starts a thread or draws
//! randomness from the operating system. Time and randomness are arguments ([`Instant`],
//! [`UnixTime`], [`Entropy`]), and bytes to keep are an output ([`Persist`]).

mod bucket;
mod buffer;
pub mod codec;
pub mod danger;
mod entropy;
mod head;
mod hex;
mod host_name;
mod id;
mod indication;
mod lead;
pub mod limits;
mod locator;
mod pool;
mod refused;
pub mod sealing;
mod secret;
mod service;
mod signature;
pub mod store;
mod suite;
mod time;
mod train;
mod versions;
mod view;
mod whole;
mod word;

pub use bucket::Bucket;
pub use buffer::{Buffer, Framed};
pub use codec::{Blob, DecodeError};
pub use danger::{Danger, Mutant};
pub use entropy::{Entropy, draw};
pub use head::Head;
pub use hex::{hex, unhex};
pub use host_name::{HostName, HostNameError};
pub use id::{
    Digest, EntryId, GroupId, GroupName, MemberId, NameError, NodeId, Party, digest, digest_512, hmac_sha256,
};
pub use indication::{Indication, JoinRefusal};
pub use lead::{LEAD_BYTES_MAX, Lead};
pub use locator::{Host, Locator, LocatorError};
pub use pool::Pool;
pub use refused::{Fault, Refused, RefusedBy};
pub use sealing::{OpeningKey, Sealed};
pub use secret::Secret;
pub use service::Service;
pub use signature::{Algorithm, SIGNATURE_BYTES_MAX, SignatureBytes};
pub use store::{Persist, StoreKey};
pub use suite::{Cipher, Keying, ModuleName};
pub use time::{Instant, UnixTime};
pub use train::{Room, Train};
pub use versions::Versions;
pub use view::{Cause, ConfigurationId, ViewId};
pub use whole::whole;
#[cfg(feature = "danger")]
pub use word::ToySignatures;
pub use word::{Join, Proof, Said, Says, Signatures, WORD_LABEL, Word};
