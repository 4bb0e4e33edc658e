//! A group whose keys and links come from ML-KEM-768 as well, on real sockets: it forms, a stranger
//! is admitted, all hear one another; whoever runs on a charter without it is refused, and both
//! ends say why.

use folkmoot::tools::{OsEntropy, wall_clock};
use folkmoot::{
    Event, Exchange, Folkmoot, GroupName, Locator, MemberId, Options, Refusal, Service, StateFolder, Theirs,
    UnixTime,
};
use folkmoot_identity::{CharterDraft, Founder, Identity, SignedCharter};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(60);

fn folder(root: &Path, who: &Identity, charter: &SignedCharter) -> PathBuf {
    let path = root.join(who.name());
    let folder = StateFolder::open(&path).unwrap();
    folder.write_identity(who.key_pem().unwrap().expose(), &who.certificate_pem()).unwrap();
    folder.write_charter(charter.der()).unwrap();
    path
}

/// A charter of these people: keys by CKD with ML-KEM-768, one vote admits, links as said.
fn charter(people: &[Identity], hybrid_links: bool) -> SignedCharter {
    let founders = people.iter().map(|one| Founder::from(one.certificate())).collect();
    let mut entropy = OsEntropy::new().unwrap();
    let draft = CharterDraft::new(GroupName::new("moot").unwrap(), 1, founders, &mut entropy);
    let keying = folkmoot_base::Keying::from_name("ckd").unwrap();
    let draft = CharterDraft { keying, hybrid: true, hybrid_links, ..draft };
    SignedCharter::sign(&draft.to_toml(), &people.iter().collect::<Vec<_>>()).unwrap()
}

async fn open(folder: PathBuf, seeds: &[Locator]) -> Folkmoot {
    let mut options = Options::new(folder).listen(([127, 0, 0, 1], 0));
    options.seeds = seeds.to_vec();
    Folkmoot::open_with(options).await.unwrap()
}

/// The next event of which `wanted` makes something.
async fn hear<T>(moot: &mut Folkmoot, wanted: impl Fn(Event) -> Option<T>) -> T {
    let heard = tokio::time::timeout(LIMIT, async {
        loop {
            if let Some(found) = wanted(moot.next().await.unwrap().unwrap()) {
                return found;
            }
        }
    });
    heard.await.unwrap_or_else(|_| panic!("{} heard nothing of it", moot.name()))
}

async fn in_view(moot: &mut Folkmoot, members: &BTreeSet<MemberId>) {
    let view = |event| match event {
        Event::View { members: all, .. } => {
            (all.into_iter().map(|party| party.member).collect::<BTreeSet<_>>() == *members).then_some(())
        }
        _ => None,
    };
    hear(moot, view).await;
}

async fn said(moot: &mut Folkmoot, text: &str) {
    let message = |event| match event {
        Event::Message { payload, .. } => (payload == text.as_bytes()).then_some(()),
        _ => None,
    };
    hear(moot, message).await;
}

async fn refusal(moot: &Folkmoot) -> Refusal {
    let begun = Instant::now();
    loop {
        if let [refusal] = &moot.refusals().await.unwrap()[..] {
            return refusal.clone();
        }
        assert!(begun.elapsed() < LIMIT, "{} is told nothing", moot.name());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_with_hybrid_keys_and_links_forms_admits_and_talks() {
    let root =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("hybrid-links-{}", std::process::id()));
    let now = wall_clock();
    let (from, to) = (UnixTime(now.0 - 3_600), UnixTime(now.0 + 86_400));
    let mut entropy = OsEntropy::new().unwrap();
    let mut person = |name| Identity::new(name, &mut entropy, from, to).unwrap();
    let (founders, dora, eve) = ([person("anna"), person("ben")], person("dora"), person("eve"));
    let moot = charter(&founders, true);

    let mut anna = open(folder(&root, &founders[0], &moot), &[]).await;
    let mut ben = open(folder(&root, &founders[1], &moot), &[anna.locator()]).await;
    let session = anna.join().await.unwrap();
    ben.join().await.unwrap();
    let mut all = BTreeSet::from([anna.me(), ben.me()]);
    in_view(&mut anna, &all).await;
    in_view(&mut ben, &all).await;
    let status = ben.status().await.unwrap();
    assert_eq!(status.module.unwrap().as_str(), "ckd+ml-kem-768");

    // A stranger with the charter in hand links as it says, too.
    let mut dora = open(folder(&root, &dora, &moot), &[anna.locator()]).await;
    dora.join().await.unwrap();
    dora.apply().await.unwrap();
    let asked = |event| match event {
        Event::Request(petition) => Some(petition.subject),
        _ => None,
    };
    let subject = hear(&mut anna, asked).await;
    anna.vote(subject, true).await.unwrap();
    all.insert(dora.me());
    in_view(&mut dora, &all).await;
    in_view(&mut anna, &all).await;
    session.send(Service::Safe, "good morning").await.unwrap();
    for member in [&mut anna, &mut ben, &mut dora] {
        said(member, "good morning").await;
        assert!(member.refusals().await.unwrap().is_empty());
    }

    // Eve holds another charter of the same people: no link either way, and no less of one.
    let other = SignedCharter::sign(&draft_without(&founders), &founders.iter().collect::<Vec<_>>()).unwrap();
    let eve = open(folder(&root, &eve, &other), &[anna.locator()]).await;
    let told = refusal(&eve).await;
    assert_eq!((&told.at, told.theirs), (&anna.locator(), Theirs::Form(Exchange::Hybrid)));
    let words = format!("the node at {} says that it asks for ML-KEM-768 links", anna.locator());
    assert!(told.to_string().starts_with(&words), "{told}");
    anna.dial(eve.locator()).await.unwrap();
    let told = refusal(&anna).await;
    assert_eq!((&told.at, told.theirs), (&eve.locator(), Theirs::Form(Exchange::Classical)));
    let linked = eve.handle().look(|machine, _, _| machine.ground.counters().link).await.unwrap();
    assert_eq!(linked.handshakes, 0);
    drop(std::fs::remove_dir_all(root));
}

fn draft_without(people: &[Identity]) -> String {
    let text = charter(people, false);
    String::from_utf8(text.charter().bytes().to_vec()).unwrap()
}
