//! What errors say to people.

/// An error with its causes, in one line: "the decision does not stand: no fork to that line is
/// known here (LINE-74)".
pub fn whole(error: &dyn core::error::Error) -> String {
    let causes = core::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
