//! One member in several groups: each has its own members, its own key and its own order, and
//! whoever is not in a group reads nothing of it. All are named under one charter, so whoever is a
//! member by that may join any of them.
//!
//! Three people on one machine. Each makes an identity, all sign one charter, and each folder gets
//! a copy of it:
//!
//! ```text
//! for who in anna ben cleo; do folkmoot --state $who identity new $who --no-passphrase; done
//! folkmoot charter new "our groups" --votes 2 --contact udp/127.0.0.1:4811 \
//!     --founder anna/identity.pem --founder ben/identity.pem --founder cleo/identity.pem
//! folkmoot --state anna charter sign charter.toml --yes
//! for who in ben cleo; do folkmoot --state $who charter sign charter.cms --yes; done
//! for who in anna ben cleo; do cp charter.cms $who; done
//! ```
//! Then each runs one line in a terminal of its own. Anna is in both groups, and types
//! `news good morning` or `work the door is open`. Ben hears only the news, Cleo only the work:
//!
//! ```text
//! cargo run -p folkmoot --example groups -- anna 127.0.0.1:4811 news work
//! cargo run -p folkmoot --example groups -- ben 127.0.0.1:4812 news
//! cargo run -p folkmoot --example groups -- cleo 127.0.0.1:4813 work
//! ```
//! How it works: one member has one stream of events, and each event says of which group it is. A
//! `Session` sends to one group; a group without a key holds up no other. There is no order between
//! messages of two groups.

use folkmoot::{Error, Event, Folkmoot, GroupId, GroupName, Options, Service, Session};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader, stdin};

/// The groups that this member is in: what each is called, and what sends to it.
type Joined = BTreeMap<GroupId, (String, Session)>;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("groups: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [state, address, groups @ ..] = &words[..] else {
        return Err("usage: groups STATE ADDRESS:PORT GROUP...".into());
    };
    let options = Options::new(state).listen(address.parse::<SocketAddr>()?);
    let mut moot = Folkmoot::open_with(options).await?;
    let mut joined = Joined::new();
    for name in groups {
        let session = moot.join_named(&GroupName::new(name)?).await?;
        joined.insert(session.group(), (name.clone(), session));
    }
    let mut lines = BufReader::new(stdin()).lines();
    loop {
        tokio::select! {
            event = moot.next() => match event? {
                Some(event) => print(&moot, &joined, event).await?,
                None => return Ok(()),
            },
            line = lines.next_line() => match line? {
                Some(line) => say(&joined, &line).await?,
                None => return Ok(leave(moot, &joined).await?),
            },
        }
    }
}

/// Says the rest of the line to the group that its first word names. It is put into the group's
/// queue: while one group has no key, the others are still served.
async fn say(joined: &Joined, line: &str) -> Result<(), Error> {
    let (to, text) = line.split_once(' ').unwrap_or((line, ""));
    match joined.values().find(|(name, _)| name == to) {
        Some((_, session)) => session.queue(Service::Agreed, text.to_owned()).await,
        None => {
            println!("type GROUP TEXT, with one of the groups that you named");
            Ok(())
        }
    }
}

async fn print(moot: &Folkmoot, joined: &Joined, event: Event) -> Result<(), Error> {
    let called = |group: &GroupId| joined.get(group).map_or("?", |(name, _)| name);
    match event {
        Event::View { group, members, epoch, .. } => {
            let names = moot.names().await?;
            let who: Vec<_> = members.iter().map(|one| one.of(&names.name(&one.member))).collect();
            println!("[{}] {} share key {epoch}", called(&group), who.join(", "));
        }
        Event::Message { group, sender, payload, .. } => {
            let who = sender.of(&moot.names().await?.name(&sender.member));
            println!("[{}] {who}: {}", called(&group), String::from_utf8_lossy(&payload));
        }
        Event::Removed { group, .. } => println!("[{}] out of this group", called(&group)),
        Event::SendFailed { error } => println!("not sent: {error}"),
        _ => {}
    }
    Ok(())
}

/// Leaves every group, and waits up to 4 s until the others know.
async fn leave(mut moot: Folkmoot, joined: &Joined) -> Result<(), Error> {
    for (_, session) in joined.values() {
        session.leave().await?;
    }
    let mut left = joined.len();
    let gone = async {
        while left > 0 {
            match moot.next().await? {
                Some(Event::Removed { .. }) => left -= 1,
                Some(_) => {}
                None => break,
            }
        }
        Ok::<(), Error>(())
    };
    if let Ok(gone) = tokio::time::timeout(Duration::from_secs(4), gone).await {
        gone?;
    }
    moot.close().await
}
