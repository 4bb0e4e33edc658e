//! The line of decisions: items, states, what voters say about the next decision, files.

use crate::script::{script, steps};
use crate::values::canonical;
use crate::world::{LATER, NOW, VOTES_END, World, world};
use folkmoot_base::codec::encode;
use folkmoot_base::{Blob, Head, MemberId, UnixTime};
use folkmoot_identity::{Gmc, Verdict, VoteProof};
use folkmoot_transcript::{
    Approval, BallotMessage, BallotRecord, Change, Effect, FileReader, Invitation, Item, Leave,
    SignedApproval, State, Subject, Ticket, Transcript, admission,
};
use std::sync::{Arc, OnceLock};

/// The world's group as a line, with one admission and one approval in its set.
fn line() -> &'static Transcript {
    static LINE: OnceLock<Transcript> = OnceLock::new();
    LINE.get_or_init(|| {
        let world = world();
        let mut line = Transcript::founded(world.signed.der()).expect("a complete charter");
        for item in items(world, line.state().head()) {
            line.take(&item.encode(), Some(NOW)).expect("an honest item");
        }
        line
    })
}

fn approval(world: &World, who: usize, base: Head, subject: Subject) -> SignedApproval {
    let founder = world.founders.get(who).expect("three founders");
    let (voter, verdict) = (founder.member(), Verdict::Approve);
    let approval = Approval { voter, base, subject, turn: 0, verdict, expires: VOTES_END };
    SignedApproval::sign(founder.key(), world.group(), approval)
}

fn items(world: &World, base: Head) -> Vec<Item> {
    let effect = Effect::from(Change::Remove { member: world.stranger.member() });
    let mut body = world.request().body().clone();
    body.membership.base = base;
    let subject = admission(body.request_digest().expect("a legal request"));
    let vote = |who| {
        let SignedApproval { approval, signature } = approval(world, who, base, subject);
        let signature = folkmoot_signing::Signature::from_wire(&signature).expect("just made");
        let Approval { voter, base, turn, expires, .. } = approval;
        VoteProof { voter, base, turn, expires, signature }
    };
    let gmc = Gmc::compose(&body, &[vote(0), vote(1)], &world.stranger).expect("a legal certificate");
    let certificate = Blob(gmc.der().clone());
    let rejoin = Change::Rejoin { head: Head { number: 1, digest: [4; 32] } };
    let leave = Leave::sign(world.stranger.key(), world.group(), base.number, LATER);
    vec![
        Item::Admit { certificate, approvals: vec![approval(world, 2, base, subject)] },
        Item::Approval(approval(world, 0, base, effect.subject())),
        Item::Effect(effect),
        Item::Effect(Effect::from(rejoin)),
        Item::Effect(Effect::from(Change::Leave(leave))),
    ]
}

/// One item, as bytes and as part of a transcript. What is refused changes nothing.
pub fn line_item(data: &[u8]) {
    if let Ok(item) = Item::decode(data) {
        assert_eq!(item.encode(), data);
    }
    let mut line = line().clone();
    for (_, bytes) in steps(data).chain([(0, data)]) {
        let before = line.mark();
        if line.take(bytes, Some(NOW)).is_err() {
            assert_eq!(line.mark(), before);
        }
    }
}

/// A state: what decodes has one form.
pub fn line_state(data: &[u8]) {
    let founding = Arc::new(world().charter().clone());
    if let Ok(state) = State::decode(data, founding, [7; 32]) {
        assert_eq!(state.encode(), data);
        assert_eq!(state.head().digest, [7; 32]);
    }
}

/// The state of a group in which somebody has another key: a list of one, 72 bytes long, before the
/// running digest, in place of an empty one.
fn with_former_key() -> Vec<u8> {
    let replaced = [vec![0x40, 72], vec![1; 32], vec![2; 32], vec![0, 0, 0, 0, 0, 0, 0, 1]];
    let before = line().state().encode();
    let (rest, running) = before.split_at(before.len() - 32);
    let (rest, empty) = rest.split_at(rest.len() - 1);
    assert_eq!(empty, [0], "nobody has another key");
    let state = [rest, &replaced.concat(), running].concat();
    assert!(State::decode(&state, Arc::new(world().charter().clone()), [7; 32]).is_ok());
    state
}

/// What voters say about the next decision, and what one of them keeps of it.
pub fn line_ballot(data: &[u8]) {
    if let Some(message) = canonical::<BallotMessage>(data) {
        let _ = line().check_message(&message);
    }
    if let Some(record) = canonical::<BallotRecord>(data) {
        assert!(encode(&record) == data);
    }
}

/// A file: what stands is what its writer would write.
pub fn line_file(data: &[u8]) {
    let mut reader = FileReader::new(world().signed.der(), Vec::new());
    let judged = data.chunks(100).try_for_each(|piece| reader.push(piece));
    if let Ok(read) = judged.and_then(|()| reader.finish()) {
        let mut again = FileReader::new(world().signed.der(), vec![read.state().head()]);
        again.push(&read.file()).expect("our own file is taken");
        assert_eq!(again.finish().map(|again| again.mark()), Ok(read.mark()));
    }
}

/// A ticket: as text, and with contacts, dates and a head from the data, signed by one who may say
/// anything.
pub fn ticket(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(ticket) = Ticket::from_text(&text) {
        let plain: String = text.split_ascii_whitespace().collect();
        assert_eq!(ticket.text(), plain);
        let _ = ticket.check(&world().stranger.member(), NOW);
    }
    let Ok(ticket) = Ticket::sign(invitation(data), &world().founders[0]) else { return };
    let read = Ticket::from_text(&ticket.text()).expect("what is made is read");
    assert_eq!((read.text(), read.voucher()), (ticket.text(), ticket.voucher()));
    let days = read.age_days(NOW);
    assert!(days == 0 || read.invitation().made < NOW);
}

/// A number, then the time until the end, then contacts: eight bytes, eight bytes, lines.
fn invitation(data: &[u8]) -> Invitation {
    let (start, rest) = data.split_at(data.len().min(16));
    let number = |at: usize| start.iter().skip(at).take(8).fold(0, |all, byte| (all << 8) | u64::from(*byte));
    let (made, life) = (number(0), number(8));
    let contacts = String::from_utf8_lossy(rest).lines().filter_map(|line| line.parse().ok()).collect();
    Invitation {
        charter: world().signed.clone(),
        head: Head { number: made, digest: [4; 32] },
        made: UnixTime(made),
        ends: UnixTime(made.saturating_add(life)),
        contacts,
        holder: life.is_multiple_of(2).then(|| world().stranger.member()),
        serial: [5; 16],
    }
}

fn ticket_seeds() -> Vec<Vec<u8>> {
    let told =
        [&NOW.0.to_be_bytes()[..], &86_400_u64.to_be_bytes(), b"udp/192.0.2.7:4803\nudp/[2001:db8::1]:1"];
    let told = told.concat();
    let ticket = Ticket::sign(invitation(&told), &world().founders[1]).expect("an honest ticket");
    vec![ticket.text().into_bytes(), told]
}

/// Where the targets begin.
pub(crate) fn seeds() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let items: Vec<Vec<u8>> = items(world(), line().state().head()).iter().map(Item::encode).collect();
    let all = script(items.iter().map(|item| (0, item.clone())));
    let parent = line().state().head();
    let record = BallotRecord { promised: 2, ..BallotRecord::new(parent) };
    let report = folkmoot_transcript::Report { ballot: 1, decision: [3; 32] };
    let (voter, signature) = (MemberId([5; 32]), folkmoot_base::SignatureBytes::NONE);
    let commit = folkmoot_transcript::Commit { voter, signature: signature.clone() };
    let judgement = folkmoot_transcript::Judgement { voter, signature };
    let said = BallotMessage::Commit { parent, report, commit };
    let judged = BallotMessage::Judgement { parent, report, judgement };
    vec![
        ("line_item", items.into_iter().chain([all]).collect()),
        ("line_state", vec![line().state().encode(), with_former_key()]),
        ("line_ballot", vec![encode(&record), encode(&said), encode(&judged)]),
        ("line_file", vec![line().file()]),
        ("ticket", ticket_seeds()),
    ]
}
