//! A program that depends on the library alone: it makes a folder under a passphrase, opens it,
//! says something and hears it. Then it runs the library's examples, a process for each person.

mod examples;
mod people;
mod service;

use folkmoot::{Command, Event, Folkmoot, MemberStatus, Options, Service};
use people::{Outcome, Program, beside, found, passphrase};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Longest time for one of these.
const LIMIT: Duration = Duration::from_secs(180);

#[tokio::main]
async fn main() -> ExitCode {
    let root = std::env::temp_dir().join(format!("folkmoot-outside-{}", std::process::id()));
    let ended = all(&root).await;
    drop(std::fs::remove_dir_all(&root));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("outside: {why}");
            ExitCode::FAILURE
        }
    }
}

async fn all(root: &Path) -> Outcome {
    tell("a program of one member", alone(&root.join("alone"))).await?;
    tell("example map", examples::map(&root.join("map"))).await?;
    tell("example lock", examples::lock(&root.join("lock"))).await?;
    tell("example groups", examples::groups(&root.join("groups"))).await?;
    tell("example service", service::service(&root.join("service"))).await?;
    tell("example hello", examples::hello(&root.join("hello"))).await?;
    tell("docs/pubsub.md, typed messages", pubsub()).await
}

/// The program of the page publishes a pose and hears it. `cargo xtask outside` has built it.
async fn pubsub() -> Outcome {
    let mut program = Program::run("the program of docs/pubsub.md", beside("pubsub")?)?;
    program.says("anna: [1.0, 2.0, 0.0], 0 missing").await?;
    program.kill().await
}

/// Runs one of them, and says how long it took.
async fn tell(what: &str, work: impl Future<Output = Outcome>) -> Outcome {
    let begun = Instant::now();
    let ended = tokio::time::timeout(LIMIT, work).await;
    ended.map_err(|_| format!("{what}: not within {LIMIT:?}"))?.map_err(|why| format!("{what}: {why}"))?;
    println!("{what}: ok after {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// Says something and hears it.
async fn alone(root: &Path) -> Outcome {
    let [anna] = found(root, ["anna"], true)?;
    let options = Options::new(anna.folder).listen(([127, 0, 0, 1], 0)).passphrase(passphrase()?);
    let mut moot = Folkmoot::open_with(options).await?;
    let session = moot.join().await?;
    session.send(Service::Safe, "good morning").await?;
    while let Some(event) = moot.next().await? {
        if let Event::Message { sender, payload, .. } = event {
            let names = moot.names().await?;
            println!("{}: {}", names.name(&sender.member), String::from_utf8_lossy(&payload));
            break;
        }
    }
    let status: MemberStatus = moot.status().await?;
    println!("{} group", status.groups.len());
    moot.order(Command::Leave { group: moot.group() }).await?;
    Ok(moot.close().await?)
}
