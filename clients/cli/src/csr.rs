//! `folkmoot csr`: asks for the admission of anyone who has only OpenSSL, through the member that
//! runs on the folder.

use crate::args::CsrCommand;
use crate::control::{Control, Request};
use crate::exit::{Exit, Failure};
use crate::files::read_start;
use crate::progress::Progress;
use crate::show::{data, harmless, short};
use folkmoot_base::{hex, whole};
use folkmoot_identity::{CSR_BYTES_MAX, Csr};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

/// Pause between two looks for the certificate.
const LOOK: Duration = Duration::from_millis(200);

/// `folkmoot csr`
pub(crate) async fn csr(folder: &Path, command: CsrCommand, json: bool) -> Result<(), Failure> {
    match command {
        CsrCommand::Submit { file, out, timeout } => {
            submit(folder, &file, out.as_deref(), timeout, json).await
        }
        CsrCommand::Fetch { file, out, timeout } => {
            let csr = read(&file)?;
            let mut control = Control::connect(folder).await?;
            let pem = wait(&mut control, &csr, timeout, json).await?;
            hand_over(&pem, out.as_deref(), json)
        }
    }
}

async fn submit(
    folder: &Path,
    file: &Path,
    out: Option<&Path>,
    timeout: u64,
    json: bool,
) -> Result<(), Failure> {
    let csr = read(file)?;
    let mut control = Control::connect(folder).await?;
    let answer = control.ask(&Request::Csr { csr: csr.to_pem() }).await?;
    let said = |field: &str| answer.get(field).and_then(Value::as_str).unwrap_or_default();
    data(json, &answer, || {
        let (name, request) = (harmless(said("name")), said("request"));
        format!(
            "request {request}\n{name} ({}) asks for a certificate; vote: folkmoot vote approve {}",
            short(said("member")),
            short(request)
        )
    });
    let Some(out) = out else { return Ok(()) };
    let pem = wait(&mut control, &csr, timeout, json).await?;
    hand_over(&pem, Some(out), json)
}

/// Asks for the certificate until it is there, the request is closed without one, or the time is
/// up.
async fn wait(control: &mut Control, csr: &Csr, seconds: u64, quiet: bool) -> Result<String, Failure> {
    let progress = Progress::wait("waiting for the certificate", quiet || seconds == 0);
    progress.during(granted(control, csr, seconds)).await
}

async fn granted(control: &mut Control, csr: &Csr, seconds: u64) -> Result<String, Failure> {
    let ask = Request::Certificate { member: csr.member().hex(), serial: hex(&csr.serial()) };
    let end = Instant::now() + Duration::from_secs(seconds);
    loop {
        let answer = control.ask(&ask).await?;
        if let Some(pem) = answer.get("certificate").and_then(Value::as_str) {
            return Ok(pem.to_owned());
        }
        if answer.get("open") != Some(&Value::Bool(true)) {
            let why =
                "this CSR has not been granted: it was not handed in, the voters said no, or its time is up";
            return Err(Failure::new(Exit::Refused, why));
        }
        if Instant::now() >= end {
            let hint = format!(
                "no certificate within {seconds} s: votes or signers are missing. Try again later: folkmoot csr fetch"
            );
            return Err(Failure::new(Exit::TimedOut, hint));
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn hand_over(pem: &str, out: Option<&Path>, json: bool) -> Result<(), Failure> {
    if let Some(out) = out {
        std::fs::write(out, pem).map_err(|error| Failure::file(out, &error))?;
    }
    data(json, &json!({ "certificate": pem, "file": out.map(crate::show::path) }), || match out {
        Some(out) => format!("{}  certificate, signed by the group's key", out.display()),
        None => pem.trim_end().to_owned(),
    });
    Ok(())
}

/// No more of the file is read than a CSR may have.
fn read(file: &Path) -> Result<Csr, Failure> {
    Csr::read(&read_start(file, CSR_BYTES_MAX.saturating_mul(2).saturating_add(1))?)
        .map_err(|error| Failure::new(Exit::Configuration, format!("{}: {}", file.display(), whole(&error))))
}
