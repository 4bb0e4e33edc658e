//! A carrier that forges. It has the ring's key, and hears every word that is ordered. It orders,
//! as its own node, words in the names of parties, its own and others', and of tables; says old
//! words again; says that parties have flushed for a view of which none of them said so; and says
//! one party's confirmation of a key in the name of another that has said none.
//!
//! ```text
//! all words --> [ Rumours ] --> Forger: again, with other numbers, with other words --> the ring
//! ```
//! Nothing that it makes is signed by whom it names: it signs with its own key, or shows a
//! signature or a receipt that it saw elsewhere. What would count is what a carrier can do by
//! itself: say what its own node says.

use super::kind::{self, Kind};
use crate::machine::Mute;
use crate::rng::Rng;
use bytes::Bytes;
use folkmoot_attach::ToNode;
use folkmoot_base::{
    Blob, ConfigurationId, Entropy, GroupId, Instant, Join, Lead, Party, Said, Says, ViewId,
};
use folkmoot_flush::message::{self as flush, FlushOk, Frame, RECEIPT_BYTES, Signed};
use folkmoot_group::Mark;
use folkmoot_group::message::{
    Control, Declaration, Declared, GroupState, Joined, Scope, SignedJoin, Stamp, State, carried_lead,
    data_lead, encode, number_of,
};
use folkmoot_identity::{Identity, Prover};
use folkmoot_node::Node;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many words of either kind are remembered.
const HEARD_MAX: usize = 48;

/// Where the envelope of keying begins in a confirmation, behind flush's header, and where the view
/// and the attempt end in it.
const ENVELOPE_AT: usize = 5;
const RUN_END: usize = ENVELOPE_AT + 97 + 4;
/// What it shows in the name of others.
const OWN_RECEIPT: [u8; RECEIPT_BYTES] = [7; RECEIPT_BYTES];
/// Data of flush for keying, as agreed.
const AGREED: u8 = 0xD0;

/// What goes to the ring, and which of the node's parties it keeps its order with.
type Order = (u16, Lead, Bytes);

/// What all programs said to their nodes. It is in the clear on the ring.
#[derive(Debug, Clone, Default)]
pub(super) struct Rumours(Arc<Mutex<Heard>>);

#[derive(Debug, Default)]
struct Heard {
    words: VecDeque<Said>,
    flushes: VecDeque<(Party, GroupId, Bytes)>,
    confirmations: VecDeque<(Party, GroupId, Bytes)>,
    /// Whether the newest of all is among the words.
    word: bool,
}

impl Rumours {
    /// Notes what a program says to its node, if it is a word.
    pub(super) fn note(&self, message: &ToNode) -> bool {
        let mut heard = self.open();
        match message {
            ToNode::Word(said) => {
                keep(&mut heard.words, (**said).clone());
                heard.word = true;
            }
            ToNode::Send { party, group, payload, .. } if is_flush(payload) => {
                keep(&mut heard.flushes, (*party, *group, payload.clone()));
                heard.word = false;
            }
            ToNode::Send { party, group, payload, .. } if is_confirmation(payload) => {
                keep(&mut heard.confirmations, (*party, *group, payload.clone()));
                return false;
            }
            _ => return false,
        }
        true
    }

    fn open(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_flush(payload: &Bytes) -> bool {
    matches!(flush::decode(payload), Ok(Frame::Control(_)))
}

fn is_confirmation(payload: &Bytes) -> bool {
    matches!(kind::of(payload), Kind::Step(Mute::Confirm, _))
}

fn keep<T>(all: &mut VecDeque<T>, one: T) {
    all.truncate(HEARD_MAX.saturating_sub(1));
    all.push_front(one);
}

/// One life of the carrier.
#[derive(Debug)]
pub(super) struct Forger {
    rng: Rng,
    key: Prover,
    rumours: Rumours,
    /// The parties of the players' group that are attached here.
    own: Vec<Party>,
    /// The groups of the ring's charter, and of the players'.
    scope: Scope,
}

impl Forger {
    pub(super) fn new(rng: Rng, node: &Identity, rumours: Rumours, own: Vec<Party>, scope: Scope) -> Self {
        Self { rng, key: Prover::new(node.key().clone()), rumours, own, scope }
    }

    /// A program here said something. What it forges is then ordered behind that.
    pub(super) fn hear(&mut self, node: &mut Node, now: Instant, entropy: &mut dyn Entropy) {
        let made = match self.rng.weighted(&[3, 2, 5]) {
            0 => self.any(node),
            1 => None,
            _ => self.aimed(node),
        };
        order(node, now, made, entropy);
    }

    /// A second has passed.
    pub(super) fn tick(&mut self, node: &mut Node, now: Instant, entropy: &mut dyn Entropy) {
        let made = self.any(node);
        order(node, now, made, entropy);
        for made in self.reflected(node) {
            order(node, now, Some(made), entropy);
        }
    }

    /// For each party here, the last confirmation that another said of a key, if the party has said
    /// none of that key.
    fn reflected(&self, node: &Node) -> Vec<Order> {
        let heard = self.rumours.open();
        let said = |party: &Party, run: &[u8]| {
            heard.confirmations.iter().any(|(of, _, own)| of == party && own.get(..RUN_END) == Some(run))
        };
        let of = |party: &Party| {
            let (_, group, other) = heard.confirmations.iter().find(|(of, ..)| of != party)?;
            other.get(..RUN_END).filter(|run| !said(party, run))?;
            // As its node can order it at once.
            let payload = [AGREED].into_iter().chain(other.iter().skip(1).copied()).collect();
            Some((number_of(party), data(node, *group, *party), payload))
        };
        self.own.iter().filter_map(of).collect()
    }

    /// One of all that it can make.
    fn any(&mut self, node: &Node) -> Option<Order> {
        let configuration = node.ring().configuration?;
        match self.rng.weighted(&[4, 4, 4, 4, 2]) {
            0 => self.word().map(|said| party(&said)),
            1 => self.false_word(node, configuration).map(|said| party(&said)),
            2 => self.flush().map(|(of, group, payload)| (number_of(&of), data(node, group, of), payload)),
            3 => self.false_flush(node),
            _ => self.declaration(node, configuration),
        }
    }

    /// Where it counts most: when a party here has just come back, and while a view is flushed for.
    fn aimed(&mut self, node: &Node) -> Option<Order> {
        match self.gone_again() {
            Some(said) => Some(party(&said)),
            None => self.ready_again(node),
        }
    }

    /// If a party here has just said that it joins: its last Leave before.
    fn gone_again(&self) -> Option<Said> {
        let heard = self.rumours.open();
        let came =
            heard.words.front().filter(|said| heard.word && matches!(said.word.says, Says::Join(_)))?;
        let party = Some(came.word.party).filter(|party| self.own.contains(party))?;
        let left = |said: &&Said| said.word.party == party && matches!(said.word.says, Says::Leave { .. });
        heard.words.iter().find(left).cloned()
    }

    /// If a party here has just said a second time that it is ready for a view, what it said first;
    /// else that it is ready, in other words.
    fn ready_again(&mut self, node: &Node) -> Option<Order> {
        let (of, view, group, earlier) = {
            let heard = self.rumours.open();
            let mut said = heard
                .flushes
                .iter()
                .filter_map(|(party, group, payload)| Some((*party, *group, flushed(payload)?, payload)));
            let (of, group, view, _) = said.next().filter(|(last, ..)| self.own.contains(last))?;
            let earlier = said.find(|(party, _, before, _)| *party == of && *before == view);
            (of, view, group, earlier.map(|(.., payload)| payload.clone()))
        };
        if let Some(payload) = earlier {
            return Some((number_of(&of), data(node, group, of), payload));
        }
        let number = u32::try_from(self.rng.range(1_000, 1_000_000)).unwrap_or(1_000);
        let (brings, commitment) = (Blob::default(), flush::commitment(&of, &view, &OWN_RECEIPT));
        let ok = FlushOk { view, number, heads: [7; 32], brings, reached: None, commitment };
        let made = flush::Control::FlushOk(Box::new(Signed::sign(ok, &of, &self.key)));
        Some((number_of(&of), data(node, group, of), flush::encode(&made)))
    }

    /// A word that was said, mostly of a party that is attached here.
    fn word(&mut self) -> Option<Said> {
        let own = self.rng.chance(600_000);
        let of = &self.own;
        let heard = self.rumours.open();
        let words: Vec<&Said> =
            heard.words.iter().filter(|said| !own || of.contains(&said.word.party)).collect();
        self.rng.pick(&words).map(|said| (*said).clone())
    }

    /// The same of flush.
    fn flush(&mut self) -> Option<(Party, GroupId, Bytes)> {
        let own = self.rng.chance(800_000);
        let of = &self.own;
        let heard = self.rumours.open();
        let all: Vec<_> = heard.flushes.iter().filter(|(party, ..)| !own || of.contains(party)).collect();
        // Mostly of the last, which are of a view that may still be waited for.
        let most = if self.rng.chance(700_000) { all.len().min(4) } else { all.len() };
        all.get(self.rng.below(most)).map(|one| (*one).clone())
    }

    /// A word that its party never said.
    fn false_word(&mut self, node: &Node, configuration: ConfigurationId) -> Option<Said> {
        let mut said = self.word()?;
        let group = said.word.says.group();
        let view = self.view()?;
        said.word.number = said.word.number.saturating_add(self.rng.range(1, 1_000_000));
        said.word.says = match self.rng.weighted(&[3, 3, 1, 2]) {
            0 => Says::Leave { group },
            1 => Says::Join(Join { group, node: node.id(), configuration }),
            2 => Says::Refresh { view },
            _ => Says::Complain { configuration, view, suspect: self.word()?.word.party },
        };
        if self.rng.chance(500_000) {
            said = Said::sign(said.word, &self.key);
        }
        Some(said)
    }

    /// A view that somebody flushed for.
    fn view(&mut self) -> Option<ViewId> {
        let (.., payload) = self.flush()?;
        match flush::decode(&payload) {
            Ok(Frame::Control(flush::Control::FlushOk(signed))) => Some(signed.ok.view),
            Ok(Frame::Control(flush::Control::FlushReceived { view, .. })) => Some(view),
            _ => None,
        }
    }

    /// That a party has flushed, or has the view, which it never said: also of a view that there is
    /// not. It shows what that party showed for another view, what another party showed, or what it
    /// made up.
    fn false_flush(&mut self, node: &Node) -> Option<Order> {
        let (mut of, group, payload) = self.flush()?;
        let Ok(Frame::Control(mut control)) = flush::decode(&payload) else { return None };
        let (later, another) = (self.rng.chance(300_000), self.rng.chance(500_000));
        let orders = u64::from(later);
        match &mut control {
            flush::Control::FlushOk(signed) => {
                let Signed { ok, proof } = &mut **signed;
                let more = u32::try_from(self.rng.range(1, 1_000)).unwrap_or(1);
                ok.number = ok.number.saturating_add(more);
                ok.view.order = ok.view.order.saturating_add(orders);
                if another {
                    ok.heads = [7; 32];
                }
                if self.rng.chance(500_000) {
                    ok.commitment = flush::commitment(&of, &ok.view, &OWN_RECEIPT);
                    *proof = Signed::sign(ok.clone(), &of, &self.key).proof;
                }
            }
            flush::Control::FlushReceived { view, receipt } => {
                view.order = view.order.saturating_add(orders);
                if another {
                    *receipt = OWN_RECEIPT;
                } else if let Some(other) = self.rng.pick(&self.own) {
                    of = *other;
                }
            }
        }
        Some((number_of(&of), data(node, group, of), flush::encode(&control)))
    }

    /// What its node would say of itself, with parties that are not there; signed for other tables.
    fn declaration(&mut self, node: &Node, configuration: ConfigurationId) -> Option<Order> {
        let Said { word, proof } = self.word()?;
        let number = word.number.saturating_add(self.rng.range(0, 1_000_000));
        let (head, set) = node.carried(&self.scope.tables)?.mark();
        let mark = Mark::new(head, if self.rng.chance(500_000) { set } else { [7; 32] }, []);
        let says = match self.rng.weighted(&[2, 1, 1]) {
            0 => Declaration::Detach { party: word.party, number },
            1 => Declaration::Mark { configuration, number: u32::MAX, mark },
            _ => {
                let stamp = Stamp { ring_seq: configuration.ring_seq, order: 1 };
                let join = SignedJoin { configuration, number, proof };
                let members = vec![Joined { party: word.party, stamp, join }];
                let state =
                    GroupState { group: self.scope.tables, noticed: None, stood: Vec::new(), members };
                Declaration::State(State { configuration, mark, charters: Vec::new(), groups: vec![state] })
            }
        };
        let elsewhere = Scope { tables: self.scope.ring, ..self.scope };
        let declared = Declared::sign(says, elsewhere, &self.key);
        Some((0, carried_lead(&self.scope.tables), encode(&Control::Node(declared))))
    }
}

fn order(node: &mut Node, now: Instant, made: Option<Order>, entropy: &mut dyn Entropy) {
    if let Some((number, lead, payload)) = made {
        node.danger_order(now, number, (lead, payload), entropy);
    }
}

/// A party's word, as its node orders it: behind what the party said before.
fn party(said: &Said) -> Order {
    let lead = carried_lead(&said.word.says.group());
    (number_of(&said.word.party), lead, encode(&Control::Party(said.clone())))
}

/// The view for which this says that its party has flushed.
fn flushed(payload: &Bytes) -> Option<ViewId> {
    match flush::decode(payload) {
        Ok(Frame::Control(flush::Control::FlushOk(signed))) => Some(signed.ok.view),
        _ => None,
    }
}

fn data(node: &Node, group: GroupId, party: Party) -> Lead {
    data_lead(node.id(), &group, &party)
}
