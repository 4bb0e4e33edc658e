//! What charters and votes say of contacts, algorithms, validity, and whose certificates say who a
//! newcomer is: right, and wrong.

use crate::Dice;
use crate::group::{DAY, START};
use folkmoot_identity::{Contact, GroupKey, Recognised, Validity};
use std::collections::BTreeSet;

const RIGHT: &[&str] = &[
    "udp/192.0.2.7:4803",
    "udp/192.0.2.10:1",
    "udp/10.0.0.1:65535",
    "udp/255.255.255.255:80",
    "udp/[2001:db8::7]:4803",
    "udp/[::1]:4803",
    "udp/[2001:db8:0:1::]:80",
    "udp/[2001:0:0:1::1]:80",
    "udp/[2001::1:0:0:1:1]:80",
    "udp/[1:0:1:1:1:1:1:1]:80",
    "udp/[64:ff9b::102:304]:80",
    "udp/[::102:304]:80",
    "memory/007",
    "quic-2/host.example:443/path?[a]='b'",
    "u/~!",
];

const WRONG: &[&str] = &[
    "",
    "udp",
    "udp/",
    "/x",
    "Udp/192.0.2.7:4803",
    "2/x",
    "a_b/x",
    "x/a b",
    "x/\u{e9}",
    "udp/192.0.2.7",
    "udp/192.0.2.7:0",
    "udp/192.0.2.7:04803",
    "udp/192.0.2.7:65536",
    "udp/192.0.2.07:4803",
    "udp/192.0.2:4803",
    "udp/0.0.0.0:4803",
    "udp/[::]:4803",
    "udp/[0:0:0:0:0:0:0:1]:4803",
    "udp/[2001:DB8::7]:4803",
    "udp/[2001:0:0:1:0:0:0:1]:80",
    "udp/[1::1:1:1:1:1:1]:80",
    "udp/[2001:0:0:1::1:1]:80",
    "udp/[2001:0:0:1:0:0:1:1]:80",
    "udp/[1:0:0:1:1:1:1:1]:80",
    "udp/[::ffff:192.0.2.7]:4803",
    "udp/[::ffff:c000:207]:4803",
    "udp/[::192.0.2.7]:4803",
    "udp/[fe80::1%2]:4803",
    "udp/localhost:4803",
    "udp/[2001:db8::7]4803",
];

/// Keys of P-256 (its generator) and of Ed25519 (RFC 8032, 7.1).
const KEYS: [&str; 2] = [
    "3059301306072a8648ce3d020106082a8648ce3d030107034200046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
    "302a300506032b6570032100d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
];

/// Lines of a charter, most of which this release does not take.
pub(crate) const LINES: &[&str] = &[
    "algorithms = [\"p256\"]",
    "hash = \"sha256\"",
    "contacts = []",
    "contacts = [\"udp/192.0.2.7:4803\", \"m/1\"]",
    "contacts = [\"m/2\", \"m/1\"]",
    "contacts = [\"m/1\", \"m/1\"]",
    "contacts = [1]",
    "contacts = \"m/1\"",
    "algorithms = []",
    "algorithms = [\"p256\", \"p256\"]",
    "algorithms = [\"ed25519\"]",
    "algorithms = [\"p256\", \"rsa\"]\nrsa_bits = [2048]",
    "algorithms = \"p256\"",
    "algorithms = [1]",
    "rsa_bits = [2048, 3072]",
    "rsa_bits = []",
    "hash = \"sha512\"",
    "not_before = 1\nnot_after = 2",
    "not_before = 2\nnot_after = 2",
    "not_after = 0",
    "not_after = 4294967296",
    "not_after = 2027-01-31",
    "not_after = 4294967295",
    "not_before = 4294967295",
    "hash = 256",
    "recognised = {}",
    "recognised = []",
    "recognised = { Corp = 1 }",
    "recognised = { Corp = \"none\" }",
    "recognised = { Corp = \"3059\" }",
    "recognised = { \"\" = \"302a300506032b6570032100d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a\" }",
    "recognised = { \"Example Corp\" = \"302a300506032b6570032100d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a\" }",
    "recognised = { A = \"302A300506032B6570032100D75A980182B10AB7D54BFED3C964073A0EE172F3DAA62325AF021A68F707511A\" }",
    "recognised = { A = \"302a300506032b6570032100d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a\", B = \"302a300506032b6570032100d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a\" }",
];

/// What a founding charter says of algorithms, as this release takes it.
pub(crate) fn algorithms(dice: &mut Dice) -> String {
    let lines = LINES.iter().take(2).filter(|_| dice.chance(30));
    lines.map(|line| format!("{line}\n")).collect()
}

/// The terms that a founding charter allows: most often all.
pub(crate) fn validity(dice: &mut Dice) -> Validity {
    let mut side = |days| {
        let time = u32::try_from(START + dice.long(days) * DAY).ok();
        time.filter(|_| dice.chance(20))
    };
    let not_before = side(3);
    Validity { not_before, not_after: side(500).filter(|end| not_before.is_none_or(|begin| begin < *end)) }
}

/// Another end or begin of those terms; not all of them fit.
pub(crate) fn end(dice: &mut Dice, clock: u64) -> (&'static str, String) {
    let field = if dice.chance(80) { "not_after" } else { "not_before" };
    let word = match dice.roll(5) {
        0 => "none".to_owned(),
        1 => dice.pick(&["0", "01", "4294967296", "2027-01-31"]).unwrap_or_default().to_owned(),
        _ => (clock - 5 * DAY + dice.long(60) * DAY).to_string(),
    };
    (field, word)
}

/// Whose certificates say who a newcomer is: most often nobody's.
pub(crate) fn recognised(dice: &mut Dice) -> Recognised {
    let mut some = Recognised::default();
    for (name, key) in ["Example Corp", "chess club"].into_iter().zip(KEYS) {
        let key = folkmoot_base::unhex(key).and_then(|spki| GroupKey::from_spki_der(&spki).ok());
        if let Some(key) = key.filter(|_| dice.chance(20)) {
            some.insert(name.to_owned(), key);
        }
    }
    some
}

/// A change of these, right or wrong.
pub(crate) fn recognise(dice: &mut Dice) -> (String, String) {
    let name = dice.pick(&["Example Corp", "chess club", "book.club", "", "a\u{7}b"]).unwrap_or_default();
    let key = dice.pick(&KEYS).unwrap_or_default();
    let word = match dice.roll(6) {
        0 => "none".to_owned(),
        1 => key.to_uppercase(),
        2 => key.chars().rev().collect(),
        3 => key.get(..40).unwrap_or_default().to_owned(),
        _ => key.to_owned(),
    };
    (format!("recognised.{name}"), word)
}

/// Some contacts.
pub(crate) fn some(dice: &mut Dice) -> BTreeSet<Contact> {
    dice.some(RIGHT, 30).into_iter().filter_map(|text| Contact::read(text).ok()).collect()
}

/// The word of a vote: most often right; sometimes too many, unsorted, or not all contacts.
pub(crate) fn word(dice: &mut Dice) -> String {
    let mut texts: Vec<String> = some(dice).iter().map(|one| one.as_str().to_owned()).collect();
    match dice.roll(8) {
        0 => return "none".to_owned(),
        1 => texts.reverse(),
        2 => texts.extend(texts.last().cloned()),
        3 => texts = (10..25 + dice.roll(4)).map(|number| format!("m/{number}")).collect(),
        4 => texts = vec![format!("m/{}", "x".repeat(250 + dice.roll(6)))],
        5 => texts.extend(dice.pick(WRONG).map(str::to_owned)),
        _ => {}
    }
    texts.join(",")
}

/// A line of a charter with one contact, right or wrong.
pub(crate) fn line(dice: &mut Dice) -> String {
    let list = if dice.chance(40) { RIGHT } else { WRONG };
    format!("contacts = [\"{}\"]", dice.pick(list).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{Contact, RIGHT, WRONG};

    #[test]
    fn what_is_drawn_as_right_is_a_contact_and_what_is_drawn_as_wrong_is_none() {
        for text in RIGHT {
            assert!(Contact::read(text).is_ok(), "{text}");
        }
        for text in WRONG {
            assert!(Contact::read(text).is_err(), "{text}");
        }
    }
}
