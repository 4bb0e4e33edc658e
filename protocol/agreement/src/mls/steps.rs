//! This party's steps in the library: arrive, commit, follow, export.

use super::group::{MlsClient, MlsGroup, client, found, naming, now};
use super::judge::Opened;
use super::layout::Layout;
use super::run::{COMMIT, KEY_PACKAGE, Run, Seen, State};
use super::wire::Commit;
use crate::base::{Blob, Entropy, Secret, codec, digest};
use crate::{AgreementError, Plan, Step};
use mls_rs::error::MlsError;
use mls_rs::group::{CommitEffect, ExportedTree, ReceivedMessage};
use std::collections::BTreeSet;

const EXPORT_LABEL: &[u8] = b"folkmoot agreement v1";
const SECRET_BYTES: usize = 32;

impl Run {
    /// A newcomer's first step: keys, and a key package with them. Place 0 from nothing: a group of
    /// one. Draws once.
    pub(super) fn arrive(&mut self, entropy: &mut dyn Entropy) -> Result<Option<Step>, AgreementError> {
        let me = self.me()?;
        let founds = self.plan.me() == self.layout.committer;
        let (provider, parts, context) = (self.provider(), &self.parts, *self.plan.context());
        let made = || -> Result<_, MlsError> {
            let client = client(&provider, parts, &me)?;
            let group = found(&client, &context)?;
            if founds {
                return Ok((client, group, None));
            }
            let package =
                client.generate_key_package_message(naming(&context), Default::default(), Some(now()))?;
            Ok((client, group, Some(package.to_bytes()?)))
        };
        let (made, powers) = self.source.during(Some(entropy), made);
        self.powers = self.powers.saturating_add(powers);
        let (client, group, package) = made.map_err(|_| AgreementError::LocalNotReady)?;
        let group = Box::new(group);
        self.state =
            if founds { State::In(group) } else { State::New { client: Box::new(client), own: group } };
        Ok(package.map(|body| Step::Send { step: KEY_PACKAGE, decides: false, body }))
    }

    /// The commit, once every newcomer has sent a key package. Draws once.
    pub(super) fn commit(&mut self, entropy: &mut dyn Entropy) -> Result<Step, AgreementError> {
        let State::In(group) = &mut self.state else { return Err(AgreementError::LocalNotReady) };
        let leavers = leavers(group, &self.plan, &self.layout);
        let (packages, context) = (&self.packages, self.plan.context());
        let made = || -> Result<_, MlsError> {
            let mut builder = group.commit_builder().commit_time(now());
            for leaf in leavers {
                builder = builder.remove_member(leaf)?;
            }
            for package in packages.values() {
                builder = builder.add_member(package.message.clone())?;
            }
            let output = builder.set_group_context_ext(naming(context))?.build()?;
            let commit = output.commit_message.to_bytes()?;
            let Some(welcome) = output.welcome_messages.first() else {
                return Ok(Commit { commit: commit.into(), welcome: Blob::default(), tree: Blob::default() });
            };
            let tree = output.ratchet_tree.as_ref().map_or(Ok(Vec::new()), ExportedTree::to_bytes)?;
            Ok(Commit { commit: commit.into(), welcome: welcome.to_bytes()?.into(), tree: tree.into() })
        };
        let (made, powers) = self.source.during(Some(entropy), made);
        self.powers = self.powers.saturating_add(powers);
        let body = codec::encode(&made.map_err(|_| AgreementError::LocalNotReady)?);
        self.sent = Some(body.clone());
        Ok(Step::Send { step: COMMIT, decides: true, body })
    }

    /// The key package has served its purpose: anyone who takes this party's memory later must not
    /// open the Welcome with it.
    pub(super) fn forget(&self) {
        if let (State::New { client, .. }, Some(package)) = (&self.state, self.packages.get(&self.plan.me()))
        {
            client.key_package_store().delete(&package.reference);
        }
    }

    /// The group after the commit, and its secret. Changes nothing of the run.
    pub(super) fn follow(&self, body: &[u8]) -> Result<(MlsGroup, Secret<Vec<u8>>), AgreementError> {
        let judge = self.judge();
        let opened = judge.commit(body, self.packages.values())?;
        let mut group = match &self.state {
            State::Empty => return Err(AgreementError::LocalNotReady),
            State::New { client, .. } => {
                let group = self.join(client, &opened)?;
                judge.tree_usable(&group)?;
                group
            }
            State::In(group) => self.apply(group, &opened, body)?,
        };
        let packages = self.packages.iter().map(|(place, package)| (*place, package));
        judge.settled(&group, &opened, packages)?;
        let secret = self.export(&mut group, body)?;
        Ok((group, secret))
    }

    /// For those in the group.
    fn apply(&self, group: &MlsGroup, opened: &Opened, body: &[u8]) -> Result<MlsGroup, AgreementError> {
        if opened.removed != leavers(group, &self.plan, &self.layout) {
            return Err(AgreementError::PeerWrongList);
        }
        let mut group = group.clone();
        if self.plan.me() == self.layout.committer {
            if self.sent.as_deref() != Some(body) {
                return Err(AgreementError::PeerAltered);
            }
            group.apply_pending_commit().map_err(|_| AgreementError::LocalNotReady)?;
            return Ok(group);
        }
        let told = group.process_incoming_message_with_time(opened.commit.clone(), now());
        match told {
            Ok(ReceivedMessage::Commit(told)) if matches!(told.effect, CommitEffect::NewEpoch(_)) => {
                Ok(group)
            }
            _ => Err(AgreementError::PeerInvalid),
        }
    }

    /// For newcomers.
    fn join(&self, client: &MlsClient, opened: &Opened) -> Result<MlsGroup, AgreementError> {
        let welcome = opened.welcome.as_ref().ok_or(AgreementError::PeerMalformed)?;
        let tree = ExportedTree::from_bytes(&opened.tree).map_err(|_| AgreementError::PeerMalformed)?;
        let (group, info) =
            client.join_group(Some(tree), welcome, Some(now())).map_err(|_| AgreementError::PeerInvalid)?;
        let committer = self.layout.leaf(self.layout.committer);
        if info.sender != committer || !info.group_info_extensions.is_empty() {
            return Err(AgreementError::PeerInvalid);
        }
        Ok(group)
    }

    /// The secret, bound to every byte of the run. The group cannot give it again.
    fn export(&self, group: &mut MlsGroup, commit: &[u8]) -> Result<Secret<Vec<u8>>, AgreementError> {
        let mut parts: Vec<&[u8]> = vec![EXPORT_LABEL, self.plan.context()];
        parts.extend(self.spoken.values().map(|spoken| spoken.as_slice()));
        let commit = digest(&[commit]);
        parts.push(&commit);
        let secret = group
            .export_secret(EXPORT_LABEL, &digest(&parts), SECRET_BYTES)
            .map_err(|_| AgreementError::LocalNotReady)?;
        group.delete_exporter();
        Ok(Secret::new(secret.as_bytes().to_vec()))
    }

    /// Alone: nobody to tell.
    pub(super) fn alone(&mut self, entropy: &mut dyn Entropy) -> Result<Step, AgreementError> {
        if self.plan.in_base() {
            self.commit(entropy)?;
        }
        let State::In(group) = &mut self.state else { return Err(AgreementError::LocalNotReady) };
        let mut group = group.clone();
        if self.plan.in_base() {
            group.apply_pending_commit().map_err(|_| AgreementError::LocalNotReady)?;
        }
        let (secret, _) = self.source.during(None, || self.export(&mut group, &[]));
        let secret = secret?;
        self.sent = None;
        self.state = State::In(group);
        self.seen = Seen::Done;
        Ok(Step::Done(secret))
    }
}

/// The leaves of those who are in the group and not in the base.
fn leavers(group: &MlsGroup, plan: &Plan, layout: &Layout) -> Vec<u32> {
    let stays: BTreeSet<_> = match plan.base() {
        [] => BTreeSet::from([layout.leaf(layout.committer)]),
        base => base.iter().map(|place| layout.leaf(*place)).collect(),
    };
    group.roster().members_iter().map(|member| member.index).filter(|leaf| !stays.contains(leaf)).collect()
}
