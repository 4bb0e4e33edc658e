//! Say hello to a group, then print who comes, who goes and what is said: `cargo run --example
//! hello -- STATE`
use folkmoot::{Event, Folkmoot, Service};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let state = std::env::args().nth(1).ok_or("usage: hello STATE (see the README: five minutes)")?;
    let mut moot = Folkmoot::open(state).await?;
    let session = moot.join().await?;
    session.send(Service::Agreed, "hello").await?;
    while let Some(event) = moot.next().await? {
        match event {
            Event::View { members, epoch, .. } => println!("{} members share key {epoch}", members.len()),
            Event::Message { sender, payload, .. } => {
                println!("{sender}: {}", String::from_utf8_lossy(&payload))
            }
            _ => {}
        }
    }
    Ok(())
}
