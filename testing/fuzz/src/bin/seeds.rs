//! Writes testing/fuzz/corpus anew: `cargo run -p folkmoot-fuzz --bin seeds`.

use std::path::Path;
use std::{fs, io};

fn main() -> io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    if corpus.exists() {
        fs::remove_dir_all(&corpus)?;
    }
    for (target, seeds) in folkmoot_fuzz::seeds() {
        let folder = corpus.join(target);
        fs::create_dir_all(&folder)?;
        for (number, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(format!("{number:02}")), seed)?;
        }
    }
    Ok(())
}
