//! Paths that drop what is long and say nothing, over sockets: a group forms, and messages of all
//! lengths arrive, also when a path narrows while the group is at work.

use crate::longest::{folders, open};
use folkmoot::{Event, Folkmoot, Service, Session};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(60);
const LENGTHS: [usize; 4] = [100, 1_300, 3_000, 1_000_000];

/// Three members whose paths carry so much; how many configurations each has had so far.
struct Three {
    root: PathBuf,
    moots: Vec<Folkmoot>,
    sessions: Vec<Session>,
    configurations: [usize; 3],
}

impl Three {
    async fn over(name: &str, longest: usize) -> Self {
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let folders = folders(&root, &["anna", "ben", "cleo"]);
        let (mut moots, mut sessions) = (Vec::<Folkmoot>::new(), Vec::new());
        for folder in folders {
            let seeds: Vec<_> = moots.iter().map(Folkmoot::locator).collect();
            let moot = open(folder, &seeds).await;
            moot.faults().longest(longest);
            sessions.push(moot.join().await.unwrap());
            moots.push(moot);
        }
        let mut three = Self { root, moots, sessions, configurations: [0; 3] };
        let whole =
            |event: &Event| matches!(event, Event::View { members, .. } if members.len() == 3).then_some(());
        three.hear_all(1, whole).await;
        three
    }

    /// Until each has heard so many events of which `wanted` makes something. Returns those of
    /// each.
    async fn hear_all<T>(&mut self, count: usize, wanted: impl Fn(&Event) -> Option<T>) -> Vec<Vec<T>> {
        let mut heard = Vec::new();
        for (moot, configurations) in self.moots.iter_mut().zip(&mut self.configurations) {
            let mut found = Vec::new();
            while found.len() < count {
                let event = tokio::time::timeout(LIMIT, moot.next()).await;
                let event = event.unwrap_or_else(|_| panic!("{} heard {}", moot.name(), found.len()));
                let event = event.unwrap().unwrap();
                *configurations += usize::from(matches!(event, Event::Configuration { .. }));
                found.extend(wanted(&event));
            }
            heard.push(found);
        }
        heard
    }

    /// Everybody sends messages of these lengths, and everybody gets all of them.
    async fn exchange(&mut self) {
        for session in &self.sessions {
            for length in LENGTHS {
                session.send(Service::Agreed, vec![7; length]).await.unwrap();
            }
        }
        let message = |event: &Event| match event {
            Event::Message { payload, .. } => Some(payload.len()),
            _ => None,
        };
        let all = LENGTHS.len() * 3;
        for mut lengths in self.hear_all(all, message).await {
            lengths.sort_unstable();
            assert!(lengths.iter().enumerate().all(|(place, length)| *length == LENGTHS[place / 3]));
        }
    }

    /// Nobody has another configuration for so long.
    async fn stands_for(&mut self, span: Duration) {
        let end = Instant::now() + span;
        for moot in &mut self.moots {
            while let Ok(event) =
                tokio::time::timeout(end.saturating_duration_since(Instant::now()), moot.next()).await
            {
                let event = event.unwrap().unwrap();
                assert!(!matches!(event, Event::Configuration { .. }), "{}: {event:?}", moot.name());
            }
        }
    }

    async fn end(self) {
        drop(self.moots);
        drop(std::fs::remove_dir_all(self.root));
    }
}

/// What is left for UDP of links that carry 1,280, 1,400 and 1,420 bytes, over IPv6; the first also
/// without any headers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_forms_and_works_over_paths_that_drop_what_is_long() {
    for longest in [1_232, 1_280, 1_352, 1_372] {
        let mut three = Three::over(&format!("paths-{longest}"), longest).await;
        three.exchange().await;
        // Alone, and then with those who came: one configuration each, if they came one by one.
        assert!(three.configurations.iter().all(|count| *count <= 4), "{:?}", three.configurations);
        three.stands_for(Duration::from_secs(4)).await;
        three.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_goes_on_when_a_path_narrows() {
    let mut three = Three::over("narrows", 1_452).await;
    three.exchange().await;
    three.stands_for(Duration::from_secs(1)).await;
    let before = three.configurations;
    three.moots[1].faults().longest(1_300);
    three.exchange().await;
    three.exchange().await;
    let more: Vec<usize> = three.configurations.iter().zip(before).map(|(now, was)| now - was).collect();
    assert!(more.iter().all(|count| *count <= 2), "{more:?}");
    three.stands_for(Duration::from_secs(4)).await;
    three.end().await;
}
