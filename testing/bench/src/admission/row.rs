//! A join that was measured, and what it is compared with.

use super::baseline::{self, Papers};
use super::case::{Case, Joined};
use super::group::Group;
use std::time::Duration;

/// A join's row.
pub(super) struct Row {
    pub(super) case: Case,
    pub(super) joined: Joined,
    /// The scheme's run for so many votes, measured alone.
    pub(super) alone: Group,
    pub(super) papers: Papers,
}

impl Row {
    /// Ordered messages that follow one another.
    pub(super) fn steps(&self) -> u32 {
        baseline::steps(&self.case, &self.alone)
    }

    pub(super) fn cryptography(&self) -> Duration {
        self.papers.of(&self.case, &self.alone, processors())
    }

    pub(super) fn expected(&self) -> Duration {
        baseline::expected(self.cryptography(), self.steps(), &self.joined)
    }

    pub(super) fn ratio(&self) -> f64 {
        self.joined.took.as_secs_f64() / self.expected().as_secs_f64().max(1e-9)
    }

    /// Against the harder baseline.
    pub(super) fn one_way_ratio(&self) -> f64 {
        let least = baseline::one_way(self.cryptography(), self.steps(), &self.joined);
        self.joined.took.as_secs_f64() / least.as_secs_f64().max(1e-9)
    }
}

/// Those of this machine that this process may use.
fn processors() -> u32 {
    let here = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    u32::try_from(here).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::group::Kind;
    use crate::admission::play;
    use folkmoot_signing::{KeyAlgorithm, Mode, Scheme};

    #[test]
    fn a_join_is_compared_with_its_papers_its_messages_and_its_records() {
        let (millis, micros) = (Duration::from_millis, Duration::from_micros);
        let row = |scheme, kind, rounds, mode| {
            let keys = KeyAlgorithm::P256;
            let case = Case { series: "usual".into(), scheme, keys, mode, members: 5, votes: 2, times: 1 };
            let joined = Joined {
                took: millis(60),
                round_trip: millis(4),
                disk: millis(10),
                together: millis(7),
                datagram: millis(1),
                ..Joined::default()
            };
            let played = play::Played { busiest: millis(5), rounds, to_one: 6, ..play::Played::default() };
            let one = micros(100);
            let papers = Papers {
                ask: one,
                read: one,
                vote: one,
                count: one,
                close: one,
                say: one,
                hear: one,
                whisper: one,
            };
            let alone = Group { kind, threshold: 2, signers: 3, played, verify: millis(1) };
            Row { case, joined, alone, papers }
        };
        let one = micros(100);
        let cryptography = |row: &Row| row.papers.of(&row.case, &row.alone, 2);
        let expected = |row: &Row| baseline::expected(cryptography(row), row.steps(), &row.joined);
        // By two processors: made, read at the contact, by the four others two at once; two votes,
        // read by four each; closed.
        let plain = row(Scheme::Plain, Kind::PlainEcdsa, 1, Mode::Decentralised);
        assert_eq!((plain.steps(), cryptography(&plain)), (2, one * (1 + 1 + 2 + 1 + 4 + 1)));
        assert_eq!(expected(&plain), micros(1_000) + millis(8 + 10 + 7 + 1));
        // Without closing; called: said, heard by four, three are ready, two verified; seated:
        // said, heard by four, by each of two two others; each of five rounds three words, six
        // times heard; six sealed words; one verification of 1 ms.
        let shared = row(Scheme::TsDsa, Kind::TsDsa, 5, Mode::Decentralised);
        let papers = one * (9 + (1 + 2 + 2 + 2) + (1 + 2 + 2) + 5 * (2 + 3) + 3) + millis(1);
        assert_eq!((shared.steps(), cryptography(&shared)), (10, papers));
        assert_eq!(expected(&shared), papers + millis(40 + 10 + 7 + 1));
        // The authority: reads the request, two votes; signs, verifies that; so do contact and
        // newcomer.
        let plain = row(Scheme::Plain, Kind::PlainEcdsa, 1, Mode::Centralised);
        assert_eq!((plain.steps(), cryptography(&plain)), (2, one * (1 + 1 + 2 + 1 + 4 + (1 + 2 + 1 + 3))));
        // In place of two votes the group's signature, of 1 ms.
        let granted = row(Scheme::TsDsa, Kind::TsDsa, 5, Mode::Centralised);
        assert_eq!((granted.steps(), cryptography(&granted)), (10, papers + one * 5 + millis(1)));
        let least = baseline::one_way(papers, 10, &shared.joined);
        assert_eq!(least, papers + millis(20 + 10 + 7 + 1));
        let ratio = millis(60).as_secs_f64() / shared.expected().as_secs_f64();
        assert!((shared.ratio() - ratio).abs() < 1e-9);
    }
}
