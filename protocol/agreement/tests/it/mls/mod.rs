//! MLS as a module: runs of whole groups, the rules, what it costs, and that a run is a seed.

mod counts;
mod driver;
mod forge;
mod repeat;
mod rules;
mod runs;
