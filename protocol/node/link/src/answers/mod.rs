//! Handshakes in: what a Hello gets, and the handshakes that wait for a Finish.

mod cookie;
mod half;
mod shares;

pub(crate) use cookie::Cookies;
pub(crate) use half::{HalfOpen, Hello};
pub(crate) use shares::Shares;

use crate::limits::{HALF_OPEN_LIFE, HALF_OPEN_MAX, HALF_OPEN_STAY, REPEAT_MIN};
use crate::links::Route;
use crate::message::{Control, Cookie, Datagram, Part};
use crate::{Credentials, Exchange, LinkError, Links};
use core::cmp::Reverse;
use folkmoot_base::{Entropy, Host, Instant, Locator, draw};

impl<C: Credentials> Links<C> {
    /// LINK-21: a Hello of the other form is refused. LINK-02: a Hello without a good cookie gets a
    /// cookie, and leaves no trace. LINK-04: a Hello with a good cookie gets a half-open handshake,
    /// at a bounded rate.
    pub(crate) fn hello(
        &mut self,
        now: Instant,
        theirs: Exchange,
        hello: Hello,
        cookie: &Cookie,
        entropy: &mut dyn Entropy,
    ) -> Result<(), LinkError> {
        let (from, their_index) = (&hello.from.clone(), hello.index);
        let asks = self.config.exchange;
        if theirs != asks {
            self.transmit(from, [Datagram::Refusal { to: their_index, asks }.encode()]);
            return Err(LinkError::WireOtherForm { at: from.clone(), theirs });
        }
        if hello.noise.is_empty() || !self.cookies.holds(now, from, their_index, cookie) {
            let cookie = self.cookies.make(now, from, their_index);
            self.counters.cookies = self.counters.cookies.saturating_add(1);
            self.transmit(from, [Datagram::Retry { to: their_index, cookie }.encode()]);
            return Ok(());
        }
        let known = self.half.iter_mut().find(|(_, half)| half.hello.from == *from);
        if let Some((index, half)) = known {
            if half.hello == hello {
                if now.since(half.repeated) >= REPEAT_MIN {
                    half.repeated = now;
                    let reply = half.reply.clone();
                    self.transmit(from, reply);
                }
                return Ok(());
            }
            let replaced = Some(*index);
            return self.answer(now, hello, replaced, entropy);
        }
        self.answer(now, hello, None, entropy)
    }

    /// If no half-open handshake more can be kept: the oldest of the host that has the most makes
    /// room, at once for a host that has two fewer, else once it is old enough.
    fn room_for_half(&self, now: Instant, from: &Locator) -> Result<Option<u32>, LinkError> {
        if self.half.len() < HALF_OPEN_MAX {
            return Ok(None);
        }
        let count = |host: Host| self.half.values().filter(|half| half.hello.from.host() == host).count();
        let counted = self.half.iter().map(|(index, half)| (count(half.hello.from.host()), half, *index));
        let heaviest = counted.min_by_key(|(count, half, _)| (Reverse(*count), half.started));
        let own = count(from.host());
        heaviest
            .filter(|(most, half, _)| {
                *most >= own.saturating_add(2) || now.since(half.started) >= HALF_OPEN_STAY
            })
            .map(|(_, _, index)| Some(index))
            .ok_or_else(|| LinkError::WireBusy(from.clone()))
    }

    fn answer(
        &mut self,
        now: Instant,
        hello: Hello,
        replaced: Option<u32>,
        entropy: &mut dyn Entropy,
    ) -> Result<(), LinkError> {
        let from = &hello.from.clone();
        if !self.answers.take(now, from.host()) {
            return Err(LinkError::WireBusy(from.clone()));
        }
        let makes_room = if replaced.is_some() { replaced } else { self.room_for_half(now, from)? };
        let index = self.new_index(entropy);
        let half = HalfOpen::new(now, &self.common(), hello, index, draw(entropy))?;
        makes_room.into_iter().for_each(|index| self.forget_half(index));
        let reply = half.reply.clone();
        self.routes.insert(index, Route::HalfOpen);
        self.half.insert(index, half);
        self.transmit(from, reply);
        self.note(now + HALF_OPEN_LIFE);
        Ok(())
    }

    fn forget_half(&mut self, index: u32) {
        if self.half.remove(&index).is_some() {
            self.routes.remove(&index);
        }
    }

    pub(crate) fn finish(&mut self, now: Instant, from: &Locator, part: &Part) -> Result<(), LinkError> {
        match self.routes.get(&part.to).copied() {
            Some(Route::Peer(node)) => {
                // Our confirmation was lost; one ping repeats it.
                if self.peers.get(&node).is_some_and(|peer| now.since(peer.sent) >= REPEAT_MIN) {
                    self.control_out(now, node, &Control::Ping(now.0));
                }
                return Ok(());
            }
            Some(Route::Former(node)) => {
                self.show_start(now, node);
                return Ok(());
            }
            Some(Route::HalfOpen) => {}
            _ => return Err(LinkError::WireUnknown(from.clone())),
        }
        let mut half = self.half.remove(&part.to).ok_or_else(|| LinkError::WireUnknown(from.clone()))?;
        match half.finish(now, from, &self.common(), part) {
            Ok(Some(proved)) => {
                self.establish(now, from, proved, false)?;
                Ok(())
            }
            Ok(None) => {
                self.half.insert(part.to, half);
                Ok(())
            }
            Err(error @ LinkError::WireForged(_)) => {
                self.half.insert(part.to, half);
                Err(error)
            }
            Err(error) => {
                self.routes.remove(&part.to);
                Err(error)
            }
        }
    }
}
