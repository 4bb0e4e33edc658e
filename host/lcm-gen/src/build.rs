//! Reads files and writes the types, in a build script or for the command line.

use crate::{Error, LIBRARY, Source, generate};
use std::io;
use std::path::{Path, PathBuf};

/// The name of the file that is written.
pub const FILE_NAME: &str = "lcm_types.rs";

/// Why no types were written.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A file cannot be read or written.
    #[error("{}: {error}", file.display())]
    LocalFile {
        /// Which.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Something in a file is wrong.
    #[error(transparent)]
    LocalWrong(#[from] Error),
    /// Nobody said where the types go.
    #[error("OUT_DIR is not set: this is for a build script. Elsewhere, say where the types go, with out()")]
    LocalNowhere,
}

// A build script whose main function returns this shows it so.
impl std::fmt::Debug for BuildError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{self}")
    }
}

/// What is to be made of which files.
#[derive(Debug, Clone)]
pub struct Build {
    files: Vec<PathBuf>,
    out: Option<PathBuf>,
    library: String,
}

impl Default for Build {
    fn default() -> Self {
        Self { files: Vec::new(), out: None, library: LIBRARY.into() }
    }
}

impl Build {
    /// No file yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// One file more. All are taken together: a type of one may be used in another.
    #[must_use]
    pub fn file(mut self, file: impl AsRef<Path>) -> Self {
        self.files.push(file.as_ref().to_owned());
        self
    }

    /// The folder for the types; that of the build script unless this is said.
    #[must_use]
    pub fn out(mut self, folder: impl AsRef<Path>) -> Self {
        self.out = Some(folder.as_ref().to_owned());
        self
    }

    /// The module that has what the types call; [`LIBRARY`] unless this is said.
    #[must_use]
    pub fn library(mut self, path: &str) -> Self {
        self.library = path.into();
        self
    }

    /// Writes the types, and says where. A file that has them already stays as it is.
    ///
    /// # Errors
    /// [`BuildError`].
    pub fn compile(&self) -> Result<PathBuf, BuildError> {
        let in_script = std::env::var_os("OUT_DIR").filter(|_| self.out.is_none()).map(PathBuf::from);
        if in_script.is_some() {
            self.files.iter().for_each(|file| println!("cargo::rerun-if-changed={}", file.display()));
        }
        let folder = in_script.or_else(|| self.out.clone()).ok_or(BuildError::LocalNowhere)?;
        let sources: Result<Vec<Source>, BuildError> = self.files.iter().map(|file| read(file)).collect();
        let text = generate(&sources?, &self.library)?;
        let file = folder.join(FILE_NAME);
        let wrong = |error| BuildError::LocalFile { file: file.clone(), error };
        if std::fs::read(&file).ok().as_deref() != Some(text.as_bytes()) {
            std::fs::create_dir_all(&folder).map_err(wrong)?;
            std::fs::write(&file, text).map_err(wrong)?;
        }
        Ok(file)
    }
}

pub(crate) fn read(file: &Path) -> Result<Source, BuildError> {
    match std::fs::read(file) {
        // A comment may have any bytes. Elsewhere what is no text is refused with its place.
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            Ok(Source { name: file.display().to_string(), text })
        }
        Err(error) => Err(BuildError::LocalFile { file: file.to_owned(), error }),
    }
}
