//! ID-70: where somebody of the group may be found, as the charter says it. ID-71: which algorithms
//! its members have. ID-72: its validity.

use crate::common::{START, Seed, World};
use folkmoot_base::{Locator, UnixTime};
use folkmoot_identity::{
    CONTACT_BYTES_MAX, CONTACTS_MAX, Charter, CharterDraft, CharterError, Contact, GmcBody, Validity,
};

/// The world's text with these lines put into it.
fn with(lines: &str) -> Result<Charter, CharterError> {
    let text = std::str::from_utf8(World::new().charter().bytes()).unwrap().to_owned();
    Charter::from_toml(&text.replacen("format = 2\n", &format!("format = 2\n{lines}\n"), 1))
}

fn refused(result: Result<Charter, CharterError>) -> (String, &'static str) {
    match result.unwrap_err() {
        CharterError::WireValue { key, reason } => (key.to_owned(), reason),
        CharterError::PeerChange { field, reason, .. } => (field, reason),
        CharterError::WireMalformed(why) => (why, ""),
        other => panic!("{other}"),
    }
}

fn list(contacts: &[String]) -> String {
    let quoted: Vec<String> = contacts.iter().map(|one| format!("\"{one}\"")).collect();
    format!("contacts = [{}]", quoted.join(", "))
}

fn many(count: usize) -> Vec<String> {
    (10..10 + count).map(|number| format!("udp/192.0.2.{number}:4803")).collect()
}

const LEGAL: [&str; 8] = [
    "udp/192.0.2.7:4803",
    "udp/192.0.2.7:1",
    "udp/[2001:db8::7]:65535",
    "udp/[::1]:4803",
    "udp/[::102:304]:4803",
    "memory/7",
    "quic-2/host.example:443?path=/a#b",
    "m/\u{7e}!",
];

#[test]
fn id_70_a_contact_has_one_spelling() {
    for text in LEGAL {
        assert_eq!(Contact::read(text).unwrap().as_str(), text);
        let charter = with(&list(&[text.to_owned()])).unwrap();
        assert_eq!(charter.contacts().iter().map(Contact::as_str).collect::<Vec<_>>(), [text]);
    }
    for text in LEGAL {
        let locator: Locator = text.parse().unwrap();
        assert_eq!(
            (locator.to_string().as_str(), Contact::read(text).unwrap().locator()),
            (text, Some(locator))
        );
    }
    assert_eq!(Contact::read("memory/x").unwrap().locator(), None);
    for text in [
        "",
        "/",
        "udp",
        "udp/",
        "/192.0.2.7:4803",
        "UDP/192.0.2.7:4803",
        "2p/x",
        "-p/x",
        "a_b/x",
        "ä/x",
        "x/ä",
        "x/a,b",
        "x/a b",
        "x/a\tb",
        "x/\u{7f}",
        "udp/192.0.2.7",
        "udp/192.0.2.7:0",
        "udp/192.0.2.7:04803",
        "udp/192.0.2.7:+4803",
        "udp/192.0.2.7:65536",
        "udp/192.0.2.007:4803",
        "udp/192.0.2:4803",
        "udp/host.example:4803",
        "udp/2001:db8::7:4803",
        "udp/[2001:DB8::7]:4803",
        "udp/[2001:db8:0::7]:4803",
        "udp/[2001:db8::07]:4803",
        "udp/[::1.2.3.4]:4803",
        "udp/[2001:db8:0:0:0:0:0:7]:4803",
        "udp/0.0.0.0:4803",
        "udp/[::]:4803",
        "udp/[::ffff:192.0.2.7]:4803",
        "udp/[::ffff:c000:207]:4803",
        "udp/[::ffff:0.0.0.0]:4803",
        "udp/[fe80::1%2]:4803",
        "udp/192.0.2.7:4803/",
    ] {
        Contact::read(text).unwrap_err();
        let quoted = toml::Value::String(text.to_owned());
        assert_eq!(refused(with(&format!("contacts = [{quoted}]"))).0, "contacts", "{text}");
        if text != "x/a,b" {
            assert_eq!(refused(World::new().charter().with_change("contacts", text)).0, "contacts", "{text}");
        }
    }
    let long = |length: usize| format!("x/{}", "y".repeat(length - 2));
    Contact::read(&long(CONTACT_BYTES_MAX)).unwrap();
    Contact::read(&long(CONTACT_BYTES_MAX + 1)).unwrap_err();
    let scheme = |length: usize| format!("{}/x", "s".repeat(length));
    Contact::read(&scheme(32)).unwrap();
    Contact::read(&scheme(33)).unwrap_err();
}

#[test]
fn id_70_a_charter_names_at_most_16_contacts_each_once() {
    assert_eq!(with("contacts = []").unwrap().contacts().len(), 0);
    assert_eq!(with(&list(&many(CONTACTS_MAX))).unwrap().contacts().len(), CONTACTS_MAX);
    let backwards: Vec<String> = many(3).into_iter().rev().collect();
    assert_eq!(with(&list(&backwards)).unwrap().contacts().len(), 3, "a text may have any order");
    assert_eq!(refused(with(&list(&many(CONTACTS_MAX + 1)))).1, "there can be at most 16");
    assert_eq!(refused(with(&list(&[many(1), many(1)].concat()))).1, "it has the same locator twice");
    for wrong in ["contacts = \"udp/192.0.2.7:4803\"", "contacts = [7]", "contacts = {}"] {
        assert!(matches!(with(wrong), Err(CharterError::WireMalformed(_))), "{wrong}");
    }
}

#[test]
fn id_70_contacts_change_by_vote() {
    let founded = with(&list(&many(1))).unwrap();
    let names = |charter: &Charter| -> Vec<String> {
        charter.contacts().iter().map(|one| one.as_str().to_owned()).collect()
    };
    let next = founded.with_change("contacts", &many(3).join(",")).unwrap();
    assert_eq!((names(&next), next.group()), (many(3), founded.group()));
    assert_ne!(next.digest(), founded.digest());
    assert_eq!(names(&next.with_change("contacts", "none").unwrap()), Vec::<String>::new());
    assert_eq!(
        next.with_change("contacts", &many(CONTACTS_MAX).join(",")).unwrap().contacts().len(),
        CONTACTS_MAX
    );
    let same = many(1).join(",");
    assert_eq!(refused(founded.with_change("contacts", &same)).1, "it has this value already");
    assert_eq!(
        refused(founded.with_change("contacts", &many(CONTACTS_MAX + 1).join(","))).1,
        "there can be at most 16"
    );
    let [one, two] = [&many(2)[0], &many(2)[1]];
    for word in [
        format!("{two},{one}"),
        format!("{one},{one}"),
        format!("{one}, {two}"),
        format!("{one},"),
        ",".into(),
    ] {
        founded.with_change("contacts", &word).unwrap_err();
    }
}

/// A charter without these keys is what it was, to the byte of its text and its group's id.
#[test]
fn id_70_a_draft_without_contacts_has_no_such_key() {
    let draft = World::new().draft();
    assert_eq!(draft.to_toml().as_bytes(), World::new().charter().bytes());
    for key in ["contacts", "algorithms", "rsa_bits", "hash", "not_before", "not_after"] {
        assert!(!draft.to_toml().contains(key), "{key}");
    }
    let contacts = many(2).iter().map(|text| Contact::read(text).unwrap()).collect();
    let charter = Charter::from_toml(&CharterDraft { contacts, ..draft }.to_toml()).unwrap();
    assert_eq!(charter.contacts().iter().map(Contact::as_str).collect::<Vec<_>>(), many(2));
    let founder = World::new().charter().founders()[0].clone();
    let again = CharterDraft::new(charter.name().clone(), 1, vec![founder], &mut Seed(1));
    assert!(again.contacts.is_empty());
}

const ALGORITHMS: &str = "it must list p256, ed25519 or rsa, at least one and none twice";
const RSA_BITS: &str = "it must list 2048 or 3072, at least one and none twice";
const FOUNDER: &str = "its key is of p256, which the charter's algorithms do not name";

#[test]
fn id_71_algorithms_and_sizes_are_chosen_from_those_that_there_are() {
    let usual = with("algorithms = [\"p256\"]\nhash = \"sha256\"").unwrap();
    assert_ne!(usual.group(), World::new().charter().group(), "its text is another");
    for (lines, key, reason) in [
        ("algorithms = []", "algorithms", ALGORITHMS),
        ("algorithms = [\"p256\", \"p256\"]", "algorithms", ALGORITHMS),
        ("algorithms = [\"P256\"]", "algorithms", ALGORITHMS),
        ("algorithms = [\"p384\"]", "algorithms", ALGORITHMS),
        ("algorithms = [\"ed25519\"]", "founders.key", FOUNDER),
        ("algorithms = [\"ed25519\", \"rsa\"]", "founders.key", FOUNDER),
        ("algorithms = [\"rsa\"]\nrsa_bits = [2048, 3072]", "founders.key", FOUNDER),
        ("rsa_bits = [3072]", "rsa_bits", "it goes with the algorithm rsa alone"),
        ("algorithms = [\"rsa\"]\nrsa_bits = []", "rsa_bits", RSA_BITS),
        ("algorithms = [\"rsa\"]\nrsa_bits = [2048, 2048]", "rsa_bits", RSA_BITS),
        ("algorithms = [\"rsa\"]\nrsa_bits = [1024]", "rsa_bits", RSA_BITS),
        ("hash = \"sha512\"", "hash", "it must be sha256"),
        ("hash = \"\"", "hash", "it must be sha256"),
    ] {
        assert_eq!(refused(with(lines)), (key.to_owned(), reason), "{lines}");
    }
    for lines in [
        "algorithms = \"p256\"",
        "algorithms = [1]",
        "rsa_bits = 2048",
        "rsa_bits = [\"2048\"]",
        "hash = 256",
    ] {
        assert!(matches!(with(lines), Err(CharterError::WireMalformed(_))), "{lines}");
    }
    for (field, word) in
        [("algorithms", "p256"), ("algorithms", "ed25519"), ("rsa_bits", "2048"), ("hash", "sha256")]
    {
        let (key, reason) = refused(usual.with_change(field, word));
        assert_eq!(
            (key.as_str(), reason.starts_with("it is fixed when the group is founded")),
            (field, true)
        );
    }
}

#[test]
fn id_72_a_charter_has_a_validity_of_its_own() {
    let world = World::new();
    let day = 86_400;
    let proposed = |charter: &Charter, from: u64| {
        GmcBody::propose(charter, &world.stranger, 3, UnixTime(from), &mut Seed(1))
    };
    let (begin, end) = (START.0, START.0 + 10 * day);
    let bounded = with(&format!("not_before = {begin}\nnot_after = {end}")).unwrap();
    let short = proposed(&bounded, begin + day);
    assert_eq!((short.not_after, short.check_charter(&bounded)), (UnixTime(end), Ok(())));
    for (from, to, fits) in [
        (begin, end, true),
        (begin - 1, end, false),
        (begin, end + 1, false),
        (end, end, true),
        (end + 1, end + 1, false),
    ] {
        let mut body = proposed(&bounded, begin);
        (body.not_before, body.not_after) = (UnixTime(from), UnixTime(to));
        assert_eq!(body.check_charter(&bounded).is_ok(), fits, "{from} {to}");
    }
    let over = proposed(&bounded, end + day);
    assert_eq!((over.not_after, over.check_charter(&bounded).is_ok()), (UnixTime(end + day), false));
    let longer = bounded.with_change("not_after", &(end + 2 * day).to_string()).unwrap();
    assert!(over.check_charter(&longer).is_ok(), "a vote for another end lets it in");
    let open = bounded.with_change("not_after", "none").unwrap().with_change("not_before", "none").unwrap();
    assert_eq!(proposed(&open, begin).not_after, UnixTime(begin + 365 * day));
    for lines in ["not_after = 0", "not_before = 5\nnot_after = 5", "not_before = 6\nnot_after = 5"] {
        assert_eq!(
            refused(with(lines)),
            ("not_after".to_owned(), "it must be later than not_before"),
            "{lines}"
        );
    }
    for lines in ["not_after = 4294967296", "not_after = -1", "not_after = 2027-01-31", "not_before = \"1\""]
    {
        assert!(matches!(with(lines), Err(CharterError::WireMalformed(_))), "{lines}");
    }
    for (field, word) in [
        ("not_after", begin.to_string()),
        ("not_before", end.to_string()),
        ("not_after", "007".to_owned()),
        ("not_after", "4294967296".to_owned()),
        ("not_after", "2027-01-31".to_owned()),
    ] {
        bounded.with_change(field, &word).unwrap_err();
    }
    let validity = Validity { not_before: Some(1), not_after: Some(2) };
    let text = CharterDraft { validity, ..World::new().draft() }.to_toml();
    assert!(text.contains("not_before = 1\nnot_after = 2\n"));
    Charter::from_toml(&text).unwrap();
}
