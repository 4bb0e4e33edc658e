//! Robots that publish their poses by LCM. The group of Folkmoot that they founded says who may:
//! one is voted out, and is deaf at once.

use super::outside::{
    Demo, Failure, Member, Paint, Program, Request, Workshop, found, line, paint, robot, shared, until,
};
use super::stage::{VIEW, proposal};
use super::tale::Tale;
use robot::Report;
use serde_json::{Value, json};
use std::net::UdpSocket;
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub(super) const STEPS: usize = 4;
const ROBOTS: usize = 10;
/// How long they drive, before the vote and after it.
const DRIVE: Duration = Duration::from_secs(3);
/// Longest wait for something that they should agree upon.
const PATIENCE: Duration = Duration::from_secs(90);
const LOOK: Duration = Duration::from_millis(50);
/// The widest bar of the histogram.
const BAR: f64 = 50.0;

pub(super) struct Fleet {
    robots: Vec<Member>,
    charter: PathBuf,
    rate: u32,
}

/// What all robots reported.
type Reports = Vec<Report>;

impl Fleet {
    pub(super) async fn new(workshop: &Workshop, options: &Demo) -> Result<Self, Failure> {
        let program = Program::own()?;
        let free = UdpSocket::bind("0.0.0.0:0").and_then(|socket| socket.local_addr());
        let port = free.map_err(|error| Failure::bug(error.to_string()))?.port();
        let url = format!("udpm://239.255.76.67:{port}?ttl=0&recv_buf_size=4194304");
        let mut robots = Vec::with_capacity(ROBOTS);
        for number in 1..=ROBOTS {
            let mut robot = Member::new(workshop, &program, &format!("robot{number}")).await?;
            let words = ["--robot", &url, "--robot-rate", &options.rate.to_string()];
            robot.words = words.iter().map(|word| (*word).to_owned()).collect();
            robots.push(robot);
        }
        Ok(Self { robots, charter: workshop.path().join("charter.cms"), rate: options.rate })
    }

    pub(super) async fn end(&mut self) {
        for robot in &mut self.robots {
            robot.stop().await;
        }
    }

    pub(super) async fn play(&mut self, tale: &mut Tale) -> Result<(), Failure> {
        self.found(tale).await?;
        self.agree(tale).await?;
        self.drive(tale).await?;
        self.expel(tale).await
    }

    async fn found(&mut self, tale: &mut Tale) -> Result<(), Failure> {
        tale.step("found", "Ten robots sign a charter and form a group");
        let founders: Vec<&Member> = self.robots.iter().collect();
        let text = self.charter.with_extension("toml");
        found(&founders, &text, ("the fleet", 2), &[]).await?;
        let mut known = Vec::new();
        for robot in &mut self.robots {
            robot.start(&self.charter, &known, false).await?;
            known.push(robot.locator.clone());
        }
        let all: Vec<&Member> = self.robots.iter().collect();
        let one = shared(&all, None, PATIENCE).await?;
        tale.check("ten robots share one view and one key", true, &super::stage::told(&one));
        Ok(())
    }

    async fn agree(&mut self, tale: &mut Tale) -> Result<(), Failure> {
        tale.step("keys", "They find one another on the LCM group, and agree on keys for it");
        let begun = Instant::now();
        let reports = self.until("the keys of all ten", |reports| {
            reports.iter().all(|report| report.keys.iter().all(|(members, _)| members.len() == ROBOTS))
        });
        let reports = reports.await?;
        let detail = format!("{} ms more after the group was there", begun.elapsed().as_millis());
        let numbers: Vec<u16> = reports.iter().map(|report| report.sender).collect();
        tale.say("each has a number of its own", json!({ "senders": numbers }));
        tale.check("all ten have the keys of the LCM group and of POSE", true, &detail);
        Ok(())
    }

    async fn drive(&mut self, tale: &mut Tale) -> Result<(), Failure> {
        let title = format!("Each publishes its pose {} times a second, and hears the others", self.rate);
        tale.step("drive", &title);
        let before = self.reports();
        tokio::time::sleep(DRIVE).await;
        let after = self.reports();
        let heard = |reports: &Reports| -> u64 {
            reports.iter().flat_map(|one| one.heard.values()).map(|(count, _)| count).sum()
        };
        let (published, missing) = (
            sum(&after, |one| one.published) - sum(&before, |one| one.published),
            sum(&after, |one| one.missing) - sum(&before, |one| one.missing),
        );
        let came = heard(&after) - heard(&before);
        let everybody = after.iter().all(|one| one.heard.len() == ROBOTS);
        let seconds = DRIVE.as_secs_f64();
        let detail = format!(
            "{:.0} poses a second, {:.0} heard, {missing} lost",
            published as f64 / seconds,
            came as f64 / seconds
        );
        tale.check("each hears all ten", everybody && came > 0, &detail);
        histogram(tale, &after);
        Ok(())
    }

    async fn expel(&mut self, tale: &mut Tale) -> Result<(), Failure> {
        tale.step("expel", "One robot is voted out, goes on publishing, and is deaf at once");
        let out = self.robots.last().map(|robot| robot.name.clone()).unwrap_or_default();
        let outcast = self.reports().last().map(|report| report.sender).unwrap_or_default();
        self.vote(tale, &out).await?;
        let voted = Instant::now();
        let without = |report: &Report| {
            report.keys.iter().all(|(members, _)| members.len() == ROBOTS - 1 && !members.contains(&outcast))
        };
        let reports = self.until("keys without it", |reports| reports.iter().take(ROBOTS - 1).all(without));
        let reports = reports.await?;
        let detail = format!("within {} ms after the last vote was cast", voted.elapsed().as_millis());
        tale.check("the nine have new keys without it", true, &detail);
        tokio::time::sleep(DRIVE).await;
        let later = self.reports();
        // When the last of the nine had the new keys. What was sent after that is under them.
        let rekeyed = reports
            .iter()
            .take(ROBOTS - 1)
            .flat_map(|one| &one.keys)
            .map(|(_, since)| *since)
            .max()
            .unwrap_or_default();
        let others = |report: &Report| -> Vec<(u16, (u64, u64))> {
            report
                .heard
                .iter()
                .filter(|(sender, _)| **sender != report.sender)
                .map(|(sender, heard)| (*sender, *heard))
                .collect()
        };
        let Some((outcast_report, nine)) = later.split_last() else { return Ok(()) };
        let last = others(outcast_report).iter().map(|(_, (_, last))| *last).max().unwrap_or_default();
        let detail = format!("{} datagrams came to it, and it could open none", outcast_report.strange);
        tale.check("it hears nobody any more", last <= rekeyed && outcast_report.strange > 0, &detail);
        let heard_it = nine
            .iter()
            .filter_map(|one| one.heard.get(&outcast))
            .map(|(_, last)| *last)
            .max()
            .unwrap_or_default();
        let refused = sum(nine, |one| one.strange);
        let detail = format!("{refused} of its datagrams refused");
        tale.check("nobody hears it", heard_it <= rekeyed && refused > 0, &detail);
        let goes_on = nine.iter().zip(&reports).all(|(now, then)| {
            others(now)
                .iter()
                .filter(|(sender, _)| *sender != outcast)
                .all(|(sender, (count, _))| then.heard.get(sender).is_some_and(|(before, _)| count > before))
        });
        tale.check("the nine go on hearing one another", goes_on, "every pair");
        Ok(())
    }

    async fn vote(&self, tale: &Tale, out: &str) -> Result<(), Failure> {
        let Some((first, voters)) = self.robots.split_first() else { return Ok(()) };
        first.call(&["expel", out]).await?;
        tale.say(&format!("{} proposes to expel {out}, and votes yes", first.name), Value::Null);
        let proposed = |list: &Value| proposal(list).is_some();
        for voter in voters.iter().filter(|voter| voter.name != out) {
            let list = voter.ask(&Request::Petitions).await?;
            // Decided already, or not here yet.
            let list = if proposal(&first.ask(&Request::Petitions).await?).is_none() {
                break;
            } else if proposal(&list).is_some() {
                list
            } else {
                until(voter, &Request::Petitions, VIEW, "the proposal", proposed).await?
            };
            let Some(subject) = proposal(&list) else { break };
            let (code, _, complaint) = voter.call_raw(&["vote", "approve", &subject]).await?;
            if code != Some(0) && proposal(&first.ask(&Request::Petitions).await?).is_some() {
                return Err(Failure::bug(complaint));
            }
            tale.say(&format!("{} votes yes", voter.name), Value::Null);
        }
        Ok(())
    }

    fn reports(&self) -> Reports {
        self.robots.iter().map(|robot| Report::read(&robot.state).unwrap_or_default()).collect()
    }

    async fn until(&self, what: &str, done: impl Fn(&Reports) -> bool) -> Result<Reports, Failure> {
        let end = Instant::now() + PATIENCE;
        loop {
            let reports = self.reports();
            if reports.iter().all(|report| !report.keys.is_empty()) && done(&reports) {
                return Ok(reports);
            }
            if Instant::now() > end {
                let keys: Vec<Vec<usize>> = reports
                    .iter()
                    .map(|one| one.keys.iter().map(|(members, _)| members.len()).collect())
                    .collect();
                return Err(Failure::new(
                    super::outside::Exit::TimedOut,
                    format!(
                        "{what}: not within {} s; members of each robot's keys: {keys:?}",
                        PATIENCE.as_secs()
                    ),
                ));
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

fn sum(reports: &[Report], count: impl Fn(&Report) -> u64) -> u64 {
    reports.iter().map(count).sum()
}

/// Shows how long poses took, from one robot's program to another's.
fn histogram(tale: &mut Tale, reports: &Reports) {
    let width = reports.iter().map(|one| one.latencies.len()).max().unwrap_or_default();
    let counts: Vec<u64> = (0..width)
        .map(|place| sum(reports, |one| one.latencies.get(place).copied().unwrap_or_default()))
        .collect();
    let all: u64 = counts.iter().sum();
    let quantile = |share: f64| {
        let mut left = (all as f64 * share) as u64;
        let place = counts.iter().position(|count| {
            let found = left < *count;
            left = left.saturating_sub(*count);
            found
        });
        robot::begin_of(place.unwrap_or_default() + 1)
    };
    let detail = format!("half within {:.0} us, 99 of 100 within {:.0} us", quantile(0.5), quantile(0.99));
    tale.check("how long a pose takes is shown", all > 0, &detail);
    // Four buckets are a line: from one to the next it doubles half.
    let lines: Vec<(f64, u64)> = counts
        .chunks(4)
        .enumerate()
        .map(|(place, chunk)| (robot::begin_of(place * 4), chunk.iter().sum()))
        .collect();
    let most = lines.iter().map(|(_, count)| *count).max().unwrap_or(1).max(1);
    let first = lines.iter().position(|(_, count)| *count > 0).unwrap_or_default();
    let last = lines.iter().rposition(|(_, count)| *count > 0).unwrap_or_default();
    let rows: Vec<Value> = lines.iter().map(|(from, count)| json!([from.round(), count])).collect();
    tale.show(json!({ "from_us_and_count": rows }), || {
        for (from, count) in lines.iter().take(last + 1).skip(first) {
            let bar = "#".repeat((*count as f64 / most as f64 * BAR).ceil() as usize);
            line(&format!("{:>9.0} us {} {}", from, paint(Paint::Green, &bar), count));
        }
    });
}
