//! All that the demo takes from the rest of the program.

pub(super) use crate::args::{Demo, Identities, Scenario};
pub(super) use crate::children::{Burst, Member, Program, Shared, Workshop, burst_all, found, shared, until};
pub(super) use crate::control::{Faulty, PossibleView, Request, Sealed};
pub(super) use crate::exit::{Exit, Failure};
pub(super) use crate::member::robot;
pub(super) use crate::progress::Progress;
pub(super) use crate::show::{Paint, line, many_of, paint, short, table};
pub(super) use crate::values::Ordering;
pub(super) use folkmoot_base::hex;
