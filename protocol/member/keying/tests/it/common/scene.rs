//! Every kind of change in every module, its first messages ready for delivery.

use super::table::{Table, key};
use super::{Stamper, certificate, number};
use bytes::Bytes;
use folkmoot_base::{Digest, Keying as Rule, ModuleName, Party, codec, digest, hmac_sha256};
use folkmoot_keying::message::{CONFIRM, Envelope, Instance, MAC_FORM, REFRESH, binding};
use folkmoot_keying::{Credentials as _, Input, KeyingError, State, View};
use std::collections::BTreeSet;

/// A change, its first messages ready for delivery.
pub struct Scene {
    pub table: Table,
    pub view: View,
    pub module: ModuleName,
    /// Of every run so far.
    pub keys: BTreeSet<[u8; 32]>,
}

pub const CHANGES: [&str; 5] = ["founding", "join", "leave", "merge", "refresh"];

impl Scene {
    pub fn set(module: ModuleName, change: &str) -> Self {
        Self::on(Table::new(4, None), module, change)
    }

    /// The same with other settings.
    pub fn on(mut table: Table, module: ModuleName, change: &str) -> Self {
        table.terms.keying = Rule::Module(module);
        let (before, after): (&[&[usize]], &[usize]) = match change {
            "founding" => (&[], &[0, 1, 2, 3]),
            "join" => (&[&[0, 1, 2]], &[0, 1, 2, 3]),
            "leave" => (&[&[0, 1, 2, 3]], &[0, 2, 3]),
            "merge" => (&[&[0, 1], &[2, 3]], &[0, 1, 2, 3]),
            _ => (&[], &[0, 1, 2]),
        };
        for (order, side) in (1..).zip(before) {
            table.install(order, side);
            table.honest();
            for one in *side {
                table.give(*one, Input::FlushRequest).unwrap();
                table.give(*one, Input::SecureFlushOk).unwrap();
            }
        }
        let view = table.view_of(9, after);
        table.install(9, after);
        if change == "refresh" {
            table.honest();
            table.give(1, Input::Refresh).unwrap();
        }
        let keys = table.outputs.iter().flatten().filter_map(key).collect();
        table.errors.iter_mut().for_each(Vec::clear);
        table.outputs.iter_mut().for_each(Vec::clear);
        Self { table, view, module, keys }
    }

    pub fn members(&self) -> Vec<usize> {
        self.view.members.iter().map(number).collect()
    }

    pub fn stands(&self) -> Vec<(State, Vec<Party>)> {
        let of = |one: usize| (self.table.keyings[one].state(), self.table.keyings[one].awaited());
        self.members().into_iter().map(of).collect()
    }

    /// What the run is bound to.
    pub fn bound(&self, attempt: u32) -> Digest {
        let pair = |one: &Party| (*one, certificate(&one.member));
        let members: Vec<_> = self.view.members.iter().map(pair).collect();
        let names = [self.module.as_str(), "aes-256-gcm"];
        binding(&self.view.id, attempt, &members, &self.view.brought, 1, names)
    }

    fn place(&self, of: usize) -> usize {
        self.members().iter().position(|one| *one == of).unwrap()
    }

    /// What a signature of `from` covers.
    pub fn content(&self, envelope: &Envelope, from: usize) -> Vec<u8> {
        envelope.signed_content(&self.bound(envelope.attempt), self.place(from))
    }

    /// The message as `from` would sign it. Nobody signs a confirmation.
    pub fn signed(&self, envelope: Envelope, from: usize) -> Bytes {
        if envelope.step == CONFIRM { codec::encode(&envelope).into() } else { self.stamped(envelope, from) }
    }

    /// The message with a signature, whichever it is.
    pub fn stamped(&self, mut envelope: Envelope, from: usize) -> Bytes {
        envelope.signature = Stamper::of(&(self.table.seat)(from)).sign(&self.content(&envelope, from));
        codec::encode(&envelope).into()
    }

    /// Delivers to all members of the view; returns the outputs of each.
    pub fn tell(&mut self, from: usize, bytes: &Bytes) -> Vec<(usize, Result<(), KeyingError>)> {
        self.members().into_iter().map(|to| (to, self.table.say(to, from, bytes))).collect()
    }

    pub fn all_are_secure(&self) -> bool {
        let secure = |one: &usize| self.table.keyings[*one].state() == State::Secure;
        let keys: BTreeSet<_> = self.members().iter().map(|one| self.table.keys()[*one]).collect();
        self.members().iter().all(secure) && keys.len() == 1 && keys.first().unwrap().is_some()
    }
}

/// The transcript of a run, as anyone can make it who hears its steps.
#[derive(Default)]
pub struct Transcript(Option<Digest>);

impl Transcript {
    pub fn hear(&mut self, scene: &Scene, from: usize, envelope: &Envelope) {
        if envelope.step == CONFIRM || envelope.step == REFRESH {
            return;
        }
        let start = || digest(&[b"folkmoot keying transcript v1", &scene.bound(envelope.attempt)]);
        let (before, place) = (self.0.unwrap_or_else(start), scene.place(from) as u64);
        let (counter, body) = (envelope.instance.counter.to_be_bytes(), digest(&[envelope.body.as_ref()]));
        let said: [&[u8]; 6] =
            [&before, &place.to_be_bytes(), &[envelope.step], &counter, &envelope.instance.nonce, &body];
        self.0 = Some(digest(&said));
    }

    /// What anyone who takes `key` for the run's confirmation secret, and for the party's own key,
    /// would send in the party's name (docs/protocol/keying.md).
    pub fn confirmations(&self, scene: &Scene, key: &Digest, of: usize, like: &Envelope) -> [Envelope; 2] {
        let party = (scene.table.seat)(of).to_bytes();
        let own = hmac_sha256(key, &[b"folkmoot confirm key v2", &party, &[1]]);
        let bound = scene.bound(like.attempt);
        let Instance { counter, nonce } = like.instance;
        let transcript = self.0.unwrap_or_default();
        let mac = |key: &Digest| {
            let counter = counter.to_be_bytes();
            let about: [&[u8]; 8] = [
                b"folkmoot confirm v2",
                &[MAC_FORM],
                &scene.table.group.0,
                &bound,
                &party,
                &transcript,
                &counter,
                &nonce,
            ];
            hmac_sha256(key, &about)
        };
        [own, *key].map(|key| Envelope { body: Envelope::confirmation(&mac(&key)), ..like.clone() })
    }
}
