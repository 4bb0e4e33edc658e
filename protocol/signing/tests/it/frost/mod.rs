//! The promise of FROST: any t sign and t − 1 cannot, however the shares were made. All honest
//! signers name a liar. Old and new shares never fit together. OpenSSL and RFC 9591 agree
//! (docs/protocol/signing.md).

mod forms;
mod keys;
mod openssl;
mod repeats;
mod rfc9591;
mod signing;
pub mod table;
