//! One member, open.

use crate::options::Options;
use crate::session::Session;
use bytes::Bytes;
use folkmoot_attach::MemberStatus;
use folkmoot_base::{Digest, GroupId, GroupName, Head, Locator, MemberId};
use folkmoot_runtime::{
    Accepted, AuthorityStatus, Carrying, Command, Event, Lock, MemberHandle, Named, Outcome, Petition,
    Proposal, Refusal, RunningMember, RuntimeError as Error, ShareStatus, Times, Told, Twice,
};
use folkmoot_transport::{Faults, reached_at};
use std::path::PathBuf;

/// An open member: its events come out of here, orders go in.
#[derive(Debug)]
pub struct Folkmoot {
    running: RunningMember,
    me: MemberId,
    name: String,
    group: GroupId,
    locator: Locator,
    faults: Faults,
    #[expect(dead_code, reason = "held as long as the member runs")]
    lock: Lock,
}

impl Folkmoot {
    /// Opens the member in the state folder `state`, listening at UDP port 4803.
    ///
    /// # Errors
    /// [`Error`] says which file or address, and what to do.
    pub async fn open(state: impl Into<PathBuf>) -> Result<Self, Error> {
        Self::open_with(Options::new(state)).await
    }

    /// Opens a member as `options` say.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn open_with(options: Options) -> Result<Self, Error> {
        let on_thread = options.own_thread;
        let options = options.opened()?;
        let opened = match on_thread {
            true => folkmoot_runtime::open_on_thread(options)?,
            false => folkmoot_runtime::open(options).await?,
        };
        let folkmoot_runtime::Opened { running, me, name, group, locator, faults, lock } = opened;
        Ok(Self { running, me, name, group, locator, faults, lock })
    }

    /// Who this member is.
    pub fn me(&self) -> MemberId {
        self.me
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The group that its charter founds.
    pub fn group(&self) -> GroupId {
        self.group
    }

    /// Where it listens.
    pub fn locator(&self) -> Locator {
        self.locator.clone()
    }

    /// Where others can reach it now: where it listens; if that is at all addresses of its machine,
    /// at each that is not for this machine alone. None if the machine has no such address.
    pub fn addresses(&self) -> Vec<Locator> {
        reached_at(&self.locator)
    }

    /// The next event, in order; `None` once the member has stopped as told.
    ///
    /// # Errors
    /// Why the member stopped, once. A program that leaves too many events untaken is let go;
    /// unreliable messages are dropped long before.
    pub async fn next(&mut self) -> Result<Option<Event>, Error> {
        self.running.next().await
    }

    /// Joins the charter's group, now or as soon as the member is admitted and finds others.
    /// [`Event::View`] says when.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn join(&self) -> Result<Session, Error> {
        self.enter(self.group).await
    }

    /// Joins the group called `name` that is open to all members of the charter's group.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn join_named(&self, name: &GroupName) -> Result<Session, Error> {
        self.enter(GroupId::of_name(&self.group, name)).await
    }

    async fn enter(&self, group: GroupId) -> Result<Session, Error> {
        self.command(Command::Join { group }).await?;
        Ok(self.session(group))
    }

    /// A session with a group that was joined before.
    pub fn session(&self, group: GroupId) -> Session {
        Session { handle: self.running.handle.clone(), group, signed: false }
    }

    /// Asks the group for admission, as a stranger, through whichever contacts answer. Events tell
    /// how it goes: [`Event::Refused`] while votes are missing, then [`Event::Admitted`], or
    /// [`Event::Denied`] if the voters say no.
    ///
    /// # Errors
    /// [`Error::Refused`], and nothing has changed; [`Error::Stopped`].
    pub async fn apply(&self) -> Result<Accepted, Error> {
        self.command(Command::Apply).await
    }

    /// Votes on an open request or proposal. The vote is on disk when this returns;
    /// [`Self::outcome`] says a little later that it counts.
    ///
    /// # Errors
    /// [`Error::Refused`], and nothing has changed; [`Error::Stopped`].
    pub async fn vote(&self, subject: Digest, approve: bool) -> Result<Accepted, Error> {
        self.command(Command::Vote { subject, approve }).await
    }

    /// Asks for admission for the holder of a CSR (PKCS#10, DER or PEM, as `openssl req -new` makes
    /// it), who is not here. Once the voters and the group's key have signed, the member enters the
    /// admission. Refused, among others, where the charter has certificates signed by their
    /// holders.
    ///
    /// # Errors
    /// [`Error::Refused`], and nothing has changed; [`Error::Stopped`].
    pub async fn submit_csr(&self, csr: impl Into<Bytes>) -> Result<Accepted, Error> {
        self.command(Command::SubmitCsr { csr: csr.into() }).await
    }

    /// Asks for a new certificate for this member itself, from now on for as long as the charter
    /// allows. Voted on as an admission is.
    ///
    /// # Errors
    /// [`Error::Refused`], and nothing has changed; [`Error::Stopped`].
    pub async fn renew(&self) -> Result<Accepted, Error> {
        self.command(Command::Renew).await
    }

    /// Takes back what this member proposed or asked for. If others approve the proposal, it goes
    /// on without this member's yes. [`Event::Closed`] says that it is open no more.
    ///
    /// # Errors
    /// [`Error::Refused`], and nothing has changed; [`Error::Stopped`].
    pub async fn withdraw(&self, subject: Digest) -> Result<Accepted, Error> {
        self.command(Command::Withdraw { subject: Some(subject) }).await
    }

    /// As a stranger: asks no more. [`Event::Withdrawn`] says that a contact knows. It may be
    /// repeated until then.
    ///
    /// # Errors
    /// [`Error::Refused`], and nothing has changed; [`Error::Stopped`].
    pub async fn withdraw_request(&self) -> Result<Accepted, Error> {
        self.command(Command::Withdraw { subject: None }).await
    }

    /// What everybody is called who is known here. Names that look alike have a mark and the first
    /// digits of their keys.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn names(&self) -> Result<Told, Error> {
        self.running.handle.look(|machine, _, _| machine.upper.member.told()).await
    }

    /// How the time of the last decision stands beside this machine's clock, and what waits for the
    /// clock or ends soon.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn times(&self) -> Result<Times, Error> {
        self.running.handle.look(|machine, _, _| machine.upper.member.times()).await
    }

    /// Proposes to expel a member, and votes for it.
    ///
    /// # Errors
    /// [`Error::Refused`], and nothing has changed; [`Error::Stopped`].
    pub async fn expel(&self, member: MemberId) -> Result<Accepted, Error> {
        self.command(Command::Expel { member }).await
    }

    /// Asks to be let go for good. The others decide it, as an expulsion, but over this member's
    /// own signature: everybody can tell the two apart.
    ///
    /// # Errors
    /// [`Error::Refused`], and nothing has changed; [`Error::Stopped`].
    pub async fn leave_for_good(&self) -> Result<Accepted, Error> {
        self.command(Command::LeaveForGood).await
    }

    /// Proposes to change one field of the charter, and votes for it.
    ///
    /// # Errors
    /// [`Error::Refused`], and nothing has changed; [`Error::Stopped`].
    pub async fn change_charter(
        &self,
        field: impl Into<String>,
        value: impl Into<String>,
    ) -> Result<Accepted, Error> {
        self.command(Command::ChangeCharter { field: field.into(), value: value.into() }).await
    }

    /// Proposes who votes from now on, and votes for it.
    ///
    /// # Errors
    /// [`Error::Refused`], and nothing has changed; [`Error::Stopped`].
    pub async fn electorate(&self, voters: Vec<MemberId>) -> Result<Accepted, Error> {
        self.command(Command::Electorate { voters }).await
    }

    /// Proposes that everybody on this line of decisions goes over to another, which somebody
    /// signed too, and votes for it. `head`: the other line's decision at the fork.
    ///
    /// # Errors
    /// [`Error::Refused`], and nothing has changed; [`Error::Stopped`].
    pub async fn rejoin(&self, head: Head) -> Result<Accepted, Error> {
        self.command(Command::Rejoin { head }).await
    }

    /// Proposes that the time of this line of decisions, which is ahead of the voters' clocks, goes
    /// back to them, and votes for it. What was approved before does not count any more then.
    ///
    /// # Errors
    /// [`Error::Refused`], and nothing has changed; [`Error::Stopped`].
    pub async fn retime(&self) -> Result<Accepted, Error> {
        self.command(Command::Retime).await
    }

    /// Goes over to another line of decisions, alone, as soon as somebody on it shows it:
    /// [`Event::WentOver`]. `head`: a recent decision of that line. It is forgotten when the member
    /// stops. Or applies a decision that waits for this machine's clock, or skips to the last one
    /// of [`Times::offered`]: [`Event::Skipped`]. Or, with the head of our own line, has this
    /// member decide by its clock for a day, if the next decision waits until its person has seen
    /// the date ([`Times::date`]).
    ///
    /// # Errors
    /// [`Error::Refused`], and nothing has changed; [`Error::Stopped`].
    pub async fn resolve(&self, head: Head) -> Result<(), Error> {
        self.command(Command::Resolve { head }).await.map(drop)
    }

    /// Has the member do what a command says.
    ///
    /// # Errors
    /// [`Error::Refused`], and nothing has changed; [`Error::Stopped`].
    pub async fn order(&self, command: Command) -> Result<Accepted, Error> {
        self.command(command).await
    }

    /// Proposes what `command` says, to expel, to leave, to change the charter or who votes, even
    /// if those who stay can then no longer admit, remove or decide; and votes for it.
    ///
    /// # Errors
    /// [`Error::Refused`], and nothing has changed; [`Error::Stopped`].
    pub async fn force(&self, command: Command) -> Result<Accepted, Error> {
        self.command(Command::Forced(Box::new(command))).await
    }

    /// Writes to a group as one who is no member of it: the charter's own ([`Self::group`]) or one
    /// named under it. Private to the members, signed by this identity; asked again until it is
    /// delivered, and answers are asked for as long as this is open. Events tell:
    /// [`Event::LetterStands`], [`Event::Answer`]. Refused for a text that is not 1 to 8,192 bytes.
    /// The charter must say `letters = true`.
    ///
    /// # Errors
    /// [`Error::Refused`], and nothing has changed; [`Error::Stopped`].
    pub async fn write(&self, group: GroupId, text: impl Into<Bytes>) -> Result<Accepted, Error> {
        self.command(Command::Write { group, text: text.into() }).await
    }

    /// Answers a stranger's letter ([`LetterEvent::Came`]), before all members: 1 to 8,192 bytes,
    /// at most 8 answers to a letter, signed by this member. [`LetterEvent::Answered`] says when it
    /// has its place.
    ///
    /// [`LetterEvent::Came`]: crate::LetterEvent::Came
    /// [`LetterEvent::Answered`]: crate::LetterEvent::Answered
    ///
    /// # Errors
    /// [`Error::Refused`], and nothing has changed; [`Error::Stopped`].
    pub async fn answer(&self, letter: Digest, text: impl Into<Bytes>) -> Result<Accepted, Error> {
        self.command(Command::Answer { letter, text: text.into() }).await
    }

    /// Looks for a member at `locator`. Does nothing if it leads nowhere, or is of a transport that
    /// the member does not have.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn dial(&self, locator: Locator) -> Result<(), Error> {
        self.command(Command::Dial(locator)).await.map(drop)
    }

    /// Who is in, who is not, and why.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn status(&self) -> Result<MemberStatus, Error> {
        self.running.handle.look(|machine, now, _| machine.upper.member.status(now)).await
    }

    /// How it stands with the shares of the group's key: whether this member has its own, and if
    /// not, what gives it one. `None` if the group has no such key, or this is no member.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn share(&self) -> Result<Option<ShareStatus>, Error> {
        self.running.handle.look(|machine, now, _| machine.upper.member.share(now)).await
    }

    /// How the group's authority stands, if this process speaks for it: the charter names its
    /// identity, and its folder has the office (`folkmoot authority new`).
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn authority(&self) -> Result<Option<AuthorityStatus>, Error> {
        self.running.handle.look(|machine, _, _| machine.upper.member.authority()).await
    }

    /// Hands an authority with replicas a record that has its place in the log that they share, in
    /// the log's order. Returns when all that it brought about is on disk.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn logged(&self, record: impl Into<Bytes>) -> Result<(), Error> {
        self.command(Command::Logged(record.into())).await.map(drop)
    }

    /// Who says that it links by the other form than this charter's `hybrid_links`, and so is not
    /// linked to. Not proved.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn refusals(&self) -> Result<Vec<Refusal>, Error> {
        self.running.handle.look(|machine, now, _| machine.ground.refusals(now)).await
    }

    /// The host names at which members are looked for, with their addresses, or why there are none.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn host_names(&self) -> Result<Vec<Named>, Error> {
        self.running.handle.look(|machine, _, _| machine.ground.names()).await
    }

    /// Nodes that were seen to run twice lately: their earlier processes were told to stop.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn twice(&self) -> Result<Vec<Twice>, Error> {
        self.running.handle.look(|machine, now, _| machine.ground.twice(now)).await
    }

    /// The charters that this node carries beside its own, and how each stands.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn carrying(&self) -> Result<Vec<Carrying>, Error> {
        self.running.handle.look(|machine, _, _| machine.ground.carrying()).await
    }

    /// The requests for admission that are open.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn petitions(&self) -> Result<Vec<Petition>, Error> {
        self.running.handle.look(|machine, _, _| machine.upper.member.petitions()).await
    }

    /// What became of a request or a proposal, and of this member's vote on it: counted, beside
    /// whose, and of how many; waiting, and for what; not counted, and why; passed, rejected,
    /// withdrawn or overtaken. `folkmoot vote` and `/yes` in a chat say the same. `subject` is what
    /// the events and lists name; `None` if nothing is known of it here.
    ///
    /// What is over is told for the last 256, after a restart too.
    ///
    /// ```no_run
    /// use folkmoot::{Awaits, Counting, Folkmoot, Closed, Stands};
    /// # async fn example(moot: &Folkmoot) -> Result<(), folkmoot::Error> {
    /// for proposal in moot.proposals().await? {
    ///     moot.vote(proposal.subject, true).await?;
    ///     let Some(outcome) = moot.outcome(proposal.subject).await? else { continue };
    ///     match (&outcome.vote, outcome.stands) {
    ///         (Some((_, Counting::Uncounted(why))), _) => println!("does not count: {why}"),
    ///         (_, Stands::Over(Closed::Granted)) => println!("passed, by {:?}", outcome.approved),
    ///         (_, Stands::Over(why)) => println!("over: {why:?}"),
    ///         (Some((_, Counting::Waiting)), _) => println!("waits for its place in the order"),
    ///         (_, Stands::Open(Awaits::Votes)) => {
    ///             println!("{} of {:?}: {:?}", outcome.approved.len(), outcome.need, outcome.approved);
    ///         }
    ///         (_, Stands::Open(awaits)) => println!("has its votes, and waits: {awaits:?}"),
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn outcome(&self, subject: Digest) -> Result<Option<Outcome>, Error> {
        self.running.handle.look(move |machine, _, _| machine.upper.member.outcome(&subject)).await
    }

    /// The proposals that are open: to expel, to change the charter or the voters.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub async fn proposals(&self) -> Result<Vec<Proposal>, Error> {
        self.running.handle.look(|machine, _, _| machine.upper.member.proposals()).await
    }

    /// A signed message ([`Event::Message`]) as a file that proves to anyone who said it, in which
    /// group and view: CMS, DER, the text and the sender's certificate inside. `folkmoot verify`
    /// checks it, and OpenSSL checks its signature.
    ///
    /// # Errors
    /// [`Error::NotSigned`]; [`Error::LocalProof`] for another event, or one that was changed;
    /// [`Error::Stopped`].
    pub async fn proof(&self, message: &Event) -> Result<Vec<u8>, Error> {
        let Event::Message { sender, view, service, payload, origin, .. } = message else {
            return Err(Error::LocalProof("the event is not a message".into()));
        };
        let signature = origin.signature.clone().ok_or(Error::NotSigned)?;
        let (stamp, text) = (origin.stamp(*view, *sender, *service), payload.clone());
        let proven = self
            .running
            .handle
            .look(move |machine, _, _| machine.upper.member.prove(stamp, text, &signature));
        let proven = proven.await?.map_err(|error| Error::LocalProof(error.to_string()))?;
        Ok(proven.der().to_vec())
    }

    /// Stops the member and waits until its disk has everything. Others see it fall silent; use
    /// [`Session::leave`] before, to part at once.
    ///
    /// # Errors
    /// Why it could not go on to the end.
    pub async fn close(self) -> Result<(), Error> {
        self.running.stop().await
    }

    /// The fault switch of the transport: cut, delay, drop, lose what is long, for demonstrations
    /// and tests.
    pub fn faults(&self) -> Faults {
        self.faults.clone()
    }

    /// The machine's handle, for the project's own tools.
    #[doc(hidden)]
    pub fn handle(&self) -> MemberHandle {
        self.running.handle.clone()
    }

    async fn command(&self, command: Command) -> Result<Accepted, Error> {
        Ok(self.running.handle.command(command).await??)
    }
}
