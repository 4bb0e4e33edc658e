//! Makes a folder under a passphrase, opens it, says something and hears it.

use folkmoot::parts::identity::{CharterDraft, Founder, Identity, SignedCharter};
use folkmoot::parts::runtime::wall_clock;
use folkmoot::parts::system::OsEntropy;
use folkmoot::{
    Command, Event, Folkmoot, GroupName, MemberStatus, Options, Passphrase, Secret, Service, StateFolder,
    UnixTime,
};
use std::error::Error;
use std::path::Path;
use std::time::Duration;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("folkmoot-outside-{}", std::process::id()));
    let heard = tokio::time::timeout(Duration::from_secs(30), run(&folder)).await;
    drop(std::fs::remove_dir_all(&folder));
    heard?
}

async fn run(folder: &Path) -> Result<(), Box<dyn Error>> {
    make(folder)?;
    let options = Options::new(folder).listen(([127, 0, 0, 1], 0)).passphrase(passphrase()?);
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

fn passphrase() -> Result<Passphrase, Box<dyn Error>> {
    Ok(Passphrase::new(Secret::new(b"correct horse".to_vec()))?)
}

/// An identity under the passphrase, and a charter with it as its only founder. `folkmoot identity
/// new` and `folkmoot charter` do the same from a shell.
fn make(folder: &Path) -> Result<(), Box<dyn Error>> {
    let now = wall_clock();
    let mut entropy = OsEntropy::new()?;
    let (from, to) = (UnixTime(now.0 - 3_600), UnixTime(now.0 + 86_400));
    let anna = Identity::new("anna", &mut entropy, from, to)?;
    let founders = vec![Founder::from(anna.certificate())];
    let text = CharterDraft::new(GroupName::new("club")?, 1, founders, &mut entropy).to_toml();
    let charter = SignedCharter::sign(&text, &[&anna])?;
    let state = StateFolder::open(folder)?;
    state.write_identity(&anna.sealed_key_pem(&passphrase()?, &mut entropy)?, &anna.certificate_pem())?;
    Ok(state.write_charter(charter.der())?)
}
