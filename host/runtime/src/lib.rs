//! folkmoot-runtime
