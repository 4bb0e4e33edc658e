//! The example `service`: passphrases, exit codes, and an end in good order.

use crate::people::{Outcome, Person, Program, WORD, found, passphrase, view_of};
use folkmoot::{Event, Folkmoot, Options, Service, Session};
use std::path::Path;

/// Longer than the service's channel.
const LINES: usize = 200;

pub async fn service(root: &Path) -> Outcome {
    let [anna, ben] = found(root, ["anna", "ben"], true)?;
    let (log, secret) = (root.join("said.log").display().to_string(), root.join("folkmoot-passphrase"));
    std::fs::write(&secret, format!("{WORD}\nnot this\n"))?;
    let wrong = root.join("wrong");
    std::fs::write(&wrong, "incorrect\n")?;
    let code = |more: Vec<String>| {
        let more: Vec<&str> = more.iter().map(String::as_str).collect();
        Program::start("service", &anna, &more)
    };
    for (more, expected) in [
        (vec![], 2),
        (vec![log.clone()], 3),
        (vec![log.clone(), wrong.display().to_string()], 3),
        (vec!["/dev/full/log".to_owned(), secret.display().to_string()], 3),
    ] {
        let ended = code(more.clone())?.ends().await?.code();
        if ended != Some(expected) {
            return Err(format!("service {more:?} should end with {expected}, and has with {ended:?}").into());
        }
    }
    let by_file = Program::start("service", &anna, &[&log, &secret.display().to_string()])?;
    runs(by_file, &ben, &log, "file").await?;
    let by_credential = Program::start_in("service", &anna, &[&log], Some(root))?;
    runs(by_credential, &ben, &log, "credential").await
}

/// It takes what Ben says, and ends as told. Ben hears at once that it has left.
async fn runs(mut anna: Program, ben: &Person, log: &str, how: &str) -> Outcome {
    anna.says("anna runs at").await?;
    let address: std::net::SocketAddr = ben.address.parse()?;
    let options = Options::new(&ben.folder).listen(address).passphrase(passphrase()?);
    let mut moot = Folkmoot::open_with(options).await?;
    let session = moot.join().await?;
    view_of(&mut moot, 2).await?;
    say(&mut moot, &session, how).await?;
    let ended = tokio::try_join!(anna.terminate(), view_of(&mut moot, 1))?.0;
    if !ended.success() {
        return Err(format!("the service should end well, and has with {ended}").into());
    }
    let written = std::fs::read_to_string(log)?;
    let lacking = (0..LINES).find(|number| !written.contains(&format!("ben: {how} {number}\n")));
    if let Some(number) = lacking {
        return Err(format!("{log} lacks line {number} of {LINES}").into());
    }
    Ok(moot.close().await?)
}

/// Says all lines, and waits until all have them.
async fn say(moot: &mut Folkmoot, session: &Session, how: &str) -> Outcome {
    for number in 0..LINES {
        session.send(Service::Safe, format!("{how} {number}")).await?;
    }
    let mut left = LINES;
    while left > 0 {
        if let Some(Event::Message { .. }) = moot.next().await? {
            left -= 1;
        }
    }
    Ok(())
}
