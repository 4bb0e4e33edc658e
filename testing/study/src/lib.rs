//! Schemes as their papers have them, to be studied, measured and counted. No group uses them.
//! Production code neither calls nor names what is here, except for the name `ts-rsa`: a charter
//! that has it is refused.
//!
//! ```text
//! ts_rsa   threshold RSA over Z_N (2001)              insecure, each flaw shown by a test; beside it: shoup of folkmoot-signing
//! ckd      centralised key distribution in exponents  for the published counts; groups run ckd of folkmoot-agreement
//! ```

pub mod ckd;
pub mod ts_rsa;
