//! What tests say in a signing session in a signer's place.

use crate::common::Bus;
use bytes::Bytes;
use folkmoot_admission::{Input, OpenMessage, Purpose, ROUND_LABEL, SIGNER_LABEL, SignerBody, SignerMessage};
use folkmoot_base::{Blob, Digest, GroupId, MemberId, codec, digest};
use folkmoot_identity::Identity;
use std::collections::{BTreeMap, BTreeSet};

/// What `signer` says in a session, signed by it.
pub fn say_as(bus: &Bus, signer: &Identity, session: Digest, say: SignerBody) -> Input {
    let group = bus.players[0].transcript.group();
    let covered = [&group.0[..], &signer.member().0, &session, &codec::encode(&say)].concat();
    let signature = signer.key().sign_wire(SIGNER_LABEL, &covered);
    let word = SignerMessage { session, body: say, signature };
    Input::Open {
        sender: signer.member(),
        payload: codec::encode(&OpenMessage::Signer { message: word }).into(),
    }
}

/// What `who` says in a session.
pub fn say(bus: &Bus, who: usize, session: Digest, say: SignerBody) -> Input {
    say_as(bus, &bus.players[who].identity, session, say)
}

/// The session to which `who` calls for this purpose, and the call.
pub fn call(bus: &Bus, who: usize, purpose: Purpose, attempt: u32) -> (Digest, SignerBody) {
    let transcript = &bus.players[0].transcript;
    let roster = transcript.roster();
    let epoch = roster.sharing().map(|sharing| sharing.facts.epoch).unwrap_or_default();
    let say = SignerBody::Start { purpose, attempt };
    let parts: [&[u8]; 6] = [
        b"folkmoot table v2",
        &transcript.group().0,
        &bus.players[who].identity.member().0,
        &roster.head().digest,
        &epoch,
        &codec::encode(&say),
    ];
    (digest(&parts), say)
}

/// What was said in all sessions, as it arrived: what signers sign in a round depends on it.
#[derive(Default)]
pub struct Runs {
    ready: BTreeMap<(Digest, MemberId), Vec<u8>>,
    runs: BTreeMap<Digest, Digest>,
    said: BTreeMap<(Digest, u8), BTreeMap<MemberId, Vec<u8>>>,
}

impl Runs {
    pub fn note(&mut self, sender: MemberId, word: &SignerMessage) {
        match &word.body {
            SignerBody::Start { .. } => {
                self.ready.retain(|(session, _), _| *session != word.session);
                self.said.retain(|(session, _), _| *session != word.session);
            }
            SignerBody::Ready { key } => {
                self.ready.entry((word.session, sender)).or_insert(key.0.to_vec());
            }
            SignerBody::Participants { givers, takers } => {
                let said = codec::encode(&word.body);
                let seated: BTreeSet<MemberId> = givers.iter().chain(takers).copied().collect();
                let keys = seated.iter().filter_map(|signer| self.ready.get(&(word.session, *signer)));
                let mut parts: Vec<&[u8]> = vec![b"folkmoot run v1", &word.session, &said];
                parts.extend(keys.map(Vec::as_slice));
                self.runs.insert(word.session, digest(&parts));
            }
            SignerBody::Round { round, to_all, .. } => {
                let said = self.said.entry((word.session, *round)).or_default();
                said.entry(sender).or_insert(to_all.0.to_vec());
            }
            _ => {}
        }
    }

    /// What was heard in a session before this round.
    fn heard(&self, session: &Digest, round: u8) -> Digest {
        let mut heard = self.runs[session];
        for before in 0..round {
            let said = self.said[&(*session, before)].iter();
            let words: Vec<u8> =
                said.flat_map(|(signer, word)| [signer.0, digest(&[word])].concat()).collect();
            heard = digest(&[b"folkmoot heard v1", &heard, &words]);
        }
        heard
    }

    /// What `signer` says in a round, signed by it.
    pub fn say(&self, signer: &Identity, group: GroupId, session: Digest, say: SignerBody) -> Bytes {
        let SignerBody::Round { round, .. } = &say else { panic!("no word of a round") };
        let covered =
            [&group.0[..], &signer.member().0, &self.heard(&session, *round), &codec::encode(&say)].concat();
        let signature = signer.key().sign_wire(ROUND_LABEL, &covered);
        codec::encode(&OpenMessage::Signer { message: SignerMessage { session, body: say, signature } })
            .into()
    }
}

/// A signer that says something else in one round than its machine would, signed by itself all the
/// same.
pub struct Liar {
    pub signer: Identity,
    pub group: GroupId,
    pub round: u8,
    pub runs: Runs,
}

impl Liar {
    pub fn new(signer: Identity, group: GroupId, round: u8) -> Self {
        Self { signer, group, round, runs: Runs::default() }
    }

    /// What it makes of a message on its way; whether it lies now. Hand in all messages.
    pub fn lie(&mut self, sender: MemberId, payload: &mut Bytes) -> bool {
        let Ok(OpenMessage::Signer { message: mut word }) = codec::decode(payload) else { return false };
        let mut lies = false;
        let own = sender == self.signer.member();
        if let SignerBody::Round { round, to_all, .. } = &mut word.body
            && own
        {
            let mut bytes = to_all.0.to_vec();
            lies = *round == self.round && !bytes.is_empty();
            if lies {
                *bytes.last_mut().unwrap() ^= 1;
                *to_all = Blob::from(bytes);
            }
            // Its machine does not know that it lied, and would sign what it has heard from itself.
            *payload = self.runs.say(&self.signer, self.group, word.session, word.body.clone());
        }
        self.runs.note(sender, &word);
        lies
    }
}
