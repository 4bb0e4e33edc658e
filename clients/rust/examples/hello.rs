//! Say hello to a group, then print who comes, who goes and what is said: `cargo run --example
//! hello -- STATE`. The folder STATE holds an identity and the signed charter, `charter.cms`.
use folkmoot::{Event, Folkmoot, Service};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let state = std::env::args().nth(1).ok_or("usage: hello STATE (see the README: five minutes)")?;
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
