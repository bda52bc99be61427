// SPDX-License-Identifier: MIT OR Apache-2.0
//! Journal of applied steps, written to disk before each of them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::plan::Plan;
use super::step::Step;

/// The file of the steps to undo.
#[derive(Debug)]
pub struct Journal {
    file: PathBuf,
}

impl Journal {
    /// The journal of a file, which need not exist.
    #[must_use]
    pub fn at(file: PathBuf) -> Self {
        Self { file }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.file
    }

    /// Whether a plan was applied and not undone.
    pub(crate) fn exists(&self) -> bool {
        self.file.exists()
    }

    /// Writes the steps, to disk before this returns: after a failure of the program or the host
    /// there is either the previous journal or this one.
    pub(crate) fn write(&self, steps: &[Step]) -> Result<(), String> {
        let plan = Plan {
            step: steps.to_vec(),
            left: Vec::new(),
        };
        let body = toml::to_string(&plan).map_err(|error| error.to_string())?;
        let text = format!(
            "# What `orbium host apply` has changed; `orbium host undo` reads it.\n\n{body}"
        );
        self.replace(text.as_bytes())
            .map_err(|error| format!("the journal {}: {error}", self.file.display()))
    }

    fn replace(&self, text: &[u8]) -> io::Result<()> {
        let folder = self
            .file
            .parent()
            .filter(|path| !path.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        orbium_sys::write_whole(&self.file, text)
    }

    /// The applied steps, in their order.
    pub(crate) fn read(&self) -> Result<Vec<Step>, String> {
        let text = fs::read_to_string(&self.file).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                format!(
                    "nothing to undo: there is no journal {}",
                    self.file.display()
                )
            }
            _ => format!("the journal {}: {error}", self.file.display()),
        })?;
        let plan = Plan::parse_unbounded(&text)
            .map_err(|reason| format!("the journal {}: {reason}", self.file.display()))?;
        Ok(plan.step)
    }

    /// Removes the journal when all steps were undone.
    pub(crate) fn remove(&self) -> Result<(), String> {
        fs::remove_file(&self.file)
            .map_err(|error| format!("the journal {}: {error}", self.file.display()))
    }
}
