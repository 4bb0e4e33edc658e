//! What nobody is to use by accident.

/// The word without which nothing of weak protection is made: [`crate::ts_rsa`], and RSA of 1024 bits. Who writes it has read why:
/// docs/protocol/signing.md, "TS-RSA, for study". For tests, benches and history; never for a group that anybody relies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForStudy;
