//! What outlives states: outputs, the instance counter, and the relation of views since the last secure one.

use crate::api::{Config, Epoch, Output, SecureView, View};
use crate::base::{Danger, Digest, Entropy, GroupId, MemberId, Persist, digest, draw};
use crate::error::KeyingError;
use crate::message::Instance;
use std::collections::{BTreeMap, VecDeque};

/// What outlives states.
pub(crate) struct Core {
    pub(crate) me: MemberId,
    pub(crate) group: GroupId,
    pub(crate) config: Config,
    pub(crate) outputs: VecDeque<Output>,
    /// The last instance number used, on disk.
    counter: u64,
    /// The instance that each member used last, so that it cannot be used for another run.
    pub(crate) instances: BTreeMap<MemberId, Instance>,
    /// A secure view stands, or stood, whose transitional signal has not been handed up.
    signal_due: bool,
    /// Who came along since the last secure view; `None` before the first view after it.
    together: Option<Vec<MemberId>>,
    /// The last secure view's members and key, in the mutant that reuses it; else nothing.
    pub(crate) last: Option<(Vec<MemberId>, Epoch)>,
}

impl Core {
    pub(crate) fn new(
        me: MemberId,
        group: GroupId,
        config: Config,
        stored: Option<&[u8]>,
    ) -> Result<Self, KeyingError> {
        let counter = stored.map_or(Ok(0), decode_counter)?;
        Ok(Self {
            me,
            group,
            config,
            outputs: VecDeque::new(),
            counter,
            instances: BTreeMap::new(),
            signal_due: false,
            together: None,
            last: None,
        })
    }

    pub(crate) fn emit(&mut self, output: Output) {
        self.outputs.push_back(output);
    }

    pub(crate) fn trace(&mut self, text: impl Into<String>) {
        self.emit(Output::Trace(text.into()));
    }

    /// A name for a run that was never used: on disk before anything bears it.
    pub(crate) fn new_instance(&mut self, entropy: &mut dyn Entropy) -> Instance {
        self.counter = self.counter.saturating_add(1);
        let put = Persist::put("keying", self.group.0.to_vec(), encode_counter(self.counter));
        self.emit(Output::Persist(put));
        Instance { counter: self.counter, nonce: draw(entropy) }
    }

    /// The transitional signal: handed up once for each secure view.
    pub(crate) fn signal(&mut self) {
        if core::mem::take(&mut self.signal_due) {
            self.emit(Output::SecureTransitional);
        }
    }

    /// A view of the substrate: who came along shrinks with each until one is secure.
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

    /// For the mutant alone: nobody else keeps a key here.
    pub(crate) fn remember(&mut self, members: &[MemberId], epoch: &Epoch) {
        if self.config.danger == Some(Danger::KeyingReusesKey) {
            self.last = Some((members.to_vec(), epoch.clone()));
        }
    }

    /// Hands up the view with its key.
    pub(crate) fn install(&mut self, view: &View, epoch: &Epoch) {
        let transitional_set = self.together.take().unwrap_or_else(|| vec![self.me]);
        self.signal_due = true;
        self.remember(&view.members, epoch);
        self.trace(format!("view {} secure: {} members, {}", view.id, view.members.len(), epoch.name));
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
