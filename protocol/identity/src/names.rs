//! Names of people and devices: which anybody may have, and which look like another's.
//!
//! ```text
//! "anna"          --made--> "anna"                 "an<U+200D>na", "anna, ben", "   " --made--> refused
//! anna, аnna      --told--> "anna≈c7836d03", "аnna≈30b1f2c4"         the digits are the key's
//! ```
//! A name is its holder's choice and proves nothing. Names follow RFC 8265 (PRECIS,
//! UsernameCasePreserved), with less of ASCII: no sign that stands between names in a list; and
//! with few combining marks on a letter. Nobody founds a group, asks or comes in under another
//! name. An identity certificate may have one: it says who, not whether in. Names look alike if
//! their skeletons (Unicode UTS 39) are equal, whatever their case.

use crate::envelope::check_name;
use core::fmt::Write as _;
use folkmoot_base::MemberId;
use precis_core::Error;
use precis_core::profile::PrecisFastInvocation as _;
use precis_profiles::UsernameCasePreserved;
use std::collections::{BTreeMap, BTreeSet};
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;

/// Stands between a name that looks like another's and the first digits of its key. No name that
/// was made by these rules has it.
pub const ALIKE: char = '≈';
/// So many digits at the least.
const DIGITS: usize = 8;
/// What a name may have of ASCII besides letters and digits.
const SIGNS: &str = "-._'@+";
/// So many combining marks may stand on a letter: more of them cover what is around it.
const MARKS_MAX: usize = 4;
/// In place of what cannot be shown.
const NOT_SHOWN: char = '\u{fffd}';

/// Why a name is not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Its length, or a control character (ID-01).
    #[error("{0}")]
    Form(&'static str),
    /// It begins or ends with a space, or has two in a row.
    #[error("single spaces may stand between words, and nowhere else")]
    Space,
    /// A character that no name has.
    #[error("a name has letters, digits and the signs {SIGNS} only, and this one has {0}")]
    Character(String),
    /// Combining marks stand on no letter, or cover what is around one.
    #[error("each letter has at most {MARKS_MAX} combining marks, and none stands before the first letter")]
    Marks,
    /// Writing directions are mixed in a way that would be shown out of order.
    #[error("it mixes writing directions so that it would be shown out of order")]
    Direction,
    /// It is written in another form than the one in which names are compared.
    #[error("it is not in the one form of names; that is {0:?}")]
    Spelling(String),
}

/// `ID-90`: the one form of a name that somebody wants to go by.
///
/// # Errors
/// Why nobody may be called so.
pub fn made(name: &str) -> Result<String, NameError> {
    check_name(name).map_err(NameError::Form)?;
    if name.split(' ').any(str::is_empty) {
        return Err(NameError::Space);
    }
    let words: Vec<String> = name.split(' ').map(word).collect::<Result<_, _>>()?;
    let whole = words.join(" ");
    check_name(&whole).map_err(NameError::Form)?;
    Ok(whole)
}

/// `ID-90`: whether a name is in the one form that names have.
///
/// # Errors
/// Why it is not.
pub fn is_made(name: &str) -> Result<(), NameError> {
    let made = made(name)?;
    if made == name { Ok(()) } else { Err(NameError::Spelling(made)) }
}

fn word(word: &str) -> Result<String, NameError> {
    let made = UsernameCasePreserved::enforce(word).map_err(|error| match error {
        Error::BadCodepoint(info) => NameError::Character(of_code(info.cp)),
        Error::Invalid | Error::Unexpected(_) => NameError::Direction,
    })?;
    let other = |c: &char| c.is_ascii() && !c.is_ascii_alphanumeric() && !SIGNS.contains(*c);
    match made.chars().find(|c| other(c) || is_hidden(*c)) {
        Some(c) => Err(NameError::Character(of_code(u32::from(c)))),
        None if has_loose_marks(&made) => Err(NameError::Marks),
        None => Ok(made.into_owned()),
    }
}

/// Whether a combining mark stands on no letter, or one more than there may be on a letter.
fn has_loose_marks(word: &str) -> bool {
    // Before the first letter there is room for none.
    let mut marks = MARKS_MAX;
    word.chars().any(|c| {
        marks = if is_combining_mark(c) { marks.saturating_add(1) } else { 0 };
        marks > MARKS_MAX
    })
}

/// `"U+200D"`; with the character itself if it can be seen.
fn of_code(code: u32) -> String {
    let seen = char::from_u32(code).filter(|c| !c.is_control() && !c.is_whitespace() && !is_hidden(*c));
    let mut text = format!("U+{code:04X}");
    if let Some(c) = seen {
        let _ = write!(text, " ({c})");
    }
    text
}

/// Text that somebody chose, with what cannot be seen, moves a terminal's cursor or turns the
/// direction of writing replaced.
pub fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || is_hidden(c) { NOT_SHOWN } else { c }).collect()
}

/// Whether a character shows nothing, or changes how others are shown.
fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// What a name looks like, in capitals and in small letters. Names that share one of these look
/// alike.
fn looks(name: &str) -> BTreeSet<String> {
    let shows = |c: &char| !c.is_control() && !is_hidden(*c) && *c != NOT_SHOWN;
    let seen: String = name.chars().filter(shows).collect();
    let seen = seen.split_whitespace().collect::<Vec<_>>().join(" ");
    let small = seen.to_lowercase();
    [seen, small].iter().map(|text| skeleton(text).collect::<String>().to_lowercase()).collect()
}

/// `ID-91`: what each of these people is called in words for people and for programs. A name that
/// looks like another's here, or that nobody may be given, has a mark and as many digits of its key
/// as tell it from the others.
pub fn told<'a>(people: impl IntoIterator<Item = (MemberId, &'a str)>) -> BTreeMap<MemberId, String> {
    let people: BTreeMap<MemberId, &str> = people.into_iter().collect();
    let mut alike: BTreeMap<String, BTreeSet<MemberId>> = BTreeMap::new();
    for (member, name) in &people {
        for look in looks(name) {
            alike.entry(look).or_default().insert(*member);
        }
    }
    let mut marked: BTreeSet<MemberId> =
        alike.into_values().filter(|holders| holders.len() > 1).flatten().collect();
    marked.extend(people.iter().filter(|(_, name)| is_made(name).is_err()).map(|(member, _)| *member));
    let digits = digits(&marked);
    let one = |(member, name): (MemberId, &str)| {
        let name = visible(name).replace(ALIKE, &NOT_SHOWN.to_string());
        let name = match marked.contains(&member) {
            true => {
                format!("{}{ALIKE}{}", name.trim(), member.hex().chars().take(digits).collect::<String>())
            }
            false => name,
        };
        (member, name)
    };
    people.into_iter().map(one).collect()
}

/// Keys that are told apart from those of members.
#[derive(Debug, Clone, Copy)]
pub struct Apart<'a> {
    /// Former keys of people, of each the key that has its place now.
    pub former: &'a BTreeMap<MemberId, MemberId>,
    /// Keys for which nobody asks for admission any more.
    pub unasked: &'a BTreeSet<MemberId>,
    /// Members who are none any more.
    pub gone: &'a BTreeSet<MemberId>,
    /// Keys for which somebody asks for admission.
    pub asking: &'a BTreeSet<MemberId>,
}

/// `ID-89`: the same, where some keys are no member's. Former keys and those that nobody asks for
/// are told as what they are, always with a mark of their own, and make nobody's name look like
/// another's. Who is gone marks only those who ask to come in: a member may come back with
/// another key, and the people who voted for that know who it is.
pub fn told_apart<'a>(
    people: impl IntoIterator<Item = (MemberId, &'a str)>,
    apart: Apart<'_>,
) -> BTreeMap<MemberId, String> {
    let Apart { former, unasked, gone, asking } = apart;
    let people: BTreeMap<MemberId, &str> = people.into_iter().collect();
    let apart: BTreeSet<MemberId> = former.keys().chain(unasked).copied().collect();
    let is_here = |member: &MemberId| !apart.contains(member);
    let list = |keep: &dyn Fn(&MemberId) -> bool| {
        told(people.iter().filter(|(member, _)| keep(member)).map(|(member, name)| (*member, *name)))
    };
    let mut all = list(&|member| is_here(member) && !gone.contains(member));
    let with_gone = list(&is_here);
    for (member, name) in with_gone {
        if gone.contains(&member) {
            let what = if is_marked(&name) { " (no longer a member)" } else { "" };
            all.insert(member, name + what);
        } else if asking.contains(&member) {
            all.insert(member, name);
        }
    }
    let digits = digits(&apart);
    let mut named: Vec<(MemberId, String)> = Vec::new();
    for member in apart {
        let own = people.get(&member).map(|name| visible(name).replace(ALIKE, &NOT_SHOWN.to_string()));
        let now = former.get(&member);
        let by_now = now.and_then(|now| all.get(now)).map(|name| unmarked(name).to_owned());
        let Some(name) = by_now.or(own) else { continue };
        let key: String = member.hex().chars().take(digits).collect();
        let what = if now.is_some() { "former key" } else { "not admitted" };
        named.push((member, format!("{}{ALIKE}{key} ({what})", name.trim())));
    }
    all.extend(named);
    all
}

/// How many digits tell these from each other. They are sorted, so neighbours are the nearest.
fn digits(marked: &BTreeSet<MemberId>) -> usize {
    let ids: Vec<String> = marked.iter().map(MemberId::hex).collect();
    let pairs = ids.iter().zip(ids.iter().skip(1));
    let common = pairs.map(|(a, b)| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count());
    common.max().map_or(DIGITS, |most| most.saturating_add(1).max(DIGITS))
}

/// Whether one name may be taken for the other.
pub fn look_alike(one: &str, other: &str) -> bool {
    !looks(one).is_disjoint(&looks(other))
}

/// What stands before the mark.
pub fn unmarked(told: &str) -> &str {
    told.split(ALIKE).next().unwrap_or(told)
}

/// Whether a name is told with a mark.
pub fn is_marked(told: &str) -> bool {
    told.contains(ALIKE)
}
