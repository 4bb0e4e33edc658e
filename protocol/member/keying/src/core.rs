//! What outlives the states: outputs, the instance counter, and which parties came along since the
//! last secure view.

use crate::agreement::{AgreementError, Kept, Origin};
use crate::api::{Config, Epoch, Output, SecureView, Terms, View};
use crate::base::{Danger, Digest, Entropy, GroupId, ModuleName, Party, Persist, digest, draw};
use crate::error::KeyingError;
use crate::last_run::{LastRun, origins};
use crate::message::Instance;
use crate::shares::{Share, are_told};
use std::collections::{BTreeMap, VecDeque};

/// How many instance numbers are reserved at once.
const RESERVED: u64 = 64;

/// What outlives states.
pub(crate) struct Core {
    pub(crate) me: Party,
    pub(crate) group: GroupId,
    pub(crate) config: Config,
    pub(crate) outputs: VecDeque<Output>,
    /// The last instance number used.
    counter: u64,
    /// The highest number that is reserved on disk.
    reserved: u64,
    /// The instance that each party last used, so that it cannot be used for another run.
    pub(crate) instances: BTreeMap<Party, Instance>,
    /// A secure view stands, or stood, and its transitional signal has not been put out.
    signal_due: bool,
    /// The parties that came along since the last secure view; `None` before the first view after
    /// it.
    together: Option<Vec<Party>>,
    /// What the next run can start from.
    pub(crate) last_run: Option<LastRun>,
    /// A run that started from it failed because somebody was at fault or silent: the next view
    /// starts from nothing.
    distrusted: bool,
    /// KEY-22: the share for the next run, and whether it has been told.
    pub(crate) share: Option<Share>,
    told: bool,
    /// The last secure view's parties and key, for the mutants that use the key again; otherwise
    /// nothing.
    pub(crate) last: Option<(Vec<Party>, Epoch)>,
}

impl Core {
    pub(crate) fn new(
        me: Party,
        group: GroupId,
        config: Config,
        stored: Option<&[u8]>,
    ) -> Result<Self, KeyingError> {
        let counter = stored.map_or(Ok(0), decode_counter)?;
        let mut core = Self {
            me,
            group,
            config,
            outputs: VecDeque::new(),
            counter,
            reserved: counter,
            instances: BTreeMap::new(),
            signal_due: false,
            together: None,
            last_run: None,
            distrusted: false,
            share: None,
            told: false,
            last: None,
        };
        core.reserve();
        Ok(core)
    }

    pub(crate) fn emit(&mut self, output: Output) {
        self.outputs.push_back(output);
    }

    pub(crate) fn trace(&mut self, text: impl Into<String>) {
        self.emit(Output::Trace(text.into()));
    }

    /// An identifier for a run that was never used before: reserved on disk before any message
    /// carries it.
    pub(crate) fn new_instance(&mut self, entropy: &mut dyn Entropy) -> Instance {
        self.counter = self.counter.saturating_add(1);
        if self.counter.saturating_add(RESERVED / 2) > self.reserved {
            self.reserve();
        }
        Instance { counter: self.counter, nonce: draw(entropy) }
    }

    /// Reserves the next numbers for this machine. The disk has the last of them, and a restart
    /// continues after it. So a run waits for the disk only once in so many runs.
    fn reserve(&mut self) {
        self.reserved = self.counter.saturating_add(RESERVED);
        let put = Persist::put("keying", self.group.0.to_vec(), encode_counter(self.reserved));
        self.emit(Output::Persist(put));
    }

    /// The transitional signal: put out once for each secure view.
    pub(crate) fn signal(&mut self) {
        if core::mem::take(&mut self.signal_due) {
            self.emit(Output::SecureTransitional);
        }
    }

    /// Answers the flush, and says what this party keeps.
    pub(crate) fn flush_ok(&mut self) {
        let run = self.last_run.as_ref().filter(|_| !self.distrusted);
        let run = run.map(LastRun::brings).unwrap_or_default();
        self.told = self.share.is_some();
        let brings = self.share.as_ref().map_or_else(|| run.clone(), |share| share.before(&run));
        self.emit(Output::FlushOk { brings });
    }

    /// KEY-22: draws a share for the next run, if one is to be told and none has been yet.
    pub(crate) fn prepare_share(&mut self, terms: &Terms, entropy: &mut dyn Entropy) {
        if self.share.is_none() || !self.told {
            self.told = false;
            self.share = are_told(terms, 2, self.config.danger).then(|| Share::draw(self.me, entropy));
        }
    }

    /// A run is confirmed: the next one can start from it, and from nothing older.
    pub(crate) fn keep_run(&mut self, run: Digest, kept: Option<Kept>) {
        self.last_run = kept.map(|kept| LastRun { run, kept });
        self.distrusted = false;
    }

    /// KEY-13: a party that says that it holds our last run must have the place in it that it had.
    /// Otherwise it is complained of, and the view gets no key here.
    pub(crate) fn believes(&mut self, view: &View, module: ModuleName) -> bool {
        let Some(last) = &self.last_run else { return true };
        let ours = |origin: &Option<Origin>| origin.filter(|origin| origin.run == last.run);
        let false_word = |(member, origin): (&Party, &Option<Origin>)| {
            (last.kept.rank_of(member) != Some(ours(origin)?.rank)).then_some(*member)
        };
        let told = origins(&view.brought, module);
        let liars: Vec<_> = view.members.iter().zip(&told).filter_map(false_word).collect();
        if liars.is_empty() {
            return true;
        }
        self.complain_of_words(view, liars);
        false
    }

    /// KEY-13: what a party says that it holds contradicts what all were told. Every party that
    /// sees this complains.
    pub(crate) fn disbelieves(&mut self, view: &View, error: &KeyingError) {
        let KeyingError::LocalPlan(AgreementError::PeerOrigin { from }) = error else { return };
        if let Some(suspect) = view.members.get(*from).copied().filter(|suspect| *suspect != self.me) {
            self.complain_of_words(view, vec![suspect]);
        }
    }

    pub(crate) fn complain_of_words(&mut self, view: &View, liars: Vec<Party>) {
        let names: Vec<String> = liars.iter().map(Party::short).collect();
        self.trace(format!("no key for this view: {} cannot hold what it says", names.join(", ")));
        self.emit(Output::Complain { view: view.id, suspects: liars });
    }

    /// A run failed, and not because the view changed.
    pub(crate) fn distrust(&mut self) {
        self.distrusted = true;
    }

    /// A view from the layer below. The set of parties that came along shrinks with each view until
    /// one is secure.
    pub(crate) fn came_along(&mut self, view: &View) {
        let kept = match self.together.take() {
            None => view.transitional_set.clone(),
            Some(mut kept) => {
                kept.retain(|member| view.transitional_set.contains(member));
                kept
            }
        };
        self.together = Some(kept);
        self.instances.retain(|member, _| view.members.contains(member));
    }

    /// For mutants only: no other code keeps a key here.
    pub(crate) fn remember(&mut self, members: &[Party], epoch: &Epoch) {
        let danger = self.config.danger;
        if danger.is(Danger::KeyingReusesKey) || danger.is(Danger::KeyingConfirmsLastKey) {
            self.last = Some((members.to_vec(), epoch.clone()));
        }
    }

    /// Puts out the view with its key.
    pub(crate) fn install(&mut self, view: &View, epoch: &Epoch) {
        let transitional_set = self.together.take().unwrap_or_else(|| vec![self.me]);
        self.signal_due = true;
        self.remember(&view.members, epoch);
        self.trace(format!("view {} secure: {} parties, {}", view.id, view.members.len(), epoch.name));
        self.emit(Output::SecureView(SecureView {
            id: view.id,
            members: view.members.clone(),
            transitional_set,
            cause: view.cause,
            epoch: epoch.clone(),
        }));
    }
}

fn checksum(counter: u64) -> Digest {
    digest(&[b"folkmoot keying counter", &counter.to_be_bytes()])
}

fn encode_counter(counter: u64) -> Vec<u8> {
    counter.to_be_bytes().into_iter().chain(checksum(counter).into_iter().take(8)).collect()
}

fn decode_counter(stored: &[u8]) -> Result<u64, KeyingError> {
    let (counter, check) = stored.split_first_chunk::<8>().ok_or(KeyingError::LocalStore)?;
    let counter = u64::from_be_bytes(*counter);
    if checksum(counter).get(..8) == Some(check) { Ok(counter) } else { Err(KeyingError::LocalStore) }
}
