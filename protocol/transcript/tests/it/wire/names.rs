//! Nobody comes in under a name that cannot be told from others, by whichever way its admission
//! comes. Here nobody votes on it: the charter lists the key.

use super::file::{charter, read};
use super::{Group, NOW, START, Seed, draft, field, person};
use folkmoot_base::{Danger, Mutant, StoreKey, UnixTime, digest};
use folkmoot_identity::names::NameError;
use folkmoot_identity::{
    CertificateError, CharterDraft, CharterError, Identity, Policies, Policy, SignedCharter,
};
use folkmoot_transcript::{Change, FileError, Item, ItemError, ROTATE_LABEL, StateError, TABLE, Transcript};

const HIDDEN: &str = "an\u{200d}na";

fn called(name: &str) -> Identity {
    Identity::new(name, &mut Seed(77 << 32), START, UnixTime(2_398_377_600)).unwrap()
}

/// Three founders, and whom their charter lists, with the item by which it comes in. Of the
/// founders nobody knows the rule.
fn listed(name: &str) -> (Group, Identity, Item) {
    let stranger = called(name);
    let policies = Policies { policy: Policy::List, list: [stranger.member()].into(), ..Policies::default() };
    let mut group = Group::of(&CharterDraft { policies, ..draft(3, 2) });
    for transcript in &mut group.transcripts {
        transcript.endanger(Mutant::from(Some(Danger::AdmissionAnyName)));
    }
    let item = group.admit(&stranger, &group.request(&stranger), &[]);
    (group, stranger, item)
}

/// A transcript that has the founding only, and knows the rule or not.
fn founded(group: &Group, danger: Option<Danger>) -> Transcript {
    let mut transcript = Transcript::founded(&charter(group)).unwrap();
    transcript.endanger(Mutant::from(danger));
    transcript
}

const ANY: Option<Danger> = Some(Danger::AdmissionAnyName);

fn is_name<T: std::fmt::Debug>(refused: Result<T, ItemError>) -> bool {
    match refused.unwrap_err() {
        ItemError::Certificate(CertificateError::PeerName(_)) => true,
        ItemError::State(why) => why == StateError::Value("name"),
        _ => false,
    }
}

/// What the contact makes of a certificate, what a node is shown by another, and what a program
/// finds in its own store.
#[test]
fn adm_90_an_item_lets_nobody_in_under_such_a_name() {
    for (name, danger, comes) in [("anna", None, true), (HIDDEN, None, false), (HIDDEN, ANY, true)] {
        let (group, stranger, item) = listed(name);
        let (mut transcript, bytes) = (founded(&group, danger), item.encode());
        let Item::Admit { certificate, .. } = &item else { panic!("it is a certificate") };
        let made = transcript.make_admit(&certificate.0, &[]);
        let taken = transcript.take(&bytes, Some(NOW));
        assert!(if comes { made.is_ok() && taken.is_ok() } else { is_name(made) && is_name(taken) });
        let key = StoreKey { table: TABLE, key: [&b"i"[..], &digest(&[&bytes])].concat().into() };
        let restored = founded(&group, danger).restore(&[(key, bytes.into())]).unwrap();
        for one in [transcript, restored] {
            assert_eq!(one.roster().is_member(&stranger.member()), comes, "{name:?} {danger:?}");
        }
    }
}

/// It came in at those who do not know the rule, and they have decided on it since: their decision,
/// what leads over it, and their file.
#[test]
fn adm_90_no_state_has_a_member_under_such_a_name() {
    for (name, danger, comes) in [("anna", None, true), (HIDDEN, None, false), (HIDDEN, ANY, true)] {
        let (mut group, stranger, item) = listed(name);
        group.all_take(&item);
        let open = group.first().file();
        group.approve(&field("letters", "true"), &[0, 1]);
        let decision = group.decide(&[0, 1, 2]).remove(0);
        let head = founded(&group, None).state().head();
        let package = group.first().package(&head).unwrap();
        let mut by_package = founded(&group, danger);
        let taken = by_package.take_package(&package, None, None);
        let mut by_items = founded(&group, danger);
        let lacking = group.first().lacking(head, &by_items.have(), usize::MAX);
        for item in &lacking {
            let _ = by_items.take(item, Some(NOW));
        }
        assert!(lacking.iter().any(|item| item[..] == decision.encode()));
        assert!(if comes { taken.is_ok() } else { is_name(taken) });
        for one in [by_package, by_items] {
            assert_eq!(one.roster().is_member(&stranger.member()), comes, "{name:?} {danger:?}");
        }
        // Who reads a file knows the rule.
        for file in [open, group.first().file()] {
            match read(&charter(&group), Vec::new(), &file, 1_000) {
                Ok(read) => assert!(name == "anna" && read.roster().is_member(&stranger.member())),
                Err(FileError::Item { why, .. }) => assert!(name == HIDDEN && is_name::<()>(Err(why))),
                Err(other) => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn adm_90_no_other_key_has_such_a_name() {
    let mut group = Group::new(3, 2);
    for (name, danger, comes) in [("anna", None, true), (HIDDEN, None, false), (HIDDEN, ANY, true)] {
        group.transcripts[0].endanger(Mutant::from(danger));
        let new = called(name);
        let body = group.request(&new);
        let item = group.admit(&new, &body, &[]);
        let taken = group.transcripts[0].take(&item.encode(), Some(NOW));
        assert!(if comes { taken.is_ok() } else { is_name(taken) }, "{name:?} {danger:?}");
        let request = body.request_digest().unwrap();
        let covered = [&group.first().group().0[..], &request].concat();
        let signature = group.people[2].key().sign_wire(ROTATE_LABEL, &covered);
        let rotate = Change::Rotate { member: group.id(2), request, signature };
        assert_eq!(group.first().would_stand(&rotate.into()).is_ok(), comes, "{name:?} {danger:?}");
    }
}

/// A ticket, a file and a store begin with the charter.
#[test]
fn adm_90_nobody_founds_a_group_under_such_a_name() {
    for (name, why) in [(HIDDEN, NameError::Character("U+200D".into())), ("\u{301}anna", NameError::Marks)] {
        let (anna, ben) = (called(name), person(1));
        let mut draft = draft(2, 2);
        draft.founders = vec![anna.certificate().into(), ben.certificate().into()];
        let signed = SignedCharter::sign(&draft.to_toml(), &[&anna, &ben]).unwrap_err();
        assert_eq!(signed, CharterError::WireName(name.to_owned(), why));
    }
}
