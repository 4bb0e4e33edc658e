//! The record of fuzz runs, docs/evidence/fuzz.tsv. It has one line for each target: the last run
//! that ended without a finding.

use crate::run::{capture, root};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::sync::Mutex;

/// Where the record is, from the root.
pub(crate) const RECORD: &str = "docs/evidence/fuzz.tsv";
const HEAD: &str = "target\tcommit\tseconds\truns\tedges\tpeak MB";

/// One run without a finding.
pub(crate) struct Ran {
    /// How long it took.
    pub(crate) seconds: u64,
    /// Inputs tried.
    pub(crate) runs: u64,
    /// Edges of the program reached.
    pub(crate) edges: u64,
    /// Most memory held, in MB.
    pub(crate) peak: u64,
}

/// Where runs are written as they end.
pub(crate) struct Record {
    commit: String,
    turn: Mutex<()>,
}

impl Record {
    /// Names the commit that the runs are of; a tree with changes gets a `+` behind it.
    pub(crate) fn open() -> Result<Self, String> {
        let (_, commit) = capture("git rev-parse --short=12 HEAD")?;
        let (_, changed) = capture("git status --porcelain -- protocol host testing/fuzz Cargo.lock")?;
        let mark = if changed.trim().is_empty() { "" } else { "+" };
        Ok(Self { commit: format!("{}{mark}", commit.trim()), turn: Mutex::new(()) })
    }

    /// The targets that ran for at least `seconds`.
    pub(crate) fn done(seconds: u32) -> Result<Vec<String>, String> {
        let long = |line: &String| seconds_of(line).is_some_and(|took| took >= u64::from(seconds));
        Ok(lines()?.into_iter().filter(|(_, line)| long(line)).map(|(target, _)| target).collect())
    }

    /// Writes one run in the place of the target's last.
    pub(crate) fn add(&self, target: &str, ran: &Ran) -> Result<(), String> {
        let _turn = self.turn.lock().map_err(|error| error.to_string())?;
        let mut all = lines()?;
        let Ran { seconds, runs, edges, peak } = ran;
        let line = format!("{target}\t{}\t{seconds}\t{runs}\t{edges}\t{peak}", self.commit);
        all.insert(target.to_owned(), line);
        let mut text = format!("{HEAD}\n");
        for line in all.values() {
            writeln!(text, "{line}").map_err(|error| error.to_string())?;
        }
        let path = root().join(RECORD);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        }
        fs::write(&path, text).map_err(|error| format!("{RECORD}: {error}"))
    }
}

/// The record as it stands; empty where there is none.
fn lines() -> Result<BTreeMap<String, String>, String> {
    let text = match fs::read_to_string(root().join(RECORD)) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("{RECORD}: {error}")),
    };
    let named = |line: &str| Some((line.split('\t').next()?.to_owned(), line.to_owned()));
    Ok(text.lines().skip(1).filter_map(named).collect())
}

fn seconds_of(line: &str) -> Option<u64> {
    line.split('\t').nth(2)?.parse().ok()
}
