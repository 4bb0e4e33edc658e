//! Every kind of change in every module, its first messages ready for delivery.

use super::table::{Table, key};
use super::{Stamper, certificate, number};
use bytes::Bytes;
use folkmoot_base::{Keying as Rule, ModuleName, Party, codec};
use folkmoot_keying::message::{Envelope, binding};
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

    /// What a signature of `from` covers.
    pub fn content(&self, envelope: &Envelope, from: usize) -> Vec<u8> {
        let pair = |one: &Party| (*one, certificate(&one.member));
        let members: Vec<_> = self.view.members.iter().map(pair).collect();
        let names = [self.module.as_str(), "aes-256-gcm"];
        let bound = binding(&self.view.id, envelope.attempt, &members, &self.view.brought, 1, names);
        let place = self.members().iter().position(|one| *one == from).unwrap();
        envelope.signed_content(&bound, place)
    }

    /// The message as `from` would sign it.
    pub fn signed(&self, mut envelope: Envelope, from: usize) -> Bytes {
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
