//! Finds the node that spoils attempt after attempt although it answers otherwise.
//!
//! Every pass of a commit token or token has two ends. When an attempt ends because nothing came
//! any more, the JOINs tell which pass was the last, and both its ends get a strike: nobody can
//! know which of them is to blame. But the neighbours change with the attempt's nonce, so the
//! strikes of the node to blame outrun those of the others. A node with [`STRIKES`] strikes, and
//! more than any other, is given up in this gather, and so set aside. Two nodes alone cannot tell;
//! they part after twice as many strikes.
//!
//! An attempt or ring may also end because nothing new reached everybody although the token went
//! round. The JOINs then tell how far each node came. Either those that lack the first missing
//! packet cannot hear, or those that have it cannot be heard. The fewer of the two are given up at
//! once; if they are as many, those that lack it.

use crate::message::{Last, RingNonce, STALLED};
use folkmoot_base::NodeId;
use std::collections::BTreeMap;

/// Strikes at which a node is given up.
const STRIKES: u32 = 3;

/// The strikes of the nodes in the present run of failures.
#[derive(Debug, Default)]
pub(crate) struct Suspects {
    strikes: BTreeMap<NodeId, u32>,
    judged: Option<RingNonce>,
}

impl Suspects {
    /// A ring has worked for a while: earlier strikes are forgotten.
    pub(crate) fn forget(&mut self) {
        self.strikes.clear();
    }

    /// Judges the failed attempt that `lasts` tell of, once, and names who must be given up.
    pub(crate) fn judge(
        &mut self,
        lasts: &BTreeMap<NodeId, Last>,
        members: &[NodeId],
        me: NodeId,
    ) -> Vec<NodeId> {
        let failed = lasts.values().find(|last| last.late != 0 && Some(last.ring) != self.judged);
        let Some(failed) = failed else { return Vec::new() };
        self.judged = Some(failed.ring);
        let same: BTreeMap<NodeId, Last> = lasts
            .iter()
            .filter(|(_, last)| last.ring == failed.ring)
            .map(|(node, last)| (*node, *last))
            .collect();
        if same.values().any(|last| last.late == STALLED) {
            return fewer(&same).into_iter().filter(|node| *node != me).collect();
        }
        self.strike(&same, members, me).into_iter().collect()
    }

    /// If a pass went to or came from a node that is no longer wanted, its failure is explained.
    fn strike(&mut self, lasts: &BTreeMap<NodeId, Last>, members: &[NodeId], me: NodeId) -> Option<NodeId> {
        let (from, last) = lasts.iter().max_by_key(|(_, last)| last.step)?;
        if members.binary_search(from).is_err() || members.binary_search(&last.next).is_err() {
            return None;
        }
        self.strikes.retain(|node, _| members.binary_search(node).is_ok());
        for node in [*from, last.next] {
            let strikes = self.strikes.entry(node).or_default();
            *strikes = strikes.saturating_add(1);
        }
        let most = self.strikes.values().max().copied()?;
        let tied: Vec<NodeId> =
            self.strikes.iter().filter(|(_, n)| **n == most).map(|(node, _)| *node).collect();
        let plain = most >= STRIKES && tied.len() == 1;
        if !plain && most < STRIKES.saturating_mul(2) {
            return None;
        }
        let suspect = tied.into_iter().find(|node| *node != me)?;
        self.forget();
        Some(suspect)
    }
}

/// Of the nodes that lack the first missing packet and those that have it: the fewer.
fn fewer(lasts: &BTreeMap<NodeId, Last>) -> Vec<NodeId> {
    let least = lasts.values().map(|last| last.held).min().unwrap_or(0);
    let (lack, have): (Vec<_>, Vec<_>) = lasts.iter().partition(|(_, last)| last.held == least);
    let fewer = if have.len() < lack.len() { have } else { lack };
    fewer.into_iter().map(|(node, _)| *node).collect()
}
