//! The secured form.

mod confirmations;
mod epochs;
mod helper;
mod issuers;
mod liars;
mod patterns;
mod permits;
mod rights;
mod signatures;
mod wire;
