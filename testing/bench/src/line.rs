//! `folkmoot bench line`: what a newcomer is given of an old group, and how long it verifies that.
//!
//! ```text
//! a group of so many days: every day some are admitted, most for half a day, and its voters change places
//! newcomer: charter --> the last decision under each electorate, the last decision, its state --> verified
//! ```
//! All signatures are real. Counted are bytes of state and handovers, and processor time of one
//! thread: to read and verify them as a member that skips, and as the reader of a file.

use crate::args::BenchLine;
use crate::meter::worked;
use crate::price::median;
use folkmoot::UnixTime;
use folkmoot::tools::{OsEntropy, wall_clock};
use folkmoot_base::{GroupName, MemberId, codec, digest};
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_cli::progress::Progress;
use folkmoot_cli::show::{data, table};
use folkmoot_identity::{Charter, CharterDraft, Identity, SignedCharter, Verdict};
use folkmoot_signing::{SigningKey, VerifyingKey};
use folkmoot_transcript::{
    Admit, Approval, Approved, Batch, Change, Commit, Decision, Effect, FileReader, Line, Proof, Proposal,
    STATEMENT_LABEL, SignatureBytes, Signed, SignedApproval, Stage, Standing, Statement, Transcript,
    admission,
};
use serde_json::json;
use std::time::Duration;

const DAY: u64 = 86_400;
const VOTERS: usize = 7;
/// Approvals that an effect takes.
const NEED: usize = 4;
/// How long most members stay.
const HALF_A_DAY: u64 = DAY / 2;

/// What was measured.
struct Sizes {
    admissions: u64,
    members: usize,
    handovers: usize,
    handover_bytes: usize,
    state_bytes: usize,
}

/// Prints the table.
pub(crate) fn line(options: &BenchLine, json: bool) -> Result<(), Failure> {
    let mut old = Old::new(options)?;
    old.live(options)?;
    let (sizes, shown) = old.shown()?;
    let (mut skips, mut files) = (Vec::new(), Vec::new());
    let mut progress = Progress::parts("newcomers", false);
    for round in 0..options.times {
        progress.to(round.into(), options.times.into());
        skips.push(skip(&old.charter, &shown)?);
        files.push(read(&old.charter, &shown.file)?);
    }
    drop(progress);
    let (skip, file) = (median(skips), median(files));
    let value = json!({
        "times": options.times,
        "days": options.days,
        "admissions": sizes.admissions,
        "members": sizes.members,
        "handovers": sizes.handovers,
        "bytes": sizes.handover_bytes + sizes.state_bytes,
        "state_bytes": sizes.state_bytes,
        "skip_micros": micros(skip),
        "file_micros": micros(file),
    });
    data(json, &value, || for_people(&sizes, skip, file));
    Ok(())
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn for_people(sizes: &Sizes, skip: Duration, file: Duration) -> String {
    let rows = [
        ("admissions", sizes.admissions.to_string()),
        ("members at the end", sizes.members.to_string()),
        ("electorates", sizes.handovers.to_string()),
        ("bytes of the handovers", sizes.handover_bytes.to_string()),
        ("bytes of the state", sizes.state_bytes.to_string()),
        ("ms to skip to it", skip.as_millis().to_string()),
        ("ms to read it as a file", file.as_millis().to_string()),
    ];
    table(&["WHAT", "NUMBER"], &rows.map(|(what, number)| vec![what.to_owned(), number]))
}

/// What a newcomer is shown.
struct Shown {
    handovers: Vec<Vec<u8>>,
    last: Vec<u8>,
    state: Vec<u8>,
    file: Vec<u8>,
}

/// From the charter to the present state, as a member that skips.
fn skip(charter: &[u8], shown: &Shown) -> Result<Duration, Failure> {
    let mut newcomer = Transcript::founded(charter).map_err(Failure::bug)?;
    let read = |bytes: &Vec<u8>| codec::decode::<Standing>(bytes).map_err(Failure::bug);
    let (took, done) = worked(|| {
        let handovers: Vec<Standing> = shown.handovers.iter().map(read).collect::<Result<_, _>>()?;
        newcomer.skip(&handovers, &read(&shown.last)?, &shown.state, true).map_err(Failure::bug)
    });
    done.map(|_| took)
}

/// The same from a file.
fn read(charter: &[u8], file: &[u8]) -> Result<Duration, Failure> {
    let (took, done) = worked(|| {
        let mut reader = FileReader::new(charter, Vec::new());
        file.chunks(65_536).try_for_each(|piece| reader.push(piece)).map_err(Failure::bug)?;
        reader.finish().map_err(Failure::bug)
    });
    done.map(|_| took)
}

/// The old group, as one of its members has it.
struct Old {
    charter: Vec<u8>,
    voters: Vec<Identity>,
    /// The keys of those who stay.
    keys: Vec<VerifyingKey>,
    line: Line,
    now: u64,
    admissions: u64,
}

impl Old {
    fn new(options: &BenchLine) -> Result<Self, Failure> {
        let mut entropy = OsEntropy::new().map_err(|error| Failure::new(Exit::Configuration, error))?;
        let began = wall_clock();
        let end = UnixTime(began.0.saturating_add(20 * 365 * DAY));
        let mut voter = |place: usize| Identity::new(&format!("voter {place}"), &mut entropy, began, end);
        let voters: Vec<Identity> =
            (0..VOTERS).map(&mut voter).collect::<Result<_, _>>().map_err(Failure::bug)?;
        let named = voters.iter().map(|voter| voter.certificate().into()).collect();
        let name = GroupName::new("line").map_err(Failure::bug)?;
        let threshold = u32::try_from(NEED).map_err(Failure::bug)?;
        let draft = CharterDraft::new(name, threshold, named, &mut entropy);
        let text = draft.to_toml();
        let all: Vec<&Identity> = voters.iter().collect();
        let signed = SignedCharter::sign(&text, &all).map_err(Failure::bug)?;
        let line = Line::founded(Charter::from_toml(&text).map_err(Failure::bug)?);
        let stay = usize::from(options.members).saturating_sub(VOTERS);
        let mut key = || SigningKey::generate(&mut entropy).verifying_key().clone();
        let keys = (0..stay.max(1)).map(|_| key()).collect();
        let charter = signed.der().to_vec();
        Ok(Self { charter, voters, keys, line, now: began.0, admissions: 0 })
    }

    fn live(&mut self, options: &BenchLine) -> Result<(), Failure> {
        let days = u64::from(options.days);
        let a_day = u64::from(options.admissions).div_ceil(days.max(1));
        let stay = u64::from(options.members).saturating_sub(VOTERS as u64);
        let mut progress = Progress::parts("days of the group", false);
        for (done, day) in (0..days).enumerate() {
            progress.to(done, options.days.into());
            let left = days.saturating_sub(day).saturating_mul(a_day);
            let mut holds = Vec::new();
            for number in 0..a_day {
                // The last ones stay.
                let admit = self.admit(left.saturating_sub(number) <= stay)?;
                holds.push(admit.request);
                self.approve(admit);
            }
            holds.sort_unstable();
            let effects = vec![self.electorate(day)?];
            let batch = Batch { time: UnixTime(self.now), holds, effects, ..Batch::default() };
            let set = self.line.set();
            let decided = self.line.state().decide(batch, |request| set.admit(request));
            let standing = self.standing(decided.map_err(Failure::bug)?.0)?;
            self.line.apply(standing).map_err(Failure::bug)?;
            self.now = self.now.saturating_add(DAY);
        }
        Ok(())
    }

    /// The set has an admission, and as many approvals of it as it takes.
    fn approve(&mut self, admit: Admit) {
        let subject = admission(admit.request);
        let (state, set) = self.line.set_mut();
        set.take_admit(state, admit);
        for voter in self.voters.iter().take(NEED) {
            let (voter, base, expires) = (voter.member(), state.head(), UnixTime(self.now + DAY));
            let approval = Approval { voter, base, subject, turn: 0, verdict: Verdict::Approve, expires };
            set.take_approval(state, Signed { approval, signature: None });
        }
    }

    /// Somebody asks over the head, for half a day or to the end. Approvals are not carried by what
    /// a newcomer is shown.
    fn admit(&mut self, stays: bool) -> Result<Admit, Failure> {
        let number = self.admissions;
        self.admissions = number.saturating_add(1);
        let place = usize::try_from(number).map_err(Failure::bug)? % self.keys.len().max(1);
        let key = self.keys.get(place).cloned().ok_or_else(|| Failure::bug("no key"))?;
        let member = if stays { key.member_id() } else { MemberId(digest(&[&number.to_be_bytes()])) };
        let length = if stays { 90 * DAY } else { HALF_A_DAY };
        Ok(Admit {
            request: digest(&[b"request", &number.to_be_bytes()]),
            member,
            name: format!("member {number}"),
            key,
            begins: UnixTime(self.now),
            ends: UnixTime(self.now.saturating_add(length)),
            base: self.line.state().head(),
            issued: None,
            csr: None,
            epochs: Default::default(),
        })
    }

    /// The voters change places; as many as it takes approve.
    fn electorate(&self, day: u64) -> Result<Approved, Failure> {
        let mut voters: Vec<MemberId> = self.voters.iter().map(Identity::member).collect();
        let turn = usize::try_from(day % (VOTERS as u64 - 1)).map_err(Failure::bug)?;
        voters.rotate_left(turn.saturating_add(1));
        let effect = Effect::from(Change::Electorate { voters });
        let state = self.line.state();
        let approve = |voter: &Identity| {
            let approval = Approval {
                voter: voter.member(),
                base: state.head(),
                subject: effect.subject(),
                turn: 0,
                verdict: Verdict::Approve,
                expires: UnixTime(self.now.saturating_add(30 * DAY)),
            };
            let signed = SignedApproval::sign(voter.key(), state.group(), approval);
            Proof::of(&signed.approval, signed.signature)
        };
        let mut proofs: Vec<Proof> = self.voters.iter().take(NEED).map(approve).collect();
        proofs.sort_by_key(|proof| proof.voter);
        Ok(Approved { effect, proofs })
    }

    /// The decision with its owner's word and the commits of all voters.
    fn standing(&self, decision: Decision) -> Result<Standing, Failure> {
        let state = self.line.state();
        let (parent, ballot) = (state.head(), 0);
        let name = decision.digest();
        let sign = |voter: &Identity, statement: &Statement| {
            voter.key().sign_wire(STATEMENT_LABEL, &statement.bytes(&state.group()))
        };
        let owner = self.voters.iter().find(|voter| voter.member() == state.owner(0));
        let owner = owner.ok_or_else(|| Failure::bug("the ballot is nobody's"))?;
        let none = SignatureBytes::NONE;
        let mut proposal =
            Proposal { decision, stages: vec![Stage { ballot, promises: Vec::new(), signature: none }] };
        let claims = proposal.claims(state);
        let said = claims.first().ok_or_else(|| Failure::bug("nothing is proposed"))?;
        let signature = sign(owner, &said.statement);
        proposal.stages = vec![Stage { ballot, promises: Vec::new(), signature }];
        let commit = |voter: &Identity| {
            let statement = Statement::Commit { parent, ballot, decision: name };
            Commit { voter: voter.member(), signature: sign(voter, &statement) }
        };
        let mut commits: Vec<Commit> = self.voters.iter().map(commit).collect();
        commits.sort_by_key(|commit| commit.voter);
        Ok(Standing { proposal, commits })
    }

    fn shown(&self) -> Result<(Sizes, Shown), Failure> {
        let nothing = || Failure::bug("nothing was decided");
        let (handovers, last) = self.line.handovers_since(0).ok_or_else(nothing)?;
        let state = self.line.state().encode();
        let handovers: Vec<Vec<u8>> = handovers.iter().map(codec::encode).collect();
        let last_bytes = codec::encode(&last);
        let handover_bytes = handovers.iter().map(Vec::len).sum::<usize>() + last_bytes.len();
        let sizes = Sizes {
            admissions: self.admissions,
            members: self.line.state().roster().len(),
            handovers: handovers.len() + 1,
            handover_bytes,
            state_bytes: state.len(),
        };
        let mut member = Transcript::founded(&self.charter).map_err(Failure::bug)?;
        let decoded: Vec<Standing> = self.line.handovers_since(0).ok_or_else(nothing)?.0;
        member.skip(&decoded, &last, &state, true).map_err(Failure::bug)?;
        let file = member.file();
        Ok((sizes, Shown { handovers, last: last_bytes, state, file }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_old_group_is_shown_and_verified() {
        let options = BenchLine { times: 1, days: 5, admissions: 20, members: 12 };
        let mut old = Old::new(&options).unwrap();
        old.live(&options).unwrap();
        let (sizes, shown) = old.shown().unwrap();
        assert_eq!((sizes.admissions, sizes.members, sizes.handovers), (20, 12, 5));
        assert!(skip(&old.charter, &shown).is_ok() && read(&old.charter, &shown.file).is_ok());
        let mut forged = shown.handovers;
        forged.swap(0, 1);
        let shown = Shown { handovers: forged, ..shown };
        assert!(skip(&old.charter, &shown).is_err());
    }
}
