//! Plays the scenarios, some at a time.

use crate::faults::Trial;
use crate::judge::{self, Seen, Violation, judge};
use crate::member::in_words;
use crate::report::{say, self_test};
use crate::scenarios::{self, play};
use crate::stage::Terms;
use crate::{Args, wires, words};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// A scenario that waits to be played: its name, and which try this is.
type Waiting = (&'static str, usize);

/// What came of a scenario.
pub(crate) struct Outcome {
    pub(crate) name: &'static str,
    pub(crate) attempt: usize,
    /// Where its logs are.
    pub(crate) folder: PathBuf,
    pub(crate) took: Duration,
    pub(crate) result: Result<Seen, String>,
    pub(crate) violations: Vec<Violation>,
}

impl Outcome {
    async fn of((name, attempt): Waiting, root: PathBuf, terms: Terms) -> Self {
        let began = Instant::now();
        let folder = if attempt > 1 { root.join(format!("try-{attempt}")) } else { root };
        let result = play(name, &folder, terms).await;
        let violations = match &result {
            Ok(seen) => judge(seen),
            Err(reason) => vec![("goal", reason.clone())],
        };
        Self { name, attempt, folder, took: began.elapsed(), result, violations }
    }

    fn passed(&self) -> bool {
        self.violations.is_empty()
    }

    /// Whether only configurations came too often or at the wrong time.
    fn is_late(&self) -> bool {
        !self.passed() && self.violations.iter().all(|(promise, _)| judge::OF_TIME.contains(promise))
    }
}

/// Plays the scenarios, and says what came of each. Whether all is good.
pub(crate) async fn direct(args: &Args) -> Result<bool, String> {
    let (mut waiting, root) = (wanted(args)?, folder(args)?);
    wires::ready()?;
    let between = Duration::from_secs(if args.quick { 3 } else { 10 });
    let seed = args.seed.unwrap_or_else(|| words::now() % 1_000_000);
    eprintln!("{:>12}   --seed {seed}", "all");
    let terms = Terms { between, last: Duration::from_secs(10), seed };
    let (mut playing, mut trial, mut good) = (JoinSet::new(), Trial::default(), true);
    let stop = tokio::signal::ctrl_c();
    tokio::pin!(stop);
    loop {
        while playing.len() < args.jobs.max(1)
            && let Some(next) = waiting.pop()
        {
            let mut known = scenarios::ALL.iter().chain(&scenarios::LARGE);
            let about = known.find(|(name, _)| *name == next.0).map_or("", |(_, about)| about);
            eprintln!("{:>12}   begins: {about}", next.0);
            playing.spawn(Outcome::of(next, root.clone(), terms));
        }
        let done = tokio::select! {
            done = playing.join_next() => done,
            // Dropped with this function: what runs, and its namespaces.
            _ = &mut stop => return Err("stopped; the namespaces are removed".into()),
        };
        let Some(outcome) = done else { break };
        let outcome = outcome.map_err(in_words)?;
        say(args, &outcome)?;
        if outcome.is_late() && outcome.attempt < args.tries {
            waiting.push((outcome.name, outcome.attempt + 1));
            continue;
        }
        good &= outcome.passed();
        if let (true, Ok(seen)) = (outcome.passed(), &outcome.result) {
            trial.of(seen);
        }
    }
    good &= self_test(args, &trial);
    end(args, &root, good)?;
    Ok(good)
}

/// What to play, the last one first.
fn wanted(args: &Args) -> Result<Vec<Waiting>, String> {
    let large = scenarios::LARGE.iter().filter(|_| !args.only.is_empty());
    let names = || scenarios::ALL.iter().chain(large.clone()).map(|(name, _)| *name);
    if let Some(unknown) = args.only.iter().find(|only| names().all(|name| name != only.as_str())) {
        let names: Vec<&str> = names().collect();
        return Err(format!("there is no scenario {unknown}; there are {}", names.join(", ")));
    }
    let wanted = |name: &&str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    Ok(names().filter(wanted).map(|name| (name, 1)).rev().collect())
}

fn folder(args: &Args) -> Result<PathBuf, String> {
    let Some(folder) = &args.keep else {
        return Ok(std::env::temp_dir().join(format!("folkmoot-net-{}", std::process::id())));
    };
    match folder.exists() {
        true => Err(format!("{} exists already: choose another folder with --keep", folder.display())),
        false => Ok(folder.clone()),
    }
}

fn end(args: &Args, root: &Path, good: bool) -> Result<(), String> {
    if good && args.keep.is_none() {
        return std::fs::remove_dir_all(root).map_err(in_words);
    }
    eprintln!("logs: {}", root.display());
    Ok(())
}
