//! Probes of paths leave one by one.

use crate::engine::{App, PEER};
use bytes::{Bytes, BytesMut};
use folkmoot_attach::{Embedded, Ground, GroundOutput, ToNode};
use folkmoot_base::{Entropy, Instant, Locator, UnixTime};
use folkmoot_runtime::{Clock, Generation, Store, Wire, start};
use folkmoot_transport::Arrival;
use std::collections::VecDeque;
use tokio::sync::mpsc;

/// A node that asks what the way carries between two of its datagrams.
#[derive(Debug, Default)]
struct Prober(VecDeque<GroundOutput>);

impl Ground for Prober {
    fn member(&mut self, _now: Instant, _message: ToNode, _entropy: &mut dyn Entropy) {}
    fn datagram(&mut self, _now: Instant, from: Locator, datagram: BytesMut, _entropy: &mut dyn Entropy) {
        let datagram = datagram.freeze();
        let kinds =
            [GroundOutput::Transmit, GroundOutput::Probe, GroundOutput::Probe, GroundOutput::Transmit];
        self.0.extend(kinds.map(|kind| kind(from.clone(), datagram.clone())));
    }
    fn clock(&mut self, _now: Instant, _time: UnixTime, _entropy: &mut dyn Entropy) {}
    fn timeout(&mut self, _now: Instant, _entropy: &mut dyn Entropy) {}
    fn poll_output(&mut self) -> Option<GroundOutput> {
        self.0.pop_front()
    }
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}

/// A wire that says how many datagrams it is given together.
struct Batches(Option<Bytes>, mpsc::UnboundedSender<usize>);

impl Wire for Batches {
    async fn recv(&mut self, batch: &mut Vec<(Locator, Arrival)>) -> std::io::Result<()> {
        match self.0.take() {
            Some(datagram) => batch.push((PEER, Arrival::One(datagram.into()))),
            None => std::future::pending().await,
        }
        Ok(())
    }
    fn take(&mut self, _batch: &mut Vec<(Locator, Arrival)>) -> std::io::Result<()> {
        Ok(())
    }
    fn send(&mut self, batch: &mut [(Locator, Bytes)]) {
        self.1.send(batch.len()).unwrap();
    }
}

#[tokio::test]
async fn a_probe_is_in_no_train() {
    let folder = std::env::temp_dir().join(format!("folkmoot-probe-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let store = Store::open(&folder.join("member.sqlite")).unwrap();
    let (out, mut sent) = mpsc::unbounded_channel();
    let wire = Batches(Some("of one size".into()), out);
    let machine = Embedded::new(Prober::default(), App::default());
    let running = start(machine, wire, store, Clock::start(), Generation::of_this_machine()).unwrap();
    for datagrams in [2, 1, 1] {
        assert_eq!(sent.recv().await.unwrap(), datagrams);
    }
    running.stop().await.unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}
