//! What a member hands to a newcomer (docs/protocol/ticket.md).

use super::{NOW, draft, person};
use folkmoot_base::codec;
use folkmoot_base::limits::LOCATOR_BYTES_MAX;
use folkmoot_base::{Head, Locator, MemberId, SignatureBytes, UnixTime};
use folkmoot_identity::{Identity, SignedCharter};
use folkmoot_transcript::{
    CONTACTS_MAX, Invitation, TICKET_DAYS_MAX, TICKET_PREFIX, TICKET_TEXT_MAX, Ticket, TicketError, Voucher,
    VoucherError, Vouching,
};
use proptest::prelude::*;
use std::sync::OnceLock;

const DAY: u64 = 86_400;

fn charter() -> &'static SignedCharter {
    static CHARTER: OnceLock<SignedCharter> = OnceLock::new();
    CHARTER.get_or_init(|| {
        let people: Vec<Identity> = (0..2).map(person).collect();
        SignedCharter::sign(&draft(2, 2).to_toml(), &people.iter().collect::<Vec<_>>()).unwrap()
    })
}

fn at(port: u16) -> Locator {
    format!("udp/192.0.2.7:{port}").parse().unwrap()
}

fn invitation() -> Invitation {
    let head = Head { number: 7, digest: [5; 32] };
    let (made, ends) = (NOW, UnixTime(NOW.0 + 14 * DAY));
    let (contacts, serial) = (vec![at(1), at(2)], [6; 16]);
    Invitation { charter: charter().clone(), head, made, ends, contacts, holder: None, serial }
}

fn made(invitation: Invitation) -> Ticket {
    Ticket::sign(invitation, &person(1)).unwrap()
}

/// What no honest program makes: the bytes of a ticket with its body changed, and signed anew.
fn forged(change: impl Fn(&mut Vec<u8>)) -> Result<Ticket, TicketError> {
    let maker = person(1);
    let mut body = bytes(&made(invitation()).text());
    body.truncate(body.len() - 67);
    change(&mut body);
    let signature: SignatureBytes = maker.sign(b"folkmoot ticket v1", &body).to_wire();
    body.extend(&codec::encode(&signature)[1..]);
    Ticket::from_text(&text(&body))
}

fn bytes(text: &str) -> Vec<u8> {
    use base64ct::{Base64UrlUnpadded, Encoding};
    Base64UrlUnpadded::decode_vec(text.strip_prefix(TICKET_PREFIX).unwrap()).unwrap()
}

fn text(bytes: &[u8]) -> String {
    use base64ct::{Base64UrlUnpadded, Encoding};
    format!("{TICKET_PREFIX}{}", Base64UrlUnpadded::encode_string(bytes))
}

/// Where these bytes stand in the bytes of a ticket.
fn place(of: &[u8]) -> usize {
    let all = bytes(&made(invitation()).text());
    all.windows(of.len()).position(|window| window == of).unwrap()
}

proptest! {
    #[test]
    fn a_ticket_says_what_its_maker_put_in(
        number: u64, digest: [u8; 32], made in 0..u64::MAX / 2, life in 1..=TICKET_DAYS_MAX * DAY,
        ports in proptest::collection::btree_set(1..u16::MAX, 1..=CONTACTS_MAX), holder: Option<[u8; 32]>,
        serial: [u8; 16],
    ) {
        let (head, holder) = (Head { number, digest }, holder.map(MemberId));
        let contacts: Vec<Locator> = ports.into_iter().map(at).collect();
        let (made, ends) = (UnixTime(made), UnixTime(made + life));
        let says = Invitation { charter: charter().clone(), head, made, ends, contacts, holder, serial };
        let ticket = Ticket::sign(says.clone(), &person(1)).unwrap();
        let read = Ticket::from_text(&ticket.text()).unwrap();
        prop_assert_eq!(read.text(), ticket.text());
        let told = read.invitation();
        prop_assert_eq!((told.head, told.made, told.ends, told.holder), (head, made, ends, holder));
        prop_assert_eq!((&told.contacts, told.charter.der()), (&says.contacts, says.charter.der()));
        prop_assert_eq!(read.maker().der(), ticket.maker().der());
        let vouching = Vouching { serial, ends, holder };
        prop_assert_eq!((read.voucher(), read.voucher().says), (ticket.voucher(), vouching));
    }
}

#[test]
fn tkt_01_a_ticket_is_read_as_mails_leave_it() {
    let good = made(invitation()).text();
    let (start, end) = good.split_at(good.len() / 2);
    let same = |text: &str| Ticket::from_text(text).map(|read| read.text());
    let quoted = format!("> {start}\r\n> > {end}\r\n>\r\n> Best, Anna\r\n");
    for text in [
        format!("\u{feff}{good}"),
        format!("Here it is:\n\n{good}\n\nSee you there\nAnna\n"),
        format!("{good}\nAnna"),
        format!("{start}\n\n{end}\n-- \nAnna Example\n"),
        quoted,
    ] {
        assert_eq!(same(&text).unwrap(), good, "{text}");
        assert!(Ticket::is_in(&text));
    }
    // A long mail behind it, with a mail's line ends.
    let long = format!("> {start}\r\n> {end}\r\n>\r\n{}", "> words\r\n".repeat(200));
    assert_eq!(same(&long).unwrap(), good);
    let told = format!("It begins with {TICKET_PREFIX}\nand is this:\n{good}\n\nAnna");
    assert_eq!(same(&told).unwrap(), good);
    assert!(!Ticket::is_in("a charter"));
    // However long the rest is, it is tried a bounded number of times.
    let long = format!("{good}x\n{}", "a\n".repeat(20_000));
    assert!(same(&long).is_err());
    // On the same line nobody can tell where it ends.
    assert!(same(&format!("{good} Anna")).is_err());
}

#[test]
fn tkt_01_what_is_no_ticket_is_refused() {
    let good = made(invitation()).text();
    let (start, end) = good.split_at(100);
    assert!(
        Ticket::from_text(&format!("\n {start}\r\n  {end}\n")).is_ok(),
        "as a letter may have wrapped it"
    );
    let bare = good.strip_prefix(TICKET_PREFIX).unwrap();
    assert_eq!(Ticket::from_text(bare).unwrap_err(), TicketError::Prefix);
    for cut in [good.len() - 1, good.len() - 2, 200, TICKET_PREFIX.len()] {
        let refused = Ticket::from_text(&good[..cut]).unwrap_err();
        assert!(matches!(refused, TicketError::Text | TicketError::Wire(_)), "{cut}: {refused:?}");
    }
    for more in ["=", "A", "AAAA", "*"] {
        let refused = Ticket::from_text(&format!("{good}{more}")).unwrap_err();
        assert!(matches!(refused, TicketError::Text | TicketError::Wire(_)), "{more}: {refused:?}");
    }
    let long = format!("{TICKET_PREFIX}{}", "A".repeat(TICKET_TEXT_MAX + 1));
    assert_eq!(Ticket::from_text(&long).unwrap_err(), TicketError::Text);
    let long = format!("{TICKET_PREFIX}{}", "A".repeat(TICKET_TEXT_MAX));
    assert!(matches!(Ticket::from_text(&long).unwrap_err(), TicketError::Wire(_)));
}

#[test]
fn tkt_02_a_changed_byte_is_refused() {
    let good = bytes(&made(invitation()).text());
    for place in 0..good.len() {
        for bit in [1, 0x80] {
            let mut bad = good.clone();
            bad[place] ^= bit;
            let refused = Ticket::from_text(&text(&bad)).map(|_| ()).unwrap_err();
            let on_its_way = matches!(refused, TicketError::Signature | TicketError::Wire(_));
            assert!(on_its_way, "byte {place}: {refused:?}");
        }
    }
}

#[test]
fn tkt_02_another_key_does_not_sign_in_its_makers_name() {
    let mut theirs = bytes(&made(invitation()).text());
    let body = theirs.len() - 67;
    let signature: SignatureBytes = person(0).sign(b"folkmoot ticket v1", &theirs[..body]).to_wire();
    theirs.splice(body.., codec::encode(&signature).into_iter().skip(1));
    assert_eq!(Ticket::from_text(&text(&theirs)).unwrap_err(), TicketError::Signature);
}

#[test]
fn tkt_03_a_charter_that_lacks_signatures_is_refused() {
    let alone = SignedCharter::sign(&draft(2, 2).to_toml(), &[&person(0)]).unwrap();
    let refused = Ticket::sign(Invitation { charter: alone, ..invitation() }, &person(1)).unwrap_err();
    assert!(matches!(refused, TicketError::Charter(_)), "{refused:?}");
    let within = place(charter().der()) + charter().der().len() - 1;
    let refused = forged(|body| body[within] ^= 1).unwrap_err();
    assert!(matches!(refused, TicketError::Charter(_)), "{refused:?}");
}

#[test]
fn tkt_04_contacts_are_one_to_eight_and_each_has_one_form() {
    let with = |contacts: Vec<Locator>| Ticket::sign(Invitation { contacts, ..invitation() }, &person(1));
    for ports in [vec![], vec![1, 1], (1..=9).collect()] {
        assert_eq!(with(ports.into_iter().map(at).collect()).unwrap_err(), TicketError::Contacts);
    }
    assert_eq!(with((1..=8).map(at).collect()).unwrap().invitation().contacts.len(), CONTACTS_MAX);
    for nowhere in ["udp/0.0.0.0:4803", "udp/[::]:4803", "udp/192.0.2.7:0"] {
        assert_eq!(with(vec![nowhere.parse().unwrap()]).unwrap_err(), TicketError::Contacts, "{nowhere}");
    }
    // Of a transport that this release does not have: as it was written, and as long as may be.
    let far = format!("tor+tcp.v3/{}", "a".repeat(LOCATOR_BYTES_MAX - 11));
    let contacts = [vec![far.parse().unwrap()], (1..=7).map(at).collect()].concat();
    let read = Ticket::from_text(&with(contacts.clone()).unwrap().text()).unwrap();
    assert_eq!((&read.invitation().contacts, contacts[0].to_string()), (&contacts, far));
    let within = place(b"udp/192.0.2.7:1");
    for bad in [b"udp/192.0.2.7:x", b"udp/192.0.2.7: ", b"UDP/192.0.2.7:1", b"udp/[0:0::2]:01"] {
        let refused = forged(|body| body[within..within + bad.len()].copy_from_slice(bad)).unwrap_err();
        assert_eq!(refused, TicketError::Contacts, "{bad:?}");
    }
}

#[test]
fn tkt_05_a_ticket_ends_within_ninety_days() {
    for ends in [0, NOW.0 - 1, NOW.0, NOW.0 + TICKET_DAYS_MAX * DAY + 1, u64::MAX] {
        let says = Invitation { ends: UnixTime(ends), ..invitation() };
        assert_eq!(Ticket::sign(says, &person(1)).unwrap_err(), TicketError::Term, "{ends}");
    }
    let ends = UnixTime(NOW.0 + TICKET_DAYS_MAX * DAY);
    assert!(Ticket::sign(Invitation { ends, ..invitation() }, &person(1)).is_ok());
}

#[test]
fn tkt_06_a_ticket_serves_from_when_it_is_made_until_it_ends() {
    let (ticket, me) = (made(invitation()), person(5).member());
    let Invitation { made, ends, .. } = ticket.invitation().clone();
    for (now, want) in [
        (made.0 - 3_601, Err(TicketError::Early(made))),
        (made.0 - 3_600, Ok(())),
        (made.0, Ok(())),
        (ends.0 - 1, Ok(())),
        (ends.0, Err(TicketError::Ended(ends))),
        (u64::MAX, Err(TicketError::Ended(ends))),
    ] {
        assert_eq!(ticket.check(&me, UnixTime(now)), want, "{now}");
    }
    assert_eq!([made.0, made.0 + 3 * DAY - 1, 0].map(|now| ticket.age_days(UnixTime(now))), [0, 2, 0]);
}

#[test]
fn tkt_07_a_ticket_for_one_key_serves_no_other() {
    let holder = person(5).member();
    let ticket = made(Invitation { holder: Some(holder), ..invitation() });
    assert_eq!(ticket.check(&holder, NOW), Ok(()));
    assert_eq!(ticket.check(&person(6).member(), NOW), Err(TicketError::Holder(holder)));
}

#[test]
fn tkt_08_the_voucher_is_its_makers_for_this_group_and_says_what_the_ticket_says() {
    let ticket = made(invitation());
    let (voucher, group) = (ticket.voucher(), charter().charter().group());
    let says = Vouching { serial: [6; 16], ends: ticket.invitation().ends, holder: None };
    assert_eq!((voucher.says, voucher.maker), (says, person(1).member()));
    assert_eq!(voucher.verify(group, person(1).certificate().key()), Ok(()));
    let within = place(&voucher.signature.bytes);
    let with = |other: Voucher| {
        forged(|body| body[within..within + 64].copy_from_slice(&other.signature.bytes)).map(|_| ())
    };
    let good = |says| Voucher::sign(group, says, &person(1));
    assert_eq!(with(good(says)), Ok(()));
    let later = UnixTime(says.ends.0 + 1);
    for other in [
        Voucher::sign(group, says, &person(0)),
        Voucher::sign(folkmoot_base::GroupId([1; 32]), says, &person(1)),
        good(Vouching { serial: [7; 16], ..says }),
        good(Vouching { ends: later, ..says }),
        good(Vouching { holder: Some(person(5).member()), ..says }),
    ] {
        assert_eq!(with(other), Err(TicketError::Voucher));
    }
    let stranger = Voucher::sign(group, says, &person(0));
    assert_eq!(stranger.verify(group, person(1).certificate().key()), Err(VoucherError::Signature));
}
