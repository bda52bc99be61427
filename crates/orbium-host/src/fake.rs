// SPDX-License-Identifier: MIT OR Apache-2.0
//! A fake host, a directory of files, for tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::facts::Facts;
use super::tree::Tree;
use crate::finding::{Finding, Severity};
use crate::judge;

/// Its files; removed at the end.
pub(crate) struct FakeHost(PathBuf);

impl FakeHost {
    /// Without files.
    pub(crate) fn empty() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("orbium-doctor-{}-{next}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// With files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let host = Self::empty();
        for (path, text) in files {
            host.file(path, text);
        }
        host
    }

    /// Writes a file.
    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let place = self.0.join(path.trim_start_matches('/'));
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, content).unwrap();
        self
    }

    /// Its root.
    pub(crate) fn root(&self) -> &Path {
        &self.0
    }

    /// Its files for the doctor.
    pub(crate) fn tree(&self) -> Tree {
        Tree::at(&self.0)
    }

    /// The facts that the doctor reads from it.
    pub(crate) fn facts(&self) -> Facts {
        Facts::collect(&self.tree())
    }

    /// The finding of one check for it.
    pub(crate) fn finding(&self, name: &str) -> Finding {
        judge::judged(&self.facts(), name)
    }

    /// Asserts the finding of a check, and that there is advice if it is needed.
    #[track_caller]
    pub(crate) fn assert(&self, name: &str, severity: Severity, found: &str) -> Finding {
        let finding = self.finding(name);
        assert_eq!(finding.severity, severity, "{finding:?}");
        assert!(finding.found.contains(found), "{finding:?}");
        let needs = matches!(severity, Severity::Note | Severity::Problem);
        assert_eq!(needs, !finding.remedy.is_empty(), "{finding:?}");
        finding
    }
}

impl Drop for FakeHost {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
