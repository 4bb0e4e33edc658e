//! Many shares, one key: agreement modules as steps, without a network.
//!
//! ```text
//!  plan, kept ──> begin ──> start ──> [Step::Send ...]           every step is multicast in one order to all parties,
//!                    │                                           the sender included; all see who is awaited
//!   ordered step ──> receive ──> [Step::Send ...]
//!                        └─────> [Step::Done(secret)]            the same secret at every party, known to nobody else
//!             keep ──> Kept, for the next run
//! ```
//! A [`Module`] is one run for one [`Plan`]: its parties, and what each brings from an earlier run
//! ([`Kept`]). It signs nothing, judges no view and knows no time: keying does. Whoever takes part
//! is a [`Party`](folkmoot_base::Party). Two programs of one member are two parties, with a share
//! each, and every place here that names a participant names its port too. Modules: [`gdh`]
//! (Cliques GDH), [`bd`] (Burmester–Desmedt), [`dutta_barua`], [`ckd`] (one makes the key for all),
//! [`tgdh`] (key trees), [`skinny`] (STR: key trees that are lists), `mls` (RFC 9420, behind the
//! feature of that name).

pub mod bd;
mod begin;
mod circle;
pub mod ckd;
pub mod dutta_barua;
mod error;
pub mod gdh;
mod kept;
#[cfg(feature = "mls")]
pub mod mls;
mod module;
mod plan;
mod prime;
pub mod skinny;
pub mod tgdh;
mod tree;

pub use begin::begin;
pub use error::AgreementError;
pub use folkmoot_base::ModuleName;
pub use folkmoot_groups::{PrimeGroup, Ristretto};
pub use kept::Kept;
pub use module::{Count, Module, Stage, Step};
pub use plan::{Origin, Plan};

use folkmoot_base as base;
