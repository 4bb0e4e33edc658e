//! A founding that many moments begin from.

use crate::common::actor::Actor;
use crate::common::draw::Draw;
use crate::common::openssl::openssl;
use crate::common::place::{Place, Times};
use crate::common::program::ask;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const FOUNDERS: [&str; 6] = ["anna", "ben", "cleo", "dora", "erik", "fred"];
/// The last founder is voted out; the others' shares are made anew.
const HOLDERS: usize = 5;
/// Who votes last.
const LAST: [usize; 2] = [2, 3];
/// So many shares determine the key.
const THRESHOLD: usize = 2;
/// Longest wait for anything but the group's signature.
const LIMIT: Duration = Duration::from_secs(90);
/// Within this the group signs, whatever it has to make first: a sharing that is not decided is
/// taken back after two minutes (ADM-75).
const SIGNS: Duration = Duration::from_secs(240);

/// Waits until `done` brings something.
pub(super) fn until<T>(
    limit: Duration,
    what: &str,
    mut done: impl FnMut() -> Option<T>,
) -> Result<T, String> {
    let end = Instant::now() + limit;
    loop {
        if let Some(found) = done() {
            return Ok(found);
        }
        if Instant::now() > end {
            return Err(format!("within {limit:?} not: {what}"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// What its process says of itself; null while it does not run.
pub(super) fn status(who: &Actor) -> Value {
    ask(&who.state, &json!({ "op": "status" })).unwrap_or_default()
}

/// Whether it holds its share of the sharing in use.
pub(super) fn holds(who: &Actor) -> bool {
    status(who)["share"]["held"] == true
}

/// Whether it is in one view with these.
pub(super) fn sees(who: &Actor, others: &[&str]) -> bool {
    let status = status(who);
    let people = status["people"].as_array().cloned().unwrap_or_default();
    let present = |id: &str| people.iter().any(|one| one["member"] == id && one["state"] == "present");
    others.iter().all(|id| present(id))
}

/// The founders as they were when they shared a key.
pub(super) struct Beginning {
    place: Place,
    people: Vec<Actor>,
    signers: usize,
    guests: usize,
    /// How long it takes from the last votes until all hold the new shares.
    lasts: Duration,
}

impl Beginning {
    /// Six founders share a key; each folder is copied.
    pub(super) fn new(scheme: &str) -> Self {
        let place = Place::new(&format!("kills-{scheme}"));
        let mut people: Vec<Actor> = FOUNDERS.iter().map(|name| Actor::new(&place, name)).collect();
        let folders: Vec<&Path> = people.iter().map(|one| one.state.as_path()).collect();
        place.found_with(&folders, Times::SHORT, &["--scheme", scheme]);
        let mut at = Vec::new();
        for one in &mut people {
            one.start(&place, &at, &[]);
            at.push(one.locator.clone());
        }
        for one in &people {
            until(LIMIT, "all hold a share", || holds(one).then_some(())).unwrap();
        }
        people.iter_mut().for_each(Actor::kill);
        for one in &people {
            copy(&one.state, &kept(&one.state));
        }
        let signers = if scheme == "ts-dsa" { 2 * THRESHOLD - 1 } else { THRESHOLD };
        let mut beginning = Self { place, people, signers, guests: 0, lasts: Duration::ZERO };
        beginning.lasts = beginning.rehearsal().unwrap();
        println!("{scheme}: new shares take {:?}", beginning.lasts);
        beginning
    }

    /// All run, from the copies, in one view; two have said that fred is to go.
    fn restore(&mut self) -> Result<(), String> {
        for one in &mut self.people {
            one.kill();
            let _ = std::fs::remove_dir_all(&one.state);
            copy(&kept(&one.state), &one.state);
        }
        let at: Vec<String> = self.people.iter().map(|one| one.locator.clone()).collect();
        for one in &mut self.people {
            one.start(&self.place, &at, &[]);
        }
        let ids: Vec<String> = self.people.iter().map(|one| one.id.clone()).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        for one in &self.people {
            until(LIMIT, "all are in one view, with their shares", || {
                (sees(one, &ids) && holds(one)).then_some(())
            })?;
        }
        let fred = self.people[HOLDERS].id.clone();
        self.obeyed(0, &json!({ "op": "expel", "member": fred }))?;
        let subject = self.proposal(1)?;
        self.obeyed(1, &json!({ "op": "vote", "subject": subject, "approve": true }))?;
        LAST.iter().try_for_each(|voter| self.proposal(*voter).map(|_| ()))
    }

    /// A request that is answered, sooner or later.
    fn obeyed(&self, who: usize, request: &Value) -> Result<Value, String> {
        until(LIMIT, &format!("{} obeys {request}", FOUNDERS[who]), || {
            ask(&self.people[who].state, request).ok()
        })
    }

    /// The open proposal that `who` knows of.
    fn proposal(&self, who: usize) -> Result<String, String> {
        let find = |list: &Value| {
            let one = list.as_array()?.iter().find(|one| one["kind"] == "proposal")?;
            one["subject"].as_str().map(str::to_owned)
        };
        until(LIMIT, "the proposal is known", || {
            find(&ask(&self.people[who].state, &json!({ "op": "petitions" })).ok()?)
        })
    }

    /// The votes that decide it, after which new shares are made: half of the voters are a quorum
    /// if the first of them is among those, so the second of these is needed or comes too late.
    fn last_votes(&self) -> Result<(), String> {
        let subject = self.proposal(LAST[0])?;
        let yes = json!({ "op": "vote", "subject": subject, "approve": true });
        self.obeyed(LAST[0], &yes)?;
        let (state, petitions) = (&self.people[LAST[1]].state, json!({ "op": "petitions" }));
        let open = |list: &Value| {
            list.as_array().is_some_and(|list| list.iter().any(|one| one["subject"] == yes["subject"]))
        };
        until(LIMIT, "the last vote is given, or needed no more", || {
            let given = ask(state, &yes).is_ok();
            (given || ask(state, &petitions).is_ok_and(|list| !open(&list))).then_some(())
        })
    }

    /// How long it takes if nobody dies.
    fn rehearsal(&mut self) -> Result<Duration, String> {
        self.restore()?;
        let old = status(&self.people[0])["share"]["epoch"].clone();
        self.last_votes()?;
        let begun = Instant::now();
        for one in &self.people[..HOLDERS] {
            until(LIMIT, "new shares are in use", || {
                let share = status(one)["share"].clone();
                (share["held"] == true && share["epoch"] != old).then_some(())
            })?;
        }
        Ok(begun.elapsed())
    }

    /// One drawn moment; what it was.
    pub(super) fn moment(&mut self, draw: &mut Draw) -> Result<String, String> {
        self.restore()?;
        let most = usize::try_from(self.lasts.as_millis()).unwrap();
        // A little later, too: the decision is there, and not everywhere.
        let after = draw.delay(most + most / 5 + 1);
        let mut order: Vec<usize> = (0..HOLDERS).collect();
        for place in (1..HOLDERS).rev() {
            order.swap(place, draw.below(place + 1));
        }
        let spared = HOLDERS - self.signers;
        // Most often as many are gone for good as may be.
        let gone = if draw.below(3) == 0 { 1 + draw.below(spared) } else { spared };
        let all = draw.below(2) == 0;
        let (doomed, left) = order.split_at(gone);
        self.last_votes()?;
        std::thread::sleep(after);
        doomed.iter().for_each(|who| self.people[*who].kill());
        self.people[HOLDERS].kill();
        for who in left.iter().filter(|_| all) {
            self.people[*who].kill();
        }
        for who in doomed.iter().copied().chain([HOLDERS]) {
            std::fs::remove_dir_all(&self.people[who].state).unwrap();
        }
        let at: Vec<String> = left.iter().map(|who| self.people[*who].locator.clone()).collect();
        for who in left.iter().filter(|_| all) {
            self.people[*who].start(&self.place, &at, &[]);
        }
        let names = |some: &[usize]| some.iter().map(|who| FOUNDERS[*who]).collect::<Vec<_>>().join(" ");
        let rest = if all { ", the others start again" } else { "" };
        let what = format!(
            "{after:?} after the last votes {} die for good{rest}; left: {}",
            names(doomed),
            names(left)
        );
        let took = self.signs(left).map_err(|why| format!("{what}: {why}\n{}", self.standing(left)))?;
        Ok(format!("{what}; a guest is in after {took:?}"))
    }

    /// Those who are left let a guest in, by the group's key.
    fn signs(&mut self, left: &[usize]) -> Result<Duration, String> {
        self.guests += 1;
        let name = format!("guest{}", self.guests);
        let mut guest = Actor::new(&self.place, &name);
        let at: Vec<String> = left.iter().map(|who| self.people[*who].locator.clone()).collect();
        let begun = Instant::now();
        guest.start(&self.place, &at, &["--apply"]);
        let petitions = json!({ "op": "petitions" });
        let first = &self.people[left[0]];
        until(SIGNS, "a guest is admitted by the group's key", || {
            // It asks again, and is voted on again, should new shares have come between.
            for who in &left[..THRESHOLD] {
                let state = &self.people[*who].state;
                let list = ask(state, &petitions).ok()?;
                let asks = |one: &&Value| one["kind"] == "request" && one["member"] == guest.id.as_str();
                let Some(one) = list.as_array().and_then(|list| list.iter().find(asks)) else { continue };
                let _ = ask(state, &json!({ "op": "vote", "subject": one["subject"], "approve": true }));
            }
            sees(first, &[&guest.id]).then_some(())
        })?;
        let took = begun.elapsed();
        until(LIMIT, "the guest knows that it is in", || sees(&guest, &[&first.id]).then_some(()))?;
        guest.kill();
        is_the_groups(&self.place, &guest, &name)?;
        let _ = std::fs::remove_dir_all(&guest.state);
        self.people.iter_mut().for_each(Actor::kill);
        Ok(took)
    }

    /// One line on each of those who are left.
    fn standing(&self, left: &[usize]) -> String {
        let one = |who: &usize| {
            let (status, state) = (status(&self.people[*who]), &self.people[*who].state);
            let log = std::fs::read_to_string(state.join("log")).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            let last = lines[lines.len().saturating_sub(12)..].join("\n  ");
            format!("{}: {}, {}\n  {last}", FOUNDERS[*who], status["activity"], status["share"])
        };
        left.iter().map(one).collect::<Vec<_>>().join("\n")
    }
}

/// OpenSSL takes the guest's certificate for one of the group's.
pub(super) fn is_the_groups(place: &Place, guest: &Actor, name: &str) -> Result<(), String> {
    let folder = place.path().join(format!("{name}-file"));
    guest.good(&["export", &folder.display().to_string()]);
    let files = std::fs::read_dir(folder.join("certificates")).unwrap();
    let mut files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let file = files.find(|file| file.starts_with(name) && file.ends_with(".pem"));
    let file = file.ok_or_else(|| format!("{name} exports no certificate of its own"))?;
    let (good, said) = openssl(&folder, &format!("verify -CAfile authority.pem certificates/{file}"));
    let _ = std::fs::remove_dir_all(&folder);
    if good { Ok(()) } else { Err(said) }
}

/// Where the copy of a folder is.
fn kept(state: &Path) -> PathBuf {
    state.with_extension("kept")
}

/// The files of a folder whose process does not run.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        let skipped = ["lock", "log", "member.sqlite-shm"].iter().any(|name| entry.file_name() == *name);
        if entry.file_type().unwrap().is_file() && !skipped {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}
