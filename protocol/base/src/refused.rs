//! Why an order was refused, for programs and for people.

use core::error::Error;
use core::fmt;

/// With whom it lies that an order was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The order: it names what is not there, or what cannot be. Another order may be accepted.
    Order,
    /// The member that was to carry it out: it is not ready, or may not do that.
    Member,
    /// The group: its rules, its limits, or what others have said.
    Group,
}

impl Fault {
    /// Its name in interfaces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Member => "member",
            Self::Group => "group",
        }
    }
}

/// What an error of a layer says of the order that it refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefusedBy {
    /// A name for programs, which stays the same: lower case, words joined by hyphens.
    pub code: &'static str,
    /// The rule of docs/protocol that refuses it, if one does: `ADM-32`.
    pub rule: Option<&'static str>,
    /// With whom it lies.
    pub fault: Fault,
}

impl RefusedBy {
    /// Refused by no numbered rule.
    pub const fn new(fault: Fault, code: &'static str) -> Self {
        Self { code, rule: None, fault }
    }

    /// Refused by this rule.
    pub const fn rule(fault: Fault, code: &'static str, rule: &'static str) -> Self {
        Self { code, rule: Some(rule), fault }
    }
}

/// An order was refused, and nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// What refuses it.
    pub by: RefusedBy,
    /// The reason with its causes, in one line, for a person.
    pub sentence: String,
    /// What that person can do about it, if that is not in the sentence.
    pub remedy: Option<&'static str>,
    /// Whether the same order would be accepted if its person insists.
    pub forcible: bool,
}

impl Refused {
    /// What `error` says, with its causes.
    pub fn new(by: RefusedBy, error: &dyn Error) -> Self {
        let sentence = crate::whole(error);
        debug_assert!(
            by.rule.map_or(!ends_in_rule(&error.to_string()), |rule| sentence.contains(rule)),
            "{by:?} and {sentence:?} differ"
        );
        Self { by, sentence, remedy: None, forcible: false }
    }
}

/// Whether a text ends as those of rules do.
fn ends_in_rule(text: &str) -> bool {
    text.ends_with(')') && text.rsplit('(').next().is_some_and(|last| last.contains('-') && last.len() <= 8)
}

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.sentence)?;
        self.remedy.map_or(Ok(()), |remedy| write!(out, ". {remedy}"))
    }
}

impl Error for Refused {}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    enum Wrong {
        #[error("too many are open (ADM-32)")]
        Many,
        #[error("it would be refused")]
        Cause(#[source] Box<Wrong>),
    }

    #[test]
    fn a_sentence_has_all_causes_and_ends_with_what_to_do() {
        let error = Wrong::Cause(Box::new(Wrong::Many));
        let refused = Refused::new(RefusedBy::rule(Fault::Group, "full", "ADM-32"), &error);
        assert_eq!(refused.to_string(), "it would be refused: too many are open (ADM-32)");
        let refused = Refused { remedy: Some("Wait"), ..refused };
        assert_eq!(refused.to_string(), "it would be refused: too many are open (ADM-32). Wait");
    }

    #[test]
    #[should_panic(expected = "differ")]
    fn a_ground_that_leaves_out_the_rule_of_its_sentence_is_found_out() {
        let _ = Refused::new(RefusedBy::new(Fault::Group, "full"), &Wrong::Many);
    }
}
