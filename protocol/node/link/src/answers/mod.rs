//! Handshakes in: what a Hello gets, and the handshakes that wait for a Finish.

mod cookie;
mod half;
mod shares;

pub(crate) use half::Hello;

use crate::call::Around;
use crate::handshake::Proved;
use crate::limits::{HALF_OPEN_MAX, HALF_OPEN_STAY};
use crate::message::{Cookie, Datagram, Part};
use crate::routes::{Route, Routes};
use crate::{Exchange, LinkError};
use cookie::Cookies;
use core::cmp::Reverse;
use folkmoot_base::{Entropy, Host, Instant, Locator, draw};
use half::HalfOpen;
use shares::Shares;
use std::collections::BTreeMap;

/// What is needed to answer.
#[derive(Debug)]
pub(crate) struct Answers {
    cookies: Cookies,
    shares: Shares,
    /// By our index.
    half: BTreeMap<u32, HalfOpen>,
}

impl Answers {
    /// Draws the secret of the cookies.
    pub(crate) fn new(entropy: &mut dyn Entropy) -> Self {
        Self { cookies: Cookies::new(draw(entropy)), shares: Shares::default(), half: BTreeMap::new() }
    }

    /// LINK-21: a Hello of the other form is refused. LINK-02: a Hello without a good cookie gets a
    /// cookie, and leaves no trace. LINK-04: a Hello with a good cookie gets a half-open handshake,
    /// at a bounded rate.
    pub(crate) fn hello(
        &mut self,
        now: Instant,
        (theirs, hello): (Exchange, Hello),
        cookie: &Cookie,
        entropy: &mut dyn Entropy,
        around: &mut Around<'_>,
    ) -> Result<(), LinkError> {
        let (from, to) = (&hello.from, hello.index);
        let asks = around.own.config.exchange;
        if theirs != asks {
            around.out.transmit(from, [Datagram::Refusal { to, asks }.encode()]);
            return Err(LinkError::WireOtherForm { at: from.clone(), theirs });
        }
        if hello.noise.is_empty() || !self.cookies.holds(now, from, to, cookie) {
            let cookie = self.cookies.make(now, from, to);
            around.out.count_cookie();
            around.out.transmit(from, [Datagram::Retry { to, cookie }.encode()]);
            return Ok(());
        }
        let known = self.half.iter_mut().find(|(_, half)| half.from() == from);
        let replaced = match known {
            Some((_, half)) if half.answers(&hello) => {
                around.out.transmit(from, half.repeat(now).unwrap_or_default());
                return Ok(());
            }
            Some((index, _)) => Some(*index),
            None => None,
        };
        self.answer(now, hello, replaced, entropy, around)
    }

    fn answer(
        &mut self,
        now: Instant,
        hello: Hello,
        replaced: Option<u32>,
        entropy: &mut dyn Entropy,
        around: &mut Around<'_>,
    ) -> Result<(), LinkError> {
        let from = &hello.from.clone();
        if !self.shares.take(now, from.host()) {
            return Err(LinkError::WireBusy(from.clone()));
        }
        let makes_room = if replaced.is_some() { replaced } else { self.room(now, from)? };
        let index = around.routes.unused(entropy);
        let half = HalfOpen::new(now, around.own, hello, index, draw(entropy))?;
        makes_room.into_iter().for_each(|index| self.forget(index, around.routes));
        around.routes.set(index, Route::HalfOpen);
        around.out.transmit(from, half.reply());
        around.out.note(half.end());
        self.half.insert(index, half);
        Ok(())
    }

    /// If no half-open handshake more can be kept: the oldest of the host that has the most makes
    /// room, at once for a host that has two fewer, else once it is old enough.
    fn room(&self, now: Instant, from: &Locator) -> Result<Option<u32>, LinkError> {
        if self.half.len() < HALF_OPEN_MAX {
            return Ok(None);
        }
        let count = |host: Host| self.half.values().filter(|half| half.host() == host).count();
        let counted = self.half.iter().map(|(index, half)| (count(half.host()), half.started(), *index));
        let heaviest = counted.min_by_key(|(count, started, _)| (Reverse(*count), *started));
        let own = count(from.host());
        heaviest
            .filter(|(most, started, _)| {
                *most >= own.saturating_add(2) || now.since(*started) >= HALF_OPEN_STAY
            })
            .map(|(_, _, index)| Some(index))
            .ok_or_else(|| LinkError::WireBusy(from.clone()))
    }

    /// A Finish for a half-open handshake. Returns the identity that it proves, once it is whole.
    pub(crate) fn finish(
        &mut self,
        now: Instant,
        from: &Locator,
        part: &Part,
        around: &mut Around<'_>,
    ) -> Result<Option<Proved>, LinkError> {
        let half = self.half.get_mut(&part.to).ok_or_else(|| LinkError::WireUnknown(from.clone()))?;
        let result = half.finish(now, from, around.own, part);
        // Anybody can forge a Finish; the genuine one may still come.
        if !matches!(result, Ok(None) | Err(LinkError::WireForged(_))) {
            self.forget(part.to, around.routes);
        }
        result
    }

    fn forget(&mut self, index: u32, routes: &mut Routes) {
        if self.half.remove(&index).is_some() {
            routes.remove(index);
        }
    }

    /// Forgets the handshakes that were not finished in time.
    pub(crate) fn expire(&mut self, now: Instant, routes: &mut Routes) {
        let old = self.half.extract_if(.., |_, half| half.end() <= now);
        old.for_each(|(index, _)| routes.remove(index));
    }

    /// When to call [`Self::expire`].
    pub(crate) fn due(&self) -> Option<Instant> {
        self.half.values().map(HalfOpen::end).min()
    }
}
