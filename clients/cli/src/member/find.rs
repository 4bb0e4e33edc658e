//! What a person means by a word: a name, the first digits of an id, or the whole id.

use crate::exit::{Exit, Failure};
use crate::show::{harmless, short};
use folkmoot_identity::names::{ALIKE, is_marked, look_alike, made, unmarked};
use unicode_normalization::UnicodeNormalization as _;

/// Digits of an id that may stand for it.
const DIGITS_MIN: usize = 4;
/// Digits of a whole id.
const DIGITS_ALL: usize = 64;
/// Choices listed in an answer.
const LISTED_MAX: usize = 8;

/// One thing that may be meant.
#[derive(Debug, Clone)]
pub(crate) struct Choice<T> {
    /// What it is, for the list of an answer: "request", "proposal", a state.
    pub(crate) kind: String,
    /// What it is called; strangers choose their names.
    pub(crate) name: String,
    /// Its id, in hexadecimal.
    pub(crate) id: String,
    pub(crate) value: T,
}

impl<T> Choice<T> {
    /// A whole id is nothing but an id, lest somebody be called like another's.
    fn is_meant(&self, text: &str, digits: &str) -> bool {
        let whole = digits.len() == DIGITS_ALL && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        // Whose request it is can be said by its key, too. A proposal takes its own digits: who it
        // expels is not who is wanted.
        let of_key = self.name.rsplit_once(ALIKE).filter(|_| self.kind == "request").map(|(_, key)| key);
        let begins = |id: &str| digits.len() >= DIGITS_MIN && id.starts_with(digits);
        begins(&self.id) || of_key.is_some_and(begins) || (!whole && self.name == text)
    }

    /// Whether it has a mark, and its name may be taken for what was typed.
    fn is_like(&self, text: &str) -> bool {
        is_marked(&self.name) && look_alike(unmarked(&self.name), text)
    }

    fn listed(&self) -> String {
        format!("{} {:?} {}", self.kind, harmless(&self.name), short(&self.id))
    }
}

/// The one choice that `text` means; `nothing` says what there is none of, and what to look at.
pub(crate) fn find<T>(text: &str, choices: Vec<Choice<T>>, nothing: &str) -> Result<Choice<T>, Failure> {
    let digits = text.to_ascii_lowercase();
    // Keyboards and systems spell ë in two ways; names have one form.
    let spelled = spelled(text);
    let open = list(choices.iter());
    let (mut meant, others): (Vec<_>, Vec<_>) = choices
        .into_iter()
        .partition(|choice| choice.is_meant(text, &digits) || choice.is_meant(&spelled, &digits));
    // A name that looks like another's is no answer by itself, even if one alone fits.
    if meant.is_empty() {
        let like: Vec<Choice<T>> = others.into_iter().filter(|choice| choice.is_like(text)).collect();
        if !like.is_empty() {
            let hint = format!(
                "{text:?} looks like the name of more than one: {}. Give the name with its mark, or the first digits of the one \
                 you mean",
                list(like.iter())
            );
            return Err(Failure::new(Exit::Usage, hint));
        }
    }
    if meant.len() > 1 {
        let hint = format!(
            "{text:?} matches more than one: {}. Give the first digits of the one you mean",
            list(meant.iter())
        );
        return Err(Failure::new(Exit::Usage, hint));
    }
    meant.pop().ok_or_else(|| {
        let open = if open.is_empty() { String::new() } else { format!(". Known here: {open}") };
        Failure::new(Exit::No, format!("{nothing} {text:?}{open}"))
    })
}

/// A word in the form that names have; of what can be no name, in the one that accents have.
pub(crate) fn spelled(text: &str) -> String {
    made(text).unwrap_or_else(|_| text.nfc().collect())
}

fn list<'a, T: 'a>(choices: impl Iterator<Item = &'a Choice<T>>) -> String {
    let mut all: Vec<String> = choices.map(Choice::listed).collect();
    let more = all.len().saturating_sub(LISTED_MAX);
    all.truncate(LISTED_MAX);
    if more > 0 {
        all.push(format!("{more} more"));
    }
    all.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(kind: &'static str, name: &str, id: &str) -> Choice<&'static str> {
        let id = id.repeat(DIGITS_ALL).get(..DIGITS_ALL).unwrap_or_default().to_owned();
        Choice { kind: kind.into(), name: name.into(), id, value: kind }
    }

    fn look(text: &str, choices: &[Choice<&'static str>]) -> Result<&'static str, Failure> {
        find(text, choices.to_vec(), "nothing is called").map(|found| found.value)
    }

    #[test]
    fn each_kind_by_name_and_by_first_digits() {
        let open = [
            choice("request", "dora", "a1"),
            choice("expulsion", "expel dora", "b2"),
            choice("change", "set threshold = 3 in the charter", "c3"),
        ];
        for one in &open {
            assert_eq!(look(&one.name, &open), Ok(one.value));
            assert_eq!(look(&one.id[..4], &open), Ok(one.value));
            assert_eq!(look(&one.id.to_uppercase(), &open), Ok(one.value));
        }
        assert_eq!(look("a1a", &open).unwrap_err().exit, Exit::No, "three digits are too few");
    }

    #[test]
    fn a_request_is_meant_by_the_digits_of_its_key_and_a_proposal_is_not() {
        let open = [choice("request", "cleo≈2d212812", "a1"), choice("proposal", "expel ben≈5f5f7070", "b2")];
        assert_eq!(look("2D21", &open), Ok("request"));
        assert_eq!(look("2d2", &open).unwrap_err().exit, Exit::No, "three digits are too few");
        assert_eq!(look("5f5f7070", &open).unwrap_err().exit, Exit::No);
        assert_eq!(
            look("cleo", &open).unwrap_err().exit,
            Exit::Usage,
            "a marked name is no answer by itself"
        );
    }

    #[test]
    fn a_name_is_found_however_its_letters_are_spelled() {
        let open = [choice("request", "zo\u{eb}", "a1"), choice("expulsion", "expel zo\u{eb}", "b2")];
        let role = choice("change", "set roles.zo\u{eb} = none in the charter", "c3");
        assert_eq!(look("set roles.zoe\u{308} = none in the charter", &[role]), Ok("change"));
        for typed in ["zo\u{eb}", "zoe\u{308}"] {
            assert_eq!(look(typed, &open), Ok("request"));
            assert_eq!(look(&format!("expel {typed}"), &open), Ok("expulsion"));
        }
        assert_eq!(look("zoe", &open).unwrap_err().exit, Exit::No);
    }

    #[test]
    fn an_ambiguous_word_is_refused_with_a_list() {
        let open = [choice("request", "dora", "a1"), choice("request", "dora", "b2")];
        let refused = look("dora", &open).unwrap_err();
        assert_eq!(refused.exit, Exit::Usage);
        assert!(refused.text.contains(r#"request "dora" a1a1a1a1, request "dora" b2b2b2b2"#), "{refused}");
        assert_eq!(look("b2b2", &open), Ok("request"));
    }

    #[test]
    fn a_name_with_a_mark_is_no_answer_without_its_digits() {
        let open = [choice("member", "anna≈a1a1a1a1", "a1"), choice("member", "dora", "b2")];
        for typed in ["anna", "Anna", "аnna", "an\u{200d}na"] {
            let refused = look(typed, &open).unwrap_err();
            assert_eq!(refused.exit, Exit::Usage, "{typed}");
            assert!(refused.text.contains("\"anna≈a1a1a1a1\" a1a1a1a1"), "{refused}");
        }
        assert_eq!(look("anna≈a1a1a1a1", &open), Ok("member"));
        assert_eq!(look("a1a1", &open), Ok("member"));
        let open = [choice("proposal", "expel anna≈a1a1a1a1", "c3")];
        assert_eq!(look("expel anna", &open).unwrap_err().exit, Exit::Usage);
        assert_eq!(look("ben", &open).unwrap_err().exit, Exit::No);
    }

    #[test]
    fn who_is_called_like_a_proposal_or_an_id_decides_nothing() {
        let proposal = choice("expulsion", "expel ben", "b2");
        let open = [choice("request", "expel ben", "a1"), proposal.clone()];
        assert_eq!(look("expel ben", &open).unwrap_err().exit, Exit::Usage);
        let open = [choice("request", &proposal.id, "a1"), choice("request", "b2b2", "c3"), proposal.clone()];
        assert_eq!(look(&proposal.id, &open), Ok("expulsion"));
        assert_eq!(look("b2b2", &open).unwrap_err().exit, Exit::Usage);
    }

    #[test]
    fn what_is_open_is_told_to_whoever_missed_it_and_long_lists_end() {
        let open: Vec<_> = (0..20).map(|_| choice("request", "\u{1b}[2J", "a1")).collect();
        let refused = look("dora", &open).unwrap_err();
        assert_eq!(refused.exit, Exit::No);
        assert!(
            refused.text.contains("Known here: request") && refused.text.ends_with("12 more"),
            "{refused}"
        );
        assert!(!refused.text.contains('\u{1b}'));
        assert_eq!(look("dora", &[]).unwrap_err().text, r#"nothing is called "dora""#);
    }
}
