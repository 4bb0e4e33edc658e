//! What an authority needs from its host, besides what every member needs: its office on disk, the
//! file that carries it to a replica, and the log that replicas share.
//!
//! ```text
//! found --> STATE/member.sqlite, table "office"   the key that signs, the dealer's secret; sealed under the identity's key
//!      '--> STATE/authority.pem                   public: for the charter's founders
//! hand_over --> FILE (0600) --take_over--> the same office in a replica's folder, which has an identity of its own
//!
//! authority's member --Event::Log--> replicas --Command::Logged--> authority's member
//!                                       |
//!                     a folkmoot group of their own, and the table "log" of its state folder
//! ```
//! A member's process runs it, with the same engine, store and stacks (`folkmoot-runtime`). The
//! process acts as the authority if the charter names its identity and the folder holds an office.

mod error;
mod office;
mod public;
mod records;
pub mod replicas;

pub use error::AuthorityError;
pub use folkmoot_runtime::Office;
pub use office::{found, hand_over, keep, kept, public, take_over};
pub use public::{PUBLIC_FILE, Public};
pub use records::{Record, issued_by, records, take_log};
