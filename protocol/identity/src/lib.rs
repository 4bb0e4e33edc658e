//! folkmoot-identity
