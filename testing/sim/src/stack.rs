//! The shipped stacks behind the seam: one `Embedded { Node, Member }` for each life, with a tap in
//! attach.

mod actor;
mod carriers;
mod clerk;
mod company;
mod forger;
mod kind;
mod liar;
mod parts;
mod put_out;
mod scribe;
mod slander;
pub mod tap;
mod thief;
mod votes;
mod words;

pub(crate) use actor::Actor;
pub use company::{Company, Names};

use crate::machine::Cast;
use crate::schedule::Schedule;

/// The shipped stacks, cast for `schedule`.
pub fn company(schedule: &Schedule) -> Box<dyn Cast> {
    Box::new(Company::new(schedule))
}
