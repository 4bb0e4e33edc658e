//! folkmoot-ring
