//! States that a quorum signs, with one field changed: what a reader must judge of them, and what
//! follows if it need not.

use super::wire::{HeldWire, RefusedWire, StateWire};
use crate::Group;
use crate::group::DAY;
use folkmoot_base::{Blob, Digest, Head, MemberId, UnixTime, hex};

/// Numbers and times that stand for others.
fn odd(group: &mut Group, number: u64) -> u64 {
    let roll = group.dice.long(4);
    group.dice.pick(&[0, 1, number.wrapping_add(roll), number.wrapping_sub(roll), u64::MAX]).unwrap_or(number)
}

fn blob(text: &str) -> Blob {
    Blob::from(text.as_bytes().to_vec())
}

/// Drops an entry of a list, doubles one, or turns the list round.
fn list<T: Clone>(group: &mut Group, list: &mut Vec<T>) {
    let at = group.dice.roll(list.len());
    match group.dice.roll(4) {
        0 if at < list.len() => drop(list.remove(at)),
        1 => list.extend_from_within(at..list.len().min(at + 1)),
        2 => list.reverse(),
        _ => {}
    }
}

/// Puts an entry into a list where it belongs, or anywhere.
fn put<T: Clone, K: Ord>(group: &mut Group, list: &mut Vec<T>, entry: T, key: impl Fn(&T) -> K) {
    list.retain(|one| key(one) != key(&entry));
    list.push(entry);
    if group.dice.chance(90) {
        list.sort_by_key(key);
    }
}

/// Changes a field; says which.
pub(super) fn change(group: &mut Group, state: &mut StateWire) -> String {
    let how = group.dice.roll(28);
    match how {
        0..=4 => frame(group, state, how),
        5..=14 => people(group, state, how),
        15..=20 => stamps(group, state, how),
        _ => lists(group, state, how),
    }
    format!("field {how} of the state")
}

fn frame(group: &mut Group, state: &mut StateWire, how: usize) {
    match how {
        0 => state.group.0 = group.dice.pick(&[[0; 32], state.group.0]).unwrap_or_default(),
        1 => state.number = odd(group, state.number),
        2 => state.time = UnixTime(odd(group, state.time.0)),
        3 => list(group, &mut state.changes),
        _ => {
            let (field, value) = value(group);
            put(group, &mut state.changes, (field, value), |(field, _)| field.clone());
        }
    }
}

/// A field of the charter and a value, which it may have or not.
fn value(group: &mut Group) -> (Blob, Blob) {
    const ODD: &[(&str, &str)] = &[
        ("threshold", "0"),
        ("threshold", "129"),
        ("threshold", "0% of 4 window 1"),
        ("threshold", "40% of 1001 window 1"),
        ("quorum", "all"),
        ("list", "none"),
        ("list", "0"),
        ("decider", "none"),
        ("roles.", "none"),
        ("roles.crew", "none"),
        ("roles.all", "none"),
        ("admit", "1 of nobody"),
        ("admit", "none"),
        ("policy", "founder"),
        ("policy", "list"),
        ("policy", "authority"),
        ("below_threshold", "authority"),
        ("scheme", "plain"),
        ("hash", "sha256"),
        ("", ""),
        ("not_after", "0"),
        ("not_before", "4294967295"),
        ("objections", "1"),
        ("request_days", "366"),
    ];
    match group.dice.roll(4) {
        0 => {
            let (field, value) = group.field();
            (blob(&field), blob(&value))
        }
        1 => (Blob::from(vec![0xff]), Blob::from(vec![0xfe])),
        2 => {
            let key = hex(&somebody(group).0);
            let field = group.dice.pick(&["list", "decider", "roles.crew", "roles.new"]).unwrap_or("list");
            (blob(field), blob(&key))
        }
        _ => {
            let (field, value) = group.dice.pick(ODD).unwrap_or(("", ""));
            (blob(field), blob(value))
        }
    }
}

fn somebody(group: &mut Group) -> MemberId {
    let people: Vec<MemberId> = group.people.keys().copied().collect();
    group.dice.pick(&people).unwrap_or(MemberId([0; 32]))
}

fn held(group: &mut Group) -> Option<HeldWire> {
    let member = somebody(group);
    let person = group.people.get(&member)?;
    let key = Blob::from(person.key().verifying_key().spki_der().to_vec());
    let name = blob(person.name());
    let (request, ends) = (request(group), UnixTime(group.clock + group.dice.long(9) * DAY));
    Some(HeldWire { member, request, name, key, ends, issued: None })
}

/// The request of an admission of the set, or another.
fn request(group: &mut Group) -> Digest {
    let admits: Vec<Digest> = group.transcript.set().admits().map(|admit| admit.request).collect();
    group.dice.pick(&admits).unwrap_or([5; 32])
}

fn people(group: &mut Group, state: &mut StateWire, how: usize) {
    let at = group.dice.roll(state.roster.len());
    let member = somebody(group);
    let number = odd(group, state.number);
    match how {
        5 => list(group, &mut state.roster),
        6 => {
            let one = held(group);
            one.into_iter().for_each(|one| put(group, &mut state.roster, one, |one| one.member));
        }
        7..=9 => {
            if let Some(one) = state.roster.get_mut(at) {
                altered(group, one);
            }
        }
        10 => list(group, &mut state.places),
        11 => state.places.push((member, number)),
        12 => state.places.clear(),
        13 => {
            let all: Vec<(MemberId, u64)> = state.places.iter().copied().cycle().take(255 + at).collect();
            state.places = all;
        }
        _ => state.places.iter_mut().skip(at).take(2).for_each(|place| place.1 = number),
    }
}

fn altered(group: &mut Group, one: &mut HeldWire) {
    match group.dice.roll(7) {
        0 => one.request = request(group),
        1 => one.name = Blob::from(vec![0xff]),
        2 => one.name = blob(""),
        3 => one.key = held(group).map(|other| other.key).unwrap_or_default(),
        4 => one.issued = Some([0x41; 16]),
        5 => one.ends = UnixTime(odd(group, one.ends.0)),
        _ => one.ends = UnixTime(group.clock),
    }
}

fn stamps(group: &mut Group, state: &mut StateWire, how: usize) {
    let (member, number) = (somebody(group), odd(group, state.number));
    match how {
        15 => put(group, &mut state.removed, (member, number), |(member, _)| *member),
        16 => {
            let (field, _) = value(group);
            put(group, &mut state.fields, (field, number), |(field, _)| field.clone());
        }
        17 => state.electorate_stamp = number,
        18 => state.sharing_stamp = number,
        19 => state.rejoin_stamp = number,
        _ => {
            let (field, _) = value(group);
            put(group, &mut state.struck, (field, member), Clone::clone);
        }
    }
}

fn lists(group: &mut Group, state: &mut StateWire, how: usize) {
    let (member, number) = (somebody(group), odd(group, state.number));
    let (request, ends) = (request(group), UnixTime(group.clock));
    match how {
        21 => list(group, &mut state.recent),
        22 => {
            let head = Head { number, digest: request };
            put(group, &mut state.recent, (head, ends), |(head, _)| head.number);
        }
        23 => put(group, &mut state.used, (request, ends), |(request, _)| *request),
        24 => {
            let csr = group.dice.pick(&[None, Some([0x41; 16])]).flatten();
            let one = RefusedWire { request, csr, number };
            put(group, &mut state.refused, one, |one| (one.request, one.csr));
        }
        25 => {
            let serials =
                group.transcript.set().admits().filter_map(|admit| admit.issued).collect::<Vec<_>>();
            let serial = group.dice.pick(&serials).unwrap_or([0x41; 16]);
            put(group, &mut state.revoked, (serial, ends), |(serial, _)| *serial);
        }
        26 => {
            let sharing = group.dice.pick(&[None, Some((blob("x"), blob(""))), state.sharing.clone()]);
            state.sharing = sharing.flatten();
            state.sharing.iter_mut().for_each(|one| one.1 = blob("odd"));
        }
        _ => {
            state.rejoin = group.dice.pick(&[None, Some(Head { number, digest: request })]).flatten();
            let many = if group.dice.chance(20) { 4_096 } else { 0 };
            let first = (0..many).map(|one: u64| (MemberId(wide(one)), member, number));
            state.replaced.splice(0..0, first);
            put(group, &mut state.replaced, (member, somebody_else(member), number), |one| one.0);
        }
    }
}

fn somebody_else(member: MemberId) -> MemberId {
    MemberId(member.0.map(|byte| !byte))
}

fn wide(number: u64) -> [u8; 32] {
    let mut out = [0; 32];
    out.iter_mut().zip(number.to_be_bytes()).for_each(|(to, from)| *to = from);
    out
}
