//! folkmoot-group
