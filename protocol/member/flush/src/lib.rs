//! folkmoot-flush
