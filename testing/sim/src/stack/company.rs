//! The cast: identities and a charter for the players of a schedule, and a stack for each life.

use super::actor::Actor;
use super::carriers::Carriers;
use super::liar::Liar;
use super::tap::{Desk, Tap};
use super::thief::Robber;
use crate::carriers;
use crate::keys;
use crate::lie::Thief;
use crate::machine::{Cast, Entrance, Machine, Role, Spoils, is_second, locator, owner, second_of};
use crate::record::{Player, Shown};
use crate::rng::Rng;
use crate::schedule::Schedule;
use bytes::Bytes;
use folkmoot_attach::{Attached, Embedded, stored_for};
use folkmoot_base::{Entropy, GroupId, GroupName, Instant, MemberId, NodeId, Party, StoreKey, UnixTime};
use folkmoot_identity::{CharterDraft, Identity, SignedCharter};
use folkmoot_member::Member;
use folkmoot_node::Node;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The port of a second program.
const SECOND_PORT: u16 = 2;
/// From when identities hold, and until when.
const TERM: (UnixTime, UnixTime) = (UnixTime(1_800_000_000), UnixTime(2_200_000_000));

/// Who sits where.
#[derive(Debug, Default)]
pub struct Names {
    members: BTreeMap<MemberId, Player>,
    /// The nodes, where their keys are not their members'.
    nodes: BTreeMap<NodeId, Player>,
}

impl Names {
    /// The players, in the order of their members.
    pub fn new(members: impl IntoIterator<Item = MemberId>) -> Self {
        Self { members: members.into_iter().zip(0..).collect(), nodes: BTreeMap::new() }
    }

    /// The same, whose nodes have these keys.
    pub(super) fn on_nodes(mut self, nodes: impl IntoIterator<Item = NodeId>) -> Self {
        self.nodes = nodes.into_iter().zip(0..).collect();
        self
    }

    /// The player at a node.
    pub(super) fn at_node(&self, node: &NodeId) -> Option<Player> {
        if self.nodes.is_empty() { self.player(&node.member()) } else { self.nodes.get(node).copied() }
    }

    /// The player of a member.
    pub fn player(&self, member: &MemberId) -> Option<Player> {
        self.members.get(member).copied()
    }

    /// The players of members; strangers to the table get none.
    pub fn players<'a, C: FromIterator<Player>>(&self, members: impl IntoIterator<Item = &'a MemberId>) -> C {
        members.into_iter().filter_map(|member| self.player(member)).collect()
    }

    /// The player, or its second program, that a party is.
    pub(super) fn seat(&self, party: &Party) -> Option<Player> {
        let player = self.player(&party.member)?;
        Some(if party.port == SECOND_PORT { second_of(player) } else { player })
    }

    /// The party of a player, or of its second program.
    pub(super) fn party(&self, seat: Player) -> Option<Party> {
        let port = if is_second(seat) { SECOND_PORT } else { 0 };
        Some(Party::new(self.member(owner(seat))?, port))
    }

    /// The players of parties, and second programs.
    pub fn seated<'a, C: FromIterator<Player>>(&self, parties: impl IntoIterator<Item = &'a Party>) -> C {
        parties.into_iter().filter_map(|party| self.seat(party)).collect()
    }

    /// Who sits in `player`.
    pub(super) fn member(&self, player: Player) -> Option<MemberId> {
        self.members.iter().find(|(_, other)| **other == player).map(|(member, _)| *member)
    }
}

/// All who take part in one run.
#[derive(Debug)]
pub struct Company {
    identities: Vec<Identity>,
    charter: Bytes,
    group: GroupId,
    names: Arc<Names>,
    hybrid: bool,
    /// Whether there are liars.
    robbed: bool,
    seconds: u8,
    carriers: Option<Carriers>,
}

impl Company {
    /// Draws identities and signs a charter for `schedule`.
    ///
    /// # Panics
    /// If the identity crate refuses what every schedule draws: that is a bug.
    #[expect(clippy::expect_used, reason = "every schedule draws what stands")]
    pub fn new(schedule: &Schedule) -> Self {
        let mut rng = Rng::new(schedule.seed, "identities", 0);
        let identities: Vec<Identity> = (0..schedule.players)
            .map(|player| {
                let algorithm = keys::of(schedule, player);
                keys::identity(algorithm, player, &mut rng, TERM).expect("an identity")
            })
            .collect();
        let founders: Vec<&Identity> = identities.iter().take(usize::from(schedule.founders)).collect();
        let named = founders.iter().map(|founder| founder.certificate().into()).collect();
        let name = GroupName::new("moot").expect("a name");
        let draft = CharterDraft::new(name, u32::from(schedule.votes), named, &mut rng);
        let mut draft = CharterDraft {
            scheme: schedule.scheme,
            algorithms: keys::algorithms(schedule),
            keying: schedule.keying,
            hybrid: schedule.hybrid,
            hybrid_links: schedule.hybrid,
            ..draft
        };
        draft.policies.objections = schedule.robbed.then_some(1);
        let signed = SignedCharter::sign(&draft.to_toml(), &founders).expect("a charter");
        let names = Names::new(identities.iter().map(Identity::member));
        let carriers = carriers::fits(schedule).then(|| Carriers::new(schedule));
        let names = names.on_nodes(carriers.iter().flat_map(Carriers::nodes));
        let hybrid = schedule.hybrid;
        Self {
            hybrid,
            robbed: schedule.robbed,
            seconds: schedule.seconds,
            carriers,
            charter: Bytes::copy_from_slice(signed.der()),
            group: signed.charter().group(),
            names: Arc::new(names),
            identities,
        }
    }
}

impl Company {
    /// Who sits in `player`, with the key.
    pub(crate) fn identity(&self, player: Player) -> Option<&Identity> {
        self.identities.get(usize::from(player))
    }

    /// The life that begins.
    pub(crate) fn actor(&self, entrance: &Entrance<'_>, entropy: &mut dyn Entropy) -> Result<Actor, String> {
        let identity = self.identities.get(usize::from(entrance.player)).ok_or("no such player")?.clone();
        let stored: Vec<(StoreKey, Bytes)> =
            entrance.disk.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        let at = locator(entrance.place);
        let mut config = match &self.carriers {
            Some(carriers) => carriers.config(entrance.player, &self.charter, at)?,
            None => folkmoot_node::Config::new(identity.clone(), self.charter.clone(), at),
        };
        // Lives of one second are told apart.
        config.started = entrance.clock.0.saturating_mul(1_000_000).saturating_add(entrance.life.into());
        config.danger = entrance.danger.into();
        config.seeds = match entrance.role {
            _ if !entrance.others.is_empty() => entrance.others.iter().copied().map(locator).collect(),
            Role::Founder => (0..entrance.player).map(locator).collect(),
            Role::Stranger { contact } => vec![locator(contact)],
            Role::Returner => Vec::new(),
        };
        let node = Node::new(config, &stored, Instant(0), entropy).map_err(|error| error.to_string())?;
        let mut tap = Tap::new(node, (entrance.player, entrance.life), Arc::clone(&self.names));
        let first = Party::from(identity.member());
        let second = Party::new(first.member, SECOND_PORT);
        if let Some(carriers) = &self.carriers {
            tap.rumours = carriers.rumours();
            tap.forger = carriers.forger(entrance, vec![first, second], self.group);
        }
        let host = self.desk(&tap, entrance, identity.clone(), 0, &stored)?;
        let runs = self.seconds.checked_shr(entrance.player.into()).unwrap_or(0) & 1 == 1;
        let other = if runs {
            let stored = stored_for(&second, &stored);
            Some((second, self.desk(&tap, entrance, identity.clone(), SECOND_PORT, &stored)?))
        } else {
            None
        };
        let commands = other.as_ref().map(|_| second);
        let quiet = self.carriers.as_ref().map(|all| all.quiet(&tap, entrance, &stored, &self.names));
        let others = other.into_iter().chain(quiet.transpose()?.flatten());
        let stack = Embedded::new(tap, Attached::new((first, host), others));
        let mut actor = Actor::new(stack, entrance, (first, commands), Arc::clone(&self.names), entropy);
        let seed = u64::from(entrance.player);
        actor.liar = self.robbed.then(|| Liar::new(identity, self.identities.clone(), seed));
        Ok(actor)
    }

    /// One program of a player, under observation.
    fn desk(
        &self,
        tap: &Tap,
        entrance: &Entrance<'_>,
        identity: Identity,
        port: u16,
        stored: &[(StoreKey, Bytes)],
    ) -> Result<Desk, String> {
        let mut config = folkmoot_member::Config::new(identity, self.charter.clone());
        config.port = port;
        config.danger = entrance.danger.into();
        config.danger_keeps_keys = true;
        config.node = tap.node.id();
        let carried = tap.node.carried(&self.group);
        let member = if port == 0 && carried.is_none() {
            Member::new(config, stored)
        } else {
            let transcript = carried.unwrap_or(tap.node.transcript());
            Member::with_transcript(config, transcript.clone(), stored)
        };
        let member = member.map_err(|error| error.to_string())?;
        Ok(Desk::new(member, port != 0, tap, Arc::clone(&self.names)))
    }
}

impl Cast for Company {
    fn enter(
        &mut self,
        entrance: &Entrance<'_>,
        entropy: &mut dyn Entropy,
    ) -> Result<Box<dyn Machine>, String> {
        Ok(Box::new(self.actor(entrance, entropy)?))
    }

    fn thief(&self, seed: u64) -> Option<Box<dyn Thief>> {
        Some(Box::new(Robber::new(seed, &self.identities, self.hybrid)))
    }

    fn opens(&self, spoils: &Spoils, payload: &Bytes, view: Option<&Shown>) -> bool {
        let view = view.map(|view| {
            let seat = |player: &Player| self.names.party(*player);
            let mut members: Vec<Party> = view.members.iter().filter_map(seat).collect();
            members.sort_unstable();
            (view.id, members)
        });
        let candidates: Vec<_> = view.into_iter().collect();
        spoils.kept.as_ref().is_some_and(|kept| kept.danger_attempt(payload, &candidates).opened)
    }
}

/// A player's place in a set of them.
pub(super) fn bit(player: Player) -> u8 {
    1_u8.checked_shl(u32::from(player)).unwrap_or(0)
}
