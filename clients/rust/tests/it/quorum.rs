//! Which parties of a view are a quorum of those who vote.

use folkmoot::tools::{OsEntropy, wall_clock};
use folkmoot::{Folkmoot, GroupName, Options, Party, StateFolder, UnixTime};
use folkmoot_identity::{CharterDraft, Founder, Identity, SignedCharter};
use std::path::PathBuf;

#[tokio::test]
async fn two_of_three_are_a_quorum_and_programs_of_one_member_count_once() {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("quorum-{}", std::process::id()));
    let (now, mut entropy) = (wall_clock(), OsEntropy::new().unwrap());
    let (from, to) = (UnixTime(now.0 - 3_600), UnixTime(now.0 + 86_400));
    let people = ["anna", "ben", "cleo"].map(|name| Identity::new(name, &mut entropy, from, to).unwrap());
    let founders = people.iter().map(|one| Founder::from(one.certificate())).collect();
    let draft = CharterDraft::new(GroupName::new("moot").unwrap(), 1, founders, &mut entropy);
    let all: Vec<&Identity> = people.iter().collect();
    let charter = SignedCharter::sign(&draft.to_toml(), &all).unwrap();
    let state = StateFolder::open(&root).unwrap();
    state.write_identity(people[0].key_pem().unwrap().expose(), &people[0].certificate_pem()).unwrap();
    state.write_charter(charter.der()).unwrap();
    let moot = Folkmoot::open_with(Options::new(&root).listen(([127, 0, 0, 1], 0))).await.unwrap();
    let [anna, ben, _] = people.map(|one| Party::from(one.member()));
    assert!(!moot.is_quorum(&[anna]).await.unwrap());
    assert!(!moot.is_quorum(&[anna, Party::new(anna.member, 1)]).await.unwrap());
    assert!(moot.is_quorum(&[anna, ben]).await.unwrap());
    moot.close().await.unwrap();
}
