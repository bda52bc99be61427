// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading of files, within the limit of their size.

use std::path::Path;

use super::Preprocessor;
use crate::diagnostic::Severity;

impl Preprocessor<'_> {
    /// The octets of a file to compile; none if it cannot be read, which is reported.
    pub(super) fn read(&mut self, path: &Path) -> Option<Vec<u8>> {
        let problem = match self.load(path) {
            Ok(Some(bytes)) => return Some(bytes),
            Ok(None) => "there is no such file".to_owned(),
            Err(problem) => problem,
        };
        self.report_unreadable(&path.display().to_string(), &problem);
        None
    }

    /// The octets of a file, or none if it does not exist.
    pub(super) fn load(&mut self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        let limit = self.options.limits.file_size;
        let loaded = self.loader.load(path, limit);
        let loaded = loaded.map_err(|error| error.to_string())?;
        if let Some(bytes) = &loaded {
            self.check_size(bytes)?;
            self.files.push(path.to_owned());
        }
        Ok(loaded)
    }

    /// Checks the limit of a file's size.
    pub(super) fn check_size(&self, bytes: &[u8]) -> Result<(), String> {
        let limit = self.options.limits.file_size;
        if bytes.len() > limit {
            return Err(format!("it has more than {limit} octets"));
        }
        Ok(())
    }

    pub(super) fn report_unreadable(&mut self, name: &str, problem: &str) {
        let message = format!("cannot read `{name}`: {problem}");
        self.report
            .report(Severity::Error, "unreadable-file", None, message);
    }
}
