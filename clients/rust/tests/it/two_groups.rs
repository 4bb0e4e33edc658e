//! Two groups on the same nodes, each with a module and a cipher of its own, on real sockets. One
//! of them moves from GDH to MLS and from AES to ChaCha by vote while everybody talks in both:
//! nothing is lost, and a member of one reads nothing of the other, with every key that it ever
//! had.

use folkmoot::tools::{MemberStack, OsEntropy, Tapped, wall_clock};
use folkmoot::{
    Event, Folkmoot, GroupId, GroupName, GroupStatus, Options, Party, Service, Session, StateFolder, ViewId,
};
use folkmoot_base::{Keying, ModuleName};
use folkmoot_identity::{CharterDraft, Founder, Identity, SignedCharter};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const NAMES: [&str; 4] = ["anna", "ben", "cleo", "dora"];
const LIMIT: Duration = Duration::from_secs(60);

/// Text by group, in the order in which it came, and the views.
#[derive(Default)]
struct Heard {
    texts: BTreeMap<GroupId, Vec<String>>,
    views: Vec<(ViewId, Vec<Party>)>,
    failed: Vec<String>,
    proposals: Vec<([u8; 32], String)>,
}

struct Person {
    moot: Arc<tokio::sync::Mutex<Folkmoot>>,
    handle: folkmoot::tools::MemberHandle,
    home: Session,
    log: Option<Session>,
    heard: Arc<Mutex<Heard>>,
}

/// State folders of founders: the group is of GDH and AES; `log`, named under it, of TGDH and
/// ChaCha.
fn folders() -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("two-groups-{}", std::process::id()));
    let now = wall_clock();
    let (from, to) = (folkmoot::UnixTime(now.0 - 3_600), folkmoot::UnixTime(now.0 + 86_400));
    let mut entropy = OsEntropy::new().unwrap();
    let people: Vec<_> =
        NAMES.iter().map(|name| Identity::new(name, &mut entropy, from, to).unwrap()).collect();
    let founders = people.iter().map(|one| Founder::from(one.certificate())).collect();
    let mut draft = CharterDraft::new(GroupName::new("moot").unwrap(), 2, founders, &mut entropy);
    // By name: by size it would be another if round trips took long here.
    draft.keying = Keying::Module(ModuleName::Gdh);
    let groups = "\n[groups.log]\nkeying = \"tgdh\"\ncipher = \"chacha20-poly1305\"\n";
    let all: Vec<&Identity> = people.iter().collect();
    let charter = SignedCharter::sign(&(draft.to_toml() + groups), &all).unwrap();
    let folder = |one: &Identity| {
        let path = root.join(one.name());
        let folder = StateFolder::open(&path).unwrap();
        folder.write_identity(one.key_pem().unwrap().expose(), &one.certificate_pem()).unwrap();
        folder.write_charter(charter.der()).unwrap();
        path
    };
    people.iter().map(folder).collect()
}

async fn open(folder: PathBuf, seeds: &[folkmoot::Locator], in_log: bool) -> Person {
    let mut options = Options::new(folder).listen(([127, 0, 0, 1], 0));
    options.seeds = seeds.to_vec();
    options.danger_keep_keys = true;
    let moot = Folkmoot::open_with(options).await.unwrap();
    let home = moot.join().await.unwrap();
    let log =
        if in_log { Some(moot.join_named(&GroupName::new("log").unwrap()).await.unwrap()) } else { None };
    let (handle, heard) = (moot.handle(), Arc::new(Mutex::new(Heard::default())));
    let moot = Arc::new(tokio::sync::Mutex::new(moot));
    let person = Person { moot: moot.clone(), handle, home, log, heard: heard.clone() };
    tokio::spawn(async move {
        loop {
            // Not held for long: orders need it too.
            let next = tokio::time::timeout(Duration::from_millis(20), moot.lock().await.next()).await;
            match next {
                Ok(Ok(Some(event))) => note(&mut heard.lock().unwrap(), event),
                Ok(_) => return,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    });
    person
}

fn note(heard: &mut Heard, event: Event) {
    match event {
        Event::Message { group, payload, .. } => {
            heard.texts.entry(group).or_default().push(String::from_utf8(payload.to_vec()).unwrap());
        }
        Event::View { id, members, .. } => heard.views.push((id, members)),
        Event::Proposal { subject, text, .. } => heard.proposals.push((subject, text)),
        Event::SendFailed { error } => heard.failed.push(error.to_string()),
        _ => {}
    }
}

impl Person {
    async fn groups(&self) -> BTreeMap<GroupId, GroupStatus> {
        let status = self.handle.look(|machine, now, _| machine.upper.member.status(now)).await.unwrap();
        status.groups.into_iter().map(|group| (group.view.group, group)).collect()
    }

    async fn charter_version(&self) -> u32 {
        self.seat(|seat| seat.member.transcript().roster().charter().version()).await
    }

    async fn seat<T: Send + 'static>(&self, ask: impl FnOnce(&mut MemberStack) -> T + Send + 'static) -> T {
        self.handle.look(move |machine, _, _| ask(&mut machine.upper)).await.unwrap()
    }
}

/// Waits until all of these see the group with so many members, this module and this cipher.
async fn all_see(who: &[&Person], group: GroupId, members: usize, suite: (&str, &str)) {
    let begun = Instant::now();
    loop {
        let mut epochs = BTreeSet::new();
        for one in who {
            let groups = one.groups().await;
            let fits = |told: &&GroupStatus| {
                told.members.len() == members && (told.module.as_str(), told.cipher.as_str()) == suite
            };
            epochs.insert(groups.get(&group).filter(fits).map(|told| told.epoch.clone()));
        }
        if epochs.len() == 1 && epochs.first().unwrap().is_some() {
            return;
        }
        assert!(begun.elapsed() < LIMIT, "not all see {suite:?}: {epochs:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The first proposes, the next two agree; until it is in force for all, since a voter makes one
/// decision at a time.
async fn change(people: &[Person], field: &str, value: &str) {
    let before = people[0].charter_version().await;
    people[0].moot.lock().await.change_charter(field, value).await.unwrap();
    let words = format!("set {field} = {value} in the charter");
    let begun = Instant::now();
    // Quorum of four: three.
    for voter in &people[1..3] {
        let subject = loop {
            let heard = voter.heard.lock().unwrap().proposals.clone();
            if let Some((subject, _)) = heard.into_iter().rev().find(|(_, text)| *text == words) {
                break subject;
            }
            assert!(begun.elapsed() < LIMIT, "{words}: never proposed");
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        voter.moot.lock().await.vote(subject, true).await.unwrap();
    }
    for person in people {
        while person.charter_version().await <= before {
            assert!(begun.elapsed() < LIMIT, "{words}: never in force");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Says so many things, a little apart.
async fn talk(session: Session, name: &'static str, count: usize) {
    for number in 0..count {
        session.send(Service::Agreed, format!("{name} {number}")).await.unwrap();
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_groups_on_the_same_nodes_and_one_moves_live() {
    const COUNT: usize = 250;
    let mut people: Vec<Person> = Vec::new();
    let mut seeds = Vec::new();
    for (number, folder) in folders().into_iter().enumerate() {
        // Cleo is not in the log.
        let person = open(folder, &seeds, number != 2).await;
        seeds.push(person.moot.lock().await.locator());
        people.push(person);
    }
    let (home, log) = (people[0].home.group(), people[0].log.as_ref().unwrap().group());
    let everybody: Vec<&Person> = people.iter().collect();
    let loggers: Vec<&Person> = people.iter().filter(|one| one.log.is_some()).collect();
    all_see(&everybody, home, 4, ("gdh", "aes-256-gcm")).await;
    all_see(&loggers, log, 3, ("tgdh", "chacha20-poly1305")).await;
    assert!(!people[2].groups().await.contains_key(&log));

    people[0].seat(|seat| seat.tap(false)).await;
    let mut talks = Vec::new();
    for (person, name) in people.iter().zip(NAMES) {
        talks.push(tokio::spawn(talk(person.home.clone(), name, COUNT)));
        talks.extend(person.log.clone().map(|log| tokio::spawn(talk(log, name, COUNT))));
    }
    change(&people, "contributory", "false").await;
    change(&people, "keying", "mls").await;
    change(&people, "cipher", "chacha20-poly1305").await;
    all_see(&everybody, home, 4, ("mls", "chacha20-poly1305")).await;
    all_see(&loggers, log, 3, ("tgdh", "chacha20-poly1305")).await;
    // And the other, by its own rules, back to the charter's module.
    change(&people, "groups.log.keying", "inherit").await;
    all_see(&loggers, log, 3, ("mls", "chacha20-poly1305")).await;
    for talk in talks {
        talk.await.unwrap();
    }
    nothing_is_lost(&people, home, log, COUNT).await;
    nobody_reads_the_other(&people, log).await;
}

async fn nothing_is_lost(people: &[Person], home: GroupId, log: GroupId, count: usize) {
    let begun = Instant::now();
    for (group, talkers) in [(home, 4), (log, 3)] {
        let texts =
            |person: &Person| person.heard.lock().unwrap().texts.get(&group).cloned().unwrap_or_default();
        for person in people.iter().filter(|one| group == home || one.log.is_some()) {
            while texts(person).len() < talkers * count {
                assert!(begun.elapsed() < LIMIT, "{} of {} came", texts(person).len(), talkers * count);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            assert_eq!(texts(person), texts(&people[0]), "one order");
            assert_eq!(texts(person).iter().collect::<BTreeSet<_>>().len(), talkers * count, "each once");
        }
    }
    assert!(!people[2].heard.lock().unwrap().texts.contains_key(&log), "who is not in hears nothing");
    assert!(people.iter().all(|one| one.heard.lock().unwrap().failed.is_empty()));
}

/// Every key that cleo ever had, on every sealed payload of the log; a logger's keys open them.
async fn nobody_reads_the_other(people: &[Person], log: GroupId) {
    let tapped: Vec<Tapped> =
        people[0].seat(MemberStack::tapped).await.into_iter().filter(|one| one.group == log).collect();
    let views = people[0].heard.lock().unwrap().views.clone();
    for (who, opens) in [(2, false), (1, true)] {
        let (tapped, views) = (tapped.clone(), views.clone());
        let tried = people[who].seat(move |seat| seat.danger_attempt(&tapped, &views)).await;
        assert!(tried.sealed > 100 && tried.keys > 2, "{tried:?}");
        assert_eq!(tried.opened > 0, opens, "{} {tried:?}", NAMES[who]);
    }
}
