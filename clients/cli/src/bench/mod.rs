//! `folkmoot bench`: what things cost, measured here and now.

mod counts;
mod ring;

pub(crate) use counts::counts;
pub(crate) use ring::ring;
