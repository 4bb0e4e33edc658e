//! Cookies: an address proves that it answers before it costs any state (LINK-02).

use crate::limits::COOKIE_LIFE;
use crate::message::{COOKIE_BYTES, Cookie};
use core::fmt;
use folkmoot_base::{Instant, Locator, Secret, hmac_sha256};

/// Makes and judges cookies; keeps nothing but one secret.
pub(super) struct Cookies(Secret<[u8; 32]>);

impl fmt::Debug for Cookies {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Cookies(..)")
    }
}

impl Cookies {
    pub(super) fn new(secret: [u8; 32]) -> Self {
        Self(Secret::new(secret))
    }

    /// The cookie for a Hello with `index` that came from `at`.
    pub(super) fn make(&self, now: Instant, at: &Locator, index: u32) -> Cookie {
        self.of(slot(now), at, index)
    }

    /// Whether `cookie` was made for that Hello, in this time slot or the one before.
    pub(super) fn holds(&self, now: Instant, at: &Locator, index: u32, cookie: &Cookie) -> bool {
        let given = Secret::new(*cookie);
        let slot = slot(now);
        [slot, slot.wrapping_sub(1)].into_iter().any(|slot| Secret::new(self.of(slot, at, index)) == given)
    }

    fn of(&self, slot: u64, at: &Locator, index: u32) -> Cookie {
        let (place, text) = at.distinct();
        let mac = hmac_sha256(
            self.0.expose(),
            &[b"folkmoot link v1 cookie", &slot.to_be_bytes(), &index.to_be_bytes(), &place, text],
        );
        mac.first_chunk::<COOKIE_BYTES>().copied().unwrap_or_default()
    }
}

fn slot(now: Instant) -> u64 {
    now.since(Instant(0)).as_secs().checked_div(COOKIE_LIFE.as_secs()).unwrap_or(0)
}
