//! The messages of discovery, and a machine that hears whatever there is.

use folkmoot_base::codec::encode;
use folkmoot_base::{Entropy, Instant, UnixTime, digest};
use folkmoot_pubsub::discovery::message::Signed;
use folkmoot_pubsub::discovery::{Discovery, Exclusion, Input, Output, Papers, Settings, Standing};
use std::time::Duration;

const DOMAIN: &[u8] = b"239.255.76.67:7667";

/// Believes every signature, so that the fuzzer need not make any: all that is behind is reached.
struct Gullible([u8; 2]);

impl Papers for Gullible {
    fn certificate(&self) -> &[u8] {
        &self.0
    }

    fn sign(&self, _: &[u8]) -> Vec<u8> {
        vec![1]
    }

    fn judge(&self, _: &[u8], certificate: &[u8], _: Option<UnixTime>) -> Option<Standing> {
        let uid = u16::from_be_bytes(*certificate.first_chunk()?);
        Some(Standing { uid, until: None })
    }

    fn verify(&self, _: &[u8], _: &[u8], _: &[u8]) -> bool {
        true
    }

    fn judge_exclusion(&self, _: &[u8], statement: &[u8]) -> Option<Exclusion> {
        Some(Exclusion { holder: digest(&[statement]), until: None })
    }
}

struct Counting(u64);

impl Entropy for Counting {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.0 += 1;
            chunk.iter_mut().zip(digest(&[&self.0.to_be_bytes()])).for_each(|(to, from)| *to = from);
        }
    }
}

/// One message. What is read is written as it came.
pub fn lcm_keys_message(data: &[u8]) {
    if let Ok((signed, body)) = Signed::read(data) {
        assert_eq!(encode(&signed), data);
        assert_eq!(encode(&body), signed.body.0);
    }
}

/// A machine that is told messages: each behind a byte for the time since the last and two for the
/// length. Then its disk is read again.
pub fn lcm_keys_machine(data: &[u8]) {
    let mut entropy = Counting(0);
    let Ok(mut machine) = Discovery::new(Gullible([0, 1]), Settings::new(DOMAIN), None) else { return };
    let (mut now, mut rest, mut disk) = (Instant(0), data, None);
    machine.handle(now, Input::Start, &mut entropy);
    while let Some(([pause, high, low], after)) = rest.split_first_chunk() {
        let until = now + Duration::from_millis(u64::from(*pause) * 4);
        while let Some(at) = machine.poll_timeout().filter(|at| *at <= until) {
            now = at.max(now + Duration::from_micros(1));
            machine.handle(now, Input::Timeout, &mut entropy);
            drain(&mut machine, &mut disk);
        }
        now = until.max(now);
        let length = usize::from(u16::from_be_bytes([*high, *low])).min(after.len());
        let (message, after) = after.split_at(length);
        rest = after;
        machine.handle(now, Input::Message(message), &mut entropy);
        drain(&mut machine, &mut disk);
    }
    assert!(Discovery::new(Gullible([0, 1]), Settings::new(DOMAIN), disk.as_deref()).is_ok());
}

fn drain(machine: &mut Discovery<Gullible>, disk: &mut Option<bytes::Bytes>) {
    let mut count = 0;
    while let Some(output) = machine.poll_output() {
        count += 1;
        assert!(count < 1_000, "outputs without end");
        if let Output::Persist(bytes) = output {
            *disk = Some(bytes);
        }
    }
    assert!(machine.remembered() <= 1_024);
}

/// A run of four nodes, as the last of them hears it, and its messages one by one.
pub(crate) fn seeds() -> [(&'static str, Vec<Vec<u8>>); 2] {
    let mut entropy = Counting(9);
    let nodes = 0..4_u8;
    let mut machines: Vec<_> = nodes
        .filter_map(|node| Discovery::new(Gullible([0, node + 1]), Settings::new(DOMAIN), None).ok())
        .collect();
    let (mut wire, mut heard, mut last) = (Vec::<(usize, bytes::Bytes)>::new(), Vec::new(), Instant(0));
    for step in 0..2_500_u64 {
        let now = Instant(step * 1_000);
        let comes = std::mem::take(&mut wire);
        for (place, machine) in machines.iter_mut().enumerate() {
            if step == u64::try_from(place).unwrap_or(0) * 3 {
                machine.handle(now, Input::Start, &mut entropy);
            }
            for (_, bytes) in comes.iter().filter(|(from, _)| *from != place) {
                machine.handle(now, Input::Message(bytes), &mut entropy);
            }
            if machine.poll_timeout().is_some_and(|at| at <= now) {
                machine.handle(now, Input::Timeout, &mut entropy);
            }
            while let Some(output) = machine.poll_output() {
                if let Output::Send(bytes) = output {
                    wire.push((place, bytes));
                }
            }
        }
        for (_, bytes) in comes.iter().filter(|(from, _)| *from != 0) {
            let pause = u8::try_from(now.since(last).as_millis() / 4).unwrap_or(u8::MAX);
            last = now;
            heard.push((pause, bytes.to_vec()));
        }
    }
    let told = |(pause, bytes): &(u8, Vec<u8>)| {
        let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX).to_be_bytes();
        [&[*pause][..], &length, bytes].concat()
    };
    let script = heard.iter().flat_map(told).collect();
    let messages = heard.into_iter().map(|(_, bytes)| bytes).collect();
    [("lcm_keys_message", messages), ("lcm_keys_machine", vec![script])]
}
