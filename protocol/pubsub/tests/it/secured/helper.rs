//! Keys, senders and listeners, for the tests.

use crate::helper::{channel, sender};
use folkmoot_base::{Instant, Mutant};
use folkmoot_pubsub::secured::{
    Cause, Danger, Domain, DomainKey, Material, Member, Mode, OpenError, Opener, SealError, Sealer, SenderId,
    Suite, Times,
};
use folkmoot_pubsub::{Limits, Sizes};

pub(crate) fn id(number: u16) -> SenderId {
    SenderId::new(number).unwrap()
}

pub(crate) fn group() -> Domain {
    "239.255.76.67:7667".parse().unwrap()
}

pub(crate) fn domain(name: &str) -> Domain {
    group().with_channel(channel(name))
}

pub(crate) fn members(numbers: &[u16]) -> Vec<Member> {
    numbers.iter().map(|number| id(*number).into()).collect()
}

/// The `seed`-th key of a domain, of members 1 to 9.
pub(crate) fn key(mode: Mode, domain: Domain, seed: u8) -> DomainKey {
    of(mode, domain, seed, &[1, 2, 3, 4, 5, 6, 7, 8, 9])
}

pub(crate) fn of(mode: Mode, domain: Domain, seed: u8, numbers: &[u16]) -> DomainKey {
    let material = Material::derive(Suite::Aes128, &domain, &[seed; 32]);
    DomainKey::new(mode, domain, &material, members(numbers)).unwrap()
}

pub(crate) fn without(danger: Danger) -> Times {
    Times { danger: Mutant::from(Some(danger)), ..Times::default() }
}

/// One who speaks.
pub(crate) struct Mouth {
    pub(crate) sealer: Sealer,
    pub(crate) now: Instant,
}

impl Mouth {
    /// With the keys of the multicast group and of these channels.
    pub(crate) fn new(mode: Mode, number: u16, names: &[&str]) -> Self {
        Self::with(mode, number, names, Times::default())
    }

    pub(crate) fn with(mode: Mode, number: u16, names: &[&str], times: Times) -> Self {
        let sealer = Sealer::new(mode, group(), id(number), Sizes::SMALL, times);
        let mut mouth = Self { sealer, now: Instant(0) };
        mouth.take(key(mode, group(), 0), Cause::Joined);
        names.iter().for_each(|name| mouth.take(key(mode, domain(name), 0), Cause::Joined));
        mouth
    }

    pub(crate) fn take(&mut self, key: DomainKey, cause: Cause) {
        self.sealer.install(self.now, key, cause).unwrap();
    }

    pub(crate) fn try_say(&mut self, name: &str, said: &[u8]) -> Result<Vec<Vec<u8>>, SealError> {
        let packets = self.sealer.seal(self.now, channel(name), said)?;
        Ok(packets.map(|packet| [packet.head(), packet.data].concat()).collect())
    }

    pub(crate) fn say(&mut self, name: &str, said: &[u8]) -> Vec<Vec<u8>> {
        self.try_say(name, said).unwrap()
    }
}

/// One who listens.
pub(crate) struct Ear {
    pub(crate) opener: Opener,
    pub(crate) now: Instant,
}

impl Ear {
    pub(crate) fn new(mode: Mode, names: &[&str]) -> Self {
        Self::with(mode, names, Times::default())
    }

    pub(crate) fn with(mode: Mode, names: &[&str], times: Times) -> Self {
        let mut ear = Self::deaf(mode, times);
        ear.take(key(mode, group(), 0), Cause::Joined);
        names.iter().for_each(|name| ear.take(key(mode, domain(name), 0), Cause::Joined));
        ear
    }

    /// Without keys.
    pub(crate) fn deaf(mode: Mode, times: Times) -> Self {
        Self { opener: Opener::new(mode, group(), Limits::default(), times), now: Instant(0) }
    }

    pub(crate) fn take(&mut self, key: DomainKey, cause: Cause) {
        self.opener.install(self.now, key, cause).unwrap();
    }

    /// What this datagram completes: channel and content.
    pub(crate) fn hear(&mut self, datagram: &[u8]) -> Result<Option<(String, Vec<u8>)>, OpenError> {
        let mut datagram = datagram.to_vec();
        let opened = self.opener.receive(self.now, sender(1), &mut datagram)?;
        Ok(opened.map(|opened| (opened.channel.text(), opened.payload.to_vec())))
    }

    /// All that comes of these, whatever is refused.
    pub(crate) fn hear_all<'a>(&mut self, datagrams: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<Vec<u8>> {
        let heard = datagrams.into_iter().filter_map(|datagram| self.hear(datagram).ok().flatten());
        heard.map(|(_, content)| content).collect()
    }
}

/// Bytes that are the same in each run.
pub(crate) struct Count(pub(crate) u8);

impl folkmoot_base::Entropy for Count {
    fn fill(&mut self, out: &mut [u8]) {
        for byte in out {
            self.0 = self.0.wrapping_mul(181).wrapping_add(7);
            *byte = self.0;
        }
    }
}
