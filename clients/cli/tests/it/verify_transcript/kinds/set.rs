//! The set: admissions, approvals, effects, refusals, ends of terms.

use super::Row;
use crate::verify_transcript::parts::{Case, Parts};
use crate::verify_transcript::world::{
    ANNA, BEN, DAN, EVA, FINN, FORKED, IDA, KIM, PEOPLE, START, STORY, Seed, change, id, past, person,
};
use folkmoot_base::{Blob, GroupId, Head, UnixTime};
use folkmoot_identity::{Gmc, Request, Verdict};
use folkmoot_transcript::{Approval, Change, Effect, Item, ROTATE_LABEL, SignedApproval};

fn story() -> Parts {
    Parts::story()
}

/// Anna's approval in the set, changed and not signed anew.
fn annas(change: fn(&mut SignedApproval)) -> Case {
    let anna = |item: &mut Item| match item {
        Item::Approval(signed) if signed.approval.voter == id(ANNA) => {
            change(signed);
            true
        }
        _ => false,
    };
    story().retold(anna).into()
}

/// A new approval by somebody, changed and then signed.
fn approval(who: usize, change: fn(&mut Approval)) -> Case {
    let moot = &STORY.moot;
    let subject = Effect::from(super_change()).subject();
    let mut approval = moot.approval(who, subject, Verdict::Approve);
    change(&mut approval);
    story().item(&Item::Approval(moot.sign(who, approval))).into()
}

fn super_change() -> Change {
    change("letters", "true")
}

/// Ida's open admission, changed.
fn idas(change: fn(&mut Vec<u8>)) -> Case {
    let ida = |item: &mut Item| match item {
        Item::Admit { certificate, .. } => {
            let mut der = certificate.0.to_vec();
            let name = PEOPLE[IDA].name().as_bytes();
            if !der.windows(name.len()).any(|part| part == name) {
                return false;
            }
            change(&mut der);
            certificate.0 = der.into();
            true
        }
        _ => false,
    };
    story().retold(ida).into()
}

fn open(der: &[u8]) -> Case {
    let certificate = Blob::from(der.to_vec());
    story().item(&Item::Admit { certificate, approvals: Vec::new() }).into()
}

fn first_item(change: fn(&mut Vec<u8>)) -> Case {
    let mut parts = story();
    let place = parts.place(5);
    let mut item = parts.0.remove(place).1;
    change(&mut item);
    parts.raw_item(item).into()
}

pub(super) const ROWS: &[Row] = &[
    ("an item of another version", "LINE-01", || first_item(|item| item[0] = 2)),
    ("an item of an unknown kind", "LINE-01", || first_item(|item| item[1] = 9)),
    ("an item with a byte more", "LINE-01", || first_item(|item| item.push(0))),
    ("an open certificate with a bit changed", "LINE-07", || idas(|der| *der.last_mut().unwrap() ^= 1)),
    ("an open certificate with another name", "LINE-07", || {
        idas(|der| {
            let at = der.windows(3).position(|part| part == b"Ida").unwrap();
            der[at] = b'A';
        })
    }),
    ("a certificate under a name that nobody may have", "LINE-07", || {
        let who = person(40, "K\u{200d}im");
        let mut body = STORY.moot.clone().request(KIM, 100);
        (body.key, body.name) = (who.key().verifying_key().clone(), who.name().to_owned());
        open(Gmc::compose(&body, &[], &who).unwrap().der())
    }),
    ("another group's certificate", "LINE-07", || {
        let mut other = FORKED.moot.clone();
        let body = other.request(KIM, 100);
        story().item(&other.certified(&body, &[])).into()
    }),
    ("a founder's own certificate", "LINE-07", || {
        let charter = STORY.moot.t.signed_charter().charter();
        let own = Gmc::found(charter, &PEOPLE[BEN], UnixTime(START), &mut Seed(1 << 50)).unwrap();
        open(own.der())
    }),
    ("a certificate that is none", "LINE-07", || open(&[1, 2, 3])),
    ("a refusal of a request that is not by CSR", "LINE-08", || {
        let body = STORY.moot.clone().request(KIM, 100);
        let request = Request::sign(&PEOPLE[KIM], body).unwrap();
        story().item(&Item::Refusal { request: request.der().to_vec().into() }).into()
    }),
    ("a refusal that shows no request", "LINE-08", || {
        story().item(&Item::Refusal { request: vec![1, 2, 3].into() }).into()
    }),
    ("an approval in another voter's name", "LINE-09", || annas(|one| one.approval.voter = id(BEN))),
    ("a yes turned into a no", "LINE-09", || annas(|one| one.approval.verdict = Verdict::Reject)),
    ("an approval moved to a later turn", "LINE-09", || annas(|one| one.approval.turn += 1)),
    ("an approval moved to another base", "LINE-09", || {
        annas(|one| one.approval.base = STORY.steps[5].head())
    }),
    ("an approval with a later end", "LINE-09", || annas(|one| one.approval.expires.0 += 1)),
    ("an approval moved to another subject", "LINE-09", || {
        annas(|one| one.approval.subject.digest = [7; 32])
    }),
    ("an approval that was signed for another group", "LINE-09", || {
        annas(|one| {
            *one = SignedApproval::sign(PEOPLE[ANNA].key(), GroupId([7; 32]), one.approval);
        })
    }),
    ("an approval in a certificate's item, forged", "LINE-09", || {
        let forge = |item: &mut Item| match item {
            Item::Admit { approvals, .. } if approvals.len() > 1 => {
                approvals[0].signature = approvals[1].signature.clone();
                true
            }
            _ => false,
        };
        story().retold(forge).into()
    }),
    ("another key for a member without the old key's word", "LINE-09", || {
        let request = [7; 32];
        let covered = [&STORY.moot.t.group().0[..], &request].concat();
        let signature = PEOPLE[ANNA].key().sign_wire(ROTATE_LABEL, &covered);
        let effect: Effect = Change::Rotate { member: id(FINN), request, signature }.into();
        let yes = STORY.moot.yes(ANNA, effect.subject());
        story().item(&Item::Approval(yes)).item(&Item::Effect(effect)).into()
    }),
    ("an approval over another line", "LINE-10", || approval(ANNA, |one| one.base.digest = [7; 32])),
    ("an approval over a decision that is not made", "LINE-10", || {
        approval(ANNA, |one| one.base = Head { number: 99, digest: [7; 32] })
    }),
    ("an approval by a stranger", "LINE-11", || approval(KIM, |_| {})),
    ("an approval by an expelled voter", "LINE-11", || approval(DAN, |_| {})),
    ("an approval by a member without a vote", "LINE-11", || approval(FINN, |_| {})),
    ("an approval from before the voter had a vote", "LINE-12", || {
        approval(EVA, |one| one.base = STORY.steps[1].head())
    }),
    ("an admission that a decision holds, as an open one", "LINE-21", || story().item(&STORY.finn).into()),
    ("a time that is past at which nothing ends", "LINE-33", || story().item(&past(STORY.moot.now)).into()),
    ("a time that is past before that of the last decision", "LINE-33", || {
        let time = STORY.moot.t.state().time().0;
        story().item(&past(time - 3_600)).into()
    }),
    ("an effect that nobody approves", "LINE-87", || {
        story().item(&Item::Effect(Change::Remove { member: id(BEN) }.into())).into()
    }),
    ("a refusal of a request that nobody rejects", "LINE-87", || {
        let request = STORY.moot.by_csr(DAN).der().to_vec();
        story().item(&Item::Refusal { request: request.into() }).into()
    }),
];
