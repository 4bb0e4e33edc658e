//! Items that peers send: each is verified on the stage, and goes through the ring if it says
//! anything new.

use crate::Node;
use base::{Blob, Digest, Instant, NodeId};
use bytes::Bytes;
use folkmoot_base as base;
use folkmoot_transcript::{Item, ItemError, Transcript};

impl Node {
    /// Verifies each item, and orders those that are new. One that is refused holds up nothing
    /// else.
    pub(crate) fn items_came(&mut self, now: Instant, from: NodeId, items: &[Blob]) {
        let mut trial = None;
        let mut news = false;
        for item in items {
            match self.item_came(now, from, &mut trial, &item.0) {
                Ok(true) => {
                    news = true;
                    trial = None;
                }
                Ok(false) => self.syncing.not_taken(&from, &item.0),
                Err(error) => {
                    self.syncing.not_taken(&from, &item.0);
                    let text =
                        format!("{from} sent an item that is refused (NODE-03): {}", base::whole(&error));
                    self.out.refuse("transcript", &text);
                }
            }
        }
        self.records.finish_stage();
        let question = self.syncing.go_on(now, &from, news, &self.records);
        self.fetch(now, from, question);
    }

    /// Takes an item that a peer has sent. Whether it says anything new. `trial` is a copy for
    /// trying what guests bring.
    fn item_came(
        &mut self,
        now: Instant,
        from: NodeId,
        trial: &mut Option<Transcript>,
        bytes: &Bytes,
    ) -> Result<bool, ItemError> {
        let item = Item::decode(bytes)?;
        match &item {
            Item::Decision(standing) => self.look_at_parent(now, from, standing),
            Item::Admit { .. } if self.records.is_guest(&from) => {
                if let Some(request) = self.records.late(trial, &item, bytes)? {
                    self.put_aside(from, request, bytes);
                    return Ok(false);
                }
            }
            _ => {}
        }
        let (records, mut orders) = self.ordering();
        match (records.stage(bytes, &mut orders), &item) {
            (Err(error), Item::Decision(standing)) => {
                let aside = self.syncing.aside(&from, standing);
                let (records, mut orders) = self.ordering();
                records.stage_with(&aside, bytes, error, &mut orders)
            }
            (done, _) => done,
        }
    }

    /// `NODE-11`: what does not count and comes from a guest is not passed on.
    fn put_aside(&mut self, from: NodeId, request: Digest, item: &Bytes) {
        self.syncing.put_aside(&from, request, item);
        self.out.refuse(
            "transcript",
            &format!("{from} sent an admission that does not count, and is no member (NODE-11)"),
        );
    }
}
