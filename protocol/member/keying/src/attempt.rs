//! One attempt: a module's run for one view, then its confirmation. It judges every message of the
//! run, and decides nothing about flush.
//!
//! An attempt is agreeing until the module is done, confirming from then on, and complete once
//! every party's CONFIRM is delivered. The messages that it accepted, in their order, are its
//! transcript, which goes into the key and into every CONFIRM.

mod confirm;

use crate::agreement::{AgreementError, Kept, Module, Plan, Step, begin};
use crate::api::{Credentials, Epoch, Output, Terms, View};
use crate::base::{
    Blob, Cipher, Danger, Digest, Entropy, ModuleName, Mutant, Party, Service, ViewId, codec, digest,
};
use crate::core::Core;
use crate::derive::Keys;
use crate::error::KeyingError;
use crate::last_run::origins;
use crate::message::{CONFIRM, Envelope, Instance, REFRESH, binding};
use crate::shares;
use bytes::Bytes;
use folkmoot_base::SignatureBytes;
use std::collections::{BTreeSet, VecDeque};

/// One attempt.
pub(crate) struct Attempt {
    pub(crate) view: ViewId,
    pub(crate) number: u32,
    members: Vec<Party>,
    me: usize,
    binding: Digest,
    cipher: Cipher,
    module: Box<dyn Module>,
    transcript: Digest,
    /// The instance of each party that has sent a message.
    instances: Vec<Option<Instance>>,
    mine: Instance,
    /// Digests of own messages that have not come back yet, oldest first.
    sent: VecDeque<Digest>,
    keys: Option<Keys>,
    confirmed: BTreeSet<usize>,
    /// Parties that were complained of because of what they signed: once each, however much more
    /// comes.
    accused: BTreeSet<Party>,
    /// The stage in the last trace line.
    told: &'static str,
}

/// A message as it came.
#[derive(Clone, Copy)]
pub(crate) struct Heard<'a> {
    pub(crate) sender: Party,
    pub(crate) bytes: &'a Bytes,
    pub(crate) envelope: &'a Envelope,
}

/// The result of judging a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Took {
    /// A step forward.
    Step,
    /// This party has the key; it is to be confirmed.
    Key,
    /// Everybody has confirmed.
    Complete,
}

/// What a view's attempts are bound to. It is recorded when the view comes, so later changes of the
/// roster do not change the binding.
pub(crate) struct Roll {
    pub(crate) view: View,
    /// The parties with the digests of their members' certificates.
    certified: Vec<(Party, Digest)>,
    terms: Terms,
}

impl Roll {
    /// KEY-12: the roster has the members of all parties of the view. If not, the error lists the
    /// parties whose members it lacks.
    pub(crate) fn new(view: View, credentials: &dyn Credentials) -> Result<Self, Vec<Party>> {
        let lacks = |party: &&Party| credentials.certificate(&party.member).is_none();
        let off: Vec<Party> = view.members.iter().filter(lacks).copied().collect();
        if !off.is_empty() {
            return Err(off);
        }
        let pair = |party: &Party| credentials.certificate(&party.member).map(|digest| (*party, digest));
        let certified = view.members.iter().filter_map(pair).collect();
        Ok(Self { view, certified, terms: credentials.terms() })
    }

    /// KEY-12: the parties of the view whose members are out since.
    pub(crate) fn out_since(&self, credentials: &dyn Credentials) -> Vec<Party> {
        let is_out = |party: &&Party| credentials.is_out(&party.member);
        self.view.members.iter().filter(is_out).copied().collect()
    }

    /// KEY-14: the same view under the charter at this place in the order; a refresh is bound to
    /// that.
    pub(crate) fn renewed(&self, credentials: &dyn Credentials) -> Self {
        Self { view: self.view.clone(), certified: self.certified.clone(), terms: credentials.terms() }
    }

    /// The charter's module for so many parties.
    pub(crate) fn module(&self) -> ModuleName {
        self.terms.keying.module(self.view.members.len(), self.terms.far)
    }

    fn binding(&self, attempt: u32) -> Digest {
        let Terms { charter_version, cipher, .. } = self.terms;
        let names = [self.module().as_str(), cipher.as_str()];
        binding(&self.view.id, attempt, &self.certified, &self.view.brought, charter_version, names)
    }

    /// The parties that take part in attempt `number`, and what each brings: into a view what it
    /// said, into a refresh what all hold.
    fn plan(&self, core: &Core, number: u32, me: usize) -> Result<Plan, AgreementError> {
        let members = &self.view.members;
        let nothing = || vec![None; members.len()];
        let module = self.module();
        let origins = if number == 0 {
            origins(&self.view.brought, module)
        } else {
            core.last_run.as_ref().and_then(|run| run.origins(members, module)).unwrap_or_else(nothing)
        };
        let plan = Plan::with_origins(members, me, origins)?.with_context(self.binding(number));
        let last = members
            .binary_search(&self.view.last)
            .ok()
            .filter(|_| number == 0 && self.tells_early(core.config.danger));
        Ok(match last {
            Some(last) => plan.with_first(last),
            None => plan,
        })
    }

    /// KEY-22: whether shares that were told before the view count in its run.
    pub(crate) fn tells_early(&self, danger: Mutant) -> bool {
        shares::are_told(&self.terms, self.view.members.len(), danger)
    }

    fn place(&self, member: &Party) -> Result<usize, KeyingError> {
        self.view.members.binary_search(member).map_err(|_| KeyingError::PeerNotInView(*member))
    }
}

/// KEY-01: a view is of this group, sorted, without doubles, and lists this party.
pub(crate) fn check_view(core: &Core, view: &View) -> Result<(), KeyingError> {
    let sorted = view.members.windows(2).all(|pair| matches!(pair, [left, right] if left < right));
    let known = |member: &Party| view.members.contains(member);
    let came = &view.transitional_set;
    let fits = known(&core.me) && came.contains(&core.me) && came.iter().all(known);
    let told = view.brought.len() == view.members.len();
    if view.id.group == core.group && sorted && fits && told { Ok(()) } else { Err(KeyingError::LocalView) }
}

impl Attempt {
    /// Begins attempt `number` for the view of `roll`, and sends what is due. An attempt with one
    /// party is complete at once.
    pub(crate) fn begin(
        core: &mut Core,
        roll: &Roll,
        number: u32,
        credentials: &dyn Credentials,
        entropy: &mut dyn Entropy,
    ) -> Result<(Self, Took), KeyingError> {
        let view = &roll.view;
        let me = roll.place(&core.me)?;
        let kept = core.last_run.as_ref().map(|run| &run.kept);
        let plan = roll.plan(core, number, me).map_err(KeyingError::LocalPlan)?;
        let binding = *plan.context();
        let module = begin(roll.module(), &plan, kept).map_err(KeyingError::LocalPlan)?;
        let mut attempt = Self {
            view: view.id,
            number,
            members: view.members.clone(),
            me,
            binding,
            cipher: roll.terms.cipher,
            module,
            transcript: digest(&[b"folkmoot keying transcript v1", &binding]),
            instances: vec![None; view.members.len()],
            mine: core.new_instance(entropy),
            sent: VecDeque::new(),
            keys: None,
            confirmed: BTreeSet::new(),
            accused: BTreeSet::new(),
            told: "",
        };
        let share = core.share.take().filter(|_| number == 0 && roll.tells_early(core.config.danger));
        let mut steps = match &share {
            Some(share) => attempt.module.start(&mut share.entropy()),
            None => attempt.module.start(entropy),
        };
        if number == 0 && roll.tells_early(core.config.danger) {
            steps = attempt.told(core, (roll, &plan), steps, entropy)?;
        }
        let took = attempt.act(core, steps, credentials);
        attempt.tell_stage(core);
        Ok((attempt, took))
    }

    /// KEY-22: takes the shares of those who are a side of their own as told, since they told them
    /// with FLUSH_OK. What each of them would send now is not sent.
    fn told(
        &mut self,
        core: &mut Core,
        (roll, plan): (&Roll, &Plan),
        mut steps: Vec<Step>,
        entropy: &mut dyn Entropy,
    ) -> Result<Vec<Step>, KeyingError> {
        let shares = shares::told(plan, &roll.view.brought);
        if shares.contains_key(&self.me) {
            steps.retain(|step| !matches!(step, Step::Send { step: shares::STEP, .. }));
        }
        for (place, share) in shares {
            match self.module.receive(place, shares::STEP, &share, entropy) {
                Ok(more) => steps.extend(more),
                Err(source) => {
                    let peer = self.members.get(place).copied().unwrap_or(core.me);
                    if peer != core.me {
                        core.complain_of_words(&roll.view, vec![peer]);
                    }
                    return Err(KeyingError::PeerStep { peer, source });
                }
            }
        }
        Ok(steps)
    }

    /// Judges one message of this attempt, and acts on it.
    pub(crate) fn take(
        &mut self,
        core: &mut Core,
        heard: Heard<'_>,
        credentials: &dyn Credentials,
        entropy: &mut dyn Entropy,
    ) -> Result<Took, KeyingError> {
        let Heard { sender, envelope, .. } = heard;
        let place = self.place(sender)?;
        if envelope.step == CONFIRM {
            return self.confirm(core, place, heard, credentials);
        }
        self.authentic(core, place, heard, credentials)?;
        let steps = self
            .module
            .receive(place, envelope.step, envelope.body.as_ref(), entropy)
            .map_err(|source| self.refuse(core, sender, source))?;
        self.accept(core, place, heard);
        let spoken = (place as u64).to_be_bytes();
        self.transcript = digest(&[
            &self.transcript,
            &spoken,
            &[envelope.step],
            &envelope.instance.counter.to_be_bytes(),
            &envelope.instance.nonce,
            &digest(&[envelope.body.as_ref()]),
        ]);
        let took = self.act(core, steps, credentials);
        self.tell_stage(core);
        Ok(took)
    }

    /// A trace line for each stage: what all wait for now. Schedules of the simulator aim at these
    /// lines.
    fn tell_stage(&mut self, core: &mut Core) {
        let stage = self.stage();
        if self.members.len() > 1 && stage != self.told {
            self.told = stage;
            core.trace(format!("attempt {} in view {}: {stage} awaited", self.number, self.view));
        }
    }

    fn place(&self, sender: Party) -> Result<usize, KeyingError> {
        self.members.binary_search(&sender).map_err(|_| KeyingError::PeerNotInView(sender))
    }

    /// KEY-04 to KEY-06: the signature is valid, the instance is right, and nobody uses our name.
    fn authentic(
        &self,
        core: &Core,
        place: usize,
        heard: Heard<'_>,
        credentials: &dyn Credentials,
    ) -> Result<(), KeyingError> {
        let Heard { sender, envelope, .. } = heard;
        self.is_own(place, heard)?;
        let content = envelope.signed_content(&self.binding, place);
        if place != self.me && !credentials.verify(&sender.member, &content, &envelope.signature) {
            return Err(KeyingError::PeerForged(sender));
        }
        self.in_its_instance(core, place, heard)
    }

    /// KEY-06: what bears our name we sent.
    fn is_own(&self, place: usize, Heard { bytes, .. }: Heard<'_>) -> Result<(), KeyingError> {
        let own = place != self.me || self.sent.front() == Some(&digest(&[bytes]));
        if own { Ok(()) } else { Err(KeyingError::WireImpostor) }
    }

    /// KEY-05.
    fn in_its_instance(
        &self,
        core: &Core,
        place: usize,
        Heard { sender, envelope, .. }: Heard<'_>,
    ) -> Result<(), KeyingError> {
        let first = self.instances.get(place).copied().flatten();
        let fits = match first {
            Some(instance) => instance == envelope.instance,
            None => core.instances.get(&sender) != Some(&envelope.instance),
        };
        if fits { Ok(()) } else { Err(KeyingError::PeerInstance(sender)) }
    }

    fn accept(&mut self, core: &mut Core, place: usize, Heard { sender, bytes, envelope }: Heard<'_>) {
        if let Some(instance) = self.instances.get_mut(place) {
            *instance = Some(envelope.instance);
        }
        core.instances.insert(sender, envelope.instance);
        if place == self.me && self.sent.front() == Some(&digest(&[bytes])) {
            self.sent.pop_front();
        }
    }

    /// KEY-07: a message that the module refuses. If it is signed and makes no sense, it is
    /// complained of at once; a step out of turn changes nothing.
    fn refuse(&mut self, core: &mut Core, sender: Party, source: AgreementError) -> KeyingError {
        let turn = matches!(
            source,
            AgreementError::PeerOutOfTurn { .. }
                | AgreementError::PeerRepeated { .. }
                | AgreementError::PeerUnknownStep(_)
        );
        if !turn && sender != core.me {
            self.accuse(core, sender);
        }
        KeyingError::PeerStep { peer: sender, source }
    }

    fn accuse(&mut self, core: &mut Core, sender: Party) {
        if self.accused.insert(sender) {
            core.distrust();
            core.emit(Output::Complain { view: self.view, suspects: vec![sender] });
        }
    }

    fn act(&mut self, core: &mut Core, steps: Vec<Step>, credentials: &dyn Credentials) -> Took {
        let mut took = Took::Step;
        for step in steps {
            match step {
                // KEY-20: what follows from a module's step counts with the confirmations only.
                Step::Send { step, body, .. } => self.send(core, step, Service::Agreed, body, credentials),
                Step::Done(secret) => {
                    let suite = (self.module.name(), self.cipher);
                    let (about, danger) = ((self.binding, self.transcript), core.config.danger);
                    let mut keys = Keys::derive(secret.expose(), core.group, about, suite, danger);
                    if core.config.danger.is(Danger::KeyingReusesKey) {
                        reuse(&mut keys, core, &self.members);
                    }
                    if core.config.danger.is(Danger::KeyingConfirmsLastKey) {
                        core.last.iter().for_each(|(_, last)| keys.confirm_by(last));
                    }
                    self.keys = Some(keys);
                    took = if self.members.len() == 1 { Took::Complete } else { Took::Key };
                }
            }
        }
        took
    }

    fn send(
        &mut self,
        core: &mut Core,
        step: u8,
        service: Service,
        body: Vec<u8>,
        credentials: &dyn Credentials,
    ) {
        let mut envelope = self.envelope(step, Blob::from(body));
        envelope.signature = credentials.sign(&envelope.signed_content(&self.binding, self.me));
        self.hand_over(core, service, &envelope);
    }

    /// A message of this party, not signed yet.
    fn envelope(&self, step: u8, body: Blob) -> Envelope {
        let (view, attempt, instance) = (self.view, self.number, self.mine);
        Envelope { view, attempt, instance, step, body, signature: SignatureBytes::NONE }
    }

    fn hand_over(&mut self, core: &mut Core, service: Service, envelope: &Envelope) {
        let bytes = Bytes::from(codec::encode(envelope));
        self.sent.push_back(digest(&[&bytes]));
        core.emit(Output::Send { service, bytes });
    }

    /// What the next run can start from, once the module is done.
    pub(crate) fn keep(&self) -> Option<Kept> {
        self.module.keep()
    }

    /// The key, once the module is done.
    pub(crate) fn epoch(&self) -> Option<&Epoch> {
        self.keys.as_ref().map(|keys| &keys.epoch)
    }

    /// Whether confirmations are awaited.
    pub(crate) fn is_confirming(&self) -> bool {
        self.keys.is_some()
    }

    /// Whether the next step may end the run (KL), or confirmations are awaited (KC).
    pub(crate) fn is_deciding(&self) -> bool {
        self.is_confirming() || self.module.stage().deciding
    }

    /// The stage, for people: the module's stage, then confirmation.
    pub(crate) fn stage(&self) -> &'static str {
        if self.is_confirming() { "confirmation" } else { self.module.stage().name }
    }

    /// The parties whose step all wait for: the same at every party that delivered the same
    /// messages.
    pub(crate) fn awaited(&self) -> Vec<Party> {
        let places = if self.is_confirming() {
            (0..self.members.len()).filter(|place| !self.confirmed.contains(place)).collect()
        } else {
            self.module.awaited()
        };
        places.into_iter().filter_map(|place| self.members.get(place).copied()).collect()
    }
}

/// REFRESH for attempt `number`, signed.
pub(crate) fn refresh(
    core: &mut Core,
    roll: &Roll,
    number: u32,
    credentials: &dyn Credentials,
    entropy: &mut dyn Entropy,
) -> Result<Bytes, KeyingError> {
    let place = roll.place(&core.me)?;
    let mut envelope = Envelope {
        view: roll.view.id,
        attempt: number,
        instance: core.new_instance(entropy),
        step: REFRESH,
        body: Blob::default(),
        signature: SignatureBytes::NONE,
    };
    envelope.signature = credentials.sign(&envelope.signed_content(&roll.binding(number), place));
    Ok(codec::encode(&envelope).into())
}

/// KEY-09: a REFRESH is by a party, signed, for the next attempt, and has no body.
pub(crate) fn check_refresh(
    roll: &Roll,
    sender: Party,
    envelope: &Envelope,
    credentials: &dyn Credentials,
) -> Result<(), KeyingError> {
    let content = envelope.signed_content(&roll.binding(envelope.attempt), roll.place(&sender)?);
    let signed = credentials.verify(&sender.member, &content, &envelope.signature);
    if signed && envelope.body.0.is_empty() { Ok(()) } else { Err(KeyingError::PeerForged(sender)) }
}

/// The mutant: a view that only lost parties keeps the old key.
fn reuse(keys: &mut Keys, core: &Core, members: &[Party]) {
    if let Some((before, epoch)) = &core.last
        && members.iter().all(|member| before.contains(member))
    {
        keys.epoch = epoch.clone();
    }
}
