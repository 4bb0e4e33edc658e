//! folkmoot-admission
