//! `folkmoot bench transcript`: how long an outsider needs for a transcript's file, by how many
//! items its set has.
//!
//! The group is as wide as is legal: 256 voters. A quarter of the items are admissions that no
//! decision holds, a sixteenth are effects, and the rest are approvals, by the voters in turn. The
//! file is read from memory in pieces, as `folkmoot verify` reads it from a disk.

mod wide;

use crate::args::BenchTranscript;
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_cli::progress::Progress;
use folkmoot_cli::show::{data, table};
use folkmoot_transcript::FileReader;
use serde_json::{Value, json};
use std::time::Instant;
use wide::Wide;

/// Bytes in a piece, as the command line reads them.
const PIECE_BYTES: usize = 64 * 1024;

/// What reading a file took.
struct Cost {
    items: usize,
    bytes: usize,
    millis: u128,
}

/// Prints the table.
pub(crate) fn transcript(options: &BenchTranscript, json: bool) -> Result<(), Failure> {
    let progress = Progress::steps("files read", options.items.len());
    let wide = Wide::new()?;
    let mut costs = Vec::new();
    for items in &options.items {
        let items = usize::try_from(*items).unwrap_or(usize::MAX);
        let file = wide.file(items)?;
        if let Some(folder) = &options.out {
            save(folder, &wide, items, &file)?;
        }
        costs.push(Cost { items, bytes: file.len(), millis: median(&wide, &file, options.times)? });
        progress.step();
    }
    drop(progress);
    data(
        json,
        &json!({ "transcript": costs.iter().zip(ratios(&costs)).map(value).collect::<Vec<_>>() }),
        || for_people(&costs),
    );
    Ok(())
}

fn save(folder: &std::path::Path, wide: &Wide, items: usize, file: &[u8]) -> Result<(), Failure> {
    for (name, bytes) in [("charter.cms".to_owned(), wide.charter()), (format!("{items}.moot"), file)] {
        let path = folder.join(name);
        std::fs::write(&path, bytes).map_err(|error| Failure::file(&path, &error))?;
    }
    Ok(())
}

fn median(wide: &Wide, file: &[u8], times: u16) -> Result<u128, Failure> {
    let mut all = Vec::new();
    for _ in 0..times {
        let began = Instant::now();
        let mut reader = FileReader::new(wide.charter(), Vec::new());
        let refused = |error| Failure::new(Exit::Bug, folkmoot_base::whole(&error));
        file.chunks(PIECE_BYTES).try_for_each(|piece| reader.push(piece)).map_err(refused)?;
        reader.finish().map_err(refused)?;
        all.push(began.elapsed().as_millis());
    }
    all.sort_unstable();
    Ok(all.get(all.len() / 2).copied().unwrap_or_default())
}

/// How often the time of the row before each took; none for the first.
fn ratios(costs: &[Cost]) -> Vec<Option<f64>> {
    let before = std::iter::once(None).chain(costs.iter().map(Some));
    let ratio = |(before, cost): (Option<&Cost>, &Cost)| {
        let hundredths = cost.millis.saturating_mul(100).checked_div(before?.millis)?;
        u32::try_from(hundredths).ok().map(|hundredths| f64::from(hundredths) / 100.0)
    };
    before.zip(costs).map(ratio).collect()
}

fn value((cost, ratio): (&Cost, Option<f64>)) -> Value {
    let millis = u64::try_from(cost.millis).unwrap_or(u64::MAX);
    json!({ "items": cost.items, "bytes": cost.bytes, "millis": millis, "times_before": ratio })
}

fn for_people(costs: &[Cost]) -> String {
    let row = |(cost, ratio): (&Cost, Option<f64>)| {
        let ratio = ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}"));
        vec![cost.items.to_string(), cost.bytes.to_string(), cost.millis.to_string(), ratio]
    };
    let rows: Vec<_> = costs.iter().zip(ratios(costs)).map(row).collect();
    table(&["ITEMS", "BYTES", "MS", "TIMES BEFORE"], &rows)
}
