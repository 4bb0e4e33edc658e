//! folkmoot-agreement
