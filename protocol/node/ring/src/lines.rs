//! RING-49: which line of the queue a party's next message waits in.
//!
//! ```text
//! the node: line 0          party p: the line that has messages of p
//!                                    else its own, 1 + p mod 15, if nothing waits there
//!                                    else the first line in which nothing waits
//!                                    else its own, behind those of others
//! ```
//! So the messages of one party stay in one line, and keep their order. While fewer parties than
//! lines have messages that wait, no party waits behind another one's.

use crate::config::LINES;

/// So many parties of a line are remembered. Others that have messages there stay in their own.
const KEPT: usize = 16;

/// The parties that have messages in a line since it was last empty.
#[derive(Debug, Default)]
pub(crate) struct Parties {
    kept: Vec<u16>,
    /// There are more, and this is the own line of each of them.
    more: bool,
}

impl Parties {
    /// A message of this party comes into the line.
    pub(crate) fn add(&mut self, party: u16) {
        if self.kept.contains(&party) {
            return;
        }
        match self.kept.len() < KEPT {
            true => self.kept.push(party),
            false => self.more = true,
        }
    }

    /// The line is empty.
    pub(crate) fn clear(&mut self) {
        self.kept.clear();
        self.more = false;
    }

    fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

/// Where the next message of this party waits.
pub(crate) fn line_of<'a>(party: u16, lines: impl Iterator<Item = &'a Parties> + Clone) -> usize {
    if party == 0 {
        return 0;
    }
    let own = own(party);
    let mine =
        |(place, parties): &(usize, &Parties)| parties.kept.contains(&party) || *place == own && parties.more;
    let free = |(_, parties): &(usize, &Parties)| parties.is_empty();
    let others = || lines.clone().enumerate().skip(1);
    let own_if_free = || others().nth(own.saturating_sub(1)).filter(free);
    let found = others().find(mine).or_else(own_if_free).or_else(|| others().find(free));
    found.map_or(own, |(place, _)| place)
}

/// A party's own line: never that of the node.
fn own(party: u16) -> usize {
    const OTHERS: usize = LINES - 1;
    usize::from(party) % OTHERS + 1
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use super::{KEPT, LINES, Parties, line_of, own};

    fn come(lines: &mut [Parties], party: u16) -> usize {
        let line = line_of(party, lines.iter());
        lines[line].add(party);
        line
    }

    fn lines() -> Vec<Parties> {
        (0..LINES).map(|_| Parties::default()).collect()
    }

    #[test]
    fn ring_49_parties_share_a_line_only_if_there_are_more_than_lines() {
        let mut lines = lines();
        assert_eq!(come(&mut lines, 0), 0);
        // All have the same line of their own.
        let places: Vec<usize> = (0..15).map(|i| come(&mut lines, 7 + 15 * i)).collect();
        let mut sorted = places.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (1..LINES).collect::<Vec<_>>());
        let again: Vec<usize> = (0..15).map(|i| come(&mut lines, 7 + 15 * i)).collect();
        assert_eq!(again, places, "each stays where it has messages");
        assert_eq!(come(&mut lines, 15 * 99 + 7), own(7));
        assert_eq!(come(&mut lines, 0), 0);
    }

    #[test]
    fn ring_49_a_party_stays_where_it_waits_however_many_there_are() {
        let mut lines = lines();
        let all: Vec<u16> = (1..=1_000).collect();
        let first: Vec<usize> = all.iter().map(|party| come(&mut lines, *party)).collect();
        for line in 1..LINES {
            // A line gets empty, and its parties may go anywhere; the others stay.
            lines[line].clear();
            for (party, place) in all.iter().zip(&first).filter(|(_, place)| **place != line) {
                assert_eq!(line_of(*party, lines.iter()), *place);
            }
            let back: Vec<u16> = all
                .iter()
                .zip(&first)
                .filter(|(_, place)| **place == line)
                .map(|(party, _)| *party)
                .collect();
            back.iter().for_each(|party| _ = come(&mut lines, *party));
        }
        assert!(lines.iter().all(|parties| parties.kept.len() <= KEPT));
    }
}
