//! What a shell is given: completions for its command line, and pages for `man`.

use crate::args::command;
use crate::exit::Failure;
use crate::show::{data, line};
use clap_complete::Shell;
use clap_mangen::Man;
use serde_json::json;
use std::path::Path;

/// `folkmoot completions`
pub(crate) fn completions(shell: Shell) {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command(), "folkmoot", &mut text);
    line(String::from_utf8_lossy(&text).trim_end());
}

/// `folkmoot man`
pub(crate) fn man(out: Option<&Path>, json: bool) -> Result<(), Failure> {
    let Some(folder) = out else {
        let mut page = Vec::new();
        Man::new(command()).render(&mut page).map_err(Failure::bug)?;
        line(String::from_utf8_lossy(&page).trim_end());
        return Ok(());
    };
    let wrong = |error: std::io::Error| Failure::file(folder, &error);
    std::fs::create_dir_all(folder).map_err(wrong)?;
    clap_mangen::generate_to(command(), folder).map_err(wrong)?;
    data(json, &json!({ "folder": crate::show::path(folder) }), || {
        format!("the pages are in {}", folder.display())
    });
    Ok(())
}
