//! folkmoot-node
