//! Heads that whoever reads a file knows from elsewhere.

use crate::Group;
use crate::forge::line;
use crate::mutate::split;
use folkmoot_base::hex;
use folkmoot_transcript::{HEAD_DIGITS_MIN, Head, Standing};

impl Group {
    /// Some of the first digits of the digest of a decision, after its number.
    fn named(&mut self, number: u64) -> Option<String> {
        let head = self.transcript.head_at(number)?;
        Some(self.written(head))
    }

    /// A head by some of its first digits.
    fn written(&mut self, head: Head) -> String {
        let digits = HEAD_DIGITS_MIN + self.dice.roll(1 + 64 - HEAD_DIGITS_MIN);
        let digest: String = hex(&head.digest).chars().take(digits).collect();
        format!("{}.{digest}", head.number)
    }
}

/// The heads of somebody who follows this group: its own head if it knows of a fork.
pub fn drawn_heads(group: &mut Group) -> Vec<String> {
    let number = group.transcript.state().head().number;
    let forked = !group.transcript.line().forks().is_empty();
    let wanted = forked || group.dice.chance(50);
    wanted.then(|| group.named(number)).flatten().into_iter().collect()
}

/// The heads of somebody who reads a changed file: none, the group's, an earlier or a wrong one, or
/// the one that the file itself shows, as for somebody who follows whoever changed it.
pub fn known_heads(group: &mut Group, file: &[u8]) -> Vec<String> {
    let number = group.transcript.state().head().number;
    let earlier = group.dice.long(usize::try_from(number).unwrap_or_default() + 1);
    let head = match group.dice.roll(20) {
        0 | 1 => None,
        2..=4 => group.named(earlier),
        5 => group
            .named(earlier)
            .map(|head| head.split_once('.').map_or(head.clone(), |(_, hex)| format!("{number}.{hex}"))),
        6 => group.named(earlier).map(|head| head.to_uppercase()),
        7..=10 => group.named(number),
        _ => match shown(file) {
            Some(head) => Some(group.written(head)),
            None => group.named(number),
        },
    };
    head.into_iter().collect()
}

/// The last decision of a file, as far as that can be read.
fn shown(file: &[u8]) -> Option<Head> {
    let sections = split(file);
    let last = line::places(&sections, |kind| kind == line::LAST).pop()?;
    line::standing(&sections, last).as_ref().map(Standing::head)
}
