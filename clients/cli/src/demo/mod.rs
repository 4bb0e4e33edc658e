//! `folkmoot demo`: the whole story on this machine, each member a process of its own, over UDP on
//! loopback.
//!
//! ```text
//! found -> admit -> order -> crash -> split -> heal -> expel -> return      story.rs, one function each
//!    with an authority: -> authority (it is killed) -> renew                central.rs
//! found -> keys -> drive -> expel, with robots                              robots.rs
//!    every step tells what happens as it happens, and notes what it checked  tale.rs
//! ```
//! The demo takes from the rest of the program only what outside.rs names:
//! - children, control: members as processes, and what one can ask them;
//! - exit: how a command ends;
//! - show, progress: how things are shown;
//! - args, values: the command line.
//!
//! Nothing but the dispatcher in lib.rs uses the demo.
//!
//! Nothing is simulated: the children are this program's own `member`, told what to do through
//! their control sockets.

mod cast;
mod central;
mod outside;
mod robots;
mod stage;
mod story;
mod tale;

use cast::Story;
use folkmoot_identity::Mode;
use outside::{Demo, Exit, Failure, Scenario, Workshop};
use std::time::Duration;
use tale::Tale;

/// The whole demo must be over by then.
const LIMIT: Duration = Duration::from_secs(58);
/// With an authority, which has chapters of its own.
const LIMIT_CENTRAL: Duration = Duration::from_secs(118);
/// With robots.
const LIMIT_ROBOTS: Duration = Duration::from_secs(118);

/// Steps that every group goes through.
const STEPS: usize = 8;

/// Runs the demo; exit code 1 if any check failed.
pub(crate) async fn run(options: &Demo, json: bool) -> Result<(), Failure> {
    let mut workshop = Workshop::open("demo", options.keep)?;
    if options.scenario == Scenario::Robots {
        let mut fleet = robots::Fleet::new(&workshop, options).await?;
        let mut tale = Tale::new(robots::STEPS, json);
        let result = within(LIMIT_ROBOTS, fleet.play(&mut tale)).await;
        fleet.end().await;
        return close(&mut workshop, options, &mut tale, result);
    }
    let mut story = Story::new(&workshop, options).await?;
    let (limit, steps) =
        if options.mode == Mode::Centralised { (LIMIT_CENTRAL, STEPS + 2) } else { (LIMIT, STEPS) };
    let mut tale = Tale::new(steps, json);
    let result = within(limit, story.play(&mut tale)).await;
    story.end().await;
    close(&mut workshop, options, &mut tale, result)
}

async fn within(limit: Duration, play: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    tokio::select! {
        result = tokio::time::timeout(limit, play) => match result {
            Ok(result) => result,
            Err(_) => Err(Failure::new(Exit::TimedOut, format!("the demo took longer than {} s", limit.as_secs()))),
        },
        _ = tokio::signal::ctrl_c() => Err(Failure::new(Exit::No, "interrupted")),
    }
}

fn close(
    workshop: &mut Workshop,
    options: &Demo,
    tale: &mut Tale,
    result: Result<(), Failure>,
) -> Result<(), Failure> {
    if let Err(failure) = &result {
        tale.check("the demo reached its end", false, &failure.text);
    }
    let sound = tale.close();
    if options.keep {
        workshop.keep();
        eprintln!("state folders and logs: {}", workshop.path().display());
    }
    if sound {
        return Ok(());
    }
    Err(Failure::new(
        Exit::No,
        "a check failed; run it again with --keep to see the logs, or with --json for details",
    ))
}
