//! `folkmoot lcm gen`

use crate::args::lcm::Gen;
use crate::exit::{Exit, Failure};
use crate::show::data;
use folkmoot_lcm_gen::{Build, BuildError};
use serde_json::json;

pub(super) fn run(wanted: &Gen, json: bool) -> Result<(), Failure> {
    let build = wanted.files.iter().fold(Build::new(), Build::file);
    let written = build.out(&wanted.out).compile();
    let file = written.map_err(failed)?;
    data(json, &json!({ "file": crate::show::path(&file) }), || format!("wrote {}", file.display()));
    Ok(())
}

fn failed(error: BuildError) -> Failure {
    match error {
        BuildError::LocalFile { file, error } => Failure::file(&file, &error),
        other => Failure::new(Exit::Configuration, other.to_string()),
    }
}
