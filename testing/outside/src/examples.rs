//! The examples `map`, `lock` and `groups`, each with three people and a process for each.

use crate::people::{Outcome, Program, beside, found, view_of};
use folkmoot::{Folkmoot, Options, Service};
use std::net::SocketAddr;
use std::path::Path;

const NAMES: [&str; 3] = ["anna", "ben", "cleo"];

/// All have the same entries, whoever changes them; a newcomer is given them; a minority changes
/// nothing.
pub async fn map(root: &Path) -> Outcome {
    let [anna, ben, cleo] = found(root, NAMES, false)?;
    let mut anna = Program::start("map", &anna, &[])?;
    let mut ben = Program::start("map", &ben, &[])?;
    anna.says("all have the same 0 entries").await?;
    ben.says("all have the same 0 entries").await?;
    anna.types("set colour blue").await?;
    ben.says("colour = blue").await?;
    ben.types("set size 3").await?;
    anna.says("size = 3").await?;
    let mut cleo = Program::start("map", &cleo, &[])?;
    cleo.says("all have the same 2 entries").await?;
    // At once, at one key: all must agree on who was last.
    for number in 0..20 {
        for (program, who) in [(&mut anna, "anna"), (&mut ben, "ben"), (&mut cleo, "cleo")] {
            program.types(&format!("set last {who} {number}")).await?;
        }
    }
    let mut shown = Vec::new();
    for program in [&mut anna, &mut ben, &mut cleo] {
        for who in NAMES {
            if !program.said.iter().any(|line| line == &format!("last = {who} 19")) {
                program.says(&format!("last = {who} 19")).await?;
            }
        }
        program.types("show").await?;
        shown.push([
            program.says("colour =").await?,
            program.says("last =").await?,
            program.says("size =").await?,
        ]);
    }
    if shown.windows(2).any(|two| two[0] != two[1]) {
        return Err(format!("the maps differ: {shown:?}").into());
    }
    ben.kill().await?;
    cleo.kill().await?;
    anna.says("here: anna").await?;
    anna.types("set colour red").await?;
    anna.says("not sent: ").await?;
    anna.quit().await
}

/// Whoever waits has the lock when its holder is killed, with a higher number; a minority has
/// none.
pub async fn lock(root: &Path) -> Outcome {
    let [anna, ben, cleo] = found(root, NAMES, false)?;
    let mut anna = Program::start("lock", &anna, &[])?;
    let mut ben = Program::start("lock", &ben, &[])?;
    let mut cleo = Program::start("lock", &cleo, &[])?;
    for program in [&mut anna, &mut ben, &mut cleo] {
        let mut here = String::new();
        while !NAMES.iter().all(|name| here.contains(name)) {
            here = program.says("here: ").await?;
        }
    }
    anna.types("lock").await?;
    let first = number(&anna.says("you have the lock").await?)?;
    cleo.says("anna has the lock").await?;
    ben.types("lock").await?;
    anna.kill().await?;
    let second = number(&ben.says("you have the lock").await?)?;
    cleo.says("ben has the lock").await?;
    cleo.types("lock").await?;
    ben.types("free").await?;
    let third = number(&cleo.says("you have the lock").await?)?;
    if first >= second || second >= third {
        return Err(format!("the numbers do not grow: {first:?}, {second:?}, {third:?}").into());
    }
    ben.kill().await?;
    cleo.says("you have lost the lock").await?;
    cleo.quit().await
}

/// The fencing number in a line that tells of it.
fn number(line: &str) -> Outcome<Vec<u64>> {
    let number = line.rsplit(' ').next().unwrap_or_default();
    Ok(number.split('.').map(str::parse).collect::<Result<_, _>>()?)
}

/// Whoever is in one group hears nothing of the other, and each group has its own key.
pub async fn groups(root: &Path) -> Outcome {
    let [anna, ben, cleo] = found(root, NAMES, false)?;
    let mut anna = Program::start("groups", &anna, &["news", "work"])?;
    let mut ben = Program::start("groups", &ben, &["news"])?;
    let mut cleo = Program::start("groups", &cleo, &["work"])?;
    let news = shared(&mut ben, "anna").await?;
    let work = shared(&mut cleo, "anna").await?;
    if key(&news) == key(&work) {
        return Err(format!("one key for two groups: {news}; {work}").into());
    }
    anna.types("news good morning").await?;
    anna.types("work the door is open").await?;
    ben.says("[news] anna: good morning").await?;
    cleo.says("[work] anna: the door is open").await?;
    ben.types("work let me in").await?;
    ben.says("type GROUP TEXT").await?;
    ben.types("news goodbye").await?;
    anna.says("[news] ben: goodbye").await?;
    cleo.types("work done").await?;
    anna.says("[work] cleo: done").await?;
    let strange = |program: &Program, group: &str| program.said.iter().any(|line| line.contains(group));
    if strange(&ben, "[work]") || strange(&cleo, "[news]") {
        return Err(format!("groups are not apart: {:?}, {:?}", ben.said, cleo.said).into());
    }
    cleo.quit().await?;
    ben.quit().await?;
    anna.quit().await
}

/// It says hello, meets somebody, and prints what is said. It listens at port 4803 alone,
/// which another member of this machine may have.
pub async fn hello(root: &Path) -> Outcome {
    if let Err(error) = std::net::UdpSocket::bind("0.0.0.0:4803") {
        println!("SKIPPED: hello listens at port 4803, and that is not free here ({error})");
        return Ok(());
    }
    let [anna, ben] = found(root, ["anna", "ben"], false)?;
    let options = Options::new(&ben.folder).listen(ben.address.parse::<SocketAddr>()?);
    let mut moot = Folkmoot::open_with(options).await?;
    let session = moot.join().await?;
    let mut command = beside("hello")?;
    command.arg(&anna.folder);
    let mut hello = Program::run("hello", command)?;
    view_of(&mut moot, 2).await?;
    session.send(Service::Agreed, "good morning").await?;
    hello.says("ben: good morning").await?;
    // Anna has said hello as soon as she had a key: to Ben, if he was there by then.
    if !hello.said.iter().any(|line| line == "anna: hello") {
        hello.says("anna: hello").await?;
    }
    hello.kill().await?;
    Ok(moot.close().await?)
}

/// Waits for a view of two, with this one in it.
async fn shared(program: &mut Program, with: &str) -> Outcome<String> {
    loop {
        let line = program.says(" share key ").await?;
        if line.contains(with) {
            return Ok(line);
        }
    }
}

fn key(view: &str) -> &str {
    view.rsplit(' ').next().unwrap_or_default()
}
