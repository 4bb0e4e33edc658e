//! `folkmoot authority`: the key outside the group that signs what the members vote for.
//!
//! ```text
//! new, take-over --> STATE: identity, office     show, certificate --> what founders need     hand-over --> FILE, for a replica
//! run  --> member::run with the authority's side of admission       status --> asks the one that runs
//! ```

pub(crate) mod seat;

use crate::args::authority::Authority;
use crate::args::run::Run;
use crate::control::{Control, Request};
use crate::exit::{Exit, Failure};
use crate::identity;
use crate::keys::Keys;
use crate::member::{self, Printing};
use crate::progress::Progress;
use crate::show::{Paint, data, harmless, many, many_of, paint, short, table};
use folkmoot::tools::wall_clock;
use folkmoot::{GroupName, MemberId, StateFolder, UnixTime};
use folkmoot_authority::Public;
use folkmoot_authority::Record;
use folkmoot_base::{digest, hex};
use folkmoot_identity::names::told;
use folkmoot_identity::{Gmc, Identity, KeyAlgorithm, Scheme};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Clocks differ: a certificate begins a little before it is made.
const SKEW_SECONDS: u64 = 3_600;

/// Runs one of its commands.
pub(crate) async fn run(folder: &Path, command: Authority, keys: Keys, json: bool) -> Result<(), Failure> {
    match command {
        Authority::New { group, scheme, name, no_passphrase } => {
            GroupName::new(&group).map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
            let state = StateFolder::at(folder);
            let identity = match state.has_identity() {
                true => keys.identity(folder)?,
                false => identity::make_identity(folder, &keys, (&name, KeyAlgorithm::P256), no_passphrase)?,
            };
            new(state, identity, &group, scheme, json).await
        }
        Authority::Show => show(&public(folder, &keys)?, json),
        Authority::Certificate => certificate(&public(folder, &keys)?, json),
        Authority::HandOver { file } => {
            folkmoot_authority::hand_over(&StateFolder::at(folder), &keys.identity(folder)?, &file)?;
            data(json, &json!({ "file": crate::show::path(&file) }), || {
                format!(
                    "{}: anyone who has this file can act as the authority; remove it once it is taken over",
                    file.display()
                )
            });
            Ok(())
        }
        Authority::TakeOver { file } => {
            let (state, identity) = (StateFolder::at(folder), keys.identity(folder)?);
            show(&folkmoot_authority::take_over(&state, &identity, &file)?, json)
        }
        Authority::Run(run) => {
            let printing = if json { Printing::Json } else { Printing::People };
            member::run(folder, &Run { keys, ..run.into() }, printing, None).await
        }
        Authority::TakeLog { from } => {
            let records = folkmoot_authority::take_log(&StateFolder::at(folder), &StateFolder::at(&from));
            let records = records?;
            data(json, &json!({ "records": records }), || {
                format!("this folder has the log now: {}", many_of(records, "record"))
            });
            Ok(())
        }
        Authority::Log => log(folder, json),
        Authority::Status => status(folder, json).await,
    }
}

fn public(folder: &Path, keys: &Keys) -> Result<Public, Failure> {
    folkmoot_authority::public(&StateFolder::at(folder), || keys.identity(folder))
}

async fn new(
    state: StateFolder,
    identity: Identity,
    group: &str,
    scheme: Scheme,
    json: bool,
) -> Result<(), Failure> {
    let (from, group) = (UnixTime(wall_clock().0.saturating_sub(SKEW_SECONDS)), group.to_owned());
    let drawn = tokio::task::spawn_blocking(move || {
        folkmoot_authority::found(&state, &identity, (&group, scheme), from)
    });
    // Safe primes are rare.
    let what = "drawing two safe primes for the group's RSA key, which takes up to half a minute";
    let progress = Progress::wait(what, scheme != Scheme::Shoup);
    let public = progress.during(drawn).await.map_err(Failure::bug)??;
    drop(progress);
    show(&public, json)
}

fn show(public: &Public, json: bool) -> Result<(), Failure> {
    let (group, id) = (public.certificate.name(), public.node.member().hex());
    let value = json!({
        "group": group, "name": public.node.name(), "member": id, "certificate": hex(public.certificate.der()),
    });
    data(json, &value, || {
        let hint = paint(
            Paint::Dim,
            "for the charter: folkmoot charter new --mode centralised --authority FOLDER-OR-FILE",
        );
        format!(
            "authority of {}  {}  {id}\n{hint}",
            paint(Paint::Bold, &harmless(group)),
            harmless(public.node.name())
        )
    });
    Ok(())
}

fn certificate(public: &Public, json: bool) -> Result<(), Failure> {
    let pem = public.to_pem();
    data(
        json,
        &json!({ "pem": pem, "der": hex(public.certificate.der()), "member": public.node.member().hex() }),
        || pem.trim_end().to_owned(),
    );
    Ok(())
}

/// `folkmoot authority log`
fn log(folder: &Path, json: bool) -> Result<(), Failure> {
    let all = folkmoot_authority::records(&StateFolder::at(folder))?;
    let issued: Vec<Gmc> = all.iter().filter_map(|record| Gmc::from_der(&record.der).ok()).collect();
    let told = told(issued.iter().map(|gmc| (gmc.member(), gmc.name())));
    let value: Vec<Value> = all.iter().map(|record| record_json(record, &told)).collect();
    data(json, &Value::from(value.clone()), || {
        let row = |one: &Value| {
            let place =
                one.get("place").and_then(Value::as_u64).map_or_else(String::new, |place| place.to_string());
            let text = |field| harmless(one.get(field).and_then(Value::as_str).unwrap_or_default());
            let stands = one.get("stands").and_then(Value::as_bool).unwrap_or_default();
            let word = if stands { "" } else { "not known to be final" }.to_owned();
            let short = |field| short(&text(field)).to_owned();
            vec![place, text("name"), short("request"), text("serial"), short("certificate"), word]
        };
        let heading = ["PLACE", "NAME", "REQUEST", "SERIAL", "CERTIFICATE", ""];
        table(&heading, &value.iter().map(row).collect::<Vec<_>>())
    });
    Ok(())
}

/// A record whose certificate is none was named by a replica that lies: it has no serial number.
fn record_json(record: &Record, told: &BTreeMap<MemberId, String>) -> Value {
    let gmc = Gmc::from_der(&record.der).ok();
    json!({
        "place": record.place, "request": hex(&record.request), "certificate": hex(&digest(&[&record.der])),
        "serial": gmc.as_ref().map(|gmc| hex(&gmc.body().serial)), "name": gmc.as_ref().and_then(|gmc| told.get(&gmc.member())),
        "member": gmc.as_ref().map(|gmc| gmc.member().hex()), "der": hex(&record.der), "stands": record.stands,
    })
}

/// `folkmoot authority status`
async fn status(folder: &Path, json: bool) -> Result<(), Failure> {
    let status = Control::connect(folder).await?.ask(&Request::Authority).await?;
    let text =
        |value: &Value, field: &str| harmless(value.get(field).and_then(Value::as_str).unwrap_or_default());
    let number = |value: &Value, field: &str| value.get(field).and_then(Value::as_u64).unwrap_or_default();
    data(json, &status, || {
        let head = format!(
            "{} issued, {} on the way; open: {}; dealer: {}",
            many_of(number(&status, "issued"), "certificate"),
            number(&status, "logging"),
            many(status.get("petitions").and_then(Value::as_array).map_or(0, Vec::len), "request"),
            text(&status, "dealer"),
        );
        let people = status.get("people").and_then(Value::as_array).into_iter().flatten();
        let row = |one: &Value| {
            let here = one.get("here").and_then(Value::as_bool).unwrap_or_default();
            let heard = one.get("heard_seconds_ago").and_then(Value::as_u64);
            let word = if here { "here" } else { "not heard from lately" }.to_owned();
            vec![
                text(one, "name"),
                word,
                heard.map_or_else(String::new, |seconds| format!("{seconds} s ago")),
            ]
        };
        let rows: Vec<Vec<String>> = people.map(row).collect();
        let replicas = status.get("replicas").filter(|replicas| replicas.is_object()).map(|replicas| {
            format!(
                "replicas: {}; {} in the log\n",
                text(replicas, "words"),
                many_of(number(replicas, "records"), "record")
            )
        });
        format!("{head}\n{}{}", replicas.unwrap_or_default(), table(&["MEMBER", "STATE", "HEARD"], &rows))
    });
    Ok(())
}
