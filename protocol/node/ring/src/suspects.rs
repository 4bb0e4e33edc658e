//! Who spoils attempt after attempt, though it answers otherwise.
//!
//! Every pass of a commit token or token has two ends. When an attempt ends because nothing came any more, the JOINs tell
//! which pass was the last, and both its ends get a strike: which of them is to blame, nobody can know. But the neighbours
//! change with the attempt's nonce, so the strikes of the one who is to blame outrun those of the others. With
//! [`STRIKES`] and more than anybody else it is given up in this gather, and so set aside. Two alone cannot tell; after twice
//! as many strikes they part.

use crate::message::{Last, RingNonce};
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
    /// A ring has worked for a while: what was before is forgotten.
    pub(crate) fn forget(&mut self) {
        self.strikes.clear();
    }

    /// Judges the failed attempt that `lasts` tell of, once, and names who must be given up. A pass to or from somebody who is
    /// no longer proposed explains itself.
    pub(crate) fn judge(
        &mut self,
        lasts: &BTreeMap<NodeId, Last>,
        members: &[NodeId],
        me: NodeId,
    ) -> Option<NodeId> {
        let late = lasts.values().find(|last| last.late == 1 && Some(last.ring) != self.judged)?;
        self.judged = Some(late.ring);
        let same = lasts.iter().filter(|(_, last)| last.ring == late.ring);
        let (from, last) = same.max_by_key(|(_, last)| last.step)?;
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
