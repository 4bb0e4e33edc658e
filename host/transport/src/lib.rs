//! folkmoot-transport
