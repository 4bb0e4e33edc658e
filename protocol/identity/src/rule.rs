//! A rule over roles: how many voters of which role are needed.
//!
//! ```text
//! rule = term { "or" term }        term = part { "and" part }        part = NUMBER "of" ROLE | "(" rule ")"
//!
//! 2 of operators and 1 of security              "and" binds closer than "or"
//! 1 of owners or (3 of all and 1 of security)   "all" is every voter, in whatever role
//! ```
//! An additional yes never makes a rule fail that held. A member with two roles counts in both.
//! Bounds: [`RULE_BYTES_MAX`], [`PARTS_MAX`] parts, brackets nested [`DEPTH_MAX`] deep.

use folkmoot_base::MemberId;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Longest rule, in bytes.
pub const RULE_BYTES_MAX: usize = 512;
/// Most parts of the form "2 of operators" in a rule.
pub const PARTS_MAX: usize = 32;
/// Deepest nesting of brackets.
pub const DEPTH_MAX: usize = 8;
/// Longest name of a role, in bytes.
pub const ROLE_BYTES_MAX: usize = 32;
/// Most voters that a part asks for.
const COUNT_MAX: u32 = 256;
/// Stands for every voter.
const ALL: &str = "all";

/// Which keys have which role.
pub type Roles = BTreeMap<String, BTreeSet<MemberId>>;

/// Where a rule's text goes wrong, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("at character {at}: {what}")]
pub struct RuleError {
    /// Which character, from 1; one past the end if something is missing there.
    pub at: usize,
    /// What is wrong there.
    pub what: &'static str,
}

/// A rule, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule(Node);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Part { count: u32, role: String },
    And(Vec<Node>),
    Or(Vec<Node>),
}

/// Whether this can be the name of a role: a lower-case letter, then such letters, digits and
/// hyphens, and not a keyword of rules.
pub(crate) fn is_role(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.len() <= ROLE_BYTES_MAX
        && name.chars().all(plain)
        && !["and", "or", "of", ALL].contains(&name)
}

impl Rule {
    /// Reads a rule.
    ///
    /// # Errors
    /// [`RuleError`] points at the place.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        if text.len() > RULE_BYTES_MAX {
            return Err(RuleError { at: RULE_BYTES_MAX + 1, what: "a rule has at most 512 bytes" });
        }
        let words = words(text);
        let end = text.chars().count() + 1;
        let mut reader = Reader { words: &words, next: 0, end, parts: 0, depth: 0 };
        let node = reader.either()?;
        match reader.peek() {
            None => Ok(Self(node)),
            Some(_) => reader.fail("\"and\", \"or\" or the end is expected here"),
        }
    }

    /// Whether the voters in `yes` satisfy it.
    pub fn holds(&self, yes: &BTreeSet<MemberId>, roles: &Roles) -> bool {
        self.0.holds(yes, roles)
    }

    /// The fewest voters that could satisfy it, if each had every role.
    pub fn least(&self) -> usize {
        self.0.least()
    }

    /// The first role that it names and `roles` does not have.
    pub(crate) fn unknown_role(&self, roles: &Roles) -> Option<&str> {
        self.0.roles().into_iter().find(|role| *role != ALL && !roles.contains_key(*role))
    }

    /// The rule, with how many of each part are in `yes`: "2 of operators (has 1)".
    pub fn tally(&self, yes: &BTreeSet<MemberId>, roles: &Roles) -> String {
        self.0.text(&|role| format!(" (has {})", have(role, yes, roles)))
    }
}

/// The one spelling of the rule: single blanks, no redundant brackets.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text(&|_| String::new()))
    }
}

fn have(role: &str, yes: &BTreeSet<MemberId>, roles: &Roles) -> usize {
    match roles.get(role) {
        _ if role == ALL => yes.len(),
        Some(holders) => yes.intersection(holders).count(),
        None => 0,
    }
}

impl Node {
    /// The parts of an Or; of anything else, itself.
    fn parts_of_or(self) -> Vec<Node> {
        if let Self::Or(parts) = self { parts } else { vec![self] }
    }

    /// The parts of an And; of anything else, itself.
    fn parts_of_and(self) -> Vec<Node> {
        if let Self::And(parts) = self { parts } else { vec![self] }
    }

    fn holds(&self, yes: &BTreeSet<MemberId>, roles: &Roles) -> bool {
        match self {
            Self::Part { count, role } => {
                have(role, yes, roles) >= usize::try_from(*count).unwrap_or(usize::MAX)
            }
            Self::And(all) => all.iter().all(|node| node.holds(yes, roles)),
            Self::Or(any) => any.iter().any(|node| node.holds(yes, roles)),
        }
    }

    fn least(&self) -> usize {
        match self {
            Self::Part { count, .. } => usize::try_from(*count).unwrap_or(usize::MAX),
            Self::And(all) => all.iter().map(Self::least).max().unwrap_or_default(),
            Self::Or(any) => any.iter().map(Self::least).min().unwrap_or_default(),
        }
    }

    fn roles(&self) -> Vec<&str> {
        match self {
            Self::Part { role, .. } => vec![role],
            Self::And(nodes) | Self::Or(nodes) => nodes.iter().flat_map(Self::roles).collect(),
        }
    }

    fn text(&self, after: &dyn Fn(&str) -> String) -> String {
        let join = |nodes: &[Self], word: &str| {
            let texts = nodes.iter().map(|node| match node {
                // Nothing of one kind is inside the same kind; "and" needs no brackets inside "or".
                Self::Or(_) => format!("({})", node.text(after)),
                Self::Part { .. } | Self::And(_) => node.text(after),
            });
            texts.collect::<Vec<_>>().join(word)
        };
        match self {
            Self::Part { count, role } => format!("{count} of {role}{}", after(role)),
            Self::And(all) => join(all, " and "),
            Self::Or(any) => join(any, " or "),
        }
    }
}

/// The words of a rule, brackets by themselves, each with the place of its first character.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut open: Option<(usize, usize)> = None;
    let ends = text.char_indices().map(|(byte, c)| (byte, Some(c))).chain([(text.len(), None)]);
    for (place, (byte, c)) in ends.enumerate() {
        let bracket = matches!(c, Some('(' | ')'));
        if bracket || c.is_none_or(char::is_whitespace) {
            if let Some((start, at)) = open.take() {
                words.extend(text.get(start..byte).map(|word| (at, word)));
            }
            if bracket {
                words.extend(text.get(byte..byte + 1).map(|word| (place + 1, word)));
            }
        } else {
            open = open.or(Some((byte, place + 1)));
        }
    }
    words
}

struct Reader<'a> {
    words: &'a [(usize, &'a str)],
    next: usize,
    end: usize,
    parts: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.next).map(|(_, word)| *word)
    }

    fn fail<T>(&self, what: &'static str) -> Result<T, RuleError> {
        let at = self.words.get(self.next).map_or(self.end, |(at, _)| *at);
        Err(RuleError { at, what })
    }

    fn take(&mut self, word: &str) -> bool {
        let is = self.peek() == Some(word);
        self.next += usize::from(is);
        is
    }

    fn either(&mut self) -> Result<Node, RuleError> {
        let mut any = self.both()?.parts_of_or();
        while self.take("or") {
            any.extend(self.both()?.parts_of_or());
        }
        Ok(single(any, Node::Or))
    }

    fn both(&mut self) -> Result<Node, RuleError> {
        let mut all = self.part()?.parts_of_and();
        while self.take("and") {
            all.extend(self.part()?.parts_of_and());
        }
        Ok(single(all, Node::And))
    }

    fn part(&mut self) -> Result<Node, RuleError> {
        if self.peek() == Some("(") {
            if self.depth >= DEPTH_MAX {
                return self.fail("brackets can be nested at most 8 deep");
            }
            self.next += 1;
            self.depth += 1;
            let inner = self.either()?;
            self.depth -= 1;
            return if self.take(")") { Ok(inner) } else { self.fail("\")\" is expected here") };
        }
        if self.parts >= PARTS_MAX {
            return self.fail("a rule has at most 32 parts");
        }
        self.parts += 1;
        let count = self.count()?;
        if !self.take("of") {
            return self.fail("\"of\" is expected here");
        }
        match self.peek() {
            Some(role) if role == ALL || is_role(role) => {
                self.next += 1;
                Ok(Node::Part { count, role: role.to_owned() })
            }
            _ => self.fail("the name of a role is expected here, or \"all\""),
        }
    }

    fn count(&mut self) -> Result<u32, RuleError> {
        let word = self.peek().unwrap_or_default();
        match word.parse::<u32>() {
            Ok(count) if count.to_string() == word && (1..=COUNT_MAX).contains(&count) => {
                self.next += 1;
                Ok(count)
            }
            Ok(_) => self.fail("a number from 1 to 256 is expected here, in plain digits"),
            Err(_) => self.fail("a number of voters is expected here, as in \"2 of operators\""),
        }
    }
}

fn single(mut nodes: Vec<Node>, many: fn(Vec<Node>) -> Node) -> Node {
    match nodes.pop() {
        Some(one) if nodes.is_empty() => one,
        last => {
            nodes.extend(last);
            many(nodes)
        }
    }
}
