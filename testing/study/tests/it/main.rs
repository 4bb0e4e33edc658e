//! What the published schemes promise, cost and give away.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]
// Helpers stand beside the tests of the crates that own them; not every one is needed here.
#![allow(unreachable_pub, dead_code)]

mod ckd;
#[path = "../../../../protocol/signing/tests/it/common/mod.rs"]
mod common;
#[path = "../../../../protocol/signing/tests/it/keys/mod.rs"]
mod keys;
mod kit;
#[path = "../../../../protocol/agreement/tests/it/common/mod.rs"]
mod toy;
mod ts_rsa;
mod ts_rsa_broken;
