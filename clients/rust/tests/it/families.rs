//! A member that listens at `[::]` and one that listens on IPv4, on real sockets: they meet, and
//! each is found by an IPv4 locator.

use folkmoot::tools::{OsEntropy, wall_clock};
use folkmoot::{Event, Folkmoot, GroupName, Locator, MemberId, Options, StateFolder, UnixTime};
use folkmoot_identity::{CharterDraft, Founder, Identity, SignedCharter};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// State folders of two founders.
fn folders(root: &Path) -> [PathBuf; 2] {
    let now = wall_clock();
    let (from, to) = (UnixTime(now.0 - 3_600), UnixTime(now.0 + 86_400));
    let mut entropy = OsEntropy::new().unwrap();
    let people = ["anna", "ben"].map(|name| Identity::new(name, &mut entropy, from, to).unwrap());
    let founders = people.iter().map(|one| Founder::from(one.certificate())).collect();
    let draft = CharterDraft::new(GroupName::new("moot").unwrap(), 2, founders, &mut entropy);
    let charter = SignedCharter::sign(&draft.to_toml(), &people.iter().collect::<Vec<_>>()).unwrap();
    people.map(|one| {
        let path = root.join(one.name());
        let folder = StateFolder::open(&path).unwrap();
        folder.write_identity(one.key_pem().unwrap().expose(), &one.certificate_pem()).unwrap();
        folder.write_charter(charter.der()).unwrap();
        path
    })
}

async fn open(folder: &Path, listen: &str, seeds: &[Locator]) -> Folkmoot {
    let mut options = Options::new(folder).listen(listen.parse::<SocketAddr>().unwrap());
    options.seeds = seeds.to_vec();
    let moot = Folkmoot::open_with(options).await.unwrap();
    moot.join().await.unwrap();
    moot
}

/// Where others on this machine find it: at 127.0.0.1.
fn here(moot: &Folkmoot) -> Locator {
    Locator::udp(([127, 0, 0, 1], moot.locator().as_udp().unwrap().port()).into())
}

/// Waits until both are in one view; where this one has found the other.
async fn meets(moot: &mut Folkmoot, other: MemberId) -> Option<Locator> {
    let together = async {
        loop {
            let Event::View { members, .. } = moot.next().await.unwrap().unwrap() else { continue };
            if members.contains(&other.into()) {
                return;
            }
        }
    };
    let met = tokio::time::timeout(LIMIT, together).await;
    met.unwrap_or_else(|_| panic!("{} met nobody", moot.name()));
    let people = moot.status().await.unwrap().people;
    people.into_iter().find(|one| one.member == other)?.locator
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_of_both_families_and_one_of_ipv4_meet_whoever_dials() {
    for both_dials in [true, false] {
        let name = format!("families-{both_dials}-{}", std::process::id());
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let [anna, ben] = folders(&root);
        let (mut both, mut four) = if both_dials {
            let four = open(&ben, "127.0.0.1:0", &[]).await;
            (open(&anna, "[::]:0", &[here(&four)]).await, four)
        } else {
            let both = open(&anna, "[::]:0", &[]).await;
            let four = open(&ben, "127.0.0.1:0", &[here(&both)]).await;
            (both, four)
        };
        let (me, other) = (both.me(), four.me());
        assert_eq!(meets(&mut both, other).await, Some(four.locator()));
        assert_eq!(meets(&mut four, me).await, Some(here(&both)));
        drop(std::fs::remove_dir_all(root));
    }
}
