//! What a newcomer is given of a group that is old and large.

use crate::group::{DAY, Group, elect};
use folkmoot_base::codec::encode;
use folkmoot_base::{MemberId, UnixTime, digest};
use folkmoot_transcript::{Admit, Batch, Effect};

const DAYS: u64 = 365;
const A_DAY: u64 = 274;
const STAY: u64 = 993;
const BYTES_MAX: usize = 5 * 1024 * 1024;

/// A hundred thousand admissions in a year, most of them for half a day, and another order of the
/// seven voters every day.
#[test]
fn state_and_handovers_of_an_old_group_stay_small() {
    let mut group = Group::new(7, 1);
    let model = group.ask(9);
    for day in 0..DAYS {
        let admits: Vec<Admit> = (0..A_DAY)
            .map(|number| {
                let number = day * A_DAY + number;
                let stays = number >= DAYS * A_DAY - STAY;
                let request = digest(&[b"request", &number.to_be_bytes()]);
                let length = if stays { 300 * DAY } else { DAY / 2 };
                let (begins, ends) = (UnixTime(group.now), UnixTime(group.now + length));
                let (member, base) = (MemberId(digest(&[&request])), group.head());
                Admit { request, member, begins, ends, base, ..model.clone() }
            })
            .collect();
        for (number, admit) in admits.iter().enumerate() {
            let voter = number % 7;
            group.welcome(admit, &[voter]);
            assert!(group.set().admit(&admit.request).is_some());
        }
        let mut holds: Vec<_> = admits.iter().map(|admit| admit.request).collect();
        holds.sort_unstable();
        let mut voters = [0, 1, 2, 3, 4, 5, 6];
        voters.rotate_left(usize::try_from(day % 6).unwrap() + 1);
        let effect = Effect::from(elect(&voters));
        let effects = if group.state().would_stand(&effect.change, false, None).is_ok() {
            vec![group.approved(&effect, &[0, 1, 2, 3])]
        } else {
            Vec::new()
        };
        let batch = Batch { time: UnixTime(group.now), holds, effects, ..Batch::default() };
        let decision = group.decide(batch).unwrap();
        group.follow(decision);
        group.now += DAY;
    }
    let (handovers, last) = group.line.handovers_since(0).unwrap();
    let state = group.state();
    assert_eq!(u64::try_from(state.roster().len()).unwrap(), STAY + 7);
    assert!(handovers.len() > 300, "{}", handovers.len());
    let bytes = handovers.iter().chain([&last]).map(|one| encode(one).len()).sum::<usize>();
    let all = bytes + state.encode().len();
    assert!(all < BYTES_MAX, "{all} bytes, {} of them state", state.encode().len());
}
