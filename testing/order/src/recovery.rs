//! Recovery: survivors hand one another all that they hold, and go on together when all have all
//! ENDs.

use crate::frame::{Entry, Frame, Lists};
use crate::node::{Ctx, Node, Phase};
use crate::nouns::{Packet, Per, Record, Set};
use crate::rules::Rule;

/// What others lack is sent again after so many ticks.
const REPEAT: usize = 4;
/// Most packets and records of a chunk.
const CHUNK: usize = 4;

/// An attempt of which all entries are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recovery {
    pub(crate) attempt: usize,
    members: Set,
    entries: Per<Entry>,
    /// Members that come from the same old configuration.
    survivors: Set,
    /// What this node has to say, the END last.
    mine: Vec<(Vec<Packet>, Vec<Record>)>,
    my_lists: Lists,
    /// Chunks that came.
    got: Per<Set>,
    lists: Per<Option<Lists>>,
    /// Whose END came, with all that goes before.
    ends: Set,
    /// What each member says of that.
    haves: Per<Set>,
    until: usize,
    repeat_at: usize,
}

impl Node {
    pub(crate) fn recover(&mut self, attempt: usize, members: Set, entries: Per<Entry>, ctx: &mut Ctx<'_>) {
        let id = self.store.id;
        let survivors = members
            .iter()
            .filter(|node| entries[*node].old == id)
            .fold(Set::default(), |set, node| set.or(Set::one(node)));
        let (packets, records): (Vec<_>, Vec<_>) =
            (self.store.packets().collect(), self.store.records().collect());
        let mut mine: Vec<(Vec<Packet>, Vec<Record>)> = Vec::new();
        mine.extend(packets.chunks(CHUNK).map(|some| (some.to_vec(), Vec::new())));
        mine.extend(records.chunks(CHUNK).map(|some| (Vec::new(), some.to_vec())));
        mine.push((Vec::new(), Vec::new()));
        let early =
            self.store.packets().filter(|one| !one.service.is_ordered() && self.store.is_delivered(*one));
        let owed = early.fold(self.owed, |set, packet| set.or(Set::one(packet.uid)));
        let my_lists = Lists { owed, trusted: self.trusted };
        let mut lists = Per::default();
        lists[self.id] = Some(my_lists);
        self.phase = Phase::Recovers(Box::new(Recovery {
            attempt,
            members,
            entries,
            survivors,
            mine,
            my_lists,
            got: Per::default(),
            lists,
            ends: Set::default(),
            haves: Per::default(),
            until: ctx.now + ctx.dice.between(60, 160),
            repeat_at: ctx.now,
        }));
        self.end_came(self.id, ctx);
    }

    pub(crate) fn on_chunk(&mut self, from: usize, attempt: usize, frame: Frame, ctx: &mut Ctx<'_>) {
        if self.phase == Phase::Stands && self.store.id == attempt {
            let ends = self.store.members;
            self.send(Set::one(from), &Frame::Have { attempt, ends, installed: true }, ctx);
        }
        let Phase::Recovers(recovery) = &mut self.phase else { return };
        let Frame::Chunk { old, index, of, packets, records, lists, .. } = frame else { return };
        if recovery.attempt != attempt {
            return;
        }
        recovery.got[from].add(index);
        if old == self.store.id {
            packets.into_iter().for_each(|packet| _ = self.store.keep_packet(packet));
            records.into_iter().for_each(|record| self.store.keep_record(record));
        }
        recovery.lists[from] = recovery.lists[from].or(lists);
        if recovery.got[from].len() == of && !recovery.ends.has(from) {
            self.end_came(from, ctx);
        }
    }

    /// All that a member has to say is here. Its lists are taken over when that is so of all.
    fn end_came(&mut self, from: usize, ctx: &mut Ctx<'_>) {
        let Phase::Recovers(recovery) = &mut self.phase else { return };
        recovery.ends.add(from);
        recovery.haves[self.id] = recovery.ends;
        let all = recovery.ends == recovery.members;
        let takes = all || !ctx.rules.keep(Rule::AllEnds);
        let taken = if takes { recovery.survivors } else { Set::default() };
        for survivor in taken.iter() {
            let lists = recovery.lists[survivor].unwrap_or_default();
            self.owed = self.owed.or(lists.owed);
            self.trusted = self.trusted.or(lists.trusted).or(Set::one(survivor));
        }
        if all {
            ctx.history.ready = true;
            ctx.history.count("all ENDs");
        }
    }

    pub(crate) fn on_have(
        &mut self,
        from: usize,
        attempt: usize,
        ends: Set,
        installed: bool,
        ctx: &mut Ctx<'_>,
    ) {
        if self.phase == Phase::Stands && self.store.id == attempt && !installed {
            let ends = self.store.members;
            self.send(Set::one(from), &Frame::Have { attempt, ends, installed: true }, ctx);
        }
        if let Phase::Recovers(recovery) = &mut self.phase
            && recovery.attempt == attempt
        {
            recovery.haves[from] = recovery.haves[from].or(ends);
        }
    }

    /// Sends what others lack; installs when all have all; gives up after a time.
    pub(crate) fn tend_recovery(&mut self, ctx: &mut Ctx<'_>) {
        let Phase::Recovers(recovery) = &mut self.phase else { return };
        let (members, attempt) = (recovery.members, recovery.attempt);
        if members.iter().all(|member| recovery.haves[member] == members) {
            let done = recovery.clone();
            self.go_on(&done, ctx);
            return;
        }
        if ctx.now >= recovery.until {
            ctx.history.count("recoveries given up");
            self.gather(ctx);
            return;
        }
        if ctx.now < recovery.repeat_at {
            return;
        }
        recovery.repeat_at = ctx.now + REPEAT;
        let this = recovery.clone();
        let lack = members
            .iter()
            .filter(|node| !this.haves[*node].has(self.id))
            .fold(Set::default(), |set, node| set.or(Set::one(node)));
        let of = this.mine.len();
        for (index, (packets, records)) in this.mine.iter().enumerate() {
            let lists = (index + 1 == of).then_some(this.my_lists);
            let (packets, records) = (packets.clone(), records.clone());
            let old = self.store.id;
            self.send(lack, &Frame::Chunk { attempt, old, index, of, packets, records, lists }, ctx);
        }
        self.send(members, &Frame::Have { attempt, ends: this.ends, installed: false }, ctx);
        if attempt % 8 == self.id {
            let silent = members
                .iter()
                .filter(|node| this.haves[*node].is_empty())
                .fold(Set::default(), |set, node| set.or(Set::one(node)));
            self.send(silent, &Frame::Commit { attempt, members, entries: this.entries }, ctx);
        }
    }

    /// An attempt is over. What was recovered stays; lists stay if all ENDs came.
    pub(crate) fn forget_attempt(&mut self, ctx: &mut Ctx<'_>) {
        if !ctx.rules.keep(Rule::Obligations) {
            self.owed = Set::default();
            self.trusted = Set::default();
        }
        if let Phase::Recovers(recovery) = &self.phase
            && recovery.ends == recovery.members
        {
            ctx.history.count("failed with all ENDs");
        }
    }

    fn go_on(&mut self, recovery: &Recovery, ctx: &mut Ctx<'_>) {
        let lines = recovery.survivors.iter().map(|node| recovery.entries[node].line);
        let line = lines.max().unwrap_or_default();
        let all = recovery.survivors == self.store.members;
        self.deliver_rest(line, all, ctx);
        self.install(recovery.attempt, recovery.members, recovery.survivors, ctx);
        ctx.history.count("installed");
    }
}
