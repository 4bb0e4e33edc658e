//! Schemes as their papers have them, to be studied, measured and counted. No group uses them:
//! production has neither a caller nor a name for what stands here, but for the name `ts-rsa`,
//! which a charter is refused for.
//!
//! ```text
//! ts_rsa   threshold RSA over Z_N (2001)              insecure, each flaw shown by a test; beside it: shoup of folkmoot-signing
//! ckd      centralised key distribution in exponents  for the published counts; groups run ckd of folkmoot-agreement
//! ```

pub mod ckd;
pub mod ts_rsa;
