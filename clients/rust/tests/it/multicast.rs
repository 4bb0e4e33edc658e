//! Packets to all by IP multicast, on real sockets: three members on this machine.

use crate::longest::folders;
use folkmoot::{Event, Folkmoot, Options, Service, Session};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(60);
const EACH: usize = 200;

/// Whether a member's packets go to all, and how many did so far.
async fn state(moot: &Folkmoot) -> (Option<bool>, u64) {
    let look = |machine: &mut folkmoot::tools::Machine, _, _: &mut folkmoot::tools::OsEntropy| {
        (machine.ground.reaches_all(), machine.ground.counters().link.to_all)
    };
    moot.handle().look(look).await.unwrap()
}

/// Until all of these are in this state.
async fn until(moots: &[Folkmoot], wanted: Option<bool>) {
    let end = Instant::now() + LIMIT;
    for moot in moots {
        while state(moot).await.0 != wanted {
            assert!(Instant::now() < end, "{}: {:?}, not {wanted:?}", moot.name(), state(moot).await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Three founders in one view, each with or without multicast.
async fn three(root: &std::path::Path, multicast: [bool; 3]) -> (Vec<Folkmoot>, Vec<Session>) {
    let (mut moots, mut sessions) = (Vec::<Folkmoot>::new(), Vec::new());
    for (folder, multicast) in folders(root, &["anna", "ben", "cleo"]).into_iter().zip(multicast) {
        let mut options = Options::new(folder).listen("127.0.0.1:0".parse::<SocketAddr>().unwrap());
        options.seeds = moots.iter().map(Folkmoot::locator).collect();
        options.multicast = multicast;
        let moot = Folkmoot::open_with(options).await.unwrap();
        sessions.push(moot.join().await.unwrap());
        moots.push(moot);
    }
    for moot in &mut moots {
        hear(moot, |event| matches!(event, Event::View { members, .. } if members.len() == 3), 1).await;
    }
    (moots, sessions)
}

async fn hear(moot: &mut Folkmoot, wanted: impl Fn(&Event) -> bool, count: usize) {
    let mut heard = 0;
    while heard < count {
        let event = tokio::time::timeout(LIMIT, moot.next()).await;
        let event = event.unwrap_or_else(|_| panic!("{} heard {heard} of {count}", moot.name()));
        heard += usize::from(wanted(&event.unwrap().unwrap()));
    }
}

/// Everybody sends messages; everybody gets all of them.
async fn exchange(moots: &mut [Folkmoot], sessions: &[Session]) {
    for session in sessions {
        for number in 0..EACH {
            session.send(Service::Agreed, vec![7; 900 + number]).await.unwrap();
        }
    }
    for moot in moots {
        hear(moot, |event| matches!(event, Event::Message { .. }), 3 * EACH).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_for_all_goes_once_if_all_members_use_multicast() {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("multicast-{}", std::process::id()));
    let (mut moots, sessions) = three(&root, [true; 3]).await;
    until(&moots, Some(true)).await;
    exchange(&mut moots, &sessions).await;
    for moot in &moots {
        let (_, to_all) = state(moot).await;
        assert!(to_all >= EACH as u64 / 4, "{} sent {to_all} packets to all", moot.name());
    }
    drop(moots);
    drop(std::fs::remove_dir_all(root));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_without_multicast_gets_everything_by_itself() {
    let name = format!("multicast-but-one-{}", std::process::id());
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let (mut moots, sessions) = three(&root, [true, true, false]).await;
    until(&moots[..2], Some(false)).await;
    until(&moots[2..], None).await;
    exchange(&mut moots, &sessions).await;
    for moot in &moots {
        assert_eq!(state(moot).await.1, 0, "{}", moot.name());
    }
    drop(moots);
    drop(std::fs::remove_dir_all(root));
}
