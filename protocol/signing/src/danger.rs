//! What nobody should use by accident.

/// Without this value nothing of weak protection is made: RSA of 1024 bits, and TS-RSA
/// (testing/study). Anyone who writes it has read why: docs/protocol/signing.md, "TS-RSA, for
/// study". For tests, benches and history; never for a group that anybody relies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForStudy;
