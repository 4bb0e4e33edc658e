//! `folkmoot bench`: what things cost, measured here and now.

mod admission;
mod alone;
pub(crate) mod args;
mod chart;
mod counts;
mod crew;
mod links;
mod live;
mod meter;
mod people;
mod price;
mod ring;
mod split;

use crate::bench::args::BenchKeying;
use crate::exit::Failure;
pub(crate) use admission::admission;
pub(crate) use links::links;
pub(crate) use ring::ring;

/// Counted without a network, or measured in the real stack.
pub(crate) async fn keying(options: &BenchKeying, json: bool) -> Result<(), Failure> {
    if options.counts { counts::counts(options, json) } else { live::live(options, json).await }
}
