//! An expulsion ends every admission that does not know of it. What was granted before it admits
//! nobody after it, whatever past an entry is written over, by whom, and in whatever order entries
//! come. Method: real keys; entries that a liar signs over old parents.

use crate::history::*;
use folkmoot_base::{Cause, EntryId, UnixTime};
use folkmoot_identity::transcript::Body;
use folkmoot_identity::{BuildError, CertificateError, Change, Ending, EntryError, Transcript};

/// Three founders, of whom two admit; the fourth member is admitted, renewed, and expelled. Its two
/// certificates, and where it was admitted.
struct Expelled {
    transcript: Transcript,
    certificates: [Body; 2],
    admitted: EntryId,
    /// As it was when the fourth was a member.
    before: Transcript,
}

fn expelled() -> Expelled {
    let mut t = found(3, 2);
    let first = gmc(&t, 3, &[0, 1], 1);
    let admitted = t.append(&t.make_admit(first.der(), &PEOPLE[0]).unwrap()).unwrap().id;
    let renewal = gmc(&t, 3, &[0, 1], 2);
    t.append(&t.make_admit(renewal.der(), &PEOPLE[3]).unwrap()).unwrap();
    let before = t.clone();
    t.append(&decide(&t, &expel(&t, 3), &[0, 1]).unwrap()).unwrap();
    assert!(!t.roster().is_member(&id(3)));
    Expelled { transcript: t, certificates: [admit_body(&first), admit_body(&renewal)], admitted, before }
}

/// Nobody accepts that the fourth is back, in whatever order the entries come.
fn stays_out(mut t: Transcript, entry: &[u8], before: &Transcript) {
    assert_eq!(t.append(entry).unwrap().change, Change::Nothing);
    assert!(!t.roster().is_member(&id(3)));
    assert!(matches!(t.roster().former(&id(3)), Some((_, Ending::Expelled { .. }))));
    let mut other = before.clone();
    other.append(entry).unwrap();
    assert!(other.roster().is_member(&id(3)), "who knows nothing of the expulsion");
    merge(&mut other, &t);
    assert_eq!(other.roster(), t.roster());
    assert!(!other.roster().is_member(&id(3)));
}

#[test]
fn trn_59_an_old_certificate_over_an_old_past_brings_nobody_back() {
    let it = expelled();
    let genesis = it.transcript.genesis_id();
    for body in it.certificates.clone() {
        let entry = sign(it.transcript.group(), vec![genesis], body, 1);
        stays_out(it.transcript.clone(), &entry, &it.before);
    }
}

#[test]
fn trn_59_nor_does_the_expelled_itself_by_the_renewal_that_it_had() {
    let it = expelled();
    let entry = sign(it.transcript.group(), vec![it.admitted], it.certificates[1].clone(), 3);
    stays_out(it.transcript, &entry, &it.before);
}

#[test]
fn trn_59_nor_by_one_that_it_had_kept_for_later() {
    let it = expelled();
    let kept = admit_body(&gmc(&it.before, 3, &[0, 1], 3));
    let entry = sign(it.transcript.group(), vec![it.admitted], kept, 3);
    stays_out(it.transcript, &entry, &it.before);
}

#[test]
fn trn_59_what_was_granted_before_an_expulsion_admits_nobody_after_it() {
    let mut it = expelled();
    let kept = gmc(&it.before, 3, &[0, 1], 3);
    let t = &mut it.transcript;
    let refused = t.make_admit(kept.der(), &PEOPLE[0]).unwrap_err();
    let why = EntryError::PeerCertificate(CertificateError::PeerRemovals(id(3)));
    assert_eq!((refused, why.rule()), (BuildError::Refused(why.clone()), "TRN-59".to_owned()));
    let again = gmc(t, 3, &[0, 1], 4);
    let entry = t.make_admit(again.der(), &PEOPLE[0]).unwrap();
    assert!(matches!(t.append(&entry).unwrap().change, Change::Admitted { new: true, .. }));
    // Expelled once more: what named the first expulsion names too few.
    let kept = gmc(t, 3, &[0, 1], 5);
    t.append(&decide(t, &expel(t, 3), &[0, 1]).unwrap()).unwrap();
    assert_eq!(t.make_admit(kept.der(), &PEOPLE[0]), Err(BuildError::Refused(why)));
    assert!(t.make_admit(gmc(t, 3, &[0, 1], 6).der(), &PEOPLE[0]).is_ok());
}

#[test]
fn trn_59_nobody_names_an_expulsion_that_was_not() {
    let t = found(3, 2);
    let false_word = body(&t, 3, 1).after(Some([7; 32]));
    let why = CertificateError::PeerRemovals(id(3));
    assert_eq!(false_word.check_removals(t.roster()), Err(why));
    assert_eq!(body(&t, 3, 1).check_removals(t.roster()), Ok(()));
}

#[test]
fn an_admission_that_has_ended_with_its_term_comes_not_back_over_an_older_past() {
    let mut t = found(3, 2);
    let certificate = gmc(&t, 3, &[0, 1], 1);
    t.append(&t.make_admit(certificate.der(), &PEOPLE[0]).unwrap()).unwrap();
    let before = t.clone();
    let over = t.append(&entry(&t.clone(), expire_body(&t, 3, NOW.0 + YEAR + 1), 0)).unwrap();
    assert!(matches!(over.change, Change::Removed { cause: Cause::Expired, .. }));
    let again = sign(t.group(), vec![t.genesis_id()], admit_body(&certificate), 1);
    assert_eq!(t.append(&again).unwrap().change, Change::Nothing);
    assert!(!t.roster().is_member(&id(3)));
    let mut other = before;
    other.append(&again).unwrap();
    merge(&mut other, &t);
    assert_eq!(other.roster(), t.roster());
    // One that ends with it, and was kept, is over as soon as somebody says so.
    let kept = admit(&mut t, 3, &[0, 1], 7);
    let once_more = expire_body(&t, 3, NOW.0 + YEAR + 1);
    assert!(t.roster().holds(&id(3), &kept));
    let over = t.append(&entry(&t.clone(), once_more, 0)).unwrap();
    assert!(matches!(over.change, Change::Removed { cause: Cause::Expired, .. }));
    let mut later = body(&t, 3, 2);
    (later.not_before, later.not_after) = (UnixTime(NOW.0 + 60), UnixTime(NOW.0 + 60 + YEAR));
    let later = t.make_admit(granted(&later, 3, &[0, 1]).der(), &PEOPLE[0]).unwrap();
    assert!(matches!(t.append(&later).unwrap().change, Change::Admitted { new: true, .. }));
}
