//! What comes: whose it is, whether it is new, and who is out.

use super::Discovery;
use super::api::{Danger, Event, Exclusion, Output, Papers};
use super::known::{Kept, Learned};
use super::message::{Body, CERTIFICATE_BYTES_MAX, KINDS, LABEL, LEFT_LABEL, Left, Named, Notice, Proof};
use super::message::{Said, Signed, covered};
use super::sets::{Entry, Joined};
use crate::base::codec::decode;
use crate::base::{Entropy, Instant, UnixTime, digest};
use bytes::Bytes;
use std::sync::Arc;

/// How far clocks may be apart when somebody else says that a certificate has ended.
const SKEW_SECONDS: u64 = 5;

impl<P: Papers> Discovery<P> {
    /// PUB-40 to PUB-42: takes a message, if it is whole, new, and its sender's.
    pub(super) fn hear(&mut self, now: Instant, bytes: &[u8], entropy: &mut dyn Entropy) {
        let Some(me) = self.me.as_ref() else { return };
        let Ok((signed, body)) = Signed::read(bytes) else { return self.refuse() };
        if body.domain != self.tag {
            return;
        }
        let is_join = matches!(body.said, Said::Join(_));
        let message = covered(LABEL, &signed.body.0);
        if body.sender == me.uid && !is_join {
            let said = self.instances.is_used(body.instance)
                || !self.papers.verify(&me.certificate, &message, &signed.signature.0);
            return if said { self.refuse() } else { self.out.push_back(Output::Event(Event::Twin)) };
        }
        if !self.is_new(&body) {
            return self.refuse_old(now, body.sender, body.instance, is_join, entropy);
        }
        let Some(entry) = self.sender(bytes, &body) else { return self.refuse() };
        if !is_join && !self.papers.verify(&entry.certificate, &message, &signed.signature.0) {
            return self.refuse();
        }
        if entry.uid == me.uid && entry.holder == me.holder {
            return self.compare_own(entry.instance, Event::Twin);
        }
        if self.known.is_out(&entry) {
            self.known.note(&entry);
            return self.teach(now, &entry);
        }
        match self.known.against(&entry, self.wall) {
            None => self.take(now, bytes, entry, body, entropy),
            Some(Learned::Duplicate) if self.is_shown(now, &entry, &body, entropy) => {
                self.take(now, bytes, entry, body, entropy);
            }
            Some(Learned::Duplicate) => {
                self.refuse();
                self.out.push_back(Output::Event(Event::Duplicate(entry.uid)));
            }
            Some(_) if is_join => self.refuse_old(now, entry.uid, entry.instance, true, entropy),
            Some(_) => self.refuse(),
        }
    }

    /// Whoever has another certificate than its id has here may show that the one before is out.
    /// What it shows counts whoever it is (PUB-46), and nobody else may be there to show it.
    fn is_shown(&mut self, now: Instant, entry: &Entry, body: &Body, entropy: &mut dyn Entropy) -> bool {
        let proofs = match &body.said {
            Said::Response(response) => &response.proofs,
            Said::Notice(notice) => &notice.proofs,
            Said::Join(_) | Said::Round(_) | Said::Beacon(_) => return false,
        };
        let mut changed = false;
        for proof in proofs {
            changed |= self.take_proof(proof.clone());
        }
        if changed {
            self.changed(now, entropy);
        }
        changed && self.me.is_some() && self.known.against(entry, self.wall).is_none()
    }

    fn take(&mut self, now: Instant, bytes: &[u8], entry: Entry, body: Body, entropy: &mut dyn Entropy) {
        self.accepted = self.accepted.saturating_add(1);
        let (kind, instance) = (body.said.kind(), body.instance);
        let known = self.note_heard(&entry, kind, instance);
        match body.said {
            Said::Join(_) => self.on_join(now, &entry, entropy),
            Said::Response(response) => {
                let grouped = response.old.iter().any(|blob| blob.0 == entry.bytes);
                self.revive(&entry, !grouped);
                self.on_response(now, bytes, &entry, &response, entropy);
            }
            Said::Round(round) => {
                self.revive(&entry, true);
                self.on_round(now, &entry, &round, entropy);
            }
            Said::Beacon(beacon) => {
                if !self.learn_quietly(&entry) {
                    return;
                }
                self.revive(&entry, false);
                self.on_beacon(now, &entry, &beacon, entropy);
            }
            Said::Notice(notice) => {
                // Whoever is known is not heard twice. What it shows counts whoever it is.
                self.learn_quietly(&entry);
                self.on_notice(now, notice, entropy);
            }
        }
        if !known {
            self.note_heard(&entry, kind, instance);
        }
    }

    /// Before it takes effect if its sender is known, else when it is: then it does not count again
    /// after a restart, whatever this node says because of it. Who has the id with another
    /// certificate does not count here.
    fn note_heard(&mut self, from: &Entry, kind: usize, instance: u64) -> bool {
        let peer = self.known.get_mut(from.uid).filter(|peer| peer.holder == from.holder);
        let Some(heard) = peer.and_then(|peer| peer.heard.get_mut(kind)) else { return false };
        *heard = instance.max(*heard);
        self.persist();
        true
    }

    /// Something of this node's certificate was heard: whether this node can have said it (PUB-79).
    fn compare_own(&mut self, instance: u64, event: Event) {
        if !self.instances.is_used(instance) {
            self.out.push_back(Output::Event(event));
        }
    }

    /// Whoever says something old may have forgotten what it said since. It is told so with a
    /// beacon; at once if it wants to be in.
    fn refuse_old(&mut self, now: Instant, uid: u16, instance: u64, joins: bool, entropy: &mut dyn Entropy) {
        self.refuse();
        let other = self.me.as_ref().is_some_and(|me| me.uid != uid);
        let older = self.known.get(uid).is_some_and(|peer| instance < peer.latest());
        if other && older && self.group.is_some() {
            self.forgetful = Some(uid);
            if joins {
                self.show(now, entropy);
            }
        }
    }

    pub(super) fn refuse(&mut self) {
        self.refused = self.refused.saturating_add(1);
    }

    /// PUB-42.
    fn is_new(&self, body: &Body) -> bool {
        let kind = body.said.kind().min(KINDS.saturating_sub(1));
        let peer = self.known.get(body.sender);
        if let (Said::Join(join), Some(peer)) = (&body.said, peer)
            && peer.holder != self.papers.holder(&join.certificate.0)
        {
            return true;
        }
        let heard = peer.and_then(|peer| peer.heard.get(kind));
        let round = matches!(body.said, Said::Round(_)) && self.is_gullible();
        self.is(Danger::ForgetsInstances) || round || heard.is_none_or(|heard| body.instance > *heard)
    }

    /// The sender's JOIN, as far as it says so.
    fn sender(&self, bytes: &[u8], body: &Body) -> Option<Entry> {
        let of = |blobs: &[crate::base::Blob]| {
            let reads = |blob: &&crate::base::Blob| sender_of(&blob.0) == Some(body.sender);
            blobs.iter().find(reads).and_then(|blob| self.read_entry(&blob.0))
        };
        let entry = match &body.said {
            Said::Join(_) => self.read_entry(&Bytes::copy_from_slice(bytes)),
            Said::Response(response) => of(&response.old).or_else(|| of(&response.new)),
            Said::Round(round) => self.round_entry(body.sender, &round.candidate),
            Said::Beacon(beacon) => self.read_entry(&beacon.join.0),
            Said::Notice(notice) => self.read_entry(&notice.join.0),
        };
        entry.filter(|entry| entry.uid == body.sender && entry.instance <= body.instance)
    }

    /// PUB-41, PUB-43: a JOIN that its own certificate's key signed, for this domain.
    pub(super) fn read_entry(&self, bytes: &Bytes) -> Option<Entry> {
        let (signed, body) = Signed::read(bytes).ok()?;
        let Said::Join(join) = &body.said else { return None };
        let known = self.known.get(body.sender).and_then(|peer| peer.join.clone());
        if let Some(known) = known.filter(|known| known.bytes == *bytes) {
            return Some(known);
        }
        let standing = self.papers.judge(&self.settings.domain, &join.certificate.0, self.wall)?;
        let message = covered(LABEL, &signed.body.0);
        let holds = standing.uid == body.sender
            && body.domain == self.tag
            && self.wall.is_none_or(|wall| standing.until.is_none_or(|until| until > wall))
            && self.papers.verify(&join.certificate.0, &message, &signed.signature.0);
        holds.then(|| {
            Arc::new(Joined {
                bytes: bytes.clone(),
                digest: digest(&[bytes]),
                uid: body.sender,
                instance: body.instance,
                number: join.number,
                certificate: join.certificate.0.clone(),
                holder: self.papers.holder(&join.certificate.0),
                renewal: self.papers.renewal(&join.certificate.0),
                until: standing.until,
            })
        })
    }

    /// Takes a JOIN, and says whether it may count.
    pub(super) fn learn(&mut self, entry: &Entry) -> Learned {
        if self.me.as_ref().is_some_and(|me| me.uid == entry.uid && me.holder == entry.holder) {
            return if self.is_me(entry) { Learned::Same } else { Learned::Stale };
        }
        let learned = self.known.learn(entry, self.wall);
        if learned == Learned::Duplicate {
            self.out.push_back(Output::Event(Event::Duplicate(entry.uid)));
        }
        learned
    }

    /// Takes the JOIN of somebody who does not ask to be in: a member of another group.
    fn learn_quietly(&mut self, entry: &Entry) -> bool {
        let learned = self.learn(entry);
        if learned == Learned::New
            && let Some(peer) = self.known.get_mut(entry.uid)
        {
            peer.wanting = false;
        }
        matches!(learned, Learned::New | Learned::Same)
    }

    fn on_join(&mut self, now: Instant, entry: &Entry, entropy: &mut dyn Entropy) {
        match self.learn(entry) {
            Learned::New => {}
            Learned::Stale if self.is(Danger::ForgetsInstances) => self.known.force(entry),
            Learned::Same => {
                let peer = self.known.get_mut(entry.uid).filter(|peer| peer.came.is_none());
                return peer.map_or((), |peer| peer.came = Some(now));
            }
            Learned::Stale => return self.refuse_old(now, entry.uid, entry.instance, true, entropy),
            Learned::Duplicate | Learned::Full => return self.refuse(),
        }
        if let Some(peer) = self.known.get_mut(entry.uid) {
            peer.came = Some(now);
        }
        self.collect(now, entropy);
    }

    /// Silence is taken back by any word. Whoever is in another group does not want to be in this
    /// one before it says so.
    fn revive(&mut self, entry: &Entry, wants: bool) {
        let mine =
            self.group.as_ref().is_some_and(|group| group.order.iter().any(|one| one.uid == entry.uid));
        if let Some(peer) = self.known.get_mut(entry.uid).filter(|peer| peer.silent) {
            peer.silent = false;
            peer.wanting = wants && !mine;
        }
    }

    fn on_notice(&mut self, now: Instant, notice: Notice, entropy: &mut dyn Entropy) {
        let mut changed = false;
        self.told(&notice.proofs);
        self.forgetful = None;
        for proof in notice.proofs {
            changed |= self.take_proof(proof);
        }
        if changed {
            self.changed(now, entropy);
        }
    }

    /// After somebody was found to be out.
    pub(super) fn changed(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        if let Some(me) = self.me.clone().filter(|me| self.known.is_out(me)) {
            if !self.known.is_out_for_good(&me) {
                // It left, as it says itself, later than it knows.
                self.out.push_back(Output::Event(Event::Behind));
            }
            return self.be_out();
        }
        self.persist();
        self.plan(now, entropy);
    }

    /// PUB-46: checks a proof that somebody is out; whether it says something new.
    pub(super) fn take_proof(&mut self, proof: Proof) -> bool {
        if self.is(Danger::ExcludesNobody) {
            return false;
        }
        match &proof {
            Proof::Excluded(statement) if statement.0.len() <= CERTIFICATE_BYTES_MAX => {
                let out = self.excluded(&statement.0);
                out.is_some_and(|out| self.drop_holder(out, None, proof))
            }
            Proof::Named(Named { statement, certificate })
                if statement.0.len() <= CERTIFICATE_BYTES_MAX
                    && certificate.0.len() <= CERTIFICATE_BYTES_MAX =>
            {
                let out = self.excluded(&statement.0);
                let out = out.filter(|out| out.holder == self.papers.holder(&certificate.0));
                let standing = self.papers.judge(&self.settings.domain, &certificate.0, self.wall);
                out.zip(standing).is_some_and(|(out, standing)| {
                    let until = out.until.or(standing.until);
                    self.drop_holder(Exclusion { until, ..out }, Some(standing.uid), proof)
                })
            }
            Proof::Expired(certificate) if certificate.0.len() <= CERTIFICATE_BYTES_MAX => {
                let standing = self.papers.judge(&self.settings.domain, &certificate.0, self.wall);
                let until = standing.as_ref().and_then(|standing| standing.until);
                let now = self.wall.map(|wall| UnixTime(wall.0.saturating_add(SKEW_SECONDS)));
                let ended = until.zip(now).is_some_and(|(until, now)| until <= now);
                let out = Exclusion { holder: self.papers.holder(&certificate.0), until };
                ended && self.drop_holder(out, standing.map(|standing| standing.uid), proof)
            }
            Proof::Left(signed) => match self.leaver(signed) {
                Some(left) => {
                    let known = self.known.leave(
                        left.uid,
                        &self.papers.holder(&left.certificate.0),
                        left.instance,
                        proof.clone(),
                    );
                    self.tell_excluded(known.then_some(left.uid));
                    known
                }
                None => false,
            },
            Proof::Heard(heard) => {
                if self.me.as_ref().is_some_and(|me| me.holder == heard.holder) {
                    self.compare_own(heard.instance, Event::Behind);
                }
                false
            }
            Proof::Excluded(_) | Proof::Expired(_) | Proof::Named(_) => false,
        }
    }

    /// What a statement excludes, if anybody needs that still.
    fn excluded(&self, statement: &[u8]) -> Option<Exclusion> {
        let out = self.papers.judge_exclusion(&self.settings.domain, statement)?;
        let over = self.wall.is_some_and(|wall| out.is_over(wall)) && !self.is(Danger::NeverForgets);
        (!over).then_some(out)
    }

    fn drop_holder(&mut self, out: Exclusion, named: Option<u16>, proof: Proof) -> bool {
        let uid = self.known.uid_of(&out.holder);
        let kept = self.known.exclude(out, named, proof);
        if kept == Kept::Full {
            self.out.push_back(Output::Event(Event::Full));
        }
        self.tell_excluded(uid.filter(|_| kept == Kept::New));
        kept == Kept::New
    }

    fn tell_excluded(&mut self, uid: Option<u16>) {
        if let Some(uid) = uid {
            self.out.push_back(Output::Event(Event::Excluded(uid)));
        }
    }

    /// A leave that its holder signed.
    fn leaver(&self, signed: &Signed) -> Option<Left> {
        let left: Left = decode(&signed.body.0).ok()?;
        let standing = self.papers.judge(&self.settings.domain, &left.certificate.0, self.wall)?;
        let message = covered(LEFT_LABEL, &signed.body.0);
        let holds = left.domain == self.tag
            && standing.uid == left.uid
            && self.papers.verify(&left.certificate.0, &message, &signed.signature.0);
        holds.then_some(left)
    }

    /// The host excludes somebody.
    pub(super) fn exclude(&mut self, now: Instant, statement: &[u8], entropy: &mut dyn Entropy) {
        let out = self.papers.judge_exclusion(&self.settings.domain, statement);
        if self.take_proof(Proof::Excluded(Bytes::copy_from_slice(statement).into())) {
            self.notify(out.and_then(|out| self.known.proof_of(&out.holder)).into_iter().collect());
            self.changed(now, entropy);
            self.hurry(now);
        }
    }

    /// Certificates end.
    pub(super) fn see_wall(&mut self, now: Instant, wall: UnixTime, entropy: &mut dyn Entropy) {
        self.wall = Some(wall);
        let ended = |(_, peer): (u16, &super::known::Peer)| {
            let over = peer.until.is_some_and(|until| until <= wall);
            peer.join.clone().filter(|join| over && !self.known.is_out(join))
        };
        let ended: Vec<Entry> = self.known.iter().filter_map(ended).collect();
        let mut changed = false;
        for entry in ended {
            changed |= self.take_proof(Proof::Expired(entry.certificate.clone().into()));
        }
        if changed {
            // What ended long ago, and was noticed only now, is acted upon before it is forgotten.
            self.changed(now, entropy);
        } else if !self.is(Danger::NeverForgets) {
            self.known.forget(wall);
        }
    }

    /// Shows somebody who is out, or does not know who is, the proof; not at every word.
    pub(super) fn teach(&mut self, now: Instant, entry: &Entry) {
        self.refuse();
        let proof = self.known.proof_against(entry);
        if self.group.is_some() && self.timers.quiet.is_none_or(|quiet| quiet <= now) {
            self.timers.quiet = Some(now + self.pace.repeat());
            self.notify(proof.into_iter().collect());
        }
    }
}

/// Whose a message is, unchecked.
fn sender_of(bytes: &Bytes) -> Option<u16> {
    Signed::read(bytes).ok().map(|(_, body)| body.sender)
}
