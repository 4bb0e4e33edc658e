//! Key trees: the common part of TGDH and STR.
//!
//! ```text
//!            K(0,6) ──> the secret           a leaf's key is its party's share, drawn
//!           /      \                         K(pair) = BK(left)^K(right) = BK(right)^K(left)
//!      K(0,2)       K(3,6)                   BK = g^K is told to all, but never the root's
//!      /    \       /    \                   a key becomes an exponent by [`PrimeGroup::to_scalar`]
//!     0     ...   ...     6                  a party knows the keys on its way up, and every BK
//! ```
//! A change takes parties out and puts trees together; some blinded keys are missing afterwards.
//! [`turns`] says, from the tree alone, whose turn it is to tell which of them, and does so until
//! none is missing. This one routine serves every change.
//!
//! The key of a node is known to the parties at the leaves below it now, and to nobody else. Taking
//! a party out forgets every key that it knew; what is computed in its place is made of keys that
//! it did not know. One share is new in every side (the forms say which), so no root's key comes
//! twice and no old one stays as a part of a new tree.
//! [`PrimeGroup::to_scalar`]: crate::PrimeGroup::to_scalar

mod form;
mod node;
mod own;
mod path;
mod read;
mod run;
mod turns;

pub(crate) use form::Form;
pub(crate) use node::{Kind, Node};
pub(crate) use read::{Reader, write};
pub(crate) use run::{Run, TREE};
