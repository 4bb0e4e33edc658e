//! Replicas over real members of a group of their own, on UDP sockets in one process; authorities
//! stand in: a map that is their disk.

use bytes::Bytes;
use folkmoot_admission::LogRecord;
use folkmoot_authority::replicas::{
    DriverError, Ends, Logged, Options, Running, Standing, Status, open, request_of,
};
use folkmoot_base::{Blob, Digest, GroupName, Locator, UnixTime, codec};
use folkmoot_identity::{CharterDraft, Founder, Identity, Minority, SignedCharter};
use folkmoot_runtime::{OsEntropy, RuntimeError, StateError, StateFolder, wall_clock};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

const LIMIT: Duration = Duration::from_secs(60);

/// An authority's disk.
type Issued = Arc<Mutex<BTreeMap<Digest, Bytes>>>;

struct Replica {
    folder: PathBuf,
    issued: Issued,
    /// In the order in which it was handed them.
    order: Arc<Mutex<Vec<Bytes>>>,
    at: Option<Locator>,
    running: Option<Running>,
    records: Option<mpsc::Sender<Bytes>>,
}

/// Folders of founders whose charter says this of minorities.
fn found(name: &str, count: usize, minority: Minority) -> Vec<Replica> {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let (now, mut entropy) = (wall_clock(), OsEntropy::new().unwrap());
    let (from, to) = (UnixTime(now.0 - 3_600), UnixTime(now.0 + 86_400));
    let people: Vec<Identity> =
        (0..count).map(|one| Identity::new(&format!("r{one}"), &mut entropy, from, to).unwrap()).collect();
    let founders = people.iter().map(|one| Founder::from(one.certificate())).collect();
    let mut draft = CharterDraft::new(GroupName::new("replicas").unwrap(), 1, founders, &mut entropy);
    draft.minority = minority;
    let charter = SignedCharter::sign(&draft.to_toml(), &people.iter().collect::<Vec<_>>()).unwrap();
    let replica = |one: &Identity| {
        let path = root.join(one.name());
        let folder = StateFolder::open(&path).unwrap();
        folder.write_identity(one.key_pem().unwrap().expose(), &one.certificate_pem()).unwrap();
        folder.write_charter(charter.der()).unwrap();
        let (issued, order) = (Issued::default(), Arc::default());
        Replica { folder: path, issued, order, at: None, running: None, records: None }
    };
    people.iter().map(replica).collect()
}

/// The stand-in: takes what it is handed, the first of a request, and then says that it has it.
async fn stand_in(mut logged: mpsc::Receiver<Logged>, issued: Issued, order: Arc<Mutex<Vec<Bytes>>>) {
    while let Some(Logged { record, kept }) = logged.recv().await {
        let request = request_of(&record).unwrap();
        let first = issued.lock().unwrap().entry(request).or_insert(record.clone()).clone();
        assert_eq!(first, record, "a second certificate for a request");
        if !order.lock().unwrap().contains(&record) {
            order.lock().unwrap().push(record);
        }
        kept.send(()).ok();
    }
}

async fn start(all: &mut [Replica], one: usize) {
    let seeds: Vec<Locator> = all.iter().filter_map(|replica| replica.at.clone()).collect();
    let replica = &mut all[one];
    let begun = Instant::now();
    let (running, records, logged) = loop {
        let (records, wanted) = mpsc::channel(8);
        let (tell, logged) = mpsc::channel(8);
        let options = Options {
            state: replica.folder.clone(),
            identity: None,
            listen: ([127, 0, 0, 1], 0).into(),
            seeds: seeds.clone(),
        };
        match open(options, Ends { records: wanted, logged: tell }).await {
            Ok(running) => break (running, records, logged),
            // The one that was killed has not let go of its folder yet.
            Err(DriverError::Runtime(RuntimeError::State(StateError::LocalInUse { .. }))) => {
                assert!(begun.elapsed() < LIMIT);
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Err(error) => panic!("{error}"),
        }
    };
    tokio::spawn(stand_in(logged, replica.issued.clone(), replica.order.clone()));
    (replica.at, replica.running, replica.records) = (Some(running.locator()), Some(running), Some(records));
}

/// Stops it where it stands: nothing more is written, nobody is told.
fn kill(all: &mut [Replica], one: usize) {
    (all[one].running, all[one].records, all[one].at) = (None, None, None);
}

impl Replica {
    async fn until(&self, what: &str, is: impl Fn(&Status) -> bool) -> Status {
        let mut status = self.running.as_ref().unwrap().status();
        let waited = tokio::time::timeout(LIMIT, status.wait_for(|status| is(status))).await;
        // What it waited for is a lock, so the status is not asked for a second time beside it.
        let found = waited.ok().map(|status| status.unwrap().clone());
        found
            .unwrap_or_else(|| panic!("{what}: {}", self.running.as_ref().unwrap().status().borrow().words()))
    }

    /// Asks as an authority does: again, until it comes back.
    async fn issue(&self, request: Digest) {
        let (record, begun) = (self.record(request), Instant::now());
        while !self.issued.lock().unwrap().contains_key(&request) {
            self.records.as_ref().unwrap().send(record.clone()).await.unwrap();
            assert!(begun.elapsed() < LIMIT, "{}", self.running.as_ref().unwrap().status().borrow().words());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn ask(&self, request: Digest) {
        self.records.as_ref().unwrap().send(self.record(request)).await.unwrap();
    }

    /// Another certificate each time: of one request the log has one.
    fn record(&self, request: Digest) -> Bytes {
        let der = Blob(Bytes::from(format!("{} {:?}", self.folder.display(), Instant::now())));
        codec::encode(&LogRecord { request, der }).into()
    }
}

async fn even(all: &[Replica]) {
    let begun = Instant::now();
    loop {
        let logs: Vec<Vec<Bytes>> = all.iter().map(|one| one.order.lock().unwrap().clone()).collect();
        if logs.windows(2).all(|two| two[0] == two[1]) {
            return;
        }
        assert!(begun.elapsed() < LIMIT, "{:?}", logs.iter().map(Vec::len).collect::<Vec<_>>());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_replicas_the_first_goes_on_alone_and_the_second_waits() {
    let mut all = found("two", 2, Minority::ReadOnly);
    start(&mut all, 0).await;
    start(&mut all, 1).await;
    for one in &all {
        one.until("both", |status| status.is_ready() && status.present.len() == 2).await;
    }
    // Both are asked for the same: one certificate.
    all[0].ask([1; 32]).await;
    all[1].ask([1; 32]).await;
    all[0].issue([2; 32]).await;
    all[1].issue([3; 32]).await;
    even(&all).await;

    kill(&mut all, 1);
    all[0].until("the first alone", |status| status.is_ready() && status.present.len() == 1).await;
    all[0].issue([4; 32]).await;
    start(&mut all, 1).await;
    all[1].until("the second is back", |status| status.is_ready() && status.handed == 4).await;
    even(&all).await;

    kill(&mut all, 0);
    let alone = |status: &Status| status.standing == Standing::NoQuorum;
    let waits = all[1].until("the second alone", alone).await;
    assert!(waits.words().contains("no quorum (1 of 2 replicas)"), "{}", waits.words());
    all[1].ask([5; 32]).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!all[1].issued.lock().unwrap().contains_key(&[5; 32]), "nothing is issued without the first");
    start(&mut all, 0).await;
    all[1].issue([5; 32]).await;
    all[0].until("the first is back", |status| status.is_ready() && status.handed == 5).await;
    even(&all).await;
    for one in all {
        one.running.unwrap().stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_three_replicas_any_one_may_be_lost() {
    let mut all = found("three", 3, Minority::Stop);
    for one in 0..3 {
        start(&mut all, one).await;
    }
    let mut number = 0_u8;
    for lost in [0, 2, 1] {
        for one in &all {
            one.until("all", |status| status.is_ready() && status.present.len() == 3).await;
        }
        number += 1;
        all[(lost + 1) % 3].issue([number; 32]).await;
        // One that is on its way when it is killed comes to stand everywhere or nowhere.
        all[lost].ask([100 + number; 32]).await;
        kill(&mut all, lost);
        number += 1;
        all[(lost + 1) % 3].issue([number; 32]).await;
        all[(lost + 2) % 3].issue([100 + number; 32]).await;
        start(&mut all, lost).await;
        all[lost].issue([100 + number; 32]).await;
    }
    even(&all).await;
    assert!(all[0].order.lock().unwrap().len() >= 9);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_replicas_killed_at_odd_moments_issue_nothing_twice_and_lose_nothing() {
    let mut all = found("odd", 2, Minority::ReadOnly);
    start(&mut all, 0).await;
    start(&mut all, 1).await;
    all[0].until("both", |status| status.is_ready() && status.present.len() == 2).await;
    let mut told: Vec<(Digest, Bytes)> = Vec::new();
    for round in 0..10_u8 {
        // Both are asked for the same, and each for one of its own; then one of them dies, a little
        // later each time.
        for request in [[round; 32], [100 + round; 32]] {
            all[0].ask(request).await;
            all[1].ask(request).await;
        }
        tokio::time::sleep(Duration::from_micros(u64::from(round) * 2_500)).await;
        let dies = usize::from(round % 2);
        for one in &all {
            told.extend(one.issued.lock().unwrap().clone());
        }
        kill(&mut all, dies);
        start(&mut all, dies).await;
        for one in &all {
            one.until("both again", |status| status.is_ready() && status.present.len() == 2).await;
        }
        for request in [[round; 32], [100 + round; 32]] {
            all[0].issue(request).await;
            all[1].issue(request).await;
        }
    }
    even(&all).await;
    let issued = all[0].issued.lock().unwrap().clone();
    assert_eq!((issued.len(), &issued), (20, &*all[1].issued.lock().unwrap()));
    assert!(told.iter().all(|(request, record)| issued[request] == *record), "what was told stands");
}

#[test]
fn auth_11_a_charter_that_lets_a_minority_go_on_is_refused() {
    let all = found("minority", 2, Minority::Continue);
    let (_records, wanted) = mpsc::channel(8);
    let (tell, _logged) = mpsc::channel(8);
    let options = Options {
        state: all[0].folder.clone(),
        identity: None,
        listen: ([127, 0, 0, 1], 0).into(),
        seeds: Vec::new(),
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let refused = runtime.block_on(open(options, Ends { records: wanted, logged: tell })).unwrap_err();
    assert!(matches!(refused, DriverError::LocalMinority("continue")), "{refused}");
}
