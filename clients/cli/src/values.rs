//! Reads the values of the command line. Nothing here knows the commands.

use crate::words;
use clap::ValueEnum;
use folkmoot::{Locator, Service};
use folkmoot_base::{Cipher, Keying, LocatorError};
use folkmoot_identity::{Contact, Dealer, KeyAlgorithm, Minority, Mode, Scheme};
use folkmoot_transcript::{KnownHead, NoHead};

/// The ordering ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ordering {
    /// As it comes, or not at all.
    Unreliable,
    /// As it comes.
    Reliable,
    /// In the order of its sender.
    Fifo,
    /// After everything its sender had heard.
    Causal,
    /// In one order for all.
    Agreed,
    /// In one order, and only when all are known to hold it.
    Safe,
}

impl From<Ordering> for Service {
    fn from(ordering: Ordering) -> Self {
        match ordering {
            Ordering::Unreliable => Self::Unreliable,
            Ordering::Reliable => Self::Reliable,
            Ordering::Fifo => Self::Fifo,
            Ordering::Causal => Self::Causal,
            Ordering::Agreed => Self::Agreed,
            Ordering::Safe => Self::Safe,
        }
    }
}

/// How packets go to all other members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Multicast {
    /// To each by itself.
    #[default]
    Off,
    /// By IP multicast if all hear that, else to each.
    Auto,
}

/// A scheme that a charter may name, by its name.
///
/// # Errors
/// The names that there are.
pub fn scheme(word: &str) -> Result<Scheme, String> {
    Scheme::from_name(word).ok_or_else(|| "it must be plain, asm, ts-dsa, frost or shoup-rsa".to_owned())
}

pub(crate) fn algorithm(word: &str) -> Result<KeyAlgorithm, &'static str> {
    KeyAlgorithm::from_name(word).ok_or("it must be p256, ed25519, rsa-2048 or rsa-3072")
}

pub(crate) fn keying(word: &str) -> Result<Keying, &'static str> {
    Keying::from_name(word).ok_or("it must be by-size, gdh, tgdh, str, bd, ckd, dutta-barua or mls")
}

pub(crate) fn cipher(word: &str) -> Result<Cipher, &'static str> {
    Cipher::from_name(word).ok_or("it must be aes-256-gcm or chacha20-poly1305")
}

/// A locator as a charter has it; this release has its transport.
pub(crate) fn contact(word: &str) -> Result<Contact, String> {
    Contact::read(&ours(word)?.to_string()).map_err(str::to_owned)
}

/// Where somebody may be found by this release.
///
/// # Errors
/// It is no locator, leads nowhere, or is of a transport that this release does not have.
pub(crate) fn locator(word: &str) -> Result<Locator, String> {
    let nowhere =
        |at: &Locator| format!("nobody is found at {at}: give an address of a machine, and the port");
    let at = ours(word)?;
    if at.leads_somewhere() { Ok(at) } else { Err(nowhere(&at)) }
}

/// A locator of a transport that this release has.
fn ours(word: &str) -> Result<Locator, String> {
    let at: Locator = word.parse().map_err(|error: LocatorError| error.to_string())?;
    let other = || format!("this release has no transport for {at}; write udp/ADDRESS:PORT");
    if is_ours(&at) { Ok(at) } else { Err(other()) }
}

/// Whether this release has the transport.
pub(crate) fn is_ours(at: &Locator) -> bool {
    at.as_udp().is_some()
}

/// A head in digits or in words.
pub(crate) fn head(text: &str) -> Result<KnownHead, String> {
    let text = text.trim();
    let digits = if text.contains(words::BETWEEN) {
        words::head(text).map_err(|error| error.to_string())?
    } else {
        text.to_owned()
    };
    let or_words = |error: NoHead| format!("{error}; or its number and its words, as in \"17 zoo zone ...\"");
    digits.parse().map_err(or_words)
}

/// Who signs certificates, by its name.
///
/// # Errors
/// The names that there are.
pub fn mode(word: &str) -> Result<Mode, &'static str> {
    let all = [Mode::Decentralised, Mode::Centralised];
    all.into_iter().find(|mode| mode.name() == word).ok_or("it must be decentralised or centralised")
}

pub(crate) fn dealer(word: &str) -> Result<Dealer, &'static str> {
    Dealer::from_word(word).ok_or("it must be keeps or setup-only")
}

pub(crate) fn minority(word: &str) -> Result<Minority, &'static str> {
    Minority::from_word(word).ok_or("it must be continue, read-only or stop")
}

pub(crate) fn ratio(word: &str) -> Result<u32, &'static str> {
    word.strip_suffix('%').and_then(|number| number.parse().ok()).ok_or("write a share as 30%")
}
