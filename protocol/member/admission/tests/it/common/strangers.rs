//! The strangers on the bus.

use super::{Bus, Parcel, store};
use folkmoot_admission::{Input, Output};
use folkmoot_base::Digest;

impl Bus {
    pub fn stranger_input(&mut self, which: usize, input: Input) {
        let it = &mut self.strangers[which];
        let _ = it.applicant.handle(self.now, input, &it.transcript, &it.identity, &mut self.dice);
        self.drain_stranger(which);
    }

    /// It asks no more.
    pub fn stranger_withdraws(&mut self, which: usize) -> Option<Digest> {
        let it = &mut self.strangers[which];
        let asked = it.applicant.withdraw(self.now, &it.transcript, &it.identity, &mut self.dice);
        self.drain_stranger(which);
        asked
    }

    fn drain_stranger(&mut self, which: usize) {
        let it = &mut self.strangers[which];
        while let Some(output) = it.applicant.poll_output() {
            match output {
                Output::Persist(persist) => store(&mut it.disk, persist),
                Output::Guest { to, payload } => {
                    self.queue.push_back(Parcel::Guest(it.identity.node(), to, payload))
                }
                Output::Event(event) => it.events.push(event),
                _ => {}
            }
        }
    }
}
