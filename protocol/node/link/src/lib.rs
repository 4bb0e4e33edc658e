//! folkmoot-link
