//! Behaviour that is broken on purpose. Every checker of a property uses it to prove that it
//! catches a breach.
//!
//! The configuration of a layer holds a [`Mutant`]. Only a build with the feature `danger` can set
//! one. In any other build a [`Mutant`] holds nothing and [`Mutant::is`] is always `false`, so the
//! compiler drops the broken behaviour.

/// Whether this build can set a [`Mutant`].
pub const ENABLED: bool = cfg!(feature = "danger");

/// The broken behaviour of one layer, or none, which is the default.
#[cfg(feature = "danger")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mutant<D = Danger>(Option<D>);

/// The place of a broken behaviour. This build has none.
#[cfg(not(feature = "danger"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mutant<D = Danger>(core::marker::PhantomData<D>);

#[cfg(feature = "danger")]
impl<D> Mutant<D> {
    /// Nothing is broken.
    pub const NONE: Self = Self(None);

    /// Whether `danger` is the broken behaviour.
    #[inline]
    pub fn is(&self, danger: D) -> bool
    where
        D: PartialEq,
    {
        self.0.as_ref() == Some(&danger)
    }
}

#[cfg(not(feature = "danger"))]
impl<D> Mutant<D> {
    /// Nothing is broken.
    pub const NONE: Self = Self(core::marker::PhantomData);

    /// `false`: nothing is broken in this build.
    #[inline]
    pub fn is(&self, _: D) -> bool {
        false
    }
}

#[cfg(feature = "danger")]
impl<D> From<Option<D>> for Mutant<D> {
    fn from(danger: Option<D>) -> Self {
        Self(danger)
    }
}

impl<D> Default for Mutant<D> {
    fn default() -> Self {
        Self::NONE
    }
}

/// What a [`Mutant`] does wrong. Each one breaks a promise on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Danger {
    /// Ring: each node uses its own delivery line in recovery (breaks failure atomicity and rule H;
    /// O2).
    RingOwnLine,
    /// Ring: SAFE messages are delivered as soon as they are in order.
    RingSafeAsAgreed,
    /// Ring: AGREED messages wait until all hold them, as SAFE ones do.
    RingAgreedAsSafe,
    /// Ring: a visit counts as quiet though a member lacks something (ORD-05).
    RingRestsAnyway,
    /// Ring: the token that is held in a ring that rests never goes round by itself (ORD-06).
    RingRestsForGood,
    /// Ring: a place counts as safe at a member's second visit of the token, as if all had been
    /// visited between.
    RingSafeByVisits,
    /// Ring: the holder of the token orders what it has heard of others too (ORD-01).
    RingOrdersOthers,
    /// Ring: behind the signal, what has places is sorted by its senders (ORD-10).
    RingSortsKnown,
    /// Ring: a member's packets get places before those that it had delivered early (ORD-02).
    RingOrdersAtOnce,
    /// Ring: a record leaves out what is weaker than agreed (ORD-02, ORD-08).
    RingRecordsOrderedOnly,
    /// Ring: recovery knows nothing of what survivors delivered early (ORD-13).
    RingForgetsOwed,
    /// Ring: what was owed in an attempt that failed is forgotten with it (ORD-13).
    RingForgetsLists,
    /// Ring: behind the signal, what was delivered early at one is denied to the others if its
    /// sender does not come along (ORD-12, ORD-13).
    RingDeniesEarly,
    /// Ring: behind the signal, FIFO goes past what is held and not delivered (ORD-12).
    RingOvertakesUndelivered,
    /// Ring: reliable and FIFO messages wait for their places (ORD-07).
    RingNothingEarly,
    /// Ring: FIFO messages are delivered on arrival, gaps or not (ORD-07).
    RingFifoOnArrival,
    /// Ring: unreliable packets are sent twice (ORD-16).
    RingRepeatsUnreliable,
    /// Ring: an unreliable packet counts again each time that it comes (RING-31).
    RingTakesUnreliableAgain,
    /// Ring: causal messages wait for nothing that they name (ORD-17).
    RingCausalAsFifo,
    /// Ring: a causal message that has its place waits for what it names (RING-32).
    RingPlacesWaitForNames,
    /// Flush: what comes behind a kept message of a removed party overtakes it (FLU-13).
    FlushOvertakesLate,
    /// Ring: takes packets of the old configuration after the commit entry, not only in recovery
    /// (ORD-09).
    RingTakesLate,
    /// Ring: delivers on arrival, gaps or not.
    RingNoOrder,
    /// Ring: a retransmitted packet is delivered again.
    RingDuplicates,
    /// Ring: installs the new configuration before old packets are exchanged.
    RingSkipRecovery,
    /// Ring: tells the layers above that every configuration is near (RING-33).
    RingNearPatience,
    /// Ring: distant members exchange nothing, though some come from one old ring (RING-34).
    RingSkipsExchange,
    /// Ring: packets go under the ring key from the first round on (RING-34).
    RingSealsFirstRound,
    /// Ring: the token never waits for answers (RING-35).
    RingTokenHurries,
    /// Ring: the token does not wait for the answers to what came just before it (RING-47).
    RingTrainHurries,
    /// Ring: safe messages get places at the first visits of the token, too (RING-48).
    RingSafeAtOnce,
    /// Ring: only the token says how far members hold the order (RING-40).
    RingHeldByToken,
    /// Ring: HELD is said in rings of any size (RING-45).
    RingHeldByMany,
    /// Ring: the token waits for no packets that it has overtaken (RING-41).
    RingTokenOvertakes,
    /// Ring: whoever asked for the token before it came there gets it again (RING-44).
    RingHeedsLateHurry,
    /// Ring: nobody says beforehand what it adds to COMMIT (RING-42).
    RingEntriesLate,
    /// Ring: whoever has said nothing is not heard, however it came (RING-43).
    RingFreshUnheard,
    /// Ring: COMMIT does not wait for a node whose long link has just come up (RING-43).
    RingFreshLeft,
    /// Ring: whoever hears this node and does not want it has chosen others, although no JOIN can
    /// have reached it (RING-46).
    RingFreshChose,
    /// Ring: a JOIN of a member from an older configuration than the one that it brought ends the
    /// ring (RING-50).
    RingOldJoinEnds,
    /// Ring: own messages are dropped from the queue when the configuration changes.
    RingDropsOwn,
    /// Ring: a member installs the new configuration under another membership list.
    RingForeignMember,
    /// Takes part in an attempt whose handle is that of the ring it leaves (RING-22).
    RingAnyHandle,
    /// The times of a ring follow the longest round trip that any member names.
    RingLongestTrip,
    /// Ring: whoever repeats a packet seals it anew under the ring key (RING-25).
    RingSealsRepeats,
    /// Ring: a member contributes the same to the secret of every attempt (RING-24).
    RingSameContribution,
    /// Transcript: a voter commits twice in one ballot.
    LineTwoCommits,
    /// Transcript: a voter commits below a ballot that it promised.
    LineBelowPromise,
    /// Transcript: the owner of a later ballot proposes what it likes.
    LineOwnChoice,
    /// Transcript: a report is followed although nobody approves what its decision holds.
    LineTrustsReports,
    /// Transcript: what somebody approved before it had a vote counts.
    LineNoSince,
    /// Transcript: what was approved before the last decision about a subject counts.
    LineNoStamps,
    /// Transcript: approvals of something that names a key count although the key was removed
    /// since.
    LineNoNamedStamps,
    /// Transcript: a key that was removed acts again by a value of the charter that names it still.
    LineNoStrike,
    /// Transcript: what no decision holds is judged by the time of the last decision alone.
    LineNoPast,
    /// Transcript: approvals of a request that has let somebody in stay in the set.
    LineKeepsUsed,
    /// Transcript: what a decision holds is not looked at by whoever applies it.
    LineHoldsUnseen,
    /// Transcript: a term may begin whenever it likes.
    LineBeginsLater,
    /// Transcript: a decision is applied however far its time is ahead.
    LineAheadOfClock,
    /// Transcript: a package may leave out an electorate.
    LineNoRunning,
    /// Transcript: whoever shared a ring not long ago skips decisions all the same.
    LineSkipsAnyway,
    /// Transcript: what a clock let in stays, whatever the clock says later.
    LineNeverAsksAgain,
    /// Transcript: whose term is over by the own clock is out of a run for a key that has begun
    /// (KEY-12).
    LineOverIsOut,
    /// Transcript: the terms of all voters may end.
    LineEndsAll,
    /// Transcript: approvals that ran out count.
    LineNoExpiry,
    /// Transcript: of a voter's approvals of one subject the one that came last stands.
    LineNoTurns,
    /// Transcript: what enough voters rejected admits all the same.
    LineNoRefusals,
    /// Transcript: the term of a member is over as soon as somebody says so.
    LineEndsEarly,
    /// Transcript: anybody may fill the set.
    LineNoBounds,
    /// Transcript: a voter judges only what has the time of its own clock.
    LineOwnClock,
    /// LINE-66, LINE-68: voters commit, and follow reports, without judgements of a quorum.
    LineNoJudgements,
    /// LINE-67: a voter judges a proposal of any time.
    LineAnyClock,
    /// LINE-67: a voter judges a proposal whatever it leaves out.
    LineLeavesOut,
    /// LINE-67: a voter judges a proposal with what counts no more, or was taken back.
    LineCeasedCounts,
    /// LINE-04: a voter that has judged rests as soon as nothing is due any more.
    LineJudgedRests,
    /// LINE-04: any voter judges a decision that does nothing.
    LineJudgesEmpty,
    /// LINE-95: whoever alone is a quorum decides by its clock, however far that is ahead.
    LineAloneUnasked,
    /// Transcript: a member goes over to another decision for a number that was decided.
    LineTakesForks,
    /// Transcript: any voter alone is a quorum.
    LineNoQuorum,
    /// Transcript: a Rejoin may name anything.
    LineRejoinAnywhere,
    /// Transcript: any number of voters may have long signatures.
    LineLongSignatures,
    /// LINE-90: a key that another has replaced may be a member's again.
    LineFormerReturns,
    /// LINE-91: a key is replaced whatever becomes of the shares of the group's key.
    LineLosesShares,
    /// LINE-92: a key is replaced by one whose certificate nobody has signed who must.
    LineUnsignedKey,
    /// LINE-93: anybody may say in a member's name that it leaves.
    LineAnyLeave,
    /// LINE-93: a member's word that it leaves counts for ever.
    LineOldLeave,
    /// Transcript: a Rejoin takes one approval.
    LineFewRejoin,
    /// Line: what former voters alone committed to is kept like what voters committed to (LINE-86).
    LineKeepsMadeUp,
    /// Line: a sharing is decided by as many as sign, whether or not they hold shares of it.
    LineFewKeepers,
    /// Transcript: decisions follow a Rejoin.
    LineGoesOn,
    /// Transcript: voters commit to a Rejoin towards a line that nobody has shown them.
    LineRejoinUnseen,
    /// Transcript: whoever shows another line need not show who decided it.
    LineSideUnchecked,
    /// Transcript: members go over to another line unasked.
    LineRejoinUnasked,
    /// Transcript: members go over to a line that goes over to theirs.
    LineNoTie,
    /// Group: keeps members of lost nodes in its list.
    GroupKeepsLost,
    /// Group: does not say that a member was struck while tables are not merged (GRP-17).
    GroupStruckUntold,
    /// Group: believes words that nobody signed (GRP-20, GRP-24).
    GroupBelievesAnyone,
    /// Group: takes a word again, in another configuration or after a later word (GRP-21, GRP-23).
    GroupHearsAgain,
    /// Flush: believes words that nobody signed (FLU-20).
    FlushBelievesAnyone,
    /// Flush: an earlier FLUSH_OK replaces a later one (FLU-21).
    FlushHearsAgain,
    /// Flush: a FLUSH_RECV counts whatever it shows (FLU-22).
    FlushBelievesAnyReceipt,
    /// Flush: a party shows the same receipt for every view (FLU-23).
    FlushOneReceipt,
    /// Flush: installs the view without waiting for FLUSH_OK of the others.
    FlushNoWait,
    /// Flush: a party sends early messages before all are known to have the view (FLU-10).
    FlushEarlyAtOnce,
    /// Flush: early messages of a removed party are delivered whenever they come (FLU-11).
    FlushLateAsEver,
    /// Flush: delivers messages tagged with another view.
    FlushAnyView,
    /// Flush: reports the whole view as transitional set.
    FlushWholeTransitional,
    /// Flush: whoever was in the view before comes along, whichever view it leaves.
    FlushFromAnyView,
    /// Flush: no transitional signal at a notice that removes a member (K1 off).
    FlushNoSignal,
    /// Keying: answers the flush at once in KL.
    KeyingFlushInKeyList,
    /// Keying: answers the flush at once in PT, FT and FO (rule H off).
    KeyingNoRuleH,
    /// Keying: what decides, CONFIRM, is sent AGREED, not SAFE.
    KeyingKeyListAgreed,
    /// Keying: distant parties agree as near ones do (KEY-21).
    KeyingNearAlways,
    /// Keying: no share is told before the view (KEY-22).
    KeyingSharesLate,
    /// Keying: installs the view without waiting for confirmations.
    KeyingNoConfirm,
    /// Keying: a confirmation counts whatever its MAC is (KEY-23).
    KeyingAnyConfirm,
    /// Keying: one key is for the confirmations of all parties (KEY-23).
    KeyingOneConfirmKey,
    /// Keying: confirmations prove the module's secret, and nothing of the run (KEY-08).
    KeyingConfirmsSecret,
    /// Keying: confirmations prove the key before, if there was one (KEY-23).
    KeyingConfirmsLastKey,
    /// Keying: a confirmation that does not fit is complained of at once (KEY-23).
    KeyingBlamesConfirm,
    /// Keying: the controller keeps its old share and the old key when somebody leaves.
    KeyingReusesKey,
    /// Keying: puts a key into use although the roster has lost a member of its view since the run
    /// began (KEY-12).
    KeyingKeepsExpelled,
    /// Session: goes on sealing under the old epoch after a removal (K3 off).
    SessionSealsAfterRemoval,
    /// Session: no replay window.
    SessionNoReplayCheck,
    /// Session: does not check the tag.
    SessionPlain,
    /// Node: the ring hears of nobody before the path was tried, however long it is (NODE-25).
    NodeTriesFirst,
    /// Node: forwards group traffic to guests.
    NodeServesGuests,
    /// Node: looks for what a guest brought by the name of its item, which is not that of its
    /// request if the group's key signed it (NODE-11).
    NodeNamesGuests,
    /// Node: who is on the roster of any charter that the node keeps may be in every group, and on
    /// the ring (NODE-30, NODE-31, GRP-30).
    NodeAnyCharter,
    /// Node: says that it carries charters, and nothing in their tables (NODE-34).
    NodeCarriesSilently,
    /// Node: takes messages of parties here also without credit (NODE-36).
    NodeLendsAnything,
    /// Node: asks for the addresses of whatever host names its peers tell it (NODE-39).
    NodeAsksForAnyName,
    /// Node: of the absent nodes that are due for a dial, those with the lowest names are dialled,
    /// and all count as dialled (NODE-41).
    NodeDialsLowest,
    /// Node: what its member says is ordered unread: a flood of whatever it likes.
    NodeOrdersUnread,
    /// Link: frames travel in the clear, and neither tag nor counter is checked.
    LinkPlain,
    /// Link: of two processes with one identity the one that proves itself last has the link,
    /// whichever started later (LINK-25).
    LinkAnyProcess,
    /// Link: stops whoever says that another process started later, proved or not (LINK-26).
    LinkBelievesStarts,
    /// Link: seals data under a wire version that was not agreed on, and takes any (LINK-27).
    LinkAnyVersion,
    /// Link: a peer is at whatever address it was heard at last, asked there or not (LINK-34).
    LinkBelievesAddresses,
    /// Link: smaller datagrams wait until a long path has not carried the largest (LINK-41).
    LinkSizesWait,
    /// Link: the keys of a ring stay when the next one is installed (LINK-30).
    LinkKeepsRingKey,
    /// Link: takes whatever comes by multicast, as if it had come to this node alone (LINK-37).
    LinkTakesAnyToAll,
    /// Link: guests make room for one another whatever hosts they are at.
    LinkGuestsUnshared,
    /// Ring: the ring number is not kept on disk, and so is used again after a restart.
    RingForgetsNumber,
    /// Flush: installs a view a second time.
    FlushRepeatsView,
    /// Flush: leaves the member itself out of the list that it reports.
    FlushOmitsSelf,
    /// Member: hands messages of an epoch to the application before that epoch's view.
    MemberSpeaksEarly,
    /// Member: hands the last messages of a view to the application after the next view.
    MemberSpeaksLate,
    /// Member: tells the application of a view twice.
    MemberRepeatsView,
    /// Member: leaves itself out of the list that the application sees.
    MemberOmitsSelf,
    /// Session: writes the plaintext of what it opens into a trace line.
    SessionLogsPlaintext,
    /// Node: what has its place in the order is not kept on disk.
    NodeForgetsItem,
    /// Admission and transcript: certificates by the group's key name a share-epoch that does not
    /// exist, and are accepted all the same.
    AdmissionNoShareEpoch,
    /// Admission: shares of a past sharing stay on disk.
    AdmissionKeepsOldShares,
    /// Admission: a multisignature is taken although a decision has since asked for more signers.
    AdmissionTakesAnyMulti,
    /// Admission: a guest's request stays open although an earlier one has let it in.
    AdmissionKeepsOvertaken,
    /// Admission: what the transcript settled just before a stop stays open after it.
    AdmissionLeavesSettled,
    /// ADM-55: ballots that are under way are due although there is no clock any more.
    AdmissionDueWithoutClock,
    /// ADM-39: a voter that has started decides before it has heard what it may have said.
    AdmissionDecidesFirst,
    /// Admission: a share is not on disk when its holder votes for the sharing.
    AdmissionForgetsShare,
    /// Admission: the share in use is erased as soon as a run gives another.
    AdmissionErasesEarly,
    /// Admission: a holder that has lost its share asks nobody for it.
    AdmissionNeverRepairs,
    /// Admission: holders help whoever asks to a share.
    AdmissionRepairsAnyone,
    /// Admission: a coordinator waits for no voter who is away before new shares are made.
    AdmissionAwaitsNobody,
    /// Admission: a dealer says a lost share again to whoever asks for it in its holder's name.
    AdmissionDealsToAnyone,
    /// Admission: a signing session that makes no progress is never ended.
    AdmissionTablesStay,
    /// Admission: the voters' machines sign together for a request whether or not they approve it.
    AdmissionSignsUnasked,
    /// Admission: a request for which there is no room is refused whatever host it comes from.
    AdmissionForgetsHosts,
    /// Admission: a voucher is believed unread.
    AdmissionBelievesVouchers,
    /// Admission: one voucher vouches for any number of requests.
    AdmissionVouchersUnbounded,
    /// ID-87: a program approves another key whatever its certificate asks for.
    AdmissionAnyRotation,
    /// ID-97: an endorsement is shown to voters, whoever and whenever it is for.
    AdmissionAnyEndorsement,
    /// Admission and transcript: anybody asks and comes in under any name (ADM-90).
    AdmissionAnyName,
    /// ADM-91: a withdrawal is believed, whoever signed it.
    AdmissionBelievesWithdrawals,
    /// Signing: nonces, and what founders deal, are drawn from entropy that knows no run (FRO-17,
    /// SHR-29).
    SigningNonceUnhedged,
    /// ADM-96: a voter's program does not say a yes again before it ends.
    AdmissionSaysOnce,
    /// Host: what follows a write is sent before the write is on disk.
    HostSendsFirst,
    /// Host: takes nothing any more while its application has no room for events.
    HostWaitsForReader,
    /// Host: keeps any number of events for its application.
    HostKeepsAll,
    /// Host: keeps unreliable messages for its application until that is ended.
    HostKeepsUnreliable,
}
