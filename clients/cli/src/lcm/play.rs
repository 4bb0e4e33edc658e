//! `folkmoot lcm play`

mod keys;
mod pace;
mod player;

use super::Place;
use super::meeting::Meeting;
use super::reading::{Next, length, messages};
use crate::args::lcm::Play;
use crate::exit::{Exit, Failure};
use crate::show::{data, many_of};
use player::Player;
use serde_json::json;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::time::Duration;
use tokio::time::Instant;

/// What was played.
#[derive(Debug, Default)]
struct Played {
    messages: u64,
    /// How often the log was played to its end.
    passes: u64,
    skipped: u64,
    /// How long the log is, when its end was seen.
    length: Duration,
    /// Whether there was anything in it that a log has, or nothing at all.
    is_log: bool,
}

pub(super) async fn run(at: Meeting, play: Play, json: bool) -> Result<(), Failure> {
    let wrong = |error: io::Error| Failure::file(&play.file, &error);
    let log = File::open(&play.file).map_err(wrong)?;
    let is_file = log.metadata().map_err(wrong)?.is_file();
    if play.again && !is_file {
        let text = format!("{} is no file, so --loop cannot begin it anew", play.file.display());
        return Err(Failure::new(Exit::Usage, text));
    }
    let place = Place::join(at, &play.secured, json).await?;
    // A pipe is opened once: what was read of it does not come again.
    let seen = is_file && !json && io::stderr().is_terminal();
    let known = if seen { File::open(&play.file).and_then(length).map_err(wrong)? } else { None };
    let mut player = Player::new(&play, known)?;
    let mut played = Played::default();
    let ended = tokio::select! {
        biased;
        () = place.end(None) => Ok(()),
        ended = all(&play, log, &place, &mut player, &mut played) => ended,
    };
    let position = player.position();
    // The terminal is as it was before anything else is said.
    drop(player);
    ended?;
    let left = place.leave().await;
    let value = json!({
        "file": crate::show::path(&play.file),
        "messages": played.messages,
        "skipped_bytes": played.skipped,
        "passes": played.passes,
        "position": position.as_secs_f64(),
    });
    data(json, &value, || format!("{} published", many_of(played.messages, "message")));
    played.judge(&play)?;
    left
}

/// Plays the log, or plays it again and again.
async fn all(
    play: &Play,
    mut log: File,
    place: &Place,
    player: &mut Player,
    played: &mut Played,
) -> Result<(), Failure> {
    loop {
        let before = played.messages;
        once(play, log, place, player, played).await?;
        played.passes = played.passes.saturating_add(1);
        // A log without a message would begin anew for ever, and nobody would see anything.
        if !play.again || played.messages == before {
            return Ok(());
        }
        player.rewind();
        log = File::open(&play.file).map_err(|error| Failure::file(&play.file, &error))?;
    }
}

async fn once(
    play: &Play,
    log: File,
    place: &Place,
    player: &mut Player,
    played: &mut Played,
) -> Result<(), Failure> {
    let wrong = |error: io::Error| Failure::file(&play.file, &error);
    let mut log = messages(log, play.channels.clone(), play.start.unwrap_or_default());
    loop {
        let (channel, payload) = match log.recv().await.transpose().map_err(wrong)? {
            Some(Next::Message { channel, time, at, payload }) => {
                player.wait(time, at).await;
                (channel, payload)
            }
            Some(Next::End { skipped, length }) => {
                (played.skipped, played.length) = (skipped, length.unwrap_or_default());
                played.is_log = length.is_some() || skipped == 0;
                return Ok(());
            }
            None => return Ok(()),
        };
        let before = Instant::now();
        place.publish(channel, &payload).await?;
        player.rested(before.elapsed(), false);
        played.messages = played.messages.saturating_add(1);
    }
}

impl Played {
    /// Whether it was what was asked for.
    fn judge(&self, play: &Play) -> Result<(), Failure> {
        let start = play.start.unwrap_or_default();
        if self.passes > 0 && !self.is_log {
            let text = format!("{} is not a log of LCM: there is no message in it", play.file.display());
            return Err(Failure::new(Exit::Configuration, text));
        }
        if self.skipped > 0 {
            let text = format!("the log is damaged: {} skipped", many_of(self.skipped, "byte"));
            return Err(Failure::new(Exit::No, text));
        }
        if self.passes > 0 && start > self.length {
            let (start, length) = (start.as_secs_f64(), self.length.as_secs_f64());
            let text = format!("--start {start} is behind the end of the log, which has {length:.1} s");
            return Err(Failure::new(Exit::Usage, text));
        }
        Ok(())
    }
}
