//! If the charter has the authority decide alone: what its person, or its hook, says of the
//! requests that wait.

use super::judge::Refused;
use super::machine::{Authority, Call};
use super::office::OFFICE_TABLE;
use super::petition::{PETITIONS_MAX, Petition, name};
use crate::requests::{check_name, end_of};
use crate::{AdmissionError, CONTACT_REQUESTS_MAX, Closed, Command, Event, Output, Reason};
use folkmoot_base::{Digest, NodeId, Persist, UnixTime};
use folkmoot_identity::{Gmc, Request};
use folkmoot_transcript::Admit;
use std::collections::BTreeSet;

impl Authority {
    /// `ADM-63`: takes a request whose certificate would stand, so that only a person can say
    /// whether it shall.
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
        check_name(request).map_err(|error| Refused::new(Reason::Name, error))?;
        let rank = |request: &Request| (request.body().not_before, request.digest());
        let before = self.petitions.values().find(|petition| petition.request.member() == member);
        if before.is_some_and(|before| rank(&before.request) > rank(request)) {
            return Err(Refused::new(Reason::Stale, AdmissionError::PeerOlder(member)));
        }
        let before = before.map(|before| before.request.digest());
        let others = || self.petitions.values().filter(|petition| petition.request.member() != member);
        let of_asker = others().filter(|petition| petition.from == from).count();
        if others().count() >= PETITIONS_MAX || of_asker >= CONTACT_REQUESTS_MAX {
            return Err(Refused::new(Reason::Full, AdmissionError::PeerPetitions(from)));
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

    /// The person, or the hook, speaks. A yes issues; a no is remembered while the request waits,
    /// and a yes may follow it.
    pub(super) fn command(&mut self, call: &Call<'_>, command: Command) -> Result<Digest, AdmissionError> {
        let Command::Vote { motion, approve } = command else { return Err(AdmissionError::LocalNotVoter) };
        let petition = self.petitions.get(&motion).ok_or(AdmissionError::LocalUnknown)?;
        match petition.verdict {
            Some(before) if before == approve => return Ok(motion),
            Some(true) => return Err(AdmissionError::LocalVotedAlready),
            _ => {}
        }
        let gmc = match approve {
            true => Some(self.certify_alone(call, &petition.request)?),
            false => None,
        };
        let Some(petition) = self.petitions.get_mut(&motion) else { return Ok(motion) };
        petition.verdict = Some(approve);
        let askers = petition.askers.clone();
        self.out.push_back(Output::Persist(petition.persist()));
        match gmc {
            Some(gmc) => self.issue(call, motion, &gmc, askers),
            None => self.deny_all(&askers, motion, Reason::Rejected),
        }
        Ok(motion)
    }

    /// Takes a request off the desk; returns those who asked.
    pub(super) fn close_petition(&mut self, request: &Digest, why: Closed) -> BTreeSet<NodeId> {
        let Some(petition) = self.petitions.remove(request) else { return BTreeSet::new() };
        let (request, member) = (*request, petition.request.member());
        let asked = petition.request.body().name.clone();
        self.out.push_back(Output::Persist(Persist::delete(OFFICE_TABLE, name(&request))));
        self.out.push_back(Output::Event(Event::RequestClosed { request, member, name: asked, why }));
        petition.askers
    }

    pub(super) fn close_late(&mut self, time: UnixTime) {
        let late = self.petitions.iter().filter(|(_, petition)| petition.expires < time);
        for request in late.map(|(request, _)| *request).collect::<Vec<_>>() {
            self.close_petition(&request, Closed::Expired);
        }
    }

    /// After an item: closes what it admitted, what it refused, and what this authority may no
    /// longer decide.
    pub(super) fn close_settled(&mut self, call: &Call<'_>) {
        let roster = call.transcript.roster();
        let (state, alone) = (call.transcript.state(), roster.is_for_authority());
        let settled = self.petitions.iter().filter_map(|(request, petition)| {
            let admit = Admit::asked(&petition.request);
            let refused = call.transcript.set().is_refused(state, &admit);
            let stale = !alone || state.check_request(&admit, call.transcript.time()).is_err();
            let why = match () {
                () if roster.is_used(request) => Closed::Granted,
                () if refused => Closed::Rejected,
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
