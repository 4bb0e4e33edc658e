//! What is measured: groups, and how often somebody joins each.

use crate::args::BenchAdmission;
use crate::people;
use folkmoot_cli::show::many;
use folkmoot_signing::{KeyAlgorithm, Mode, Scheme};
use std::time::Duration;

/// The case that is measured most often: members and votes.
pub(super) const USUAL: (u16, u16) = (5, 2);
/// Shares of the size, in hundredths, that the votes are in the series by size.
const SHARES: [u16; 2] = [20, 30];

/// One group, and how often somebody joins it.
#[derive(Debug, Clone)]
pub(super) struct Case {
    /// The row's series: which panel of the chart it is in.
    pub(super) series: String,
    pub(super) scheme: Scheme,
    /// Which keys all members have.
    pub(super) keys: KeyAlgorithm,
    /// Who signs the certificates.
    pub(super) mode: Mode,
    pub(super) members: u16,
    pub(super) votes: u16,
    pub(super) times: u16,
}

/// What came out: medians, and the fastest and the slowest.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Joined {
    pub(super) took: Duration,
    pub(super) least: Duration,
    pub(super) most: Duration,
    /// Of an ordered message over the idle ring, from the contact to all, and of the answers of as
    /// many as speak in a round.
    pub(super) round_trip: Duration,
    /// What is on disk before anything follows, one after the other.
    pub(super) disk: Duration,
    /// The run of the signers, all at once on the processors that there are.
    pub(super) together: Duration,
    /// Of a datagram there and back, on each link beside the ring.
    pub(super) datagram: Duration,
}

/// Who signs where nothing is said: the members by themselves, if they can.
fn usual_mode(scheme: Scheme) -> Mode {
    if scheme.needs_dealer() { Mode::Centralised } else { Mode::Decentralised }
}

/// The usual case first; then against the votes, and against the size with the votes a share of it.
/// A scheme is passed over where it takes more signers than there are members, or a mode in which
/// it cannot be.
pub(super) fn cases(options: &BenchAdmission) -> Vec<Case> {
    let mut out = Vec::new();
    let mut push = |series: String, (members, votes): (u16, u16), times, keys: KeyAlgorithm| {
        let every = [Scheme::Plain, Scheme::Asm, Scheme::Frost, Scheme::TsDsa, Scheme::Shoup];
        // What a member's key is shows where members sign by themselves.
        let schemes = if keys == KeyAlgorithm::P256 { &every[..] } else { &every[..1] };
        let named = |scheme: &Scheme| options.scheme.is_empty() || options.scheme.contains(scheme);
        let can = |scheme: &Scheme| options.mode != Some(Mode::Decentralised) || !scheme.needs_dealer();
        let voters = usize::from(members).min(people::FOUNDERS_MAX);
        let fits = |scheme: &Scheme| scheme.signers(votes.into()) <= voters;
        for scheme in schemes.iter().copied().filter(named).filter(can).filter(fits) {
            let mode = options.mode.unwrap_or(usual_mode(scheme));
            out.push(Case { series: series.clone(), scheme, keys, mode, members, votes, times });
        }
    };
    if options.times > 0 {
        for keys in [KeyAlgorithm::P256, KeyAlgorithm::Rsa2048, KeyAlgorithm::Rsa3072] {
            push("usual".to_owned(), USUAL, options.times, keys);
        }
    }
    for votes in 1..=options.votes {
        push(
            format!("votes, {}", many(options.members.into(), "member")),
            (options.members, votes),
            options.series,
            KeyAlgorithm::P256,
        );
    }
    for share in SHARES {
        for members in &options.sizes {
            let votes = members.saturating_mul(share).div_ceil(100).max(1);
            push(
                format!("members, {share} % of them vote"),
                (*members, votes),
                options.series,
                KeyAlgorithm::P256,
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use folkmoot_identity::Scheme as Named;

    fn options() -> BenchAdmission {
        BenchAdmission {
            part: None,
            runs: 1,
            times: 30,
            series: 5,
            pairs: 15,
            votes: 4,
            members: 6,
            sizes: vec![5, 12],
            scheme: Vec::new(),
            mode: None,
            chart: None,
        }
    }

    #[test]
    fn cases_are_the_usual_one_then_by_votes_then_by_size_and_none_takes_more_signers_than_there_are() {
        let all = cases(&options());
        assert!(all.iter().all(|case| case.scheme.signers(case.votes.into()) <= case.members.into()));
        let of = |scheme: Named, series: &str| -> Vec<(u16, u16)> {
            let these = all.iter().filter(|case| case.scheme == scheme && case.series == series);
            these.map(|case| (case.members, case.votes)).collect()
        };
        assert_eq!(of(Scheme::Frost, "usual"), [(5, 2)]);
        assert_eq!(of(Scheme::Plain, "votes, 6 members"), [(6, 1), (6, 2), (6, 3), (6, 4)]);
        assert_eq!(of(Scheme::TsDsa, "votes, 6 members"), [(6, 1), (6, 2), (6, 3)], "2t - 1 signers");
        assert_eq!(of(Scheme::Plain, "members, 20 % of them vote"), [(5, 1), (12, 3)]);
        assert_eq!(of(Scheme::Plain, "members, 30 % of them vote"), [(5, 2), (12, 4)]);
        assert_eq!(all.first().map(|case| case.times), Some(30));
        let fifty = BenchAdmission { sizes: vec![50], ..options() };
        let fifty =
            cases(&fifty).into_iter().filter(|case| case.scheme == Scheme::TsDsa && case.members == 50);
        assert_eq!(fifty.map(|case| case.votes).collect::<Vec<_>>(), [10, 15], "29 of 32 founders");
        let one = BenchAdmission { scheme: vec![Scheme::Plain], ..options() };
        assert!(cases(&one).iter().all(|case| case.scheme == Scheme::Plain));
    }
}
