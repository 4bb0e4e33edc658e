//! What tests with real processes share: the folder where all of them live, the program, one member
//! as a process.

pub(crate) mod actor;
pub(crate) mod commands;
pub(crate) mod draw;
pub(crate) mod foreign;
pub(crate) mod netcat;
pub(crate) mod openssl;
pub(crate) mod place;
pub(crate) mod program;
pub(crate) mod spaces;
pub(crate) mod typist;
