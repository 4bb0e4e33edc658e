//! folkmoot-session
