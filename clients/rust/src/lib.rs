//! folkmoot
