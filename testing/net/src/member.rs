//! One life of a member: a process with the shipped engine, transport and store, its floors
//! observed. It obeys its standard input, and ends when that does.

use crate::log::{Pen, Sight, Stands, Word, name};
use crate::parcel;
use crate::taps::{Above, Below, Watch};
use crate::words::{Order, Start};
use folkmoot::tools::{Command, Handle, OpenOptions, Sending, Timing, numbered, prepare};
use folkmoot::{Bytes, Event, GroupId, Locator, MemberId, NodeId};
use folkmoot_base::unhex;
use folkmoot_node::Phase;
use folkmoot_sim::payload::SERVICES;
use folkmoot_sim::record::{Disk, MessageId, What};
use folkmoot_sim::stack::Names;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::sync::mpsc;
use tokio::time::sleep;

/// The shortest and the longest of the messages that are sent all the time.
pub(crate) const SHORT: std::ops::Range<usize> = 40..400;

type Hand = Handle<Below, Above>;

/// Runs a life until its standard input ends.
pub(crate) async fn member(start: Start) -> Result<(), String> {
    let pen = Pen::open(&start.log).map_err(|error| format!("{}: {error}", start.log.display()))?;
    pen.note(&What::Boot(if start.life == 0 { Disk::Fresh } else { Disk::Synced }), 0);
    let people = start.people.iter().map(|text| id(text)).collect::<Option<Vec<MemberId>>>();
    let watch = Watch::new(pen, Names::new(people.ok_or("an id cannot be read")?));
    let seeds = start.seeds.iter().map(|seed| numbered(seed)?.parse().map_err(in_words));
    let options = OpenOptions {
        state: start.state,
        identity: None,
        listen: start.listen,
        seeds: seeds.collect::<Result<Vec<Locator>, String>>()?,
        heads: Vec::new(),
        voucher: None,
        endorsement: None,
        carries: Vec::new(),
        replicated: false,
        clock_ahead: Duration::ZERO,
        danger_keep_keys: false,
        multicast: false,
    };
    let prepared = prepare(options, &[], Timing::default()).map_err(in_words)?;
    let life = (start.player, start.life);
    let opened = prepared.start(|node, all| watch.observe(node, all.host, life)).map_err(in_words)?;
    let (group, mut running) = (opened.group, opened.running);
    running.handle.command(Command::Join { group }).await.map_err(in_words)?.map_err(in_words)?;
    if start.applies {
        running.handle.command(Command::Apply).await.map_err(in_words)?.map_err(in_words)?;
    }
    let (tell, orders) = mpsc::unbounded_channel();
    let sender = Sender { life, number: 0, group, hand: running.handle.clone(), watch };
    let work = tokio::spawn(sender.work(orders));
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    loop {
        tokio::select! {
            event = running.next() => {
                match event.map_err(in_words)?.ok_or("the member stopped by itself")? {
                    // One vote admits.
                    Event::Request(asked) if start.player == 0 => {
                        let vote = Command::Vote { subject: asked.subject, approve: true };
                        running.handle.command(vote).await.map_err(in_words)?.map_err(in_words)?;
                    }
                    _ => {}
                }
            }
            line = lines.next_line() => {
                let Some(line) = line.map_err(in_words)? else { break };
                // If the sender has ended, its own words say why.
                drop(tell.send(serde_json::from_str(&line).map_err(in_words)?));
            }
        }
    }
    work.abort();
    running.stop().await.map_err(in_words)
}

fn id(text: &str) -> Option<MemberId> {
    Some(MemberId(unhex(text)?.try_into().ok()?))
}

pub(crate) fn in_words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Obeys orders one after the other, and sends as they say.
struct Sender {
    life: (u8, u16),
    number: u32,
    group: GroupId,
    hand: Hand,
    watch: Watch,
}

impl Sender {
    async fn work(mut self, mut orders: mpsc::UnboundedReceiver<Order>) {
        let mut every = None;
        loop {
            let pause = async {
                match every {
                    Some(millis) => sleep(Duration::from_millis(millis)).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                order = orders.recv() => match order {
                    Some(Order::Every(millis)) => every = millis,
                    Some(Order::Lengths(lengths)) => {
                        for length in lengths {
                            self.send(folkmoot::Service::Agreed, length).await;
                        }
                    }
                    Some(Order::Stand) => self.stand().await,
                    None => return,
                },
                () = pause => self.short().await,
            }
        }
    }

    async fn short(&mut self) {
        let turn = usize::try_from(self.number).unwrap_or_default();
        let service = SERVICES.get(turn % SERVICES.len()).copied().unwrap_or(folkmoot::Service::Safe);
        let length = SHORT.start + turn.wrapping_mul(37) % SHORT.len();
        self.send(service, length).await;
    }

    async fn send(&mut self, service: folkmoot::Service, length: usize) {
        let (player, life) = self.life;
        let message = MessageId { player, life, number: self.number };
        self.number += 1;
        self.watch.pen.note(&What::Asked(message, service), 0);
        self.watch.pen.flush();
        // What is unreliable need not come back.
        if service != folkmoot::Service::Unreliable {
            self.watch.ledger().pending.insert(message);
        }
        let payload: Bytes = parcel::make(message, service, length);
        let sending = Sending { group: self.group, service, payload, signed: false };
        if let Err(error) = self.hand.send(sending).await {
            self.watch.ledger().pending.remove(&message);
            self.watch.pen.note(&What::Refused(message, error.to_string()), 0);
            self.watch.pen.flush();
        }
    }

    /// Writes down how the member stands.
    async fn stand(&self) {
        let watch = self.watch.clone();
        let stands = self.hand.look(move |machine, now, _| {
            let (node, member) = (&machine.ground.tap.node, &machine.upper.desk.member);
            let (ring, activity) = (node.ring(), member.status(now).activity);
            let on_ring: Vec<MemberId> = ring.members.iter().map(NodeId::member).collect();
            let path =
                |(to, path): (NodeId, folkmoot::Path)| Some((watch.names.player(&to.member())?, path.mtu));
            let ledger = watch.ledger();
            let stands = Stands {
                view: ledger.view.as_ref().map(Sight::of),
                roster: watch.names.players(member.transcript().roster().members().keys()),
                ring: watch.names.players(&on_ring),
                gathers: ring.phase != Phase::Operational,
                activity: format!("{activity}; ring {}", ring.phase),
                paths: node.paths().into_iter().filter_map(path).collect(),
                unacknowledged: ledger.pending.iter().copied().map(name).collect(),
            };
            drop(ledger);
            watch.pen.say(Word::Stands(stands));
            watch.pen.flush();
        });
        // A member that has stopped says why by itself.
        drop(stands.await);
    }
}
