//! Heads that whoever reads a file knows from elsewhere.

use crate::Group;
use folkmoot_base::hex;
use folkmoot_transcript::HEAD_DIGITS_MIN;

impl Group {
    /// Some of the first digits of the digest of a decision, after its number.
    fn named(&mut self, number: u64) -> Option<String> {
        let head = self.transcript.head_at(number)?;
        let digits = HEAD_DIGITS_MIN + self.dice.roll(1 + 64 - HEAD_DIGITS_MIN);
        let digest: String = hex(&head.digest).chars().take(digits).collect();
        Some(format!("{number}.{digest}"))
    }
}

/// The heads of somebody who follows this group: its own head if it knows of a fork.
pub fn drawn_heads(group: &mut Group) -> Vec<String> {
    let number = group.transcript.state().head().number;
    let forked = !group.transcript.line().forks().is_empty();
    let wanted = forked || group.dice.chance(50);
    wanted.then(|| group.named(number)).flatten().into_iter().collect()
}

/// The heads of somebody who reads a changed file: none, the group's, an earlier or a wrong one.
pub fn known_heads(group: &mut Group) -> Vec<String> {
    let number = group.transcript.state().head().number;
    let earlier = group.dice.long(usize::try_from(number).unwrap_or_default() + 1);
    let head = match group.dice.roll(20) {
        0 | 1 => None,
        2..=4 => group.named(earlier),
        5 => group
            .named(earlier)
            .map(|head| head.split_once('.').map_or(head.clone(), |(_, hex)| format!("{number}.{hex}"))),
        6 => group.named(earlier).map(|head| head.to_uppercase()),
        _ => group.named(number),
    };
    head.into_iter().collect()
}
