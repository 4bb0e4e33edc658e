//! The status for people: who is in, who is not, and why. It comes from the state of the layers,
//! never from a log.

use crate::group_stack::{GroupStack, Installed};
use crate::join::Joining;
use crate::{Member, Petition, Reached};
use attach::{Absence, AuthorityReach, GroupStatus, Lacking, MemberStatus, Person, Presence, Stalled};
use base::{Cause, Host, Instant, Locator, MemberId, NodeId, Party, UnixTime};
use folkmoot_admission::{AuthorityStatus, Counters, ShareStatus, SigningStatus};
use folkmoot_attach as attach;
use folkmoot_base as base;
use folkmoot_flush::Phase;
use folkmoot_identity::{RevocationList, names};
use folkmoot_keying::State;
use folkmoot_transcript::{Ending, is_clock};
use std::collections::{BTreeMap, BTreeSet};

/// Most peers that are remembered after they fell silent.
const SILENT_MAX: usize = base::limits::MEMBERS_MAX;

/// What this member has seen of its peers.
#[derive(Debug, Default)]
pub(crate) struct Sight {
    /// What the wall clock says.
    pub(crate) clock: UnixTime,
    /// When our identity was made: an earlier clock is none, as it is at our node.
    pub(crate) begun: UnixTime,
    pub(crate) configuration: Vec<NodeId>,
    pub(crate) lacking: Option<Lacking>,
    /// The members in the group's view, as admission was told.
    pub(crate) present: BTreeSet<MemberId>,
    up: BTreeMap<NodeId, Locator>,
    silent: BTreeMap<NodeId, (Instant, Option<Locator>)>,
    /// The members that left by themselves or were removed after complaints, since when, and are
    /// not back.
    gone: BTreeMap<MemberId, (Instant, Cause)>,
}

impl Sight {
    /// Nothing yet, of a member whose identity was made then.
    pub(crate) fn new(begun: UnixTime) -> Self {
        Self { begun, ..Self::default() }
    }

    /// The time, if there is a clock that counts.
    pub(crate) fn time(&self) -> Option<UnixTime> {
        Some(self.clock).filter(|clock| is_clock(*clock, self.begun))
    }

    pub(crate) fn up(&mut self, peer: Reached) {
        self.silent.remove(&peer.node);
        self.up.insert(peer.node, peer.at);
    }

    pub(crate) fn down(&mut self, now: Instant, node: NodeId) {
        let at = self.up.remove(&node);
        if self.silent.len() < SILENT_MAX {
            self.silent.insert(node, (now, at));
        }
    }

    pub(crate) fn reached(&self) -> Vec<(NodeId, Host)> {
        self.up.iter().map(|(node, at)| (*node, at.host())).collect()
    }

    /// Whoever left by its own word did so, whatever else happened at the same time.
    pub(crate) fn notice(
        &mut self,
        now: Instant,
        parties: &[Party],
        (removed, left): (&[Party], &[Party]),
        cause: Cause,
    ) {
        let here = |member: MemberId| parties.iter().any(|party| party.member == member);
        self.gone.retain(|member, _| !here(*member));
        let gone = |of: &[Party], cause: Cause| {
            let gone = of.iter().map(|party| party.member).filter(|member| !here(*member));
            gone.map(|member| (member, cause)).collect::<Vec<_>>()
        };
        let all = gone(removed, cause).into_iter().chain(gone(left, Cause::Leave));
        all.for_each(|(member, cause)| self.went(now, member, cause));
    }

    /// `member` is out of the group, for another reason than the loss of its node.
    pub(crate) fn went(&mut self, now: Instant, member: MemberId, cause: Cause) {
        if matches!(cause, Cause::Complaint | Cause::Leave) {
            self.gone.insert(member, (now, cause));
        }
    }

    fn absence(&self, member: &MemberId) -> Absence {
        let (node, gone) = (member.node(), self.gone.get(member));
        let silent = self.silent.get(&node).map(|(since, _)| *since);
        match (gone, silent) {
            // A node may stop after its member has left.
            (Some((since, Cause::Leave)), _) => Absence::Left { since: *since },
            // A member that was set aside and then fell silent counts as silent: it does not come
            // back by itself.
            (_, Some(since)) => Absence::SilentSince(since),
            (Some((since, _)), None) => Absence::SetAside { since: *since },
            (None, None) if self.configuration.contains(&node) => Absence::NotJoined,
            (None, None) if self.up.contains_key(&node) => Absence::OtherSide,
            (None, None) => Absence::NeverSeen,
        }
    }

    fn locator(&self, node: &NodeId) -> Option<Locator> {
        let silent = || self.silent.get(node).and_then(|(_, at)| at.clone());
        self.up.get(node).cloned().or_else(silent)
    }
}

fn in_short(stack: &GroupStack, now: Instant) -> Option<GroupStatus> {
    let Installed { view, members, epoch, suite: (module, cipher) } = stack.installed.clone()?;
    Some(GroupStatus {
        view,
        members,
        epoch,
        module,
        cipher,
        side: stack.side,
        stalled: stack.returns.late(now),
    })
}

/// `MEM-07`: nothing has come back for too long.
fn stalled(stack: &GroupStack, now: Instant) -> Option<String> {
    let Stalled { messages, waited } = stack.returns.late(now)?;
    let seconds = waited.as_secs();
    Some(format!("stalled: of what was sent {messages} have not come back, and none for {seconds} s"))
}

impl Member {
    /// The whole status: of the charter's own group, and in short of every other group.
    pub fn status(&self, now: Instant) -> MemberStatus {
        let stack = self.stacks.get(&self.home);
        let installed = stack.and_then(|stack| stack.installed.as_ref());
        MemberStatus {
            me: self.me,
            node: self.config.node,
            view: installed.map(|installed| installed.view),
            epoch: installed.map(|installed| installed.epoch.clone()),
            module: installed.map(|installed| installed.suite.0),
            cipher: installed.map(|installed| installed.suite.1),
            activity: self.activity(stack, now),
            people: self.people(stack),
            groups: self.stacks.values().filter_map(|stack| in_short(stack, now)).collect(),
            authority: self.reach(),
            lacking: self.sight.lacking,
        }
    }

    /// How the authority is reached from here.
    fn reach(&self) -> Option<AuthorityReach> {
        let Joining::Inside(admission) = &self.joining else { return None };
        let (linked, heard) = admission.authority(&self.transcript)?;
        Some(AuthorityReach { linked, heard })
    }

    /// The status of the authority, if it speaks through us.
    pub fn authority(&self) -> Option<AuthorityStatus> {
        let Joining::Office(authority) = &self.joining else { return None };
        Some(authority.status())
    }

    /// The newest revocation list by the group's key that this member has. `None` if it is not a
    /// member.
    pub fn revocations(&self) -> Option<&RevocationList> {
        match &self.joining {
            Joining::Inside(admission) => admission.revocations(),
            Joining::Office(authority) => authority.revocations(),
            Joining::Elsewhere | Joining::Closed | Joining::Outside(_) => None,
        }
    }

    /// `LINE-95`: whether the next decision asks our person for the date.
    pub(crate) fn asks_date(&self) -> Option<bool> {
        let Joining::Inside(admission) = &self.joining else { return None };
        admission.asks_date(&self.transcript)
    }

    /// The status of its signing sessions, in which several members make one share or one signature
    /// together.
    pub fn signing(&self, now: Instant) -> Option<SigningStatus> {
        let Joining::Inside(admission) = &self.joining else { return None };
        Some(admission.signing(now, &self.transcript))
    }

    /// `ADM-89`: how it stands with the shares of the group's key; `None` if it has no such key, or
    /// this is no member.
    pub fn share(&self, now: Instant) -> Option<ShareStatus> {
        let Joining::Inside(admission) = &self.joining else { return None };
        admission.share(now, &self.me, &self.transcript)
    }

    /// What its sessions did so far, in all groups that it is in.
    pub fn counters(&self) -> folkmoot_session::Counters {
        let all = self.stacks.values().map(|stack| stack.session.counters());
        all.fold(folkmoot_session::Counters::default(), folkmoot_session::Counters::plus)
    }

    /// Counts of what guests sent so far, and of what was refused; zeros unless we are a member.
    pub fn door_counters(&self) -> Counters {
        match &self.joining {
            Joining::Inside(admission) => admission.counters(),
            Joining::Elsewhere | Joining::Closed | Joining::Outside(_) | Joining::Office(_) => {
                Counters::default()
            }
        }
    }

    /// Open requests for admission.
    pub fn petitions(&self) -> Vec<Petition> {
        match &self.joining {
            Joining::Inside(admission) => admission
                .status(&self.transcript, &self.config.identity)
                .requests
                .iter()
                .filter(|request| request.rotates.is_none())
                .map(Petition::from)
                .collect(),
            Joining::Office(authority) => {
                let waiting = authority.status().petitions;
                waiting.iter().map(|one| Petition::for_authority(self.me, one)).collect()
            }
            Joining::Elsewhere | Joining::Closed | Joining::Outside(_) => Vec::new(),
        }
    }

    fn activity(&self, stack: Option<&GroupStack>, now: Instant) -> String {
        match (&self.joining, stack) {
            (Joining::Office(_), _) => "the group's authority".into(),
            (Joining::Closed, _) => "not a member; has not asked for admission".into(),
            (Joining::Outside(_), _) => "asking for admission".into(),
            (Joining::Elsewhere, None) if !self.is_in() => "not a member".into(),
            (Joining::Inside(_) | Joining::Elsewhere, None) => "member; has not joined the group".into(),
            (Joining::Inside(_) | Joining::Elsewhere, Some(stack)) => self.step(stack, now),
        }
    }

    fn step(&self, stack: &GroupStack, now: Instant) -> String {
        if self.configuration.is_none() {
            return "looking for the other nodes".into();
        }
        match (stack.flush.phase(), stack.keying.state()) {
            (Phase::Joining, _) => "joining".into(),
            (Phase::Agree | Phase::Authorize, _) => {
                format!("changing the view: waiting for {}", self.names(&stack.flush.awaited()))
            }
            (_, State::Agreeing(stage)) => {
                format!("agreeing on a key ({stage}): waiting for {}", self.names(&stack.keying.awaited()))
            }
            (_, State::Confirming) => {
                format!("confirming the key: waiting for {}", self.names(&stack.keying.awaited()))
            }
            (_, State::Cascading) => self.keyless(stack),
            (_, State::Secure) => {
                let stalled = stalled(stack, now).or_else(|| self.lacks(now));
                stalled.unwrap_or_else(|| "steady".into())
            }
        }
    }

    /// `MEM-10`: who lacks what was sent.
    fn lacks(&self, now: Instant) -> Option<String> {
        let Lacking { node, since } = self.sight.lacking?;
        let who = if node == self.config.node { "this one".into() } else { self.told().name(&node.member()) };
        let seconds = now.since(since).as_secs();
        Some(format!("lacking: {who} has had nothing of what was sent for {seconds} s"))
    }

    /// There is no key, and none is coming in this view.
    fn keyless(&self, stack: &GroupStack) -> String {
        let off = |party: &&Party| !self.transcript.roster().is_member(&party.member);
        let off: Vec<Party> = stack.noticed.iter().filter(off).copied().collect();
        if off.is_empty() {
            return "changing the view".into();
        }
        format!("waiting for the view without {}", self.names(&off))
    }

    pub(crate) fn names(&self, parties: &[Party]) -> String {
        let told = self.told();
        let names: Vec<String> = parties.iter().map(|party| party.of(&told.name(&party.member))).collect();
        if names.is_empty() { "nobody".into() } else { names.join(", ") }
    }

    /// What everybody is called who is known here: members, those who were, those who ask, those
    /// whose admission is late. Names that look alike have a mark (`ID-91`).
    pub fn told(&self) -> Told {
        let (roster, set) = (self.transcript.roster(), self.transcript.set());
        let asked = self.petitions();
        let late = set.admits().map(|admit| (admit.member, admit.name.as_str()));
        let keys = self.new_keys();
        let asking = asked.iter().map(|one| (one.member, one.name.as_str()));
        let asking = asking.chain(keys.values().map(|(member, name)| (*member, name.as_str())));
        let former = roster.formers().iter().map(|(member, former)| (*member, former.held.name.as_str()));
        let members = roster.members().iter().map(|(member, held)| (*member, held.name.as_str()));
        let own = (self.me, self.config.identity.name());
        let people = [own].into_iter().chain(late).chain(asking).chain(former).chain(members);
        let asking: BTreeSet<MemberId> =
            asked.iter().map(|one| one.member).chain(keys.values().map(|(member, _)| *member)).collect();
        let (former, mut unasked) = (self.transcript.state().former_keys(), self.transcript.unasked_keys());
        unasked.retain(|key| *key != self.me && !asking.contains(key));
        let left = roster.formers().keys().filter(|key| !former.contains_key(*key) && !asking.contains(*key));
        let gone: BTreeSet<MemberId> = left.copied().collect();
        let apart = names::Apart { former: &former, unasked: &unasked, gone: &gone, asking: &asking };
        Told(names::told_apart(people, apart))
    }

    /// The keys that are to take members' places, as their requests say, by the digests of those.
    pub fn new_keys(&self) -> BTreeMap<base::Digest, (MemberId, String)> {
        let Joining::Inside(admission) = &self.joining else { return BTreeMap::new() };
        let requests = admission.status(&self.transcript, &self.config.identity).requests;
        let keys = requests.into_iter().filter(|request| request.rotates.is_some());
        keys.map(|one| (one.request, (one.member, one.name))).collect()
    }

    fn people(&self, stack: Option<&GroupStack>) -> Vec<Person> {
        let roster = self.transcript.roster();
        let mut people: Vec<Person> = roster
            .members()
            .iter()
            .map(|(member, held)| self.person(*member, &held.name, self.presence(member, stack)))
            .collect();
        for (member, former) in roster.formers() {
            let why = match former.ending {
                Ending::Expelled { .. } => Absence::Expelled,
                Ending::Replaced { number, by } => Absence::Replaced { by, number },
                Ending::Expired { at } => Absence::Expired(at),
                Ending::Late => Absence::Late,
            };
            people.push(self.person(*member, &former.held.name, Presence::Absent(why)));
        }
        for petition in self.petitions() {
            let why = self.why_asking(&petition);
            people.retain(|person| person.member != petition.member);
            people.push(self.person(petition.member, &petition.name, Presence::Absent(why)));
        }
        people
    }

    fn why_asking(&self, petition: &Petition) -> Absence {
        let Some(refuses) = petition.waits else {
            return Absence::AwaitingVotes { have: petition.have, need: petition.need };
        };
        let reach = self.reach();
        let heard = reach.as_ref().and_then(|reach| reach.heard);
        Absence::AwaitingAuthority {
            linked: reach.is_some_and(|reach| !reach.linked.is_empty()),
            heard,
            refuses,
        }
    }

    fn person(&self, member: MemberId, name: &str, presence: Presence) -> Person {
        Person { member, name: name.to_owned(), presence, locator: self.sight.locator(&member.node()) }
    }

    fn presence(&self, member: &MemberId, stack: Option<&GroupStack>) -> Presence {
        let among = |parties: &[Party]| parties.iter().any(|party| party.member == *member);
        let noticed = stack.is_some_and(|stack| among(&stack.noticed));
        let installed =
            stack.and_then(|stack| stack.installed.as_ref()).is_some_and(|view| among(&view.members));
        match (noticed, installed) {
            (true, true) => Presence::Present,
            (true, false) => Presence::Arriving,
            (false, _) => Presence::Absent(self.sight.absence(member)),
        }
    }
}

/// What people are called ([`Member::told`]).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told(pub BTreeMap<MemberId, String>);

impl Told {
    /// The name, with its mark if it has one; the first digits of the id if nobody knows a name.
    pub fn name(&self, member: &MemberId) -> String {
        self.0.get(member).cloned().unwrap_or_else(|| member.short())
    }

    pub(crate) fn several(&self, members: &[MemberId]) -> String {
        members.iter().map(|member| self.name(member)).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANNA: MemberId = MemberId([1; 32]);
    const BEN: MemberId = MemberId([2; 32]);

    fn peer(member: MemberId) -> Reached {
        Reached { node: member.node(), at: Locator::memory(1) }
    }

    fn sight(configuration: &[MemberId], up: &[MemberId]) -> Sight {
        let mut sight = Sight {
            configuration: configuration.iter().map(|member| member.node()).collect(),
            ..Sight::default()
        };
        up.iter().for_each(|member| sight.up(peer(*member)));
        sight
    }

    #[test]
    fn a_node_that_answers_from_another_ring_is_on_the_other_side() {
        assert_eq!(sight(&[ANNA], &[BEN]).absence(&BEN), Absence::OtherSide);
        assert_eq!(sight(&[ANNA, BEN], &[BEN]).absence(&BEN), Absence::NotJoined);
        assert_eq!(sight(&[ANNA], &[]).absence(&BEN), Absence::NeverSeen);
    }

    #[test]
    fn who_was_set_aside_is_so_until_it_is_back_or_falls_silent() {
        let mut sight = sight(&[ANNA, BEN], &[BEN]);
        sight.notice(Instant(5), &[ANNA.into()], (&[BEN.into()], &[]), Cause::Complaint);
        assert_eq!(sight.absence(&BEN), Absence::SetAside { since: Instant(5) });
        sight.down(Instant(7), BEN.node());
        assert_eq!(sight.absence(&BEN), Absence::SilentSince(Instant(7)));
        sight.up(peer(BEN));
        assert_eq!(sight.absence(&BEN), Absence::SetAside { since: Instant(5) });
        sight.notice(Instant(9), &[ANNA.into(), BEN.into()], (&[], &[]), Cause::Join);
        assert_eq!(sight.absence(&BEN), Absence::NotJoined);
    }

    #[test]
    fn a_member_knows_that_it_was_set_aside_itself() {
        let mut sight = sight(&[ANNA], &[]);
        sight.went(Instant(3), ANNA, Cause::Complaint);
        assert_eq!(sight.absence(&ANNA), Absence::SetAside { since: Instant(3) });
    }

    #[test]
    fn who_left_in_a_merge_did_leave() {
        let mut sight = sight(&[ANNA, BEN], &[BEN]);
        sight.notice(Instant(5), &[ANNA.into()], (&[BEN.into()], &[BEN.into()]), Cause::Network);
        sight.down(Instant(7), BEN.node());
        assert_eq!(sight.absence(&BEN), Absence::Left { since: Instant(5) });
        sight.notice(Instant(8), &[ANNA.into(), BEN.into()], (&[], &[]), Cause::Network);
        assert_eq!(sight.absence(&BEN), Absence::SilentSince(Instant(7)));
    }

    #[test]
    fn who_left_is_not_missed_when_its_node_stops() {
        let mut sight = sight(&[ANNA, BEN], &[BEN]);
        sight.notice(Instant(5), &[ANNA.into()], (&[BEN.into()], &[]), Cause::Leave);
        sight.down(Instant(7), BEN.node());
        assert_eq!(sight.absence(&BEN), Absence::Left { since: Instant(5) });
        sight.notice(Instant(8), &[ANNA.into(), BEN.into()], (&[], &[]), Cause::Network);
        sight.notice(Instant(9), &[ANNA.into()], (&[BEN.into()], &[]), Cause::Network);
        assert_eq!(sight.absence(&BEN), Absence::SilentSince(Instant(7)));
    }

    #[test]
    fn silence_is_noted_even_where_the_ring_has_not_noticed_yet() {
        let mut sight = sight(&[ANNA, BEN], &[BEN]);
        sight.down(Instant(4), BEN.node());
        assert_eq!(sight.absence(&BEN), Absence::SilentSince(Instant(4)));
        assert_eq!(sight.locator(&BEN.node()), Some(Locator::memory(1)), "where it was last");
    }
}
