//! One scenario: members in a network, what is done to them, what they are waited for, and what was
//! seen of all that.

use crate::judge::{Change, Seen};
use crate::member::in_words;
use crate::seat::Seat;
use crate::wires::{Port, Wires};
use crate::words::{Order, Start, now};
use folkmoot::tools::{OsEntropy, wall_clock};
use folkmoot::{GroupName, StateFolder, UnixTime};
use folkmoot_identity::{CharterDraft, FOUNDERS_MAX, Founder, Identity, SignedCharter};
use folkmoot_sim::record::{Entry, Player, Record, Standing, What};
use folkmoot_sim::standings::at_rest;
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The longest wait for a view, for messages, for rest.
const LIMIT: Duration = Duration::from_secs(60);
/// How often messages are sent again that did not arrive.
const ROUNDS: u32 = 5;
/// How much later than its sender others may have a message.
const GRACE: Duration = Duration::from_secs(4);
/// How often logs are looked at.
const LOOK: Duration = Duration::from_millis(50);
/// Nanoseconds in which a disk has written what it was given.
const LAST_MOMENT: u64 = 1_000_000_000;
const PORT: u16 = 4_803;
const DAY_SECONDS: u64 = 86_400;

/// How a scenario is played: for how long it looks for configurations that have no cause, and in
/// which order members start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) seed: u64,
    /// Before each change.
    pub(crate) between: Duration,
    /// At its end.
    pub(crate) last: Duration,
}

/// Where members listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listen {
    /// At `[::]`: both families.
    Both,
    /// At `0.0.0.0`.
    Four,
    /// At its own first address.
    Own,
}

/// A scenario at work.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    // Ended before their network is removed.
    seats: Vec<Seat>,
    pub(crate) wires: Wires,
    pub(crate) terms: Terms,
    /// So many of the members are those that others are told of.
    pub(crate) seeds: usize,
    /// Nothing is sent but what is waited for.
    pub(crate) idle: bool,
    folder: PathBuf,
    began: u64,
    listens: Vec<Listen>,
    people: Vec<String>,
    entries: Vec<Entry>,
    seen: Seen,
}

impl Stage {
    /// Founders with folders of their own, in a network; nobody runs yet.
    pub(crate) fn set(
        name: &'static str,
        root: &Path,
        ports: Vec<(Port, Listen)>,
        trunk: u16,
        terms: Terms,
    ) -> Result<Self, String> {
        let folder = root.join(name);
        let (ports, listens): (Vec<Port>, Vec<Listen>) = ports.into_iter().unzip();
        let people = found(&folder, ports.len())?;
        let seats = (0..).zip(&ports).map(|(player, _)| Seat::new(player, &folder)).collect();
        let wires = Wires::lay(name, ports, trunk)?;
        let (idle, entries, seen) = Default::default();
        let seeds = usize::MAX;
        let began = now();
        Ok(Self { name, wires, terms, seeds, idle, folder, began, seats, listens, people, entries, seen })
    }

    pub(crate) fn size(&self) -> usize {
        self.seats.len()
    }

    pub(crate) fn all(&self) -> Vec<usize> {
        (0..self.seats.len()).collect()
    }

    /// Says how far it is.
    pub(crate) fn say(&self, text: &str) {
        eprintln!("{:>12} {:>6.1} s  {text}", self.name, self.seconds(now()));
    }

    fn seconds(&self, at: u64) -> f64 {
        Duration::from_nanos(at.saturating_sub(self.began)).as_secs_f64()
    }

    /// From now on something is different that so many configurations may follow from.
    pub(crate) fn change(&mut self, what: &str, causes: usize) {
        self.say(what);
        self.seen.changes.push(Change { at: now(), what: what.to_owned(), causes });
    }

    /// Starts members in this order; they look for the others at the addresses that these have now,
    /// or only where they remember.
    pub(crate) fn start(&mut self, members: &[usize], with_seeds: bool) -> Result<(), String> {
        for member in members {
            let own = self.wires.addresses(*member);
            let first = own.first().copied().ok_or("a member has no address")?;
            let listen = match self.listens.get(*member) {
                Some(Listen::Both) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
                Some(Listen::Four) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
                _ => first,
            };
            let others = (0..self.seats.len().min(self.seeds)).filter(|other| with_seeds && other != member);
            let reached = |address: &IpAddr| own.iter().any(|one| one.is_ipv4() == address.is_ipv4());
            let places =
                others.filter_map(|other| self.wires.addresses(other).iter().find(|one| reached(one)));
            let seeds = places.map(place).collect();
            let state = self.folder.join(format!("n{member}"));
            let listen = SocketAddr::new(listen, PORT);
            let people = self.people.clone();
            let applies = with_seeds && *member >= FOUNDERS_MAX;
            let start =
                Start { player: 0, life: 0, state, log: PathBuf::new(), listen, seeds, applies, people };
            let enter = self.wires.enter(*member);
            self.seats.get_mut(*member).ok_or("no such member")?.start(&enter, start)?;
        }
        Ok(())
    }

    /// SIGKILL to all of these at once.
    pub(crate) async fn kill(&mut self, members: &[usize]) -> Result<(), String> {
        for member in members {
            let Some(seat) = self.seats.get_mut(*member) else { continue };
            self.entries.extend(seat.kill(now).await?);
            // A number that was drawn in its last moment may not have come to the disk, and has not
            // left the process then: the next life may draw it again.
            let (last, process) = (now().saturating_sub(LAST_MOMENT), seat.process());
            let undone = |entry: &Entry| {
                let number = matches!(entry.what, What::Used("instance id", _));
                number && entry.process == process && entry.at > last
            };
            self.entries.retain(|entry| !undone(entry));
        }
        Ok(())
    }

    /// All send a short message so often, in all services by turns.
    pub(crate) async fn pace(&mut self, every: Option<Duration>) -> Result<(), String> {
        let millis = every.map(|every| u64::try_from(every.as_millis()).unwrap_or(u64::MAX));
        self.order(&self.all(), &Order::Every(millis)).await
    }

    async fn order(&mut self, members: &[usize], order: &Order) -> Result<(), String> {
        for member in members {
            if let Some(seat) = self.seats.get_mut(*member) {
                seat.order(order).await?;
            }
        }
        Ok(())
    }

    fn read(&mut self) -> Result<(), String> {
        for seat in &mut self.seats {
            self.entries.extend(seat.read()?);
        }
        Ok(())
    }

    /// Waits so long for `what`, which `done` looks for.
    async fn until(
        &mut self,
        what: &str,
        limit: Duration,
        done: impl Fn(&[Seat]) -> bool,
    ) -> Result<(), String> {
        let end = Instant::now() + limit;
        loop {
            self.read()?;
            if done(&self.seats) {
                return Ok(());
            }
            if Instant::now() > end {
                let view = |seat: &Seat| {
                    let members = seat.view.as_ref().map(|view| &view.members);
                    format!("m{}: view {members:?}, {:?}", seat.player, seat.heard)
                };
                let views: Vec<String> = self.seats.iter().map(view).collect();
                return Err(format!("no {what} within {} s\n    {}", limit.as_secs(), views.join("\n    ")));
            }
            sleep(LOOK).await;
        }
    }

    /// Waits until each of the groups of one of these ways has a view of exactly itself. Which way.
    pub(crate) async fn views(&mut self, ways: &[&[&[usize]]]) -> Result<usize, String> {
        self.views_within(LIMIT, ways).await
    }

    /// The same, for so long at most.
    pub(crate) async fn views_within(
        &mut self,
        limit: Duration,
        ways: &[&[&[usize]]],
    ) -> Result<usize, String> {
        let fits = |seats: &[Seat], way: &[&[usize]]| way.iter().all(|group| is_one_view(seats, group));
        let way = |seats: &[Seat]| ways.iter().position(|way| fits(seats, way));
        self.until("common view", limit, |seats| way(seats).is_some()).await?;
        let way = way(&self.seats).unwrap_or_default();
        let groups = ways.get(way).copied().unwrap_or_default();
        self.say(&format!("views of {groups:?}"));
        Ok(way)
    }

    /// Waits until all have one view, and another than before, for so long at most.
    pub(crate) async fn anew(&mut self, limit: Duration) -> Result<(), String> {
        let id = |seat: &Seat| seat.view.as_ref().map(|view| view.id);
        let before: Vec<_> = self.seats.iter().map(id).collect();
        let (all, began) = (self.all(), now());
        let other = |seats: &[Seat]| !seats.first().is_some_and(|seat| before.contains(&id(seat)));
        self.until("other view", limit, |seats| is_one_view(seats, &all) && other(seats)).await?;
        self.say(&format!("another view of all after {:.1} s", self.seconds(now()) - self.seconds(began)));
        Ok(())
    }

    /// Waits until all have one view.
    pub(crate) async fn whole(&mut self) -> Result<(), String> {
        let all = self.all();
        self.views(&[&[&all]]).await.map(drop)
    }

    /// Everybody sends a message of each of these lengths, and everybody in its group gets them.
    pub(crate) async fn exchange(&mut self, groups: &[&[usize]], lengths: &[usize]) -> Result<(), String> {
        let count = |seats: &[Seat], (to, from, length): &(usize, usize, usize)| {
            let from = Player::try_from(*from).unwrap_or(Player::MAX);
            seats.get(*to).and_then(|seat| seat.heard.get(&(from, *length)).copied()).unwrap_or(0)
        };
        let mut wanted = Vec::new();
        for group in groups {
            for to in *group {
                let of =
                    |from: &usize| lengths.iter().map(|length| (*to, *from, *length)).collect::<Vec<_>>();
                wanted.extend(group.iter().flat_map(of).map(|path| (path, count(&self.seats, &path) + 1)));
            }
        }
        let began = now();
        let what = format!("messages of {lengths:?} bytes on every path");
        let all = |seats: &[Seat]| wanted.iter().all(|(path, least)| count(seats, path) >= *least);
        // What is under way when views change may be lost to those who do not come along: once its
        // sender has it, whoever wants it to arrive sends it again.
        let own = |seats: &[Seat]| {
            let mut own = wanted.iter().filter(|((to, from, _), _)| to == from);
            own.all(|(path, least)| count(seats, path) >= *least)
        };
        for again in (0..ROUNDS).rev() {
            self.order(&groups.concat(), &Order::Lengths(lengths.to_vec())).await?;
            self.until(&what, LIMIT, own).await?;
            match self.until(&what, GRACE, all).await {
                Err(_) if again > 0 => self.say("not all arrived: sent again"),
                other => {
                    other?;
                    break;
                }
            }
        }
        self.say(&format!("{what}: all arrived within {:.1} s", self.seconds(now()) - self.seconds(began)));
        Ok(())
    }

    /// For so long nothing is done, and there is to be no configuration.
    pub(crate) async fn quiet(&mut self, span: Duration) -> Result<(), String> {
        let from = now();
        sleep(span).await;
        self.read()?;
        self.seen.windows.push((from, now()));
        Ok(())
    }

    /// Ends all traffic, waits until the world rests, and hands out what was seen.
    pub(crate) async fn end(mut self) -> Result<Seen, String> {
        self.pace(None).await?;
        let end = Instant::now() + LIMIT;
        let mut settled = false;
        while !settled && Instant::now() < end {
            self.seats.iter_mut().for_each(|seat| seat.stands = None);
            self.order(&self.all(), &Order::Stand).await?;
            self.until("word of how all stand", LIMIT, |seats| {
                seats.iter().all(|seat| seat.stands.is_some() || !seat.is_running())
            })
            .await?;
            settled = at_rest(&self.standings());
        }
        self.check_paths()?;
        let at = now();
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_by_key(|entry| entry.at);
        let micros = |at: u64| at.saturating_sub(self.began) / 1_000;
        let founders = Player::try_from(self.size()).map_err(in_words)?;
        let mut record = Record { founders, votes: 1, settled, ..Record::default() };
        for Entry { at, process, what } in entries {
            record.push(micros(at), process, what);
        }
        record.standings = self.standings();
        record.counts.micros = micros(at);
        let mut seen = std::mem::take(&mut self.seen);
        seen.changes.iter_mut().for_each(|change| change.at = micros(change.at));
        seen.windows.iter_mut().for_each(|(from, to)| (*from, *to) = (micros(*from), micros(*to)));
        seen.record = record;
        Ok(seen)
    }

    /// No path may be taken to carry more than the wires do.
    fn check_paths(&self) -> Result<(), String> {
        for (member, seat) in self.seats.iter().enumerate().filter(|(_, seat)| seat.is_running()) {
            for (other, size) in &seat.paths {
                let most = self.wires.carries(member, (*other).into());
                if *size > most {
                    return Err(format!("m{member} sends {size} bytes to m{other}, and {most} arrive there"));
                }
            }
        }
        Ok(())
    }

    fn standings(&self) -> Vec<Standing> {
        self.seats.iter().filter(|seat| seat.is_running()).filter_map(|seat| seat.stands.clone()).collect()
    }
}

/// Where a member with this address listens.
fn place(address: &IpAddr) -> String {
    match address {
        IpAddr::V6(six) if six.is_unicast_link_local() => format!("udp/[{six}%eth0]:{PORT}"),
        _ => format!("udp/{}", SocketAddr::new(*address, PORT)),
    }
}

fn is_one_view(seats: &[Seat], group: &[usize]) -> bool {
    let members: BTreeSet<Player> =
        group.iter().filter_map(|member| Player::try_from(*member).ok()).collect();
    let mut views = group.iter().map(|member| seats.get(*member).and_then(|seat| seat.view.as_ref()));
    let Some(Some(first)) = views.next() else { return false };
    first.members == members && views.all(|view| view.is_some_and(|view| view.id == first.id))
}

/// Folders for so many members of one group, and their ids. Those that are too many for a charter
/// ask for admission when they start.
fn found(folder: &Path, size: usize) -> Result<Vec<String>, String> {
    let now = wall_clock();
    let term = (UnixTime(now.0.saturating_sub(3_600)), UnixTime(now.0.saturating_add(DAY_SECONDS)));
    let mut entropy = OsEntropy::new().map_err(in_words)?;
    let one = |number| Identity::new(&format!("n{number}"), &mut entropy, term.0, term.1).map_err(in_words);
    let people = (0..size).map(one).collect::<Result<Vec<_>, String>>()?;
    let founding = people.iter().take(FOUNDERS_MAX);
    let founders = founding.clone().map(|one| Founder::from(one.certificate())).collect();
    let name = GroupName::new("moot").map_err(in_words)?;
    let draft = CharterDraft::new(name, 1, founders, &mut entropy);
    let signers: Vec<&Identity> = founding.collect();
    let charter = SignedCharter::sign(&draft.to_toml(), &signers).map_err(in_words)?;
    for one in &people {
        let folder = StateFolder::open(&folder.join(one.name())).map_err(in_words)?;
        let key = one.key_pem().map_err(in_words)?;
        folder.write_identity(key.expose(), &one.certificate_pem()).map_err(in_words)?;
        folder.write_charter(charter.der()).map_err(in_words)?;
    }
    Ok(people.iter().map(|one| one.member().hex()).collect())
}
