// SPDX-License-Identifier: MIT OR Apache-2.0
//! Running the harness with files for its drawing and its JSON.

pub(crate) mod experiment;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// What a run gave.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Asserts that it failed with one sentence.
    #[allow(dead_code, reason = "a build with every feature refuses nothing")]
    #[track_caller]
    pub(crate) fn assert_failed_saying(&self, sentence: &str) {
        assert_eq!(self.status, Some(1), "{self:?}");
        assert!(self.stderr.starts_with("error: "), "{self:?}");
        assert!(self.stderr.contains(sentence), "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
    }

    /// Asserts that it succeeded.
    #[track_caller]
    pub(crate) fn assert_done(&self) {
        assert_eq!(self.status, Some(0), "{self:?}");
    }
}

/// Runs the harness to its end.
pub(crate) fn run<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_orbium-bench"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ran {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A folder of one test, removed in the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("orbium-bench-{}-{number}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// The path of a file in it, as text.
    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Whether this is a whole SVG document without a number that is none.
pub(crate) fn is_drawing(svg: &str) -> bool {
    svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && !svg.contains("NaN")
}
