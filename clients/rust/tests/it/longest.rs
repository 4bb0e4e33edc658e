//! The longest messages that a program may send arrive, plain and signed, and so does what is sent
//! after them.

use folkmoot::tools::{OsEntropy, wall_clock};
use folkmoot::{Event, Folkmoot, GroupName, Locator, Options, Service, StateFolder, UnixTime};
use folkmoot_base::limits::MESSAGE_BYTES_MAX;
use folkmoot_identity::{CharterDraft, Founder, Identity, SignedCharter};
use std::path::{Path, PathBuf};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);

/// The state folders of founders with these names.
pub(crate) fn folders(root: &Path, names: &[&str]) -> Vec<PathBuf> {
    let now = wall_clock();
    let (from, to) = (UnixTime(now.0 - 3_600), UnixTime(now.0 + 86_400));
    let mut entropy = OsEntropy::new().unwrap();
    let people: Vec<Identity> =
        names.iter().map(|name| Identity::new(name, &mut entropy, from, to).unwrap()).collect();
    let founders = people.iter().map(|one| Founder::from(one.certificate())).collect();
    let draft = CharterDraft::new(GroupName::new("moot").unwrap(), 2, founders, &mut entropy);
    let charter = SignedCharter::sign(&draft.to_toml(), &people.iter().collect::<Vec<_>>()).unwrap();
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
    Folkmoot::open_with(options).await.unwrap()
}

/// The length of each of the next messages, until one is empty.
async fn lengths(moot: &mut Folkmoot) -> Vec<usize> {
    let heard = tokio::time::timeout(LIMIT, async {
        let mut lengths = Vec::new();
        loop {
            match moot.next().await.unwrap().unwrap() {
                Event::Message { payload, .. } if payload.is_empty() => return lengths,
                Event::Message { payload, .. } => lengths.push(payload.len()),
                _ => {}
            }
        }
    });
    heard.await.unwrap_or_else(|_| panic!("{} did not hear all", moot.name()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_longest_messages_arrive_and_the_next_ones_too() {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("longest-{}", std::process::id()));
    let folders = folders(&root, &["anna", "ben"]);
    let mut anna = open(folders[0].clone(), &[]).await;
    let mut ben = open(folders[1].clone(), &[anna.locator()]).await;
    let session = anna.join().await.unwrap();
    ben.join().await.unwrap();
    let sizes = [MESSAGE_BYTES_MAX - 64, MESSAGE_BYTES_MAX, MESSAGE_BYTES_MAX, 3];
    for (number, size) in sizes.into_iter().enumerate() {
        let session = if number == 2 { session.signed() } else { session.clone() };
        session.send(Service::Agreed, vec![7; size]).await.unwrap();
    }
    session.send(Service::Agreed, "").await.unwrap();
    assert!(session.send(Service::Agreed, vec![7; MESSAGE_BYTES_MAX + 1]).await.is_err());
    assert_eq!(lengths(&mut ben).await, sizes);
    assert_eq!(lengths(&mut anna).await, sizes);
    drop(std::fs::remove_dir_all(root));
}
