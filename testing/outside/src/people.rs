//! People with folders, and programs that run on them.

use folkmoot::parts::identity::{CharterDraft, Contact, Founder, Identity, Minority, SignedCharter};
use folkmoot::parts::runtime::wall_clock;
use folkmoot::parts::system::OsEntropy;
use folkmoot::{Event, Folkmoot, GroupName, Passphrase, Secret, StateFolder, UnixTime};
use std::error::Error;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Longest wait for one thing.
const LIMIT: Duration = Duration::from_secs(60);
pub const WORD: &str = "correct horse battery";

/// A founder: name, state folder, and an address for its program to listen at.
pub struct Person {
    pub name: &'static str,
    pub folder: PathBuf,
    pub address: String,
}

pub fn passphrase() -> Outcome<Passphrase> {
    Ok(Passphrase::new(Secret::new(WORD.as_bytes().to_vec()))?)
}

/// Makes folders of the founders of one group, under a passphrase or not. `folkmoot identity new`
/// and `folkmoot charter` do the same from a shell.
pub fn found<const N: usize>(root: &Path, names: [&'static str; N], sealed: bool) -> Outcome<[Person; N]> {
    let now = wall_clock();
    let mut entropy = OsEntropy::new()?;
    let (from, to) = (UnixTime(now.0 - 3_600), UnixTime(now.0 + 86_400));
    let people = names.map(|name| Identity::new(name, &mut entropy, from, to));
    let people = people.into_iter().collect::<Result<Vec<_>, _>>()?;
    let founders = people.iter().map(|one| Founder::from(one.certificate())).collect();
    let addresses = names.map(|_| free_address());
    let mut draft = CharterDraft::new(GroupName::new("club")?, 2.min(N as u32), founders, &mut entropy);
    draft.minority = Minority::ReadOnly;
    draft.timeouts.step_ms = Some(1_000);
    for address in &addresses {
        draft.contacts.insert(Contact::read(&format!("udp/{}", address.as_ref().map_err(Clone::clone)?))?);
    }
    let charter = SignedCharter::sign(&draft.to_toml(), &people.iter().collect::<Vec<_>>())?;
    for one in &people {
        let state = StateFolder::open(&root.join(one.name()))?;
        if sealed {
            state
                .write_identity(&one.sealed_key_pem(&passphrase()?, &mut entropy)?, &one.certificate_pem())?;
        } else {
            state.write_identity(one.key_pem()?.expose(), &one.certificate_pem())?;
        }
        state.write_charter(charter.der())?;
    }
    let mut addresses = addresses.into_iter();
    let person = |name| {
        let address = addresses.next().unwrap_or(Err(String::new())).unwrap_or_default();
        Person { name, folder: root.join(name), address }
    };
    Ok(names.map(person))
}

/// An address of this machine that is free at the moment.
fn free_address() -> Result<String, String> {
    let socket = UdpSocket::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    Ok(socket.local_addr().map_err(|error| error.to_string())?.to_string())
}

/// A program that was built beside this one.
pub fn beside(name: &str) -> Outcome<Command> {
    Ok(Command::new(std::env::current_exe()?.with_file_name(format!("outside-{name}"))))
}

/// An example that runs: what it has said on its standard output is kept.
pub struct Program {
    pub name: &'static str,
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    errors: Lines<BufReader<ChildStderr>>,
    pub said: Vec<String>,
    read: usize,
}

impl Program {
    /// Starts the example `example` for a person, with its folder, its address and `more`.
    pub fn start(example: &str, person: &Person, more: &[&str]) -> Outcome<Self> {
        Self::start_in(example, person, more, None)
    }

    /// The same, with a folder of credentials as systemd gives one.
    pub fn start_in(
        example: &str,
        person: &Person,
        more: &[&str],
        credentials: Option<&Path>,
    ) -> Outcome<Self> {
        let mut command = beside(example)?;
        command.arg(&person.folder).arg(&person.address).args(more).env_remove("CREDENTIALS_DIRECTORY");
        if let Some(folder) = credentials {
            command.env("CREDENTIALS_DIRECTORY", folder);
        }
        Self::run(person.name, command)
    }

    /// Starts any program.
    pub fn run(name: &'static str, mut command: Command) -> Outcome<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        let errors = BufReader::new(child.stderr.take().ok_or("no errors")?).lines();
        let input = child.stdin.take();
        Ok(Self { name, child, input, output, errors, said: Vec::new(), read: 0 })
    }

    /// Types a line.
    pub async fn types(&mut self, line: &str) -> Outcome {
        let input = self.input.as_mut().ok_or("its input is closed")?;
        Ok(input.write_all(format!("{line}\n").as_bytes()).await?)
    }

    /// Waits until it says a line with this in it, after all that was waited for before.
    pub async fn says(&mut self, what: &str) -> Outcome<String> {
        let found = timeout(LIMIT, async {
            loop {
                let line = tokio::select! {
                    line = self.output.next_line() => line?,
                    Some(line) = async { self.errors.next_line().await.transpose() } => Some(line?),
                };
                let Some(line) = line else { return Err(std::io::Error::other("it has ended")) };
                self.said.push(line.clone());
                if line.contains(what) {
                    return Ok(line);
                }
            }
        });
        match found.await {
            Ok(Ok(line)) => {
                self.read = self.said.len();
                Ok(line)
            }
            Ok(Err(error)) => Err(self.lacks(what, &error.to_string()).into()),
            Err(_) => Err(self.lacks(what, "it has not within a minute").into()),
        }
    }

    fn lacks(&self, what: &str, why: &str) -> String {
        let said = self.said.get(self.read..).unwrap_or_default().join("\n    ");
        format!("{} should say {what:?}: {why}. Since then it has said:\n    {said}", self.name)
    }

    /// As `kill -9` does.
    pub async fn kill(mut self) -> Outcome {
        Ok(self.child.kill().await?)
    }

    /// As `systemctl stop` does.
    pub async fn terminate(self) -> Outcome<ExitStatus> {
        let pid = self.child.id().ok_or("it has ended already")?.to_string();
        Command::new("kill").arg(pid).status().await?;
        self.ends().await
    }

    /// Closes its input.
    pub async fn quit(mut self) -> Outcome {
        drop(self.input.take());
        let name = self.name;
        match self.ends().await? {
            status if status.success() => Ok(()),
            status => Err(format!("{name} should end well: {status}").into()),
        }
    }

    /// Waits until it has ended by itself, and reads on meanwhile.
    pub async fn ends(mut self) -> Outcome<ExitStatus> {
        let ended = timeout(LIMIT, async {
            while self.output.next_line().await?.is_some() {}
            self.child.wait().await
        });
        Ok(ended.await.map_err(|_| format!("{} should have ended", self.name))??)
    }
}

/// Waits for a view of so many.
pub async fn view_of(moot: &mut Folkmoot, size: usize) -> Outcome {
    loop {
        match moot.next().await? {
            Some(Event::View { members, .. }) if members.len() == size => return Ok(()),
            Some(_) => {}
            None => return Err("the member has stopped".into()),
        }
    }
}
