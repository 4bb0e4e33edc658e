//! folkmoot-keying
