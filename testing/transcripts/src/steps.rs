//! What happens in a drawn group, one step after the other.

use crate::group::{DAY, Drawn, START};
use crate::{Dice, Group, contacts};
use folkmoot_base::{Blob, Digest, MemberId, UnixTime, hex};
use folkmoot_identity::{
    Combined, Csr, Gmc, GmcBody, Grounds, Identity, Mode, Request, Scheme, Verdict, VoteProof,
};
use folkmoot_signing::Signature;
use folkmoot_transcript::{Change, Effect, Force, Item, ROTATE_LABEL, SignedApproval, Subject, admission};

impl Group {
    /// The group of this seed, after all its steps.
    ///
    /// # Errors
    /// A fault of the drawer.
    pub fn draw(seed: u64) -> Drawn<Self> {
        let mut group = Self::found(Dice::new(seed))?;
        for _ in 0..group.dice.roll(24) {
            group.step()?;
        }
        if group.dice.chance(50) {
            group.at_rest()?;
        }
        Ok(group)
    }

    fn step(&mut self) -> Drawn<()> {
        self.clock += match self.dice.roll(12) {
            0 => self.dice.long(120) * DAY,
            1..=3 => self.dice.long(10) * DAY,
            _ => self.dice.long(20_000),
        };
        if self.transcript.state().charter().scheme().shared() && self.dice.chance(35) {
            self.share()?;
        }
        match self.dice.roll(19) {
            0..=3 => self.admit(),
            4 => self.late(),
            12 => self.kept_back(),
            13 => self.part(),
            14 => self.rejoin(),
            15 => self.vote_for_a_while(),
            16 => self.ahead(),
            17 => self.name(),
            18 => self.there_and_back(),
            5 | 6 => self.change(),
            7 => self.taken_back(),
            8 => self.refuse(),
            9 => self.rest(),
            10 => self.rotate(),
            _ => {
                self.meet();
                Ok(())
            }
        }?;
        if self.dice.chance(50) {
            self.meet();
        }
        Ok(())
    }

    /// Something comes to the set, and nothing is decided.
    pub(crate) fn step_of_set(&mut self) -> Drawn<()> {
        match self.dice.roll(9) {
            0..=3 => self.admit(),
            4 => self.say_again(),
            5 => self.taken_back(),
            6 => self.refuse(),
            7 => self.want_odd(),
            _ => self.rest(),
        }
    }

    /// Voters approve an effect that nobody would want.
    fn want_odd(&mut self) -> Drawn<()> {
        let change = self.odd_change()?;
        self.approve_some(change)
    }

    /// Some voters come together and decide what is due.
    fn meet(&mut self) {
        let voters = self.voters();
        let mut who = self.dice.some(&voters, 85);
        let lost = if self.dice.chance(25) { 6 } else { 0 };
        for member in self.members() {
            if !who.contains(&member) && voters.contains(&member) && self.dice.chance(30) {
                who.push(member);
            }
        }
        self.decide(&who, lost);
    }

    pub(crate) fn until(&mut self) -> u64 {
        let days = if self.dice.chance(30) { 4 } else { 60 };
        self.clock + self.dice.long(days) * DAY
    }

    /// These voters approve a subject; each says so by an item of its own.
    pub(crate) fn approve(&mut self, subject: Subject, voters: &[MemberId], verdict: Verdict) -> Drawn<()> {
        for voter in voters {
            let (turn, until) = (u32::try_from(self.dice.roll(2)).unwrap_or_default(), self.until());
            let signed = self.approval(*voter, subject, (turn, verdict, until))?;
            self.take(&Item::Approval(signed));
        }
        Ok(())
    }

    /// Enough or too few approve an effect, and perhaps decide.
    pub(crate) fn want(&mut self, change: Change) -> Drawn<()> {
        let force = if self.dice.chance(15) { Force::Yes } else { Force::No };
        let effect = Effect { change, force };
        let voters = self.voters();
        let yes = self.dice.some(&voters, 85);
        self.approve(effect.subject(), &yes, Verdict::Approve)?;
        self.said.push(effect.clone());
        self.take(&Item::Effect(effect));
        if self.dice.chance(80) {
            self.meet();
        }
        Ok(())
    }

    /// What somebody asks for, over the head.
    pub(crate) fn request(&mut self, holder: &Identity) -> GmcBody {
        let ago = if self.dice.chance(20) { self.dice.long(20) * DAY } else { self.dice.long(3) * 3_600 };
        let from = UnixTime((self.clock - ago + self.later()).max(START));
        let state = self.transcript.state();
        let mut body = GmcBody::propose(state.charter(), holder, 3, from, &mut self.dice);
        body.membership.base = state.head();
        if self.dice.chance(40) {
            body.not_after = UnixTime(from.0 + self.dice.long(30) * DAY + 60);
        }
        body
    }

    /// How much later than usual a term begins, in seconds.
    fn later(&mut self) -> u64 {
        match self.dice.roll(10) {
            0 => self.dice.long(600),
            1 => self.dice.long(20) * DAY,
            _ => 0,
        }
    }

    /// A stranger, or a member whose term is renewed.
    fn holder(&mut self) -> Drawn<Identity> {
        let members: Vec<MemberId> = self.people.keys().copied().collect();
        let known = self.dice.pick(&members).and_then(|member| self.people.get(&member).cloned());
        if self.dice.chance(70) { self.person() } else { Ok(known.ok_or("nobody is there")?) }
    }

    /// Somebody asks, or what somebody asked for before is certified again.
    fn asks(&mut self) -> Drawn<(Identity, GmcBody)> {
        // New shares of a key sign what the old ones have signed.
        let shared = self.transcript.state().charter().scheme().shared();
        let (kept, percent) = if shared { (2, 60) } else { (self.asked.len(), 20) };
        let before: Vec<_> = self.asked.iter().rev().take(kept).rev().cloned().collect();
        if let Some(again) = self.dice.pick(&before).filter(|_| self.dice.chance(percent)) {
            return Ok(again);
        }
        let holder = self.holder()?;
        let body = self.request(&holder);
        self.asked.push((holder.clone(), body.clone()));
        Ok((holder, body))
    }

    /// An admission that is shown only after another decision: what approved it may have run out.
    fn kept_back(&mut self) -> Drawn<()> {
        let (holder, body) = self.asks()?;
        let voters = self.voters();
        let yes = self.dice.some(&voters, 90);
        let item = self.certified(&holder, &body, &yes)?;
        self.clock += self.dice.long(10) * DAY;
        self.change()?;
        self.meet();
        self.take(&item);
        Ok(())
    }

    pub(crate) fn admit(&mut self) -> Drawn<()> {
        let (holder, body) = self.asks()?;
        let voters = self.voters();
        let yes = self.dice.some(&voters, 85);
        let item = self.certified(&holder, &body, &yes)?;
        self.take(&item);
        Ok(())
    }

    fn late(&mut self) -> Drawn<()> {
        let (holder, body) = self.asks()?;
        let voters = self.voters();
        let few = self.dice.some(&voters, 15);
        let item = self.certified(&holder, &body, &few)?;
        self.take(&item);
        if self.dice.chance(70) {
            self.want(Change::Hold { request: body.request_digest()? })
        } else {
            Ok(())
        }
    }

    /// The item of a certificate by the group's scheme, approved by these voters.
    pub(crate) fn certified(&mut self, holder: &Identity, body: &GmcBody, yes: &[MemberId]) -> Drawn<Item> {
        let subject = admission(body.request_digest()?);
        let mut signed = Vec::new();
        for voter in yes {
            let until = self.until();
            signed.push(self.approval(*voter, subject, (0, Verdict::Approve, until))?);
        }
        let charter = self.transcript.state().charter().clone();
        let mut approvals = Vec::new();
        let certificate = match (charter.mode(), charter.scheme()) {
            (Mode::Decentralised, Scheme::Plain) => {
                let beside = self.dice.roll(3).min(signed.len());
                approvals = signed.split_off(signed.len() - beside);
                Gmc::compose(body, &proofs(&signed)?, holder)?
            }
            (Mode::Decentralised, Scheme::Asm) => match self.grounds_asm(body, yes)? {
                Some(multi) => Gmc::compose_multi(body, &multi, holder)?,
                None => Gmc::compose(body, &[], holder)?,
            },
            (Mode::Decentralised, _) => {
                approvals = signed;
                match self.issued(body)? {
                    Some(gmc) => gmc,
                    None => Gmc::compose(body, &[], holder)?,
                }
            }
            (Mode::Centralised, scheme) => {
                let grounds = if scheme.shared() {
                    approvals = signed;
                    self.grounds_combined(body)?
                } else {
                    Grounds::Votes(proofs(&signed)?)
                };
                self.by_authority(&body.on_grounds(&grounds))?
            }
        };
        Ok(Item::Admit { certificate: Blob(certificate.der().clone()), approvals })
    }

    fn grounds_asm(&mut self, body: &GmcBody, yes: &[MemberId]) -> Drawn<Option<folkmoot_identity::Multi>> {
        let (base, until) = (self.transcript.state().head(), self.until());
        if yes.is_empty() { Ok(None) } else { Ok(Some(self.multi(body, base, yes, until)?)) }
    }

    fn grounds_combined(&mut self, body: &GmcBody) -> Drawn<Grounds> {
        let Some(epoch) = self.epoch() else { return Ok(Grounds::Votes(Vec::new())) };
        let signature = self.shared_signature(&body.combined_message(&epoch)?)?;
        Ok(Grounds::Combined(Combined { epoch, signature }))
    }

    fn epoch(&self) -> Option<Digest> {
        self.transcript
            .state()
            .sharing()
            .map(|sharing| sharing.facts.epoch)
            .filter(|_| self.keys.dealt.is_some())
    }

    fn issued(&mut self, body: &GmcBody) -> Drawn<Option<Gmc>> {
        let (Some(epoch), Some(sharing)) = (self.epoch(), self.transcript.state().sharing().cloned()) else {
            return Ok(None);
        };
        let body = body.issued_under(epoch);
        let signature = self.shared_signature(&body.issued_tbs(&sharing.facts.key)?)?;
        Ok(Some(Gmc::issue_by_group(&body, &sharing.facts.key, &signature)?))
    }

    fn by_authority(&mut self, body: &GmcBody) -> Drawn<Gmc> {
        let charter = self.transcript.state().charter().clone();
        let key = charter.central().ok_or("no authority")?.certificate.key();
        let secret = self.keys.authority.as_ref().ok_or("no authority")?;
        let signature = secret.sign_raw(&body.issued_tbs(key)?).to_paper();
        Ok(Gmc::issue_by_group(body, key, &signature)?)
    }

    /// New shares of the group's key, wanted by its voters.
    fn share(&mut self) -> Drawn<()> {
        let voters = self.voters();
        let state = self.transcript.state();
        if voters.len() < state.charter().scheme().signers(state.threshold()) {
            return Ok(());
        }
        let (dealt, authority) = self.deal(&voters)?;
        let change =
            Change::Sharing { public: Blob::from(dealt.public.clone()), authority: Blob::from(authority) };
        let effect = Effect { change, force: Force::No };
        self.approve(effect.subject(), &voters, Verdict::Approve)?;
        self.take(&Item::Effect(effect));
        self.decide(&voters, 0);
        let public = self.transcript.state().sharing().map(|sharing| sharing.public.to_vec());
        if public.as_deref() == Some(&dealt.public) {
            self.keys.dealt = Some(dealt);
        }
        Ok(())
    }

    /// A removal, a change of the charter, or another electorate.
    pub(crate) fn change(&mut self) -> Drawn<()> {
        let members = self.members();
        let change = match self.dice.roll(8) {
            0 => Change::Remove { member: self.dice.pick(&members).ok_or("nobody is there")? },
            1 => {
                let member = self.dice.pick(&members).ok_or("nobody is there")?;
                self.departure(member)?
            }
            2..=4 => {
                let mut voters = self.dice.some(&members, 70);
                voters.sort_by_key(|_| self.dice.roll(1_000));
                Change::Electorate { voters }
            }
            _ => {
                let (field, value) = self.field();
                charter(&field, &value)
            }
        };
        self.want(change)
    }

    pub(crate) fn field(&mut self) -> (String, String) {
        let mut ids: Vec<String> =
            self.dice.some(&self.members(), 50).iter().map(|one| hex(&one.0)).collect();
        ids.sort();
        let ids = if ids.is_empty() { "none".to_owned() } else { ids.join(",") };
        let all = [
            ("threshold", "1".to_owned()),
            ("threshold", "2".to_owned()),
            ("threshold", format!("40% of {} window 2", self.members().len())),
            ("quorum", "two-thirds".to_owned()),
            ("quorum", "majority".to_owned()),
            ("minority_may_admit", "false".to_owned()),
            ("minority_may_admit", "true".to_owned()),
            ("objections", "1".to_owned()),
            ("objections", "2".to_owned()),
            ("objections", "none".to_owned()),
            ("request_days", "9".to_owned()),
            ("below_threshold", "reset".to_owned()),
            ("adopt", "auto".to_owned()),
            ("certificate_days", "20".to_owned()),
            ("certificate_days", "400".to_owned()),
            ("letters", "true".to_owned()),
            ("roles.crew", ids.clone()),
            ("admit", "1 of crew or 2 of all".to_owned()),
            ("remove", "1 of all and (1 of crew or 2 of all)".to_owned()),
            ("list", ids),
            ("policy", "list".to_owned()),
            ("policy", "threshold".to_owned()),
            ("groups.fleet.keying", "str".to_owned()),
            ("timeouts.step_ms", "5000".to_owned()),
            ("contacts", contacts::word(&mut self.dice)),
            ("contacts", contacts::word(&mut self.dice)),
            contacts::end(&mut self.dice, self.clock),
        ];
        let (field, value) = self.dice.pick(&all).unwrap_or(("letters", "false".to_owned()));
        if self.dice.chance(5) {
            return contacts::recognise(&mut self.dice);
        }
        (field.to_owned(), value)
    }

    /// Somebody says the contrary of what it said, in the next turn.
    fn taken_back(&mut self) -> Drawn<()> {
        let said: Vec<_> = self.transcript.set().approvals().map(|signed| signed.approval).collect();
        let Some(mut approval) = self.dice.pick(&said) else { return Ok(()) };
        approval.turn += u32::try_from(self.dice.roll(2)).unwrap_or_default();
        approval.verdict = if self.dice.chance(70) { Verdict::Reject } else { Verdict::Approve };
        let person = self.people.get(&approval.voter).ok_or("a voter without a key")?;
        let signed = SignedApproval::sign(person.key(), self.transcript.group(), approval);
        self.take(&Item::Approval(signed));
        Ok(())
    }

    /// A request by CSR comes, and voters object to it.
    fn refuse(&mut self) -> Drawn<()> {
        let holder = self.person()?;
        let csr = Csr::sign(holder.key(), holder.name())?;
        let state = self.transcript.state();
        let mut body = GmcBody::propose_csr(state.charter(), &csr, 3, UnixTime(self.clock));
        body.membership.base = state.head();
        let request = Request::by_csr(csr, body.clone())?;
        let voters = self.voters();
        let (no, yes) = (self.dice.some(&voters, 40), self.dice.some(&voters, 60));
        let item = self.certified(&holder, &body, &yes)?;
        self.take(&item);
        self.approve(admission(request.digest()), &no, Verdict::Reject)?;
        self.take(&Item::Refusal { request: request.der().to_vec().into() });
        Ok(())
    }

    /// Somebody gets another key.
    fn rotate(&mut self) -> Drawn<()> {
        let new = self.person()?;
        let body = self.request(&new);
        let item = self.certified(&new, &body, &[])?;
        self.take(&item);
        let members = self.members();
        let member = self.dice.pick(&members).ok_or("nobody is there")?;
        let request = body.request_digest()?;
        let covered = [&self.transcript.group().0[..], &request].concat();
        let old = self.people.get(&member).ok_or("a member without a key")?;
        let signature = old.key().sign_wire(ROTATE_LABEL, &covered);
        self.want(Change::Rotate { member, request, signature })
    }
}

/// A change of the charter.
pub(crate) fn charter(field: &str, value: &str) -> Change {
    let blob = |text: &str| Blob::from(text.as_bytes().to_vec());
    Change::Charter { field: blob(field), value: blob(value) }
}

/// Approvals as a certificate carries them.
fn proofs(signed: &[SignedApproval]) -> Drawn<Vec<VoteProof>> {
    let one = |signed: &SignedApproval| {
        let approval = signed.approval;
        let signature = Signature::from_wire(&signed.signature)?;
        let (voter, base, turn, expires) = (approval.voter, approval.base, approval.turn, approval.expires);
        Ok(VoteProof { voter, base, turn, expires, signature })
    };
    signed.iter().map(one).collect()
}
