//! Measures what a signature and an ordered message cost here and now.

use crate::counts::Event;
use crate::crew::Crew;
use folkmoot::tools::OsEntropy;
use folkmoot::{Service, UnixTime};
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_identity::Identity;
use std::time::{Duration, Instant};

/// How often a message is echoed to learn the ring's pace.
const ECHOES: usize = 15;

/// What a signature costs here.
#[derive(Clone, Copy)]
pub(crate) struct Price {
    sign: Duration,
    verify: Duration,
}

impl Price {
    pub(crate) fn measure() -> Result<Self, Failure> {
        const TIMES: u32 = 100;
        const LABEL: &[u8] = b"folkmoot bench v1";
        let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
        let one =
            Identity::new("price", &mut entropy, UnixTime(0), UnixTime(86_400)).map_err(Failure::bug)?;
        let began = Instant::now();
        let signed = (0..TIMES).map(|_| one.key().sign_wire(LABEL, b"price")).last();
        let sign = began.elapsed() / TIMES;
        let signature = signed.ok_or_else(|| Failure::bug("nothing was signed"))?;
        let began = Instant::now();
        for _ in 0..TIMES {
            one.key().verifying_key().verify_wire(LABEL, b"price", &signature).map_err(Failure::bug)?;
        }
        Ok(Self { sign, verify: began.elapsed() / TIMES })
    }

    /// What one member signs, its step, and verifies of so many. Nobody signs confirmations.
    pub(crate) fn on_one_way(self, messages: u64) -> Duration {
        self.sign + self.verify.saturating_mul(u32::try_from(messages).unwrap_or(u32::MAX))
    }
}

/// How long an ordered message takes from its sender back to it, by service.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    agreed: Duration,
    safe: Duration,
}

impl Pace {
    pub(crate) async fn measure(crew: &mut Crew) -> Result<Self, Failure> {
        let (mut agreed, mut safe) = (Vec::new(), Vec::new());
        for _ in 0..ECHOES {
            agreed.push(crew.echo(Service::Agreed).await?);
            safe.push(crew.echo(Service::Safe).await?);
        }
        Ok(Self { agreed: median(agreed), safe: median(safe) })
    }

    /// The rounds of docs/PROTOCOL.md: the order itself and the flush (a refresh has a REFRESH and
    /// no flush), the module's rounds, and the confirmations, which are safe. Who is left alone has
    /// a key at once.
    pub(crate) fn of(self, event: Event, rounds: u64) -> Duration {
        let before: u64 = if matches!(event, Event::Refresh) { 1 } else { 2 };
        let agreed = before.saturating_add(rounds);
        let safe = rounds.min(1).try_into().unwrap_or(1);
        self.agreed.saturating_mul(u32::try_from(agreed).unwrap_or(u32::MAX)) + self.safe.saturating_mul(safe)
    }
}

/// The middle one, the upper of two.
pub(crate) fn median<T: Ord + Copy + Default>(mut all: Vec<T>) -> T {
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or_default()
}
