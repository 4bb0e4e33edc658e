//! What a member hands to a newcomer: all that asking for admission takes, as one line of text.
//!
//! ```text
//! folkmoot-ticket:AQAA...    base64url of version ‖ body ‖ signature of the member that made it
//! ```
//! In it is a voucher, which the newcomer shows with its request (voucher.rs). A ticket is no
//! permission: the voters admit. It is as good as the way by which it came. Who
//! signed it answers for it, and can be asked.

use crate::{Head, SignatureBytes, Voucher, Vouching};
use base64ct::{Base64UrlUnpadded, Encoding};
use folkmoot_base::codec::{self, Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{DecodeError, Locator, MemberId, UnixTime};
use folkmoot_identity::{CharterError, Identity, IdentityCertificate, SignedCharter};

/// How a ticket's text begins.
pub const TICKET_PREFIX: &str = "folkmoot-ticket:";
/// Longest text of a ticket with which the program that reads it begins, in bytes.
pub const TICKET_TEXT_MAX: usize = 96 * 1024;
/// How often a text may say how a ticket begins.
const BEGINNINGS_MAX: usize = 4;
/// Lines of other words right behind a ticket.
const LINES_BEHIND_MAX: usize = 64;
/// Most contacts in one.
pub const CONTACTS_MAX: usize = 8;
/// Longest time from when a ticket is made until it ends, in days: older decisions are forgotten.
pub const TICKET_DAYS_MAX: u64 = 90;
/// What its maker signs it under.
const LABEL: &[u8] = b"folkmoot ticket v1";
/// Longest ticket in bytes: the longest charter, a certificate, the rest.
const BYTES_MAX: usize = 52 * 1024;
/// How far a newcomer's clock may be behind the maker's, in seconds.
const AHEAD_SECONDS: u64 = 3_600;
const DAY: u64 = 86_400;

/// What a ticket says.
#[derive(Debug, Clone)]
pub struct Invitation {
    /// The group's founding rules, signed by all founders.
    pub charter: SignedCharter,
    /// The maker's head: the newcomer follows only a line that has it.
    pub head: Head,
    /// When it was made, by the maker's clock.
    pub made: UnixTime,
    /// Until when it serves.
    pub ends: UnixTime,
    /// Where members of the group listen.
    pub contacts: Vec<Locator>,
    /// The only key that it is for, if it is for one.
    pub holder: Option<MemberId>,
    /// Random: of the voucher.
    pub serial: [u8; 16],
}

impl Invitation {
    fn vouching(&self) -> Vouching {
        Vouching { serial: self.serial, ends: self.ends, holder: self.holder }
    }
}

/// An invitation with its maker.
#[derive(Debug, Clone)]
pub struct Ticket {
    invitation: Invitation,
    voucher: Voucher,
    maker: IdentityCertificate,
    bytes: Vec<u8>,
}

/// Why a text is no ticket that serves.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TicketError {
    /// It does not begin as a ticket does.
    #[error("a ticket begins with {TICKET_PREFIX}")]
    Prefix,
    /// It is cut, changed, or too long.
    #[error("the ticket was cut short or changed on its way: copy it again (TKT-01)")]
    Text,
    /// Its bytes are no ticket of this release.
    #[error("the ticket cannot be read: it was changed on its way, or a newer release made it (TKT-01)")]
    Wire(#[source] DecodeError),
    /// The signature is not its maker's.
    #[error("the ticket was changed on its way: its maker has not signed this (TKT-02)")]
    Signature,
    /// The maker's fault: the charter.
    #[error("the charter in the ticket is not valid; its maker is to blame (TKT-03)")]
    Charter(#[source] CharterError),
    /// The maker's fault: the contacts.
    #[error("a ticket names 1 to {CONTACTS_MAX} addresses, each once; its maker is to blame (TKT-04)")]
    Contacts,
    /// The maker's fault: the dates.
    #[error(
        "a ticket ends after it is made, and within {TICKET_DAYS_MAX} days; its maker is to blame (TKT-05)"
    )]
    Term,
    /// It has ended.
    #[error("the ticket ended at {0} (TKT-06)")]
    Ended(UnixTime),
    /// It is dated later than now.
    #[error("the ticket was made at {0}, which has not come yet by the clock of this machine (TKT-06)")]
    Early(UnixTime),
    /// It is for another key.
    #[error("the ticket is for another key, {} (TKT-07)", .0.hex())]
    Holder(MemberId),
    /// The maker's fault: the voucher.
    #[error("the voucher in the ticket is not its maker's; the maker is to blame (TKT-08)")]
    Voucher,
}

#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct Body {
    charter: Blob,
    head: Head,
    made: UnixTime,
    ends: UnixTime,
    contacts: Vec<Blob>,
    holder: Option<MemberId>,
    serial: [u8; 16],
    vouched: SignatureBytes,
    maker: Blob,
}

#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct Signed {
    body: Body,
    signature: SignatureBytes,
}

impl Ticket {
    /// Makes one.
    ///
    /// # Errors
    /// [`TicketError`] with a rule that the maker breaks.
    pub fn sign(invitation: Invitation, maker: &Identity) -> Result<Self, TicketError> {
        let group = invitation.charter.charter().group();
        let voucher = Voucher::sign(group, invitation.vouching(), maker);
        let contacts = invitation.contacts.iter().map(|at| at.to_string().into_bytes().into());
        let body = Body {
            charter: invitation.charter.der().to_vec().into(),
            head: invitation.head,
            made: invitation.made,
            ends: invitation.ends,
            contacts: contacts.collect(),
            holder: invitation.holder,
            serial: invitation.serial,
            vouched: voucher.signature,
            maker: maker.certificate().der().to_vec().into(),
        };
        let signature = maker.sign(LABEL, &codec::encode(&body)).to_wire();
        Self::decode(&codec::encode(&Signed { body, signature }))
    }

    /// As one line.
    pub fn text(&self) -> String {
        format!("{TICKET_PREFIX}{}", Base64UrlUnpadded::encode_string(&self.bytes))
    }

    /// Whether a text is meant to be a ticket.
    pub fn begins(text: &str) -> bool {
        text.trim_ascii_start().starts_with(TICKET_PREFIX)
    }

    /// Whether there is one in a text, a mail perhaps.
    pub fn is_in(text: &str) -> bool {
        text.contains(TICKET_PREFIX)
    }

    /// Reads the ticket in a text that somebody sent: spaces, line ends and a mail's quotation
    /// marks in it do not matter, nor other words before it and in lines behind it.
    ///
    /// # Errors
    /// [`TicketError`]
    pub fn from_text(text: &str) -> Result<Self, TicketError> {
        let mut refused = TicketError::Prefix;
        let mut rest = text;
        // A mail may say how a ticket begins before it has one.
        for _ in 0..BEGINNINGS_MAX {
            let Some((_, behind)) = rest.split_once(TICKET_PREFIX) else { break };
            match Self::behind(behind) {
                Ok(ticket) => return Ok(ticket),
                Err(why) => refused = why,
            }
            rest = behind;
        }
        Err(refused)
    }

    /// Reads what stands behind the beginning. It does not say where it ends: what is cut off in a
    /// wrong place is no ticket.
    fn behind(text: &str) -> Result<Self, TicketError> {
        if text.len() > TICKET_TEXT_MAX {
            return Err(TicketError::Text);
        }
        let lines = || text.lines().map(signs);
        let paragraph: String =
            lines().skip_while(String::is_empty).take_while(|line| !line.is_empty()).collect();
        let lines: Vec<String> = lines().filter(|line| !line.is_empty()).collect();
        let mut whole = lines.concat();
        let first = Self::read(&whole);
        let open =
            |read: &Result<Self, TicketError>| matches!(read, Err(TicketError::Text | TicketError::Wire(_)));
        if !open(&first) {
            return first;
        }
        let read = Self::read(&paragraph);
        if !open(&read) {
            return read;
        }
        for line in lines.iter().rev().take(LINES_BEHIND_MAX) {
            whole.truncate(whole.len().saturating_sub(line.len()));
            let read = Self::read(&whole);
            if !open(&read) {
                return read;
            }
        }
        first
    }

    fn read(text: &str) -> Result<Self, TicketError> {
        let bytes = Base64UrlUnpadded::decode_vec(text).map_err(|_| TicketError::Text)?;
        Self::decode(&bytes)
    }

    fn decode(bytes: &[u8]) -> Result<Self, TicketError> {
        let Signed { body, signature } =
            codec::decode_at_most(bytes, BYTES_MAX).map_err(TicketError::Wire)?;
        let maker = IdentityCertificate::from_der(body.maker.as_ref()).map_err(|_| TicketError::Signature)?;
        let signed = maker.key().verify_wire(LABEL, &codec::encode(&body), &signature);
        signed.map_err(|_| TicketError::Signature)?;
        let invitation = body.open()?;
        let (says, group) = (invitation.vouching(), invitation.charter.charter().group());
        let voucher = Voucher { says, maker: maker.member(), signature: body.vouched };
        voucher.verify(group, maker.key()).map_err(|_| TicketError::Voucher)?;
        Ok(Self { invitation, voucher, maker, bytes: bytes.to_vec() })
    }

    /// What it says.
    pub fn invitation(&self) -> &Invitation {
        &self.invitation
    }

    /// What the newcomer shows with its request.
    pub fn voucher(&self) -> &Voucher {
        &self.voucher
    }

    /// Who signed it. Anybody can make a key and sign.
    pub fn maker(&self) -> &IdentityCertificate {
        &self.maker
    }

    /// `TKT-06`, `TKT-07`: whether it serves this newcomer now.
    ///
    /// # Errors
    /// [`TicketError::Ended`], [`TicketError::Early`], [`TicketError::Holder`].
    pub fn check(&self, newcomer: &MemberId, now: UnixTime) -> Result<(), TicketError> {
        let Invitation { made, ends, holder, .. } = &self.invitation;
        if *ends <= now {
            return Err(TicketError::Ended(*ends));
        }
        if made.0 > now.0.saturating_add(AHEAD_SECONDS) {
            return Err(TicketError::Early(*made));
        }
        match holder {
            Some(holder) if holder != newcomer => Err(TicketError::Holder(*holder)),
            _ => Ok(()),
        }
    }

    /// How many whole days ago it was made.
    pub fn age_days(&self, now: UnixTime) -> u64 {
        now.0.saturating_sub(self.invitation.made.0) / DAY
    }
}

impl Body {
    /// What its maker has signed, judged.
    fn open(&self) -> Result<Invitation, TicketError> {
        let charter =
            SignedCharter::complete_from_der(self.charter.as_ref()).map_err(TicketError::Charter)?;
        let contacts: Vec<Locator> = self.contacts.iter().filter_map(contact).collect();
        let each_once =
            contacts.iter().enumerate().all(|(place, at)| !contacts.iter().take(place).any(|one| one == at));
        if contacts.len() != self.contacts.len()
            || !each_once
            || !(1..=CONTACTS_MAX).contains(&contacts.len())
        {
            return Err(TicketError::Contacts);
        }
        let (made, ends) = (self.made, self.ends);
        if ends <= made || ends.0.saturating_sub(made.0) > TICKET_DAYS_MAX * DAY {
            return Err(TicketError::Term);
        }
        let (head, holder, serial) = (self.head, self.holder, self.serial);
        Ok(Invitation { charter, head, made, ends, contacts, holder, serial })
    }
}

/// What of a line may belong to a ticket.
fn signs(line: &str) -> String {
    line.chars().filter(|sign| !sign.is_whitespace() && *sign != '>').collect()
}

/// A locator in the one text that it has. It leads somewhere.
fn contact(text: &Blob) -> Option<Locator> {
    let text = core::str::from_utf8(text.as_ref()).ok()?;
    text.parse().ok().filter(|at: &Locator| at.leads_somewhere() && at.to_string() == text)
}
