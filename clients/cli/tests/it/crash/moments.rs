//! The drawn moments: who is killed, and when, in each of the four phases.

use super::stage::{GUEST, Stage, meanwhile, unhex};
use crate::common::draw::Draw;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Longest wait for a request, a proposal or an event to show.
const SHOW: Duration = Duration::from_secs(60);
const PETITIONS: &str = r#"{"op":"petitions"}"#;

/// The run: draws, does, prints, counts.
pub(crate) struct Moments {
    pub(crate) stage: Stage,
    pub(crate) draw: Draw,
    pub(crate) done: u64,
    guests: usize,
    since: Instant,
}

impl Moments {
    pub(crate) fn new(stage: Stage, draw: Draw) -> Self {
        Self { stage, draw, done: 0, guests: 0, since: Instant::now() }
    }

    /// One round: a guest asks, is voted in, everybody talks, two are killed in it, the guest is
    /// voted out.
    pub(crate) fn round(&mut self) -> Result<(), String> {
        self.join()?;
        self.talk()?;
        self.expel()
    }

    fn note(&mut self, phase: &str, who: usize, when: &str) {
        self.done += 1;
        let name = &self.stage.cast[who].name;
        let at = self.since.elapsed().as_millis();
        println!("moment {:2} {phase:4} at {at:6} ms: kill -9 {name} {when}", self.done);
    }

    fn kill(&mut self, phase: &str, who: usize, after: Duration, trigger: &str) {
        std::thread::sleep(after);
        self.stage.cast[who].kill();
        self.note(phase, who, &format!("{after:?} after {trigger}"));
    }

    fn join(&mut self) -> Result<(), String> {
        self.guests += 1;
        let name = format!("guest{}", self.guests);
        let guest = super::actor::Actor::new(self.stage.place.path(), &name);
        let id = guest.id.clone();
        self.stage.cast.push(guest);
        let kind = self.draw.below(4);
        let heard: Vec<_> = (0..GUEST).map(|who| self.stage.cast[who].heard()).collect();
        let marks: Vec<usize> = heard.iter().map(|one| one.count()).collect();
        self.arrive(kind, &name)?;
        let (first, second) = self.two_founders();
        self.vote_and_die(first, &name)?;
        let subject = self.petition(second, &name, "request")?;
        self.stage.cast[second].ask(&json!({ "op": "vote", "subject": subject, "approve": true }))?;
        self.stage.admitted = true;
        if kind >= 2 {
            let who = self.draw.below(GUEST + 1);
            let trigger = if kind == 2 {
                "the second vote"
            } else {
                let sees = second;
                let from = if sees == first { 0 } else { marks[sees] };
                let seen = self.stage.cast[sees].heard().wait(SHOW, |heard| {
                    heard.events[from.min(heard.events.len())..]
                        .iter()
                        .any(|event| event["event"] == "admitted" && event["member"] == id.as_str())
                        .then_some(())
                });
                seen.ok_or_else(|| format!("nobody was admitted: {}", self.stage.cast[sees].standing()))?;
                "the admission"
            };
            let after = self.draw.delay(40);
            self.kill("join", who, after, trigger);
            // What is in flight now completes, whoever was killed, without another command.
            self.stage.start(who)?;
        }
        self.stage.gather().map(|_| ())
    }

    /// The guest comes and asks; it, or its contact, is killed on the way in the first two kinds.
    fn arrive(&mut self, kind: usize, name: &str) -> Result<(), String> {
        let known = self.stage.locators();
        let charter = self.stage.charter.clone();
        self.stage.cast[GUEST].spawn(&charter, &known, true);
        if kind == 0 {
            let after = self.draw.delay(150);
            self.kill("join", GUEST, after, "its start");
            return self.stage.start(GUEST);
        }
        self.stage.cast[GUEST].ready()?;
        if kind == 1 {
            let seen = self.draw.below(GUEST);
            self.petition(seen, name, "request")?;
            let (who, after) = (self.draw.below(GUEST + 1), self.draw.delay(30));
            self.kill("join", who, after, "its request is known");
            self.stage.start(who)?;
        }
        Ok(())
    }

    fn two_founders(&mut self) -> (usize, usize) {
        let first = self.draw.below(GUEST);
        (first, (first + 1 + self.draw.below(GUEST - 1)) % GUEST)
    }

    /// A founder votes on the request and is killed about then. If the command was answered, the
    /// vote is on disk and still counted after the restart; if not, and the disk does not know of
    /// it, the person votes again.
    fn vote_and_die(&mut self, voter: usize, name: &str) -> Result<(), String> {
        let subject = self.petition(voter, name, "request")?;
        let order = json!({ "op": "vote", "subject": subject, "approve": true });
        let answer = meanwhile(&self.stage.cast[voter], order.clone());
        let after = self.draw.delay(10);
        self.kill("vote", voter, after, "the vote for a guest is given");
        let acknowledged = answer.join().unwrap().is_ok();
        let kept = self.stage.cast[voter].said_yes(&unhex(&subject));
        println!("          acknowledged: {acknowledged}, on disk: {kept}");
        if acknowledged && !kept {
            return Err(format!("an acknowledged vote of {} is lost", self.stage.cast[voter].name));
        }
        self.stage.start(voter)?;
        if !kept {
            self.petition(voter, name, "request")?;
            self.stage.cast[voter].ask(&order)?;
        }
        let petitions: Value = serde_json::from_str(PETITIONS).unwrap();
        let counted = |list: &Value| {
            let mine = list.as_array()?.iter().find(|one| one["subject"] == subject.as_str())?;
            (mine["have"].as_u64()? >= 1).then_some(())
        };
        self.stage.cast[voter].until(&petitions, SHOW, "the vote to be counted", counted)
    }

    /// The subject of the open request or proposal that names `name`, as soon as `who` knows of it.
    fn petition(&self, who: usize, name: &str, kind: &str) -> Result<String, String> {
        let petitions: Value = serde_json::from_str(PETITIONS).unwrap();
        let find = |list: &Value| {
            let fits = |one: &&Value| {
                one["kind"] == kind && one["name"].as_str().unwrap_or_default().ends_with(name)
            };
            list.as_array()?.iter().find(fits)?["subject"].as_str().map(str::to_owned)
        };
        self.stage.cast[who].until(&petitions, SHOW, &format!("the {kind} of {name}"), find)
    }

    /// All talk, safe; one is killed in the middle of it, another in the middle of the change that
    /// follows.
    fn talk(&mut self) -> Result<(), String> {
        let burst = json!({ "op": "burst", "count": 0, "bytes": 48, "service": "safe", "seconds": 0.25, "window": 8 });
        let bursts: Vec<_> = self.stage.cast.iter().map(|one| meanwhile(one, burst.clone())).collect();
        let one = self.draw.below(GUEST + 1);
        let other = (one + 1 + self.draw.below(GUEST)) % (GUEST + 1);
        let heard = self.stage.cast[other].heard();
        let mark = heard.count();
        let after = self.draw.delay(200);
        self.kill("send", one, after, "all began to talk");
        let at_once = self.draw.below(2) == 0;
        if at_once {
            self.stage.start(one)?;
        }
        let signs = ["configuration", "transitional", "key-pending", "view"];
        let sign = signs[self.draw.below(signs.len())];
        let seen = heard.wait(SHOW, |heard| heard.find(sign, mark));
        seen.ok_or_else(|| format!("no {sign}: {}", self.stage.cast[other].standing()))?;
        let after = self.draw.delay(30);
        self.kill("view", other, after, &format!("it printed {sign}"));
        if !at_once {
            self.stage.start(one)?;
        }
        self.stage.start(other)?;
        self.stage.gather()?;
        for (who, burst) in bursts.into_iter().enumerate() {
            let told = burst.join().unwrap();
            if who != one && who != other {
                told.map_err(|why| format!("{} could not go on talking: {why}", self.stage.cast[who].name))?;
            }
        }
        Ok(())
    }

    /// Two founders vote the guest out; one of the three is killed about then.
    fn expel(&mut self) -> Result<(), String> {
        let name = self.stage.cast[GUEST].name.clone();
        let (proposer, seconder) = self.two_founders();
        let dies_first = self.draw.below(2) == 0;
        let order = json!({ "op": "expel", "member": name });
        self.decide(proposer, order, None, dies_first)?;
        let subject = self.petition(seconder, &name, "proposal")?;
        let order = json!({ "op": "vote", "subject": subject, "approve": true });
        self.decide(seconder, order, Some(&subject), !dies_first)?;
        self.stage.admitted = false;
        self.stage.gather()?;
        self.stage.part();
        Ok(())
    }

    /// `subject` is what is voted on; a proposal has none yet.
    fn decide(&mut self, who: usize, order: Value, subject: Option<&str>, dies: bool) -> Result<(), String> {
        if !dies {
            return self.stage.cast[who].ask(&order).map(|_| ());
        }
        let answer = meanwhile(&self.stage.cast[who], order.clone());
        let after = self.draw.delay(10);
        let what = if subject.is_some() { "the vote to expel is given" } else { "the expulsion is proposed" };
        self.kill("vote", who, after, what);
        let acknowledged = answer.join().unwrap().is_ok();
        let kept = self.stage.cast[who].kept_yes(subject.map(unhex).as_deref());
        println!("          acknowledged: {acknowledged}, on disk: {kept}");
        if acknowledged && !kept {
            return Err(format!("an acknowledged decision of {} is lost", self.stage.cast[who].name));
        }
        self.stage.start(who)?;
        if kept {
            return Ok(());
        }
        // The person says it again, once the member knows again what it is about.
        let end = Instant::now() + SHOW;
        loop {
            match self.stage.cast[who].ask(&order) {
                Ok(_) => return Ok(()),
                Err(why) if Instant::now() > end => return Err(why),
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }
}
