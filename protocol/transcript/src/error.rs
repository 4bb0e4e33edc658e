//! Why something does not count, may not be done, or does not stand. The number of the rule stands
//! behind its sentence (docs/protocol/line.md).

use crate::{Head, KnownHead, StateError};
use folkmoot_base::DecodeError;
use folkmoot_base::{Digest, MemberId, UnixTime};
use folkmoot_identity::{CertificateError, CharterError, RequestError, Threshold};
use std::collections::BTreeSet;

/// Why an approval, or what it approves, does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Uncounted {
    /// The base is not a recent decision of this line.
    #[error("{0} approved on another line, or too long ago (LINE-10)")]
    OffLine(MemberId),
    /// The voter has no vote.
    #[error("{0} has no vote (LINE-11)")]
    NotVoter(MemberId),
    /// The base is older than the voter's place.
    #[error("{0} approved before it had a vote (LINE-12)")]
    BeforeSince(MemberId),
    /// The subject has changed since the base.
    #[error("{0} approved before the last decision about this (LINE-13)")]
    BeforeStamp(MemberId),
    /// The approval ran out.
    #[error("the approval by {0} has run out (LINE-14)")]
    Expired(MemberId),
    /// The request names a base that is not a recent decision of this line.
    #[error("the request was made on another line, or too long ago (LINE-20)")]
    RequestOffLine,
    /// The request has admitted somebody already.
    #[error("the request has admitted its holder already (LINE-21)")]
    Used,
    /// The key was expelled after the request was made.
    #[error("{0} was expelled after the request was made (LINE-22)")]
    Removed(MemberId),
    /// Objections ended the request.
    #[error("objections have ended the request (LINE-23)")]
    Refused,
    /// The charter's policy or rule on votes is not satisfied.
    #[error("the charter's policy is not satisfied (LINE-24)")]
    Policy(#[source] CertificateError),
    /// The charter forbids a minority to admit.
    #[error("{got} approve, but a minority may not admit and {need} are needed (LINE-25)")]
    Minority {
        /// Approvals that count.
        got: usize,
        /// Approvals needed, at the least.
        need: usize,
    },
    /// The term is longer than the charter allows, or not within its own.
    #[error("the term is longer than the charter allows, or outside the charter's own (LINE-26)")]
    Term,
    /// The group's key has not signed under its present shares.
    #[error("the group's key has not signed it under its present shares (LINE-27)")]
    Epoch,
    /// Those who left with shares could have signed.
    #[error("{leavers} holders have left with their shares, and {threshold} could sign (LINE-28)")]
    SharesStale {
        /// Holders without a vote.
        leavers: usize,
        /// Shares that sign.
        threshold: usize,
    },
    /// Another key has taken the place of this one.
    #[error("another key has taken the place of {0} (LINE-90)")]
    Former(MemberId),
    /// Another certificate has this serial number.
    #[error("the serial number belongs to another certificate (LINE-29)")]
    SerialNumber,
    /// There is no room for another member.
    #[error("the group has no room for another member (LINE-30)")]
    Full,
    /// The term is over.
    #[error("its term is over (LINE-31)")]
    Ended,
    /// The term begins later than any clock may be ahead.
    #[error("its term has not begun (LINE-34)")]
    Begins,
    /// Too few approvals count.
    #[error("{got} approve and {need} are needed (LINE-40)")]
    TooFew {
        /// Approvals that count.
        got: usize,
        /// Approvals needed, at the least.
        need: usize,
    },
    /// The charter's rule on removals is not satisfied.
    #[error("the charter's rule on removals is not satisfied: {0} (LINE-48)")]
    Rule(String),
}

/// Why a change may not be made, whoever approves.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unfit {
    /// The member is none.
    #[error("{0} is not a member (LINE-41)")]
    NotMember(MemberId),
    /// A field or value is not UTF-8.
    #[error("the field or its value is not UTF-8 (LINE-42)")]
    NotUtf8,
    /// The charter does not take the change.
    #[error("the charter does not take this change (LINE-42)")]
    Charter(#[source] CharterError),
    /// A threshold that is a ratio is not due, or of another size than the group's.
    #[error("the threshold may not become \"{next}\" in a group of {members} (LINE-43)")]
    Threshold {
        /// What it would be.
        next: Threshold,
        /// Members now.
        members: usize,
    },
    /// The electorate is not 1 to 256 distinct members, or is the present one.
    #[error("an electorate is 1 to 256 distinct members, and not the present one (LINE-44)")]
    Electorate,
    /// What all voters sign is too long for one item.
    #[error(
        "a signature of each voter has {bytes} bytes together, and 16,384 are the most: fewer voters with RSA keys fit (LINE-89)"
    )]
    Signatures {
        /// Bytes of one signature of each.
        bytes: usize,
    },
    /// The group could not decide any more.
    #[error("the voters who would be left are {voters}, and {threshold} are needed (LINE-45)")]
    DeadEnd {
        /// Voters left.
        voters: usize,
        /// Voters needed.
        threshold: usize,
    },
    /// The voters could never again satisfy a rule.
    #[error("the voters who are left could never {what} anybody (LINE-46)")]
    Unreachable {
        /// `admit` or `remove`.
        what: &'static str,
    },
    /// The sharing of the group's key is refused.
    #[error("the sharing of the group's key is refused: {0} (LINE-47)")]
    Sharing(&'static str),
    /// The certificate of the group's key is refused.
    #[error("the certificate of the group's key is refused (LINE-47)")]
    Certificate(#[source] CertificateError),
    /// The admission that it names is not here.
    #[error("the admission that it names is not known here (LINE-49)")]
    NoAdmit,
    /// The admission that it names is held, is over or has no room, or its holder was expelled
    /// since.
    #[error(
        "the admission that it names is held, over or without room, or its holder was expelled (LINE-49)"
    )]
    NotLate,
    /// The new key was expelled, or another key has taken its place.
    #[error("{0} was expelled, or another key has taken its place: it takes nobody's (LINE-90)")]
    FormerKey(MemberId),
    /// The new key could not have what the old one had.
    #[error("a member's key cannot be replaced here: {0} (LINE-91)")]
    Rotation(&'static str),
    /// Who signs certificates in this group has not signed that of the new key.
    #[error("the group's key, or its authority's, has not signed the certificate of the new key (LINE-92)")]
    Unsigned,
    /// The line to go over to does not fork from ours, as far as ours is known.
    #[error("there is no fork to that line: {0} (LINE-52)")]
    Rejoin(&'static str),
    /// The word of a member that leaves does not hold.
    #[error("that member's word that it leaves does not hold: {0} (LINE-93)")]
    Leave(&'static str),
    /// The head whose time goes back is another.
    #[error("the time of another head goes back by it (LINE-94)")]
    Retime,
    /// The line goes over to another.
    #[error("the line ends here, because its members go over to another (LINE-53)")]
    Over,
}

/// Why an effect of a decision does not stand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refuted {
    /// Its approvals are not sorted by voter, or one is there twice.
    #[error("its approvals are not sorted, each voter once (LINE-05)")]
    Order,
    /// Its approvals do not count or do not suffice.
    #[error(transparent)]
    Uncounted(#[from] Uncounted),
    /// It may not be done.
    #[error(transparent)]
    Unfit(#[from] Unfit),
}

/// Why a decision does not stand on a state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Wrong {
    /// It is another group's.
    #[error("the decision is another group's (LINE-02)")]
    Group,
    /// It follows another decision.
    #[error("the decision follows {got}, and the head is {want} (LINE-02)")]
    Parent {
        /// What it follows.
        got: Head,
        /// The head.
        want: Head,
    },
    /// The line ended with the decision before it.
    #[error("the line ended, because its members go over to another (LINE-53)")]
    Over,
    /// Its time is before that of the decision before it.
    #[error("the decision's time is before that of the one before it (LINE-03)")]
    Time,
    /// A list is unsorted, has something twice, or is too long.
    #[error("a list in the decision is unsorted or too long (LINE-05)")]
    Lists,
    /// An admission that it names is not here: ask for it.
    #[error("the decision holds an admission that is not known here (LINE-06)")]
    Missing(Digest),
    /// Too few approvals of an admission that it holds are here: ask for them.
    #[error("the decision holds an admission, and too few approvals of it are known here (LINE-06)")]
    Unvouched(Digest),
    /// It holds what was held before.
    #[error("the decision holds a request that has admitted its holder already (LINE-21)")]
    HeldBefore(Digest),
    /// It holds what does not count.
    #[error("the decision holds an admission that does not count (LINE-06)")]
    Uncounted {
        /// Which.
        request: Digest,
        /// Why not.
        #[source]
        why: Uncounted,
    },
    /// It refuses what too few objected to.
    #[error("{got} object, and {need} are needed (LINE-32)")]
    Refusal {
        /// Objections that count.
        got: usize,
        /// Objections needed.
        need: usize,
    },
    /// An effect does not stand.
    #[error("effect {place} of the decision does not stand")]
    Effect {
        /// Which, from 0.
        place: usize,
        /// Why not.
        #[source]
        why: Refuted,
    },
    /// The state after it is another than it says.
    #[error("the state after the decision is not the one that it names (LINE-50)")]
    State,
    /// The electorate after it is another than it says.
    #[error("the electorate after the decision is not the one that it names (LINE-51)")]
    Electorate,
}

/// Why a proposal, or the commits to it, do not stand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unproposed {
    /// It follows another decision than the head.
    #[error("it follows another decision than the head (LINE-60)")]
    Parent,
    /// Its ballots do not rise, or there is none.
    #[error("its ballots do not rise (LINE-61)")]
    Ballots,
    /// A ballot above the first has no quorum of promises, or ballot 0 has some.
    #[error("the promises in it are not those of a quorum (LINE-62)")]
    Promises,
    /// The promises report another commit that had to be followed.
    #[error("it does not follow the highest commit that its promises report (LINE-63)")]
    NotHighest,
    /// A signature in it does not verify.
    #[error("the signature of {0} does not verify (LINE-64)")]
    Signature(MemberId),
    /// The commits are not those of a quorum.
    #[error("the commits are not those of a quorum (LINE-65)")]
    Commits,
    /// What is followed has no judgements of a quorum, or what is fresh brings some.
    #[error("the judgements that come with it are not those of a quorum (LINE-68)")]
    Judgements,
    /// A handover does not follow the head, or is another group's.
    #[error("a handover does not follow the one before it (LINE-70)")]
    Handover,
    /// The state is not the one that its decision names.
    #[error("the state is not the one that its decision names (LINE-71)")]
    State,
    /// Nothing shows that our head is on its line.
    #[error("our own head is too old to be seen on that line (LINE-72)")]
    TooOld,
    /// What is shown of another line does not begin at a fork with ours.
    #[error("what is shown of the other line does not begin at a fork with ours (LINE-73)")]
    NoFork,
    /// Nobody has asked to go over to that line, or no fork to it is known.
    #[error("no fork to that line is known here (LINE-74)")]
    Unasked,
    /// The other line goes over to ours.
    #[error("the other line goes over to ours (LINE-75)")]
    TheyCome,
    /// The decision in it is refused.
    #[error("the decision in it is refused")]
    Decision(#[from] Wrong),
}

/// Why an item was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ItemError {
    /// It does not decode, or is too long.
    #[error("the item is malformed (LINE-01)")]
    Wire(#[from] DecodeError),
    /// The certificate is refused, whoever approves it.
    #[error("the certificate is refused (LINE-07)")]
    Certificate(#[source] CertificateError),
    /// A founder's own certificate admits nobody.
    #[error("the certificate of {0} has no approvals: it is a founder's (LINE-07)")]
    Founder(MemberId),
    /// The request that somebody rejects is malformed.
    #[error("the request is refused (LINE-08)")]
    Request(#[source] RequestError),
    /// The request is not by CSR.
    #[error("the request is not by a CSR (LINE-08)")]
    NoCsr,
    /// A voter that is not known here.
    #[error("{0} has no vote (LINE-11)")]
    NotVoter(MemberId),
    /// A signature does not verify.
    #[error("the signature of {0} does not verify (LINE-09)")]
    Signature(MemberId),
    /// A decision does not stand.
    #[error("the decision does not stand")]
    Decision(#[from] Unproposed),
    /// Admissions that the decision holds are not here: ask for them, then again for the decision.
    #[error(
        "the decision holds admissions that are not known here, or too few approvals of them are (LINE-06)"
    )]
    Missing(Vec<Digest>),
    /// The state does not decode.
    #[error("the state is malformed (LINE-71)")]
    State(#[source] StateError),
    /// It admits nobody now.
    #[error("it admits nobody now")]
    Late(#[source] Uncounted),
    /// The state holds no such admission.
    #[error("the state holds no such admission (LINE-83)")]
    NotHeld,
    /// Decisions before this one are not here: ask for what follows the head.
    #[error("decisions before this one are not known here (LINE-60)")]
    Ahead,
    /// It is no item of a set.
    #[error("a decision is no item of the set (LINE-81)")]
    NotOfSet,
    /// It can never count at this state.
    #[error("it cannot count")]
    Uncounted(#[source] Uncounted),
    /// A time that is past at which nothing here ends, or not after the last decision's.
    #[error("nothing that is known here ends at the time that is past (LINE-33)")]
    NoEnd(UnixTime),
    /// The line's time is more than a day ahead of our clock.
    #[error("the time of the line is {0}, more than a day ahead of this machine's clock (LINE-77)")]
    TimeAhead(UnixTime),
    /// We shared a ring not long ago, and check each decision ourselves.
    #[error(
        "this member shared a ring in the last 90 days, by its own clock or by the time of the line, and so \
         takes decisions one by one (LINE-78)"
    )]
    OneByOne,
    /// A refusal of what nobody here rejects.
    #[error("nobody here rejects the request, so no set keeps its refusal (LINE-87)")]
    NoRejection,
    /// It shows no two decisions for one number, of which one is on this line.
    #[error("it shows no fork of this line (LINE-85)")]
    NoFork,
    /// It leads to another decision of this number than the one that our person named, or does not
    /// show which one it leads to.
    #[error("it does not lead to decision {0} as our person named it (LINE-88)")]
    OtherHead(KnownHead),
}

impl ItemError {
    /// Whether it says of a package that stands that our person has not said to go on by it.
    pub fn needs_person(&self) -> bool {
        matches!(self, Self::TimeAhead(_) | Self::OneByOne | Self::Decision(Unproposed::TooOld))
    }
}

/// Why a file is not the transcript that it should be. Sections are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// It does not begin with the label.
    #[error("it is not a transcript of this format (LINE-80)")]
    Label,
    /// It does not begin with our charter, byte for byte.
    #[error("it does not begin with this group's charter (LINE-80)")]
    Charter,
    /// The charter is refused.
    #[error("the charter is refused (LINE-80)")]
    CharterRefused(#[source] CharterError),
    /// A section of a kind that there is not.
    #[error("section {section} has the unknown kind {kind} (LINE-81)")]
    Kind {
        /// Which.
        section: usize,
        /// The kind.
        kind: u8,
    },
    /// A section is not in its place, or comes twice.
    #[error("section {section}, of kind {kind}, is not in its place (LINE-81)")]
    Order {
        /// Which.
        section: usize,
        /// The kind.
        kind: u8,
    },
    /// A section is longer than any of its kind.
    #[error("section {section} has {length} bytes, which is too long (LINE-81)")]
    TooLong {
        /// Which.
        section: usize,
        /// Its length.
        length: usize,
    },
    /// Bytes follow the end.
    #[error("bytes follow the end (LINE-82)")]
    AfterEnd,
    /// The file ends before its end.
    #[error("the file is cut short (LINE-82)")]
    Short,
    /// The certificate of an admission comes twice.
    #[error("section {section} is of an admission that an earlier one is of (LINE-83)")]
    Twice {
        /// Which.
        section: usize,
    },
    /// A section does not stand.
    #[error("section {section} does not stand")]
    Item {
        /// Which.
        section: usize,
        /// Why not.
        #[source]
        why: ItemError,
    },
    /// A head that is known from elsewhere is not on its line.
    #[error("the head {0}, known from elsewhere, is not on its line (LINE-84)")]
    NoHead(KnownHead),
    /// It shows a fork, and no head says which side the outsider is on.
    #[error(
        "it shows a fork at number {number}, and no head that is known says which side to follow (LINE-86)"
    )]
    Forked {
        /// The number that was decided twice.
        number: u64,
        /// Who signed both.
        liars: BTreeSet<MemberId>,
    },
    /// The set is larger than any.
    #[error("the set that ends with section {section} has more than a set keeps (LINE-87)")]
    Overfull {
        /// Which.
        section: usize,
    },
}
