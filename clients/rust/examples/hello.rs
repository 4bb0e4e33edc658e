//! Say hello to a group, then print who comes, who goes and what is said.
//!
//! The folder that it is given holds an identity and the signed charter, `charter.cms`. Three
//! people on one machine:
//!
//! ```text
//! for who in anna ben cleo; do folkmoot --state $who identity new $who --no-passphrase; done
//! folkmoot charter new "book club" --votes 2 --contact udp/127.0.0.1:4803 \
//!     --founder anna/identity.pem --founder ben/identity.pem --founder cleo/identity.pem
//! folkmoot --state anna charter sign charter.toml --yes
//! for who in ben cleo; do folkmoot --state $who charter sign charter.cms --yes; done
//! for who in anna ben cleo; do cp charter.cms $who; done
//! ```
//! Anna runs this program, which listens at port 4803; Ben and Cleo chat. Each has a terminal:
//!
//! ```text
//! cargo run -p folkmoot --example hello -- anna
//! folkmoot --state ben chat --listen 127.0.0.1:4811
//! folkmoot --state cleo chat --listen 127.0.0.1:4812
//! ```
use folkmoot::{Event, Folkmoot, Service};
use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    let Some(state) = std::env::args().nth(1) else {
        eprintln!("usage: hello STATE (a folder with an identity and charter.cms)");
        return ExitCode::from(2);
    };
    if let Err(error) = hello(&state).await {
        eprintln!("hello: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

async fn hello(state: &str) -> Result<(), folkmoot::Error> {
    let mut moot = Folkmoot::open(state).await?;
    let session = moot.join().await?;
    session.send(Service::Agreed, "hello").await?;
    while let Some(event) = moot.next().await? {
        let names = moot.names().await?;
        match event {
            Event::View { members, epoch, .. } => {
                let who: Vec<_> = members.iter().map(|one| one.of(&names.name(&one.member))).collect();
                println!("{} share key {epoch}", who.join(", "));
            }
            Event::Message { sender, payload, .. } => {
                let who = sender.of(&names.name(&sender.member));
                println!("{who}: {}", String::from_utf8_lossy(&payload));
            }
            _ => {}
        }
    }
    Ok(())
}
