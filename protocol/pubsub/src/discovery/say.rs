//! What this node says: signed, with an instance that the disk has before it leaves (PUB-51).

use super::api::{Event, Output, Papers};
use super::memory::Memory;
use super::message::{Body, Join, LABEL, LEFT_LABEL, Left, Notice, PROOFS_BYTES_MAX, PROOFS_MAX, Proof};
use super::message::{Response, Said, Signed, covered, few};
use super::sets::{Candidate, Entry};
use super::{Danger, Discovery};
use crate::base::codec::encode;
use crate::base::{Blob, Entropy, Instant, draw};
use bytes::Bytes;

/// How often the leaver's word is said again.
const LEAVES_AGAIN: u8 = 3;

impl<P: Papers> Discovery<P> {
    fn instance(&mut self) -> u64 {
        let (instance, write) = self.instances.draw();
        if write {
            self.persist();
        }
        instance
    }

    pub(super) fn persist(&mut self) {
        let memory = Memory {
            reserved: self.instances.reserved(),
            number: self.promised,
            peers: self.known.remember(),
            proofs: self.known.proofs().cloned().collect(),
        };
        self.out.push_back(Output::Persist(encode(&memory).into()));
    }

    /// Signs and sends; the bytes.
    pub(super) fn say(&mut self, said: Said) -> Bytes {
        let instance = self.instance();
        let body = encode(&Body { domain: self.tag, sender: self.uid, instance, said });
        let signature = self.papers.sign(&covered(LABEL, &body));
        let bytes: Bytes = encode(&Signed { body: body.into(), signature: signature.into() }).into();
        self.out.push_back(Output::Send(bytes.clone()));
        bytes
    }

    /// A JOIN with a nonce and an instance of its own.
    pub(super) fn join(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        let certificate = Bytes::copy_from_slice(self.papers.certificate());
        let standing = self.papers.judge(&self.settings.domain, &certificate, self.wall);
        let Some(standing) = standing else { return self.be_out() };
        self.uid = standing.uid;
        let join = Join { certificate: certificate.into(), nonce: draw(entropy), number: self.promised };
        let bytes = self.say(Said::Join(join));
        let Some(entry) = self.read_entry(&bytes) else { return };
        self.known.learn_own(&entry);
        if let Some(peer) = self.known.get_mut(entry.uid) {
            peer.wanting = false;
        }
        self.me = Some(entry);
        self.asked = now;
        self.timers.again = Some(now + self.settings.times.again);
    }

    /// The leaver's word, which is said again, since nobody answers it. Then there is silence.
    pub(super) fn leave(&mut self, now: Instant) {
        let Some(me) = self.me.clone() else { return };
        let instance = self.instance();
        let certificate = Blob(me.certificate.clone());
        let left = Left { domain: self.tag, uid: self.uid, instance, certificate };
        let body = encode(&left);
        let signature = self.papers.sign(&covered(LEFT_LABEL, &body));
        let proof = Proof::Left(Signed { body: body.into(), signature: signature.into() });
        // Nobody else has to know of it where nobody else has the key.
        let again = if self.members().len() == 1 { 0 } else { LEAVES_AGAIN };
        self.forget();
        (self.leaving, self.timers.again) = (Some((proof, again)), Some(now));
        self.go_on_leaving(now);
    }

    pub(super) fn go_on_leaving(&mut self, now: Instant) {
        if self.timers.again.is_none_or(|at| now < at) {
            return;
        }
        let Some((proof, again)) = self.leaving.take() else { return };
        self.notify(vec![proof.clone()]);
        self.out_of_it = again == 0;
        self.leaving = again.checked_sub(1).map(|again| (proof, again));
        self.timers.again = Some(now + self.pace.repeat());
    }

    /// This node has no place here.
    pub(super) fn be_out(&mut self) {
        self.out.push_back(Output::Event(Event::Out));
        self.forget();
        self.out_of_it = true;
    }

    fn forget(&mut self) {
        (self.group, self.attempt, self.doubt, self.last) = (None, None, None, None);
        self.timers = super::Timers::default();
    }

    /// Tells others why these are out.
    pub(super) fn notify(&mut self, proofs: Vec<Proof>) {
        let Some(me) = self.me.clone().filter(|_| !proofs.is_empty()) else { return };
        self.say(Said::Notice(Notice { join: Blob(me.bytes.clone()), proofs }));
    }

    /// Why members of the group are not in `candidate`, and former certificates of its ids do not
    /// count, and who else is out: some who hear it were away when that was said.
    pub(super) fn proofs_for(&self, candidate: &Candidate) -> Vec<Proof> {
        let uids: Vec<u16> = candidate.entries().map(|entry| entry.uid).collect();
        let order = self.group.iter().flat_map(|group| &group.order);
        let gone = order.filter(|entry| !uids.contains(&entry.uid));
        let gone = gone.filter_map(|entry| self.known.proof_against(entry));
        let gone: Vec<Proof> = gone.collect();
        let others = self.known.proofs_for(&uids).filter(|_| !self.is(Danger::HidesFormer));
        let others = others.filter(|proof| !gone.contains(proof));
        few(gone.iter().cloned().chain(others))
    }

    /// A response does not have these proofs. Unless somebody else is first, this node tells them
    /// when it has the key.
    pub(super) fn compare(&mut self, response: &Response) {
        self.untold = self.known.proofs().map(|against| against.holder).collect();
        self.told(&response.proofs);
        let size = response.proofs.iter().map(Proof::size).fold(0, usize::saturating_add);
        if size >= PROOFS_BYTES_MAX || response.proofs.len() >= PROOFS_MAX || self.is(Danger::HidesFormer) {
            self.untold.clear();
        }
    }

    /// Others told these.
    pub(super) fn told(&mut self, proofs: &[Proof]) {
        for proof in proofs {
            let kept = self.known.holder_of(proof);
            let holder = kept.or_else(|| match proof {
                Proof::Excluded(said) => {
                    self.papers.judge_exclusion(&self.settings.domain, &said.0).map(|out| out.holder)
                }
                Proof::Expired(certificate) => Some(self.papers.holder(&certificate.0)),
                Proof::Named(said) => Some(self.papers.holder(&said.certificate.0)),
                Proof::Left(_) | Proof::Heard(_) => None,
            });
            self.untold.retain(|untold| holder != Some(*untold));
        }
    }

    /// Tells what others seem not to know.
    pub(super) fn tell(&mut self) {
        let proofs = few(self.known.proofs_of(&self.untold));
        self.untold.clear();
        self.notify(proofs);
    }

    pub(super) fn is(&self, danger: Danger) -> bool {
        self.settings.danger.is(danger)
    }

    /// Whether recorded rounds count: what PUB-48 is for.
    pub(super) fn is_gullible(&self) -> bool {
        self.is(Danger::RoundsAsReference) || self.is(Danger::Conspires)
    }

    /// Whether this JOIN is this node's present one.
    pub(super) fn is_me(&self, entry: &Entry) -> bool {
        self.me.as_ref().is_some_and(|me| me.digest == entry.digest)
    }
}
