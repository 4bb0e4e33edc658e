//! Items of the set and of the archive, changed and signed, and new ones.

use super::scratch;
use crate::mutate::{Section, in_order};
use crate::{Drawn, Group};
use folkmoot_base::{Blob, Head, MemberId, UnixTime, digest};
use folkmoot_identity::{Gmc, GmcBody, Signature, Verdict, VoteKind};
use folkmoot_transcript::{Change, Effect, Force, Item, SignedApproval, Standing, admission};

/// Changes one item of the file, or adds one.
pub(super) fn change(group: &mut Group, sections: &mut Vec<Section>) -> Drawn<String> {
    let kept: Vec<usize> = (0..sections.len())
        .filter(|at| sections.get(*at).is_some_and(|(kind, _)| *kind == 5 || *kind == 6))
        .collect();
    let Some(at) = group.dice.pick(&kept).filter(|_| group.dice.chance(70)) else {
        return add(group, sections);
    };
    let (kind, bytes) = sections.get(at).cloned().unwrap_or_default();
    let (item, what) = match Item::decode(&bytes)? {
        Item::Admit { certificate, approvals } => certificate_of(group, &certificate, approvals)?,
        Item::Approval(signed) => (Item::Approval(approval(group, signed)), "approval".to_owned()),
        Item::Effect(mut effect) => {
            effect.force = if effect.force == Force::Yes { Force::No } else { Force::Yes };
            (Item::Effect(effect), "effect".to_owned())
        }
        Item::Refusal { request } => {
            let mut request = request.0.to_vec();
            scratch(group, &mut request);
            (Item::Refusal { request: request.into() }, "refusal".to_owned())
        }
        Item::Past { time } => {
            (Item::Past { time: UnixTime(time.0 + group.dice.long(3) - 1) }, "Past".to_owned())
        }
        other @ (Item::Decision(_) | Item::Coming { .. }) => (other, "decision".to_owned()),
    };
    if group.dice.chance(70) {
        sections.splice(at..=at, [(kind, item.encode())]);
    } else {
        sections.insert(at, (kind, item.encode()));
    }
    if group.dice.chance(90) {
        in_order(sections);
    }
    Ok(format!("{what} in section {at}"))
}

/// An approval with one thing changed, signed by its voter, by somebody else, or not anew.
fn approval(group: &mut Group, mut signed: SignedApproval) -> SignedApproval {
    let people: Vec<MemberId> = group.people.keys().copied().collect();
    let somebody = group.dice.pick(&people).unwrap_or(signed.approval.voter);
    let said = &mut signed.approval;
    match group.dice.roll(8) {
        0 => said.turn = said.turn.wrapping_add(1),
        1 => said.verdict = if said.is_yes() { Verdict::Reject } else { Verdict::Approve },
        2 => said.expires = UnixTime(u64::from(group.dice.chance(50))),
        3 => said.base.number = group.dice.long(4),
        4 => said.base = group.transcript.state().head(),
        5 => said.subject.kind = VoteKind::Remove,
        6 => said.voter = somebody,
        _ => {}
    }
    let signer = if group.dice.chance(75) { signed.approval.voter } else { somebody };
    match group.people.get(&signer) {
        Some(person) if group.dice.chance(80) => {
            SignedApproval::sign(person.key(), group.transcript.group(), signed.approval)
        }
        _ => signed,
    }
}

/// A certificate whose body, votes or approvals are changed, signed by its holder if it can be.
fn certificate_of(
    group: &mut Group,
    certificate: &Blob,
    mut approvals: Vec<SignedApproval>,
) -> Drawn<(Item, String)> {
    let gmc = Gmc::from_der(&certificate.0)?;
    let mut body = gmc.body().clone();
    let how = group.dice.roll(16);
    if how > 12 {
        let one = group.dice.pick(&approvals).map(|one| approval(group, one));
        approvals.extend(one);
    } else {
        altered(group, &mut body, how);
    }
    let again = signed(group, &gmc, &body)?;
    let certificate = Blob::from(again.unwrap_or_else(|| certificate.0.to_vec()));
    Ok((Item::Admit { certificate, approvals }, format!("certificate, change {how}")))
}

/// Ends of names, of which some make a name that nobody may have.
const NAMES: &[&str] = &[
    "x",
    "é",
    " x",
    " ",
    ",",
    "אב",
    " אב",
    " אb",
    "日",
    "ا١",
    " ا١۲",
    "e\u{301}",
    "q\u{301}\u{301}\u{301}\u{301}",
    "q\u{301}\u{301}\u{301}\u{301}\u{301}",
    " \u{301}x",
    "\u{200d}",
    "\u{ff41}",
    "l·l",
    "a·l",
    "\u{115f}",
    "\u{1100}",
    "アイ・ウ",
    "・",
    "ab͵",
    "͵α",
];

fn altered(group: &mut Group, body: &mut GmcBody, how: usize) {
    let roll = group.dice.long(3);
    let said = &mut body.membership;
    match how {
        0 => body.not_after = UnixTime(body.not_after.0 + roll * 86_400),
        1 => body.not_before = UnixTime(body.not_before.0 + roll * 86_400),
        2 => said.base.number += roll,
        3 => said.base = group.transcript.state().head(),
        4 => said.threshold += 1,
        5 => said.group_size += 1,
        6 => said.votes = None,
        7 => said.votes.iter_mut().for_each(|votes| votes.truncate(votes.len().saturating_sub(1))),
        8 => said.votes.iter_mut().flatten().for_each(|vote| vote.expires = UnixTime(vote.expires.0 + roll)),
        9 => body.name.push_str(group.dice.pick(NAMES).unwrap_or("x")),
        10 => (said.votes, said.multi, said.issued) = (None, None, Some([9; 32])),
        11 => body.serial = [0x40 + u8::try_from(roll).unwrap_or_default(); 16],
        _ => said.nonce = [1; 16],
    }
}

/// The certificate of a changed body, as whoever signs such certificates would make it. One that
/// names a key of the group in a group without one has a signature that nobody made.
fn signed(group: &Group, gmc: &Gmc, body: &GmcBody) -> Drawn<Option<Vec<u8>>> {
    let charter = group.transcript.state().charter().clone();
    let holder = group.people.get(&gmc.member());
    let votes = body.membership.votes.clone();
    if let (Some(central), Some(key)) = (charter.central(), &group.keys.authority) {
        let Ok(tbs) = body.issued_tbs(central.certificate.key()) else { return Ok(None) };
        let signature = key.sign_raw(&tbs).to_paper();
        let made = Gmc::issue_by_group(body, central.certificate.key(), &signature);
        return Ok(made.ok().map(|gmc| gmc.der().to_vec()));
    }
    if body.membership.issued.is_some() {
        let Some(key) = holder.map(|holder| holder.key()) else { return Ok(None) };
        let public = folkmoot_identity::GroupKey::from_spki_der(key.verifying_key().spki_der())?;
        let Ok(tbs) = body.issued_tbs(&public) else { return Ok(None) };
        let made = Gmc::issue_by_group(body, &public, &key.sign_raw(&tbs).to_paper());
        return Ok(made.ok().map(|gmc| gmc.der().to_vec()));
    }
    let made = holder.and_then(|holder| match (&votes, &body.membership.multi) {
        (_, Some(multi)) => Gmc::compose_multi(body, multi, holder).ok(),
        (Some(votes), None) => Gmc::compose(body, votes, holder).ok(),
        (None, None) => None,
    });
    Ok(made.map(|gmc| gmc.der().to_vec()))
}

/// Another time that is past: at an end or near one, at odd times; perhaps besides the one that is
/// there.
pub(super) fn past(group: &mut Group, sections: &mut Vec<Section>) -> String {
    let (state, set) = (group.transcript.state(), group.transcript.set());
    let terms = state.roster().values().map(|held| held.ends).chain(set.admits().map(|admit| admit.ends));
    let ends = terms.chain(set.approvals().map(|signed| signed.approval.expires));
    let ends = ends.filter(|end| *end >= state.time() && end.0 < u64::MAX);
    let odd = [UnixTime(0), UnixTime(u64::MAX), state.time(), set.past(), UnixTime(group.clock)];
    let all: Vec<UnixTime> = ends.chain(odd).collect();
    let end = group.dice.pick(&all).unwrap_or_default();
    let time = UnixTime(end.0.wrapping_add(group.dice.pick(&[0, 1, 1, 1, 2]).unwrap_or_default()));
    let is_past = |section: &Section| section.0 == 5 && section.1.get(1) == Some(&5);
    if group.dice.chance(90) {
        sections.retain(|section| !is_past(section));
    }
    sections.push((5, Item::Past { time }.encode()));
    in_order(sections);
    format!("Past at {}", time.0)
}

/// Something new for the set.
fn add(group: &mut Group, sections: &mut Vec<Section>) -> Drawn<String> {
    let people: Vec<MemberId> = group.people.keys().copied().collect();
    let voter = group.dice.pick(&people).ok_or("nobody is there")?;
    let member = group.dice.pick(&people).ok_or("nobody is there")?;
    let effect = Effect { change: Change::Remove { member }, force: Force::No };
    let state = group.transcript.state();
    let held = state.roster().get(&member).map_or([3; 32], |held| held.request);
    let (item, what) = match group.dice.roll(7) {
        0 => {
            let turn = group.dice.roll(2).try_into()?;
            let signed = group.approval(voter, effect.subject(), (turn, Verdict::Approve, group.clock))?;
            (Item::Approval(signed), "approval of a removal")
        }
        1 => {
            let signed = group.approval(voter, admission(held), (0, Verdict::Reject, group.clock))?;
            (Item::Approval(signed), "objection")
        }
        2 => (Item::Effect(effect), "removal"),
        3 => (Item::Past { time: UnixTime(group.clock) }, "Past"),
        4 => {
            let holder = group.people.get(&member).cloned().ok_or("nobody is there")?;
            let body = group.request(&holder);
            let voters = group.dice.some(&people, 70);
            (group.certified(&holder, &body, &voters)?, "certificate")
        }
        5 => {
            let head = Head { number: group.dice.long(4), digest: held };
            let effect = Effect { change: Change::Rejoin { head }, force: Force::No };
            (Item::Effect(effect), "Rejoin")
        }
        _ => match last(sections) {
            Some(standing) if group.dice.chance(50) => (Item::Decision(standing), "decision"),
            Some(standing) => (Item::Coming { decisions: vec![standing] }, "coming"),
            None => (Item::Effect(effect), "removal"),
        },
    };
    sections.push((5, item.encode()));
    in_order(sections);
    Ok(format!("one more {what}"))
}

fn last(sections: &[Section]) -> Option<Standing> {
    let (_, bytes) = sections.iter().find(|(kind, _)| *kind == 3)?;
    folkmoot_base::codec::decode(bytes).ok()
}

/// The signed attributes of CMS for this content.
pub(super) fn attributes(content: &[u8]) -> Vec<u8> {
    const HEAD: &[u8] =
        b"\x31\x4b\x30\x18\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x09\x03\x31\x0b\x06\x09\x2a\x86\x48\
        \x86\xf7\x0d\x01\x07\x01\x30\x2f\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x09\x04\x31\x22\x04\x20";
    [HEAD, &digest(&[content])].concat()
}

/// The one form of a CMS message of this content, with certificate and signature of each signer.
pub(super) fn message(content: &[u8], signers: &[(Vec<u8>, Signature)]) -> Drawn<Vec<u8>> {
    let mut certificates: Vec<Vec<u8>> = signers.iter().map(|(certificate, _)| certificate.clone()).collect();
    let mut infos = Vec::new();
    for (certificate, signature) in signers {
        infos.push(info(content, certificate, signature).ok_or("a certificate is malformed")?);
    }
    certificates.sort();
    infos.sort();
    let sha256 = value(0x30, &[b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01"]);
    let data = value(
        0x30,
        &[b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01", &value(0xa0, &[&value(4, &[content])])],
    );
    let parts = |all: &[Vec<u8>]| all.concat();
    let body = value(
        0x30,
        &[
            b"\x02\x01\x01",
            &value(0x31, &[&sha256]),
            &data,
            &value(0xa0, &[&parts(&certificates)]),
            &value(0x31, &[&parts(&infos)]),
        ],
    );
    Ok(value(0x30, &[b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02", &value(0xa0, &[&body])]))
}

fn info(content: &[u8], certificate: &[u8], signature: &Signature) -> Option<Vec<u8>> {
    // Certificate { TBSCertificate { version, serial, algorithm, issuer .. } .. }
    let tbs = inside(inside(certificate)?)?;
    let (_, rest) = cut(tbs)?;
    let (serial, rest) = cut(rest)?;
    let (_, rest) = cut(rest)?;
    let (issuer, _) = cut(rest)?;
    let mut signed = attributes(content);
    signed.iter_mut().take(1).for_each(|tag| *tag = 0xa0);
    Some(value(
        0x30,
        &[
            b"\x02\x01\x01",
            &value(0x30, &[issuer, serial]),
            &value(0x30, &[b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01"]),
            &signed,
            &value(0x30, &[b"\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x02"]),
            &value(4, &[&signature.to_paper()]),
        ],
    ))
}

/// A value of DER.
fn value(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let body = parts.concat();
    let mut out = vec![tag];
    let length = body.len().to_be_bytes();
    let short: Vec<u8> = length.iter().copied().skip_while(|byte| *byte == 0).collect();
    if body.len() >= 0x80 {
        out.push(0x80 | u8::try_from(short.len()).unwrap_or_default());
        out.extend(short);
    } else {
        out.push(u8::try_from(body.len()).unwrap_or_default());
    }
    out.extend(body);
    out
}

/// Length of the header and of the content of the first value.
fn measure(bytes: &[u8]) -> Option<(usize, usize)> {
    let length = usize::from(*bytes.get(1)?);
    if length < 0x80 {
        return Some((2, length));
    }
    let count = length - 0x80;
    let size = bytes.get(2..2 + count)?.iter().fold(0, |size: usize, byte| size << 8 | usize::from(*byte));
    Some((2 + count, size))
}

fn inside(bytes: &[u8]) -> Option<&[u8]> {
    let (header, size) = measure(bytes)?;
    bytes.get(header..header + size)
}

fn cut(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (header, size) = measure(bytes)?;
    bytes.split_at_checked(header + size)
}
