//! Where the charter has the authority decide alone: requests that wait for its person, or its hook.
//!
//! | table | key | value |
//! |---|---|---|
//! | office | "p" ‖ request digest | asker(32) expires(8) verdict(1: 0 none, 1 yes, 2 no) CMS |

use super::judge::Refused;
use super::machine::Authority;
use super::office::OFFICE_TABLE;
use crate::contact::end_of;
use crate::desk::Call;
use crate::{AdmissionError, CONTACT_REQUESTS_MAX, Closed, Command, Event, Output, Reason};
use bytes::Bytes;
use folkmoot_base::codec::{self, Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Digest, NodeId, Persist, StoreKey, UnixTime, limits};
use folkmoot_identity::{Gmc, Request};
use std::collections::{BTreeMap, BTreeSet};

/// Most requests that wait for a person.
pub const PETITIONS_MAX: usize = limits::REQUESTS_MAX;

/// One of them.
#[derive(Debug)]
pub(super) struct Petition {
    pub(super) request: Request,
    /// Who handed it in first.
    from: NodeId,
    /// Who is to hear what comes of it.
    askers: BTreeSet<NodeId>,
    pub(super) expires: UnixTime,
    /// What the person said.
    pub(super) verdict: Option<bool>,
}

#[derive(TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct Stored {
    from: NodeId,
    expires: UnixTime,
    verdict: u8,
    cms: Blob,
}

/// All of them.
pub(super) type Petitions = BTreeMap<Digest, Petition>;

impl Petition {
    fn persist(&self) -> Persist {
        let verdict = match self.verdict {
            None => 0,
            Some(true) => 1,
            Some(false) => 2,
        };
        let cms = Blob::from(self.request.der().to_vec());
        let stored = Stored { from: self.from, expires: self.expires, verdict, cms };
        Persist::put(OFFICE_TABLE, name(&self.request.digest()), codec::encode(&stored))
    }

    fn read(value: &[u8]) -> Option<Self> {
        let stored: Stored = codec::decode(value).ok()?;
        let verdict = match stored.verdict {
            0 => None,
            1 => Some(true),
            2 => Some(false),
            _ => return None,
        };
        let request = Request::from_der(&stored.cms.0).ok()?;
        let (from, expires) = (stored.from, stored.expires);
        Some(Self { request, from, askers: BTreeSet::new(), expires, verdict })
    }
}

fn name(request: &Digest) -> Bytes {
    [b"p".as_slice(), request].concat().into()
}

/// Those on disk.
pub(super) fn load(stored: &[(StoreKey, Bytes)]) -> Result<Petitions, AdmissionError> {
    let ours = stored.iter().filter(|(at, _)| at.table == OFFICE_TABLE && at.key.starts_with(b"p"));
    let read = ours.map(|(at, value)| {
        let petition = Petition::read(value).filter(|petition| at.key == name(&petition.request.digest()));
        let petition = petition.ok_or(AdmissionError::LocalCorrupt(OFFICE_TABLE))?;
        Ok((petition.request.digest(), petition))
    });
    read.collect()
}

impl Authority {
    /// `ADM-63`: a request whose certificate would stand, and nobody but a person can say whether it shall.
    pub(super) fn petition(
        &mut self,
        call: &Call<'_>,
        from: NodeId,
        request: &Request,
        gmc: &Gmc,
    ) -> Result<(), Refused> {
        let digest = request.digest();
        if !self.petitions.contains_key(&digest) {
            self.open_petition(call, from, request)?;
        }
        let Some(petition) = self.petitions.get_mut(&digest) else { return Ok(()) };
        petition.askers.insert(from);
        match petition.verdict {
            Some(true) => self.issue(call, digest, gmc, BTreeSet::from([from])),
            Some(false) => self.deny(from, digest, Reason::Rejected),
            None => self.deny(from, digest, Reason::AwaitingAuthority),
        }
        Ok(())
    }

    fn open_petition(&mut self, call: &Call<'_>, from: NodeId, request: &Request) -> Result<(), Refused> {
        let (digest, member) = (request.digest(), request.member());
        let rank = |request: &Request| (request.body().not_before, request.digest());
        let before = self.petitions.values().find(|petition| petition.request.member() == member);
        if before.is_some_and(|before| rank(&before.request) > rank(request)) {
            return Err(Refused { reason: Reason::Stale, why: AdmissionError::PeerOlder(member) });
        }
        let before = before.map(|before| before.request.digest());
        let others = || self.petitions.values().filter(|petition| petition.request.member() != member);
        let of_asker = others().filter(|petition| petition.from == from).count();
        if others().count() >= PETITIONS_MAX || of_asker >= CONTACT_REQUESTS_MAX {
            return Err(Refused { reason: Reason::Full, why: AdmissionError::PeerPetitions(from) });
        }
        let time = self.clock.unwrap_or_default();
        let expires = end_of(request, time, call.transcript.roster().charter());
        if let Some(before) = before {
            self.close_petition(&before, Closed::Overtaken);
        }
        let name = request.body().name.clone();
        let (request, askers) = (request.clone(), BTreeSet::new());
        let petition = Petition { request, from, askers, expires, verdict: None };
        self.out.push_back(Output::Persist(petition.persist()));
        self.petitions.insert(digest, petition);
        self.out.push_back(Output::Event(Event::RequestArrived { request: digest, member, name }));
        Ok(())
    }

    /// The person, or the hook, speaks. A yes issues; a no is remembered while the request waits, and a yes may follow it.
    pub(super) fn command(&mut self, call: &Call<'_>, command: Command) -> Result<(), AdmissionError> {
        let Command::Vote { motion, approve } = command else { return Err(AdmissionError::LocalNotVoter) };
        let petition = self.petitions.get(&motion).ok_or(AdmissionError::LocalUnknown)?;
        match petition.verdict {
            Some(before) if before == approve => return Ok(()),
            Some(true) => return Err(AdmissionError::LocalVotedAlready),
            _ => {}
        }
        let gmc = match approve {
            true => Some(self.certify_alone(call, &petition.request)?),
            false => None,
        };
        let Some(petition) = self.petitions.get_mut(&motion) else { return Ok(()) };
        petition.verdict = Some(approve);
        let askers = petition.askers.clone();
        self.out.push_back(Output::Persist(petition.persist()));
        match gmc {
            Some(gmc) => self.issue(call, motion, &gmc, askers),
            None => self.deny_all(&askers, motion, Reason::Rejected),
        }
        Ok(())
    }

    /// Takes it off the desk; who asked.
    pub(super) fn close_petition(&mut self, request: &Digest, why: Closed) -> BTreeSet<NodeId> {
        let Some(petition) = self.petitions.remove(request) else { return BTreeSet::new() };
        let (request, member) = (*request, petition.request.member());
        self.out.push_back(Output::Persist(Persist::delete(OFFICE_TABLE, name(&request))));
        self.out.push_back(Output::Event(Event::RequestClosed { request, member, why }));
        petition.askers
    }

    pub(super) fn close_late(&mut self, time: UnixTime) {
        let late = self.petitions.iter().filter(|(_, petition)| petition.expires < time);
        for request in late.map(|(request, _)| *request).collect::<Vec<_>>() {
            self.close_petition(&request, Closed::Expired);
        }
    }

    /// After an entry: what it admitted, what it refused, and what is no longer this authority's to decide.
    pub(super) fn close_settled(&mut self, call: &Call<'_>) {
        let roster = call.transcript.roster();
        let (charter, alone) = (roster.charter().digest(), roster.is_for_authority());
        let settled = self.petitions.iter().filter_map(|(request, petition)| {
            let stale = !alone || petition.request.body().membership.charter != charter;
            let why = match () {
                () if roster.is_used(request) => Closed::Granted,
                () if roster.is_refused(request) => Closed::Rejected,
                () if stale => Closed::Overtaken,
                () => return None,
            };
            Some((*request, why))
        });
        for (request, why) in settled.collect::<Vec<_>>() {
            self.close_petition(&request, why);
        }
    }
}
