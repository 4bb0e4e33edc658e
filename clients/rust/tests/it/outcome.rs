//! What became of a proposal and of a vote on it: counted, waiting, passed, rejected, withdrawn,
//! overtaken; at the member that voted, at the others, and after a restart.

use folkmoot::tools::{OsEntropy, wall_clock};
use folkmoot::{
    Awaits, Closed, Counting, Digest, Event, Folkmoot, GroupName, Locator, Options, Outcome, Stands,
    StateFolder,
};
use folkmoot_identity::{CharterDraft, Founder, Identity, SignedCharter};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const NAMES: [&str; 3] = ["anna", "ben", "cleo"];
const LIMIT: Duration = Duration::from_secs(60);

/// State folders of three founders; two votes.
fn folders() -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("outcome-{}", std::process::id()));
    let now = wall_clock();
    let (from, to) = (folkmoot::UnixTime(now.0 - 3_600), folkmoot::UnixTime(now.0 + 86_400));
    let mut entropy = OsEntropy::new().unwrap();
    let people: Vec<_> =
        NAMES.iter().map(|name| Identity::new(name, &mut entropy, from, to).unwrap()).collect();
    let founders = people.iter().map(|one| Founder::from(one.certificate())).collect();
    let draft = CharterDraft::new(GroupName::new("moot").unwrap(), 2, founders, &mut entropy);
    let all: Vec<&Identity> = people.iter().collect();
    let charter = SignedCharter::sign(&draft.to_toml(), &all).unwrap();
    let folder = |one: &Identity| {
        let path = root.join(one.name());
        let folder = StateFolder::open(&path).unwrap();
        folder.write_identity(one.key_pem().unwrap().expose(), &one.certificate_pem()).unwrap();
        folder.write_charter(charter.der()).unwrap();
        path
    };
    people.iter().map(folder).collect()
}

async fn open(folder: PathBuf, seeds: &[Locator]) -> Folkmoot {
    let mut options = Options::new(folder).listen(([127, 0, 0, 1], 0));
    options.seeds = seeds.to_vec();
    let moot = Folkmoot::open_with(options).await.unwrap();
    moot.join().await.unwrap();
    moot
}

/// Lets all go on until this is so at one of them.
async fn until(
    all: &mut [Folkmoot],
    at: usize,
    subject: Digest,
    is: impl Fn(Option<&Outcome>) -> bool,
) -> Option<Outcome> {
    let begun = Instant::now();
    loop {
        let told = all[at].outcome(subject).await.unwrap();
        if is(told.as_ref()) {
            return told;
        }
        assert!(begun.elapsed() < LIMIT, "{}: {told:?}", NAMES[at]);
        for one in all.iter_mut() {
            while let Ok(event) = tokio::time::timeout(Duration::from_millis(5), one.next()).await {
                assert!(event.unwrap().is_some());
            }
        }
    }
}

/// Waits until all share a view: before that, nobody hears what the others propose.
async fn all_in_one_view(all: &mut [Folkmoot]) {
    let begun = Instant::now();
    let mut seen = [0; NAMES.len()];
    while seen.iter().any(|members| *members < NAMES.len()) {
        assert!(begun.elapsed() < LIMIT, "{seen:?}");
        for (at, one) in all.iter_mut().enumerate() {
            while let Ok(event) = tokio::time::timeout(Duration::from_millis(5), one.next()).await {
                if let Some(Event::View { members, .. }) = event.unwrap() {
                    seen[at] = members.len();
                }
            }
        }
    }
}

/// The one proposal that is open, once it is.
async fn proposed(all: &mut [Folkmoot], at: usize, words: &str) -> Digest {
    let begun = Instant::now();
    loop {
        let open = all[at].proposals().await.unwrap();
        if let Some(one) = open.iter().find(|one| one.text == words) {
            return one.subject;
        }
        assert!(begun.elapsed() < LIMIT, "{words}: {open:?}");
        for one in all.iter_mut() {
            while let Ok(event) = tokio::time::timeout(Duration::from_millis(5), one.next()).await {
                println!("{event:?}");
            }
        }
    }
}

fn over(told: Option<&Outcome>, why: Closed) -> bool {
    told.is_some_and(|told| told.stands == Stands::Over(why))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outcome_says_what_became_of_a_vote_and_of_what_it_was_on() {
    let folders = folders();
    let mut all = vec![open(folders[0].clone(), &[]).await];
    let seed = [all[0].locator()];
    for folder in &folders[1..] {
        all.push(open(folder.clone(), &seed).await);
    }
    let me: Vec<_> = all.iter().map(Folkmoot::me).collect();
    all_in_one_view(&mut all).await;
    assert_eq!(all[0].outcome([7; 32]).await.unwrap(), None, "nobody has heard of it");

    // Counted: 1 of 2, by whom.
    all[0].change_charter("request_hours", "24").await.unwrap();
    let hours = proposed(&mut all, 1, "set request_hours = 24 in the charter").await;
    let counted = |told: Option<&Outcome>| told.is_some_and(|told| told.approved.len() == 1);
    let told = until(&mut all, 0, hours, counted).await.unwrap();
    assert_eq!((told.stands, told.need), (Stands::Open(Awaits::Votes), Some(2)));
    assert_eq!((told.vote, told.approved), (Some((true, Counting::Counted)), vec![me[0]]));
    let told = until(&mut all, 1, hours, counted).await.unwrap();
    assert_eq!((told.vote, told.rejected), (None, Vec::new()), "ben has not voted");

    // A vote that has no place in the order yet waits; then it counts, as a no.
    all[1].vote(hours, false).await.unwrap();
    let told = all[1].outcome(hours).await.unwrap().unwrap();
    assert!(matches!(told.vote, Some((false, Counting::Waiting | Counting::Counted))), "{told:?}");
    let no = |told: Option<&Outcome>| told.is_some_and(|told| told.vote == Some((false, Counting::Counted)));
    let told = until(&mut all, 1, hours, no).await.unwrap();
    assert_eq!((told.approved, told.rejected), (vec![me[0]], vec![me[1]]));

    // Rejected: two of three say no.
    all[2].vote(hours, false).await.unwrap();
    for at in 0..3 {
        until(&mut all, at, hours, |told| over(told, Closed::Rejected)).await;
    }

    // Withdrawn.
    all[0].change_charter("certificate_days", "30").await.unwrap();
    let days = proposed(&mut all, 2, "set certificate_days = 30 in the charter").await;
    all[0].withdraw(days).await.unwrap();
    for at in 0..3 {
        until(&mut all, at, days, |told| over(told, Closed::Withdrawn)).await;
    }

    // Of two about one rule, one passes and the other is overtaken.
    all[0].change_charter("request_hours", "48").await.unwrap();
    all[1].change_charter("request_hours", "96").await.unwrap();
    let first = proposed(&mut all, 2, "set request_hours = 48 in the charter").await;
    let second = proposed(&mut all, 2, "set request_hours = 96 in the charter").await;
    all[2].vote(first, true).await.unwrap();
    for at in 0..3 {
        let told = until(&mut all, at, first, |told| over(told, Closed::Granted)).await.unwrap();
        let mut yes = vec![me[0], me[2]];
        yes.sort_unstable();
        assert_eq!((told.approved, told.need), (yes, None));
        until(&mut all, at, second, |told| over(told, Closed::Overtaken)).await;
    }

    // It knows all that after a restart.
    let [hours, days, first, second] = [
        (hours, Closed::Rejected),
        (days, Closed::Withdrawn),
        (first, Closed::Granted),
        (second, Closed::Overtaken),
    ];
    all.pop().unwrap().close().await.unwrap();
    let again = open(folders[2].clone(), &seed).await;
    for (subject, why) in [hours, days, first, second] {
        let told = again.outcome(subject).await.unwrap();
        assert!(over(told.as_ref(), why), "{why:?}: {told:?}");
    }
    let told = again.outcome(first.0).await.unwrap().unwrap();
    assert_eq!(told.vote, Some((true, Counting::Counted)), "its own yes, too");
}
