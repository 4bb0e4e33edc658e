//! Three founders who are open in one process, and strangers beside them.

use folkmoot::tools::{OsEntropy, wall_clock};
use folkmoot::{Digest, Event, Folkmoot, GroupName, Locator, Options, Outcome, StateFolder};
use folkmoot_identity::{CharterDraft, Founder, Identity, SignedCharter};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const NAMES: [&str; 4] = ["anna", "ben", "cleo", "dora"];
const FOUNDERS: usize = 3;
const LIMIT: Duration = Duration::from_secs(60);

/// State folders of so many people with one charter: three of them found the group, and two votes
/// decide.
pub(crate) fn folders(test: &str, people: usize) -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", std::process::id()));
    let now = wall_clock();
    let (from, to) = (folkmoot::UnixTime(now.0 - 3_600), folkmoot::UnixTime(now.0 + 86_400));
    let mut entropy = OsEntropy::new().unwrap();
    let people: Vec<_> =
        NAMES.iter().take(people).map(|name| Identity::new(name, &mut entropy, from, to).unwrap()).collect();
    let founders = people.iter().take(FOUNDERS).map(|one| Founder::from(one.certificate())).collect();
    let draft = CharterDraft::new(GroupName::new("moot").unwrap(), 2, founders, &mut entropy);
    let all: Vec<&Identity> = people.iter().take(FOUNDERS).collect();
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

pub(crate) async fn open(folder: PathBuf, seeds: &[Locator]) -> Folkmoot {
    let mut options = Options::new(folder).listen(([127, 0, 0, 1], 0));
    options.seeds = seeds.to_vec();
    let moot = Folkmoot::open_with(options).await.unwrap();
    moot.join().await.unwrap();
    moot
}

/// Lets all go on until this is so at one of them.
pub(crate) async fn until(
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
pub(crate) async fn all_in_one_view(all: &mut [Folkmoot]) {
    let begun = Instant::now();
    let mut seen = [0; FOUNDERS];
    while seen.iter().any(|members| *members < FOUNDERS) {
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
pub(crate) async fn proposed(all: &mut [Folkmoot], at: usize, words: &str) -> Digest {
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
