//! What a schedule does.

use super::{Forgery, Slander};
use crate::lie::Lie;
use crate::machine::Mute;
use crate::net::Weather;
use folkmoot_base::Service;

/// What the second program of a player does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Second {
    /// Sends one message.
    Sends(Service),
    /// Leaves the group.
    Leaves,
    /// Joins it again.
    Joins,
}

/// One thing that the schedule does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Somebody sends.
    Send {
        /// Who.
        who: u8,
        /// How ordered.
        service: Service,
        /// How long.
        bytes: u32,
        /// How many.
        count: u8,
    },
    /// Everybody sends one.
    Chorus(Service),
    /// Somebody sends messages, one after the other, each with a service of its own.
    Medley {
        /// Who.
        who: u8,
        /// How many.
        count: u8,
        /// Which services.
        mix: u64,
    },
    /// The second program of a player does something.
    Second {
        /// Whose.
        who: u8,
        /// What.
        what: Second,
    },
    /// A member leaves the group.
    Leave(u8),
    /// One that left joins again.
    Join(u8),
    /// A process dies; within the next batch of outputs after this many of them, or at once.
    Crash {
        /// Who.
        who: u8,
        /// After how many outputs of its next batch; `None`: between batches.
        after: Option<u8>,
    },
    /// The process of this very player dies at once.
    Kill(u8),
    /// The same, and it is gone for good, with its disk.
    Die(u8),
    /// A process stands still: what comes for it waits, as much as its socket holds, and so do its
    /// timers.
    Stop {
        /// Who.
        who: u8,
        /// For how many microseconds.
        micros: u64,
    },
    /// Another process of a player starts, elsewhere, on a copy of its folder; while the first one
    /// runs, if that does.
    Copy {
        /// Whose.
        who: u8,
        /// How far the clock is ahead there, in seconds.
        skew: i8,
    },
    /// A member shows its peers starts of processes that never started.
    Slander {
        /// Who.
        who: u8,
        /// Which.
        how: Slander,
    },
    /// An application takes no events.
    Deaf {
        /// Whose.
        who: u8,
        /// For how many microseconds.
        micros: u64,
        /// How many events may wait.
        room: u16,
    },
    /// A dead process comes back with its disk.
    Restart(u8),
    /// A dead process comes back with the disk of some time ago.
    RestartOld {
        /// Who.
        who: u8,
        /// How many writes are lost, in hundredths of all.
        back: u8,
    },
    /// The network splits: bit k is the side of player k.
    Split(u8),
    /// Three sides: two bits for each player.
    SplitThree(u16),
    /// Everybody reaches everybody.
    Heal,
    /// One direction between two players is cut.
    Cut(u8, u8),
    /// Both directions between two players are cut.
    Part(u8, u8),
    /// Everything but cuts stops, and everybody must find peace while the cuts last
    /// ([`crate::peace`]).
    Endure,
    /// For so many microseconds, datagrams of a player are held up on the way, or lost, or arrive,
    /// each as it happens.
    Withhold {
        /// Whose.
        from: u8,
        /// For how long.
        micros: u64,
    },
    /// What is held up on the way arrives.
    Release,
    /// Other weather for a while.
    Burst(Weather, u64),
    /// A stranger asks; these players will say yes.
    Admit {
        /// Which stranger.
        who: u8,
        /// Whom it asks first.
        contact: u8,
        /// Who will say yes: bit k for player k.
        yes: u8,
    },
    /// A member proposes to expel another; these players will say yes.
    Expel {
        /// Who proposes.
        by: u8,
        /// Whom.
        who: u8,
        /// Who will say yes.
        yes: u8,
    },
    /// A member proposes a change of the charter, one of [`CHANGES`]; all will say yes.
    Change {
        /// Who proposes.
        by: u8,
        /// Which.
        what: u8,
    },
    /// A member proposes who votes from now on, of those whom it knows as members; all will say
    /// yes.
    Electorate {
        /// Who proposes.
        by: u8,
        /// Who shall vote: bit k for player k.
        voters: u8,
    },
    /// One that is out of the group asks again; all will say yes.
    Again(u8),
    /// A member leaves out one protocol step for a while.
    Mute {
        /// Who.
        who: u8,
        /// Which step.
        step: Mute,
        /// For how many microseconds.
        micros: u64,
    },
    /// The attacker uses datagrams that it saw.
    Forge {
        /// How.
        how: Forgery,
        /// How many.
        count: u8,
    },
    /// The attacker floods somebody with garbage.
    Flood {
        /// Whom.
        who: u8,
        /// How many datagrams.
        count: u16,
    },
    /// Whoever has every former key lies to somebody.
    Lie {
        /// What it tries.
        how: Lie,
        /// To whom.
        to: u8,
    },
    /// The program of a voter lies about decisions from now on.
    Turn(u8),
    /// The programs of as many voters as decide alone lie from now on, together.
    Conspire,
    /// A member takes back each yes to what is open, and says it again.
    Waver(u8),
    /// Nothing, for this many microseconds more.
    Rest(u64),
    /// All computers sleep: when they wake, their wall clocks are so many seconds further.
    Sleep(u64),
    /// The wall clock of a member is so many seconds ahead of the true time from now on; `None`: it
    /// has none, and says the seconds since 1970 at which its battery was empty.
    Clock {
        /// Whose.
        who: u8,
        /// How far.
        ahead: Option<i64>,
    },
}
