//! Files that show a fork, and files whose set is none.

use super::catch_up::busy;
use super::file::{charter, read, sections};
use super::{Group, NOW, remove};
use folkmoot_base::{Algorithm, Head, SignatureBytes, codec};
use folkmoot_identity::Verdict;
use folkmoot_transcript::{
    Batch, Change, Commit, Decision, Effect, FileError, Force, Item, ItemError, KnownHead, LATE_MAX, Proof,
    Proposal, SIDES_MAX, STATEMENT_LABEL, Stage, Standing, Transcript, Unproposed, admission,
};

fn unsigned() -> SignatureBytes {
    SignatureBytes { algorithm: Algorithm::P256, bytes: bytes::Bytes::new() }
}

/// A decision on what these members have, with the commits of these founders in ballot 0.
fn stand(group: &Group, on: &Transcript, effect: &Effect, who: &[usize]) -> Standing {
    let approved = who.iter().map(|who| {
        let signed = group.approval(*who, effect.subject(), 0, Verdict::Approve);
        Proof::of(&signed.approval, signed.signature)
    });
    let mut proofs: Vec<Proof> = approved.collect();
    proofs.sort_by_key(|proof| proof.voter);
    let effects = vec![folkmoot_transcript::Approved { effect: effect.clone(), proofs }];
    let batch = Batch { time: NOW, effects, ..Batch::default() };
    let (decision, _) = on.state().decide(batch, |request| on.set().admit(request)).unwrap();
    sign(group, on, decision, who)
}

pub(super) fn sign(group: &Group, on: &Transcript, decision: Decision, who: &[usize]) -> Standing {
    let mut voters: Vec<_> = who.iter().map(|who| group.id(*who)).collect();
    voters.sort_unstable();
    let stages = vec![Stage { ballot: 0, promises: Vec::new(), signature: unsigned() }];
    let commits = voters.iter().map(|voter| Commit { voter: *voter, signature: unsigned() }).collect();
    let mut standing = Standing { proposal: Proposal { decision, stages }, commits };
    let claims = standing.claims(on.state());
    let mut signatures = claims.iter().map(|claim| {
        let key = group.people.iter().find(|one| one.member() == claim.voter).unwrap().key();
        key.sign_wire(STATEMENT_LABEL, &claim.statement.bytes(&on.group()))
    });
    standing.proposal.stages[0].signature = signatures.next().unwrap();
    for (commit, signature) in standing.commits.iter_mut().zip(signatures) {
        commit.signature = signature;
    }
    standing
}

fn hours(hours: &str) -> Effect {
    let field = b"request_hours".to_vec().into();
    Change::Charter { field, value: hours.as_bytes().to_vec().into() }.into()
}

/// Three decisions; of the number 1 two others stand as well, and of 3 one, which the first founder
/// has.
struct Forked {
    group: Group,
    ours: Transcript,
    theirs: Transcript,
}

fn forked() -> Forked {
    let mut group = Group::new(4, 2);
    let mut ours = group.first().clone();
    let mut theirs = None;
    for number in ["10", "20", "30"] {
        let one = stand(&group, &ours, &hours(number), &[0, 1, 2]);
        let other = stand(&group, &ours, &hours("99"), &[1, 2, 3]);
        let before = ours.clone();
        assert!(ours.take(&Item::Decision(one).encode(), Some(NOW)).unwrap().advanced);
        if number != "20" {
            let fork = Item::Decision(other).encode();
            assert!(!ours.take(&fork, Some(NOW)).unwrap().liars.is_empty());
            let mut elsewhere = before.clone();
            elsewhere.take(&fork, Some(NOW)).unwrap();
            theirs = Some(elsewhere);
        }
        if number == "10" {
            let third = Item::Decision(stand(&group, &before, &hours("98"), &[0, 2, 3]));
            assert!(!ours.take(&third.encode(), Some(NOW)).unwrap().liars.is_empty());
        }
        group.transcripts[0] = ours.clone();
    }
    Forked { group, ours, theirs: theirs.unwrap() }
}

fn section(kind: u8, bytes: &[u8]) -> Vec<u8> {
    [&[kind][..], &u32::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat()
}

/// The file with more sections before its end.
fn and(file: &[u8], more: &[u8]) -> Vec<u8> {
    let (_, end, _) = *sections(file).last().unwrap();
    [&file[..end], more, &file[end..]].concat()
}

#[test]
fn line_85_a_file_shows_the_forks_of_its_line() {
    let Forked { mut group, ours, .. } = forked();
    let (founding, head) = (charter(&group), ours.state().head());
    let file = ours.file();
    for piece in [1, 999, file.len()] {
        let read = read(&founding, vec![head], &file, piece).unwrap();
        assert_eq!(read.line().forks(), ours.line().forks());
        assert_eq!(read.file(), file);
    }
    let all = sections(&file);
    let [first, second, last] = [4, 3, 2].map(|back| all[all.len() - back]);
    assert_eq!([first.0, second.0, last.0], [7, 7, 7]);
    assert!(first.2 > second.2 && first.2 > last.2, "our side of a number is told once");
    let bytes = |part: (u8, usize, usize)| file[part.1..part.1 + part.2].to_vec();
    let cut = [&file[..first.1], &file[last.1 + last.2..]].concat();
    let no_fork = |more: &[Vec<u8>]| {
        let bad = and(&cut, &more.concat());
        let refused = read(&founding, vec![head], &bad, 999).unwrap_err();
        assert!(matches!(refused, FileError::Item { why: ItemError::NoFork, .. }), "{refused:?}");
    };
    no_fork(&[bytes(last), bytes(first)]);
    no_fork(&[bytes(first), bytes(first)]);
    no_fork(&[bytes(second), bytes(first)]);
    no_fork(&[bytes(first), bytes(second), bytes(second)]);
    // The decision on our line is told if and only if no other section has it.
    let theirs = |number| {
        let mut forks = ours.line().forks().values();
        forks.find(|fork| fork.ours.head().number == number).unwrap().theirs.clone()
    };
    let alone = |theirs: &Standing| section(7, &[&[1, 0][..], &codec::encode(theirs)[1..]].concat());
    no_fork(&[alone(&theirs(1))]);
    // As many of one number as are kept, and no more.
    let before = group.transcripts[3].clone();
    group.transcripts[0] = before.clone();
    let mut sides: Vec<Standing> =
        ["91", "92", "93"].map(|text| stand(&group, &before, &hours(text), &[0, 1, 2])).to_vec();
    sides.extend(ours.line().forks().values().take(2).map(|fork| fork.theirs.clone()));
    sides.sort_by_key(Standing::head);
    let mine = codec::encode(&ours.line().decisions()[&1]);
    let shown = section(7, &[&[1, 1][..], &mine[1..], &codec::encode(&sides[0])[1..]].concat());
    let told = |more: usize| [vec![shown.clone()], sides[1..more].iter().map(alone).collect()].concat();
    let taken = and(&cut, &told(SIDES_MAX).concat());
    assert!(read(&founding, vec![head], &taken, 999).is_ok());
    no_fork(&told(SIDES_MAX + 1));
    group.transcripts[0] = ours.clone();
    no_fork(&[alone(&stand(&group, &ours, &hours("77"), &[0, 1, 2]))]);
    assert_eq!(alone(&theirs(3)), bytes(last));
}

#[test]
fn line_85_a_fork_is_two_decisions_that_stand() {
    let Forked { mut group, ours, .. } = forked();
    let before = group.transcripts[3].clone();
    group.transcripts[0] = before.clone();
    let mut few = stand(&group, &before, &hours("97"), &[0, 1, 2]);
    few.commits.truncate(1);
    let mut forged = stand(&group, &before, &hours("97"), &[0, 1, 2]);
    forged.commits[0].signature = forged.commits[1].signature.clone();
    let liar = forged.commits[0].voter;
    let known = ours.line().decisions()[&1].clone();
    let file = ours.file();
    let all = sections(&file);
    let (_, at, _) = all[all.len() - 4];
    let cut = [&file[..at], &section(8, &[])].concat();
    let evidence = |theirs: &Standing| {
        let bytes = [&[1, 1][..], &codec::encode(&known)[1..], &codec::encode(theirs)[1..]].concat();
        read(&charter(&group), vec![ours.state().head()], &and(&cut, &section(7, &bytes)), 999)
    };
    let why = |theirs: &Standing| match evidence(theirs).unwrap_err() {
        FileError::Item { why, .. } => why,
        other => panic!("{other:?}"),
    };
    assert!(evidence(&stand(&group, &before, &hours("97"), &[0, 1, 2])).is_ok());
    assert_eq!(why(&few), ItemError::Decision(Unproposed::Commits));
    assert_eq!(why(&forged), ItemError::Decision(Unproposed::Signature(liar)));
    assert_eq!(why(&known), ItemError::NoFork);
}

#[test]
fn line_86_whoever_shows_a_fork_is_followed_by_a_head() {
    let Forked { group, ours, theirs } = forked();
    let charter = charter(&group);
    let head = ours.state().head();
    let older = ours.line().decisions()[&2].head();
    for known in [vec![], vec![older]] {
        let refused = read(&charter, known.clone(), &ours.file(), 999).unwrap_err();
        let number = if known.is_empty() { 1 } else { 3 };
        assert!(matches!(refused, FileError::Forked { number: at, .. } if at == number), "{refused:?}");
    }
    assert!(read(&charter, vec![older, head], &ours.file(), 999).is_ok());
    // The other side has a file of its own, which our head refuses.
    let other = theirs.state().head();
    assert_eq!(read(&charter, vec![head], &theirs.file(), 999).unwrap_err(), FileError::NoHead(head.into()));
    assert_eq!(read(&charter, vec![other], &ours.file(), 999).unwrap_err(), FileError::NoHead(other.into()));
}

/// What those committed to who vote no more is shown, and no head has to be known for it.
#[test]
fn line_86_what_former_voters_made_is_shown_and_refuses_no_file() {
    let mut group = Group::new(4, 2);
    let mut ours = group.first().clone();
    let [one, former, present] = [("10", &[0, 1, 2]), ("98", &[1, 2, 3]), ("99", &[0, 2, 3])]
        .map(|(text, who)| Item::Decision(stand(&group, &ours, &hours(text), who)).encode());
    ours.take(&one, Some(NOW)).unwrap();
    group.transcripts[0] = ours.clone();
    let alone = Change::Electorate { voters: vec![group.id(0)] };
    let alone = Effect { change: alone, force: Force::Yes };
    let handover = Item::Decision(stand(&group, &ours, &alone, &[0, 1, 2])).encode();
    ours.take(&handover, Some(NOW)).unwrap();
    let charter = charter(&group);
    for (side, shown) in [(former, true), (present, false)] {
        assert!(!ours.take(&side, Some(NOW)).unwrap().liars.is_empty());
        match read(&charter, Vec::new(), &ours.file(), 999) {
            Ok(read) => assert!(shown && read.line().forks() == ours.line().forks()),
            Err(refused) => {
                assert!(!shown && matches!(refused, FileError::Forked { number: 1, .. }), "{refused:?}")
            }
        }
        assert!(read(&charter, vec![ours.state().head()], &ours.file(), 999).is_ok());
    }
}

#[test]
fn line_87_a_file_has_no_more_than_a_set_keeps() {
    let group = busy();
    let file = group.first().file();
    let (_, at, _) = *sections(&file).iter().find(|part| part.0 == 6).unwrap();
    let effect = Item::Effect(remove(group.id(0))).encode();
    let mut items: Vec<Vec<u8>> = sections(&file)
        .iter()
        .filter(|part| part.0 == 5)
        .map(|(_, at, length)| file[*at..*at + *length].to_vec())
        .collect();
    let (_, first, _) = *sections(&file).iter().find(|part| part.0 == 5).unwrap();
    items.push(section(5, &effect));
    items.sort_by_key(|item| (item[6], folkmoot_base::digest(&[&item[5..]])));
    let bad = [&file[..first], &items.concat(), &file[at..]].concat();
    let refused = read(&charter(&group), Vec::new(), &bad, 999).unwrap_err();
    assert!(matches!(refused, FileError::Overfull { .. }), "nobody approves it: {refused:?}");
}

#[test]
fn line_81_items_of_the_set_stand_in_their_order_each_once() {
    let group = busy();
    let file = group.first().file();
    let items: Vec<_> = sections(&file).into_iter().filter(|part| part.0 == 5).collect();
    assert!(items.len() > 2);
    let bytes = |place: usize| &file[items[place].1..items[place].1 + items[place].2];
    let (begin, end) = (items[0].1, items[1].1 + items[1].2);
    for pair in [[bytes(1), bytes(0)], [bytes(0), bytes(0)]] {
        let bad = [&file[..begin], &pair.concat(), &file[end..]].concat();
        let refused = read(&charter(&group), Vec::new(), &bad, 999).unwrap_err();
        assert!(matches!(refused, FileError::Order { kind: 5, .. }), "{refused:?}");
    }
    let decision = group.first().line().decisions()[&1].clone();
    let coming = Item::Coming { decisions: vec![decision.clone()] };
    for item in [Item::Decision(decision), coming] {
        let stray = section(5, &item.encode());
        let end = items.last().unwrap().1 + items.last().unwrap().2;
        let bad = [&file[..end], &stray, &file[end..]].concat();
        let refused = read(&charter(&group), Vec::new(), &bad, 999).unwrap_err();
        assert!(matches!(refused, FileError::Item { why: ItemError::NotOfSet, .. }), "{refused:?}");
    }
}

#[test]
fn heads_are_written_as_people_read_them() {
    let head = Head { number: 17, digest: [0xab; 32] };
    let whole: KnownHead = head.whole().parse().unwrap();
    assert_eq!((whole.clone(), whole.to_string()), (head.into(), head.to_string()));
    let short: KnownHead = format!("17.{}", "AB".repeat(8)).parse().unwrap();
    assert!(short.names(&head) && !short.names(&Head { number: 18, ..head }));
    for bad in [
        "",
        "17",
        "17.",
        ".abababababababab",
        "17.ababababababab",
        "+1.abababababababab",
        "17:abababababababab",
    ] {
        assert!(bad.parse::<KnownHead>().is_err(), "{bad}");
    }
    assert!(format!("17.{}", "ab".repeat(33)).parse::<KnownHead>().is_err());
}

/// Each reason says its rule, or has another below it that does; each rule is on the page.
#[test]
fn every_reason_has_a_rule_of_the_page() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(root.join("src/error.rs")).unwrap();
    let page = std::fs::read_to_string(root.join("../../docs/protocol/line.md")).unwrap();
    let mut reasons = 0;
    for reason in source.split("#[error(").skip(1) {
        let reason = reason.split("\n    ///").next().unwrap_or_default();
        let below = ["transparent", "#[source]", "#[from]"].iter().any(|mark| reason.contains(mark));
        let rule = reason.split("(LINE-").nth(1).map(|rest| &rest[..2]);
        assert!(below || rule.is_some(), "no rule: {reason}");
        if let Some(rule) = rule {
            assert!(page.contains(&format!("| LINE-{rule} |")), "not on the page: {reason}");
        }
        reasons += 1;
    }
    assert!(reasons > 70, "{reasons}");
}

#[test]
fn line_87_a_file_with_more_admissions_than_a_set_keeps_is_refused() {
    let group = busy();
    let file = group.first().file();
    let parts = sections(&file);
    let (_, first, _) = *parts.iter().find(|part| part.0 == 5).unwrap();
    let stranger = super::person(30);
    let mut body = group.request(&stranger);
    let admits = (0..=LATE_MAX).map(|number| {
        body.membership.nonce = u128::try_from(number).unwrap().to_be_bytes();
        group.admit(&stranger, &body, &[]).encode()
    });
    let mut items: Vec<Vec<u8>> = admits.collect();
    items.sort_by_cached_key(|item| folkmoot_base::digest(&[item]));
    let all = |items: &[Vec<u8>]| {
        let items: Vec<u8> = items.iter().flat_map(|item| section(5, item)).collect();
        read(&charter(&group), Vec::new(), &[&file[..first], &items, &section(8, &[])].concat(), 9_999)
    };
    assert!(matches!(all(&items).unwrap_err(), FileError::Overfull { .. }));
    assert_eq!(all(&items[1..]).unwrap().set().admits().count(), LATE_MAX);
}

/// What counts, what is late and why does not depend on how the set came.
#[test]
fn a_set_that_is_loaded_ends_as_if_each_item_had_come_alone() {
    let mut group = busy();
    for (number, voters) in [(31, &[0][..]), (32, &[0, 1]), (33, &[])] {
        let stranger = super::person(number);
        let body = group.request(&stranger);
        let item = group.admit(&stranger, &body, voters);
        group.all_take(&item);
        let subject = admission(body.request_digest().unwrap());
        let no = group.approval(1, subject, 1, Verdict::Reject);
        group.all_take(&Item::Approval(no));
    }
    let loaded = read(&charter(&group), Vec::new(), &group.first().file(), 999).unwrap();
    let alone = group.first();
    let late = |one: &Transcript| -> Vec<_> {
        one.set().late().map(|(admit, why)| (admit.request, why.clone())).collect()
    };
    assert_eq!(late(&loaded), late(alone));
    assert_eq!(late(alone).len(), 3);
    assert_eq!(loaded.set().members(loaded.state()), alone.set().members(alone.state()));
    assert_eq!(loaded.mark(), alone.mark());
}
