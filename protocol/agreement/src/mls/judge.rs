//! What everybody checks of both steps, whoever they are meant for, and what only parties in the
//! group can check.

use super::Suite;
use super::group::{LIFETIME, MlsGroup, capabilities, named, naming, now};
use super::layout::Layout;
use super::provider::Parts;
use super::wire::{Commit, Path, count_nodes, leaf_of, message};
use crate::base::{Party, codec};
use crate::{AgreementError, Plan};
use mls_rs::crypto::HpkePublicKey;
use mls_rs::group::proposal::Proposal;
use mls_rs::group::{LeafNode, LeafNodeSource, Node, Sender};
use mls_rs::{CipherSuiteProvider as _, KeyPackage, KeyPackageRef, MlsMessage, MlsMessageDescription};

type Judged<T> = Result<T, AgreementError>;

/// What the steps of a run are checked against.
pub(super) struct Judge<'a> {
    pub(super) suite: Suite,
    pub(super) parts: &'a Parts,
    pub(super) plan: &'a Plan,
    pub(super) layout: &'a Layout,
}

/// A key package that was taken.
pub(super) struct Package {
    pub(super) message: MlsMessage,
    pub(super) leaf: LeafNode,
    pub(super) reference: KeyPackageRef,
}

/// A commit whose open parts are right.
pub(super) struct Opened {
    pub(super) commit: MlsMessage,
    pub(super) welcome: Option<MlsMessage>,
    pub(super) tree: Vec<u8>,
    pub(super) removed: Vec<u32>,
    pub(super) group_id: Vec<u8>,
    pub(super) epoch: u64,
}

impl Judge<'_> {
    /// AGR-51 to AGR-53: a key package of `member`, for this run, with keys that nobody else has.
    /// `group` is any group of this party's: it lends the library's own judgement, which looks at
    /// the key package alone.
    pub(super) fn package<'p>(
        &self,
        group: &mut MlsGroup,
        member: &Party,
        bytes: &[u8],
        mut others: impl Iterator<Item = &'p Package>,
    ) -> Judged<Package> {
        let message = message(bytes)?;
        let package = message.as_key_package().ok_or(AgreementError::PeerMalformed)?;
        if package.extensions != naming(self.plan.context()) {
            return Err(AgreementError::PeerWrongToken);
        }
        let leaf = leaf_of(package)?;
        self.leaf(&leaf, member)?;
        let lives = matches!(&leaf.leaf_node_source, LeafNodeSource::KeyPackage(life)
            if life.not_before == now() && life.not_after.seconds_since_epoch() == LIFETIME);
        if !lives || package.cipher_suite != self.suite.number() {
            return Err(AgreementError::PeerInvalid);
        }
        let told = group.process_incoming_message_with_time(message.clone(), now());
        told.map_err(|_| AgreementError::PeerInvalid)?;
        let reference = message.key_package_reference(self.parts).ok().flatten();
        let reference = reference.ok_or(AgreementError::PeerInvalid)?;
        if others.any(|other| shares(&leaf, &other.leaf)) {
            return Err(AgreementError::PeerInvalid);
        }
        Ok(Package { message, leaf, reference })
    }

    /// AGR-54 to AGR-57: what a commit says in the open.
    pub(super) fn commit<'p>(
        &self,
        bytes: &[u8],
        packages: impl Iterator<Item = &'p Package> + Clone,
    ) -> Judged<Opened> {
        let body: Commit = codec::decode(bytes).map_err(|_| AgreementError::PeerMalformed)?;
        let commit = message(body.commit.as_ref())?;
        let (group_id, epoch) = self.frame(&commit)?;
        let removed = self.proposals(&commit, packages.clone())?;
        self.path(&commit, body.commit.as_ref())?;
        let welcome = self.welcome(&body, packages)?;
        Ok(Opened { commit, welcome, tree: body.tree.as_ref().to_vec(), removed, group_id, epoch })
    }

    /// The commit comes from the party whose turn it is, in the open, with nothing beside it.
    fn frame(&self, commit: &MlsMessage) -> Judged<(Vec<u8>, u64)> {
        let MlsMessageDescription::PublicProtocolMessage {
            group_id,
            epoch_id,
            sender,
            authenticated_data,
            ..
        } = commit.description()
        else {
            return Err(AgreementError::PeerMalformed);
        };
        if sender != Sender::Member(self.layout.leaf(self.layout.committer)) {
            return Err(AgreementError::PeerNotController);
        }
        if !authenticated_data.is_empty() {
            return Err(AgreementError::PeerInvalid);
        }
        Ok((group_id.to_vec(), epoch_id))
    }

    /// The commit adds exactly the newcomers, in order, removes nobody who stays, and names the
    /// run. The base knows who is removed.
    fn proposals<'p>(
        &self,
        commit: &MlsMessage,
        packages: impl Iterator<Item = &'p Package>,
    ) -> Judged<Vec<u32>> {
        let (mut added, mut removed, mut named) = (Vec::<&KeyPackage>::new(), Vec::new(), Vec::new());
        for proposal in commit.proposals_by_value() {
            match proposal {
                Proposal::Add(add) => added.push(add.key_package()),
                Proposal::Remove(remove) => removed.push(remove.to_remove()),
                Proposal::GroupContextExtensions(list) => named.push(list),
                _ => return Err(AgreementError::PeerInvalid),
            }
        }
        if named != [&naming(self.plan.context())] {
            return Err(AgreementError::PeerWrongToken);
        }
        let ascending = removed.windows(2).all(|pair| matches!(pair, [left, right] if left < right));
        let stays = |leaf: &u32| self.plan.base().iter().any(|place| self.layout.leaf(*place) == *leaf);
        let awaited = packages.filter_map(|package| package.message.as_key_package());
        if !ascending || removed.iter().any(stays) || !awaited.eq(added) {
            return Err(AgreementError::PeerWrongList);
        }
        Ok(removed)
    }

    /// A path from the committer's new leaf to the root, as long as it must be, of keys to which
    /// one can seal.
    fn path(&self, commit: &MlsMessage, bytes: &[u8]) -> Judged<()> {
        let leaf = commit.commit_path_leaf_node().ok_or(AgreementError::PeerInvalid)?;
        let committer = self.plan.members().get(self.layout.committer).ok_or(AgreementError::LocalMembers)?;
        self.leaf(leaf, committer)?;
        let path = Path::read(bytes)?;
        if path.keys.len() != self.layout.path() {
            return Err(AgreementError::PeerWrongList);
        }
        path.keys.iter().try_for_each(|key| self.usable(key))
    }

    /// One Welcome for all newcomers, in order, and a tree with a leaf for each party.
    fn welcome<'p>(
        &self,
        body: &Commit,
        packages: impl Iterator<Item = &'p Package>,
    ) -> Judged<Option<MlsMessage>> {
        if self.layout.newcomers.is_empty() {
            let nothing = body.welcome.0.is_empty() && body.tree.0.is_empty();
            return if nothing { Ok(None) } else { Err(AgreementError::PeerMalformed) };
        }
        let welcome = message(body.welcome.as_ref())?;
        let MlsMessageDescription::Welcome { key_package_refs, cipher_suite } = welcome.description() else {
            return Err(AgreementError::PeerMalformed);
        };
        if cipher_suite != self.suite.number() {
            return Err(AgreementError::PeerInvalid);
        }
        if !packages.map(|package| &package.reference).eq(key_package_refs) {
            return Err(AgreementError::PeerWrongList);
        }
        count_nodes(body.tree.as_ref(), self.layout.nodes())?;
        Ok(Some(welcome))
    }

    /// A leaf is `member`'s, supports what all support, has nothing else in it, and can be sealed
    /// to.
    fn leaf(&self, leaf: &LeafNode, member: &Party) -> Judged<()> {
        let plain = leaf.extensions.is_empty() && leaf.capabilities == capabilities(self.suite);
        if !plain || named(&leaf.signing_identity) != Some(*member) {
            return Err(AgreementError::PeerInvalid);
        }
        self.usable(&leaf.public_key)
    }

    fn usable(&self, key: &HpkePublicKey) -> Judged<()> {
        self.parts.kem_public_key_validate(key).map_err(|_| AgreementError::PeerNotInGroup)
    }

    /// AGR-59: in the group after the commit are exactly the parties, each at its leaf, and the
    /// newcomers have the keys that they sent. The group names the run, and the newcomers were
    /// given the same tree.
    pub(super) fn settled<'p>(
        &self,
        group: &MlsGroup,
        opened: &Opened,
        packages: impl Iterator<Item = (usize, &'p Package)>,
    ) -> Judged<()> {
        let context = group.context();
        let follows =
            context.group_id == opened.group_id && Some(context.epoch) == opened.epoch.checked_add(1);
        if !follows || context.extensions != naming(self.plan.context()) {
            return Err(AgreementError::PeerInvalid);
        }
        let tree = group.export_tree();
        if opened.welcome.is_some() && tree.to_bytes().ok().as_ref() != Some(&opened.tree) {
            return Err(AgreementError::PeerAltered);
        }
        for (place, package) in packages {
            if leaf_at(tree.nodes(), self.layout.leaf(place)) != Some(&package.leaf) {
                return Err(AgreementError::PeerWrongList);
            }
        }
        self.seated(tree.nodes())
    }

    /// Exactly the parties, each at its leaf.
    fn seated(&self, nodes: &[Option<Node>]) -> Judged<()> {
        let taken = nodes.iter().step_by(2).flatten().count();
        let sits = |(member, leaf): (&Party, &u32)| {
            leaf_at(nodes, *leaf).and_then(|found| named(&found.signing_identity)) == Some(*member)
        };
        let all = self.plan.members().iter().zip(&self.layout.leaves).all(sits);
        if all && taken == self.plan.size() { Ok(()) } else { Err(AgreementError::PeerWrongList) }
    }

    /// For newcomers, who see the tree for the first time: one can seal to all of it.
    pub(super) fn tree_usable(&self, group: &MlsGroup) -> Judged<()> {
        group.export_tree().nodes().iter().flatten().try_for_each(|node| self.usable(node.public_key()))
    }
}

/// AGR-53, for those who know the tree: no leaf has a key of the newcomer's.
pub(super) fn fresh(group: &MlsGroup, package: &Package) -> Judged<()> {
    let doubled = group.export_tree().nodes().iter().flatten().any(|node| match node {
        Node::Leaf(leaf) => shares(leaf, &package.leaf),
        Node::Parent(_) => false,
    });
    if doubled { Err(AgreementError::PeerInvalid) } else { Ok(()) }
}

fn shares(left: &LeafNode, right: &LeafNode) -> bool {
    left.public_key == right.public_key
        || left.signing_identity.signature_key == right.signing_identity.signature_key
}

fn leaf_at(nodes: &[Option<Node>], leaf: u32) -> Option<&LeafNode> {
    let node = nodes.get((leaf as usize).saturating_mul(2))?.as_ref()?;
    match node {
        Node::Leaf(leaf) => Some(leaf),
        Node::Parent(_) => None,
    }
}
