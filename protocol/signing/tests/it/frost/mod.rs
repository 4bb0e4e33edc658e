//! The promise of FROST: any t sign and t − 1 cannot, whatever way the shares came; who lies is
//! named by all honest hands; old shares and new ones never fit; OpenSSL and RFC 9591 agree
//! (docs/protocol/signing.md).

mod forms;
mod keys;
mod openssl;
mod rfc9591;
mod signing;
mod table;
