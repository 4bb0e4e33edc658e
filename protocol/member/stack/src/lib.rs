//! folkmoot-member
