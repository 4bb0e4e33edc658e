//! folkmoot-signing
