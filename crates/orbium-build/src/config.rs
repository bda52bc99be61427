// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a build script can choose, and the way from an IDL file to Rust.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use crate::Error;

/// How to compile IDL.
#[derive(Debug, Clone, Default)]
pub struct Config {
    front: orbium_idl::Options,
    deny_unmapped: bool,
    asynchronous: bool,
    out_dir: Option<PathBuf>,
    runtime: Option<String>,
    natives: Vec<(String, String)>,
    external: Vec<(String, String)>,
}

/// What came of the IDL files of one [`Config::try_compile`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Compiled {
    /// The files written, in the order of the files given.
    pub written: Vec<PathBuf>,
    /// Every file read, included ones too.
    pub read: BTreeSet<PathBuf>,
    /// Warnings, rendered.
    pub warnings: String,
}

impl Config {
    /// No search path, strict CORBA 3, output in `$OUT_DIR`.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a folder to search included files in, after the folder of the
    /// including file.
    #[must_use]
    pub fn include(mut self, folder: impl Into<PathBuf>) -> Self {
        self.front = self.front.include(folder);
        self
    }

    /// Defines a macro before the files are read.
    #[must_use]
    pub fn define(mut self, name: impl Into<String>, replacement: impl Into<String>) -> Self {
        self.front = self.front.define(name, replacement);
        self
    }

    /// Replaces the options of the front end, search path and macros included:
    /// for dialects and limits.
    #[must_use]
    pub fn front_end(mut self, options: orbium_idl::Options) -> Self {
        self.front = options;
        self
    }

    /// Makes whatever has no mapping to Rust an error. Otherwise it is left
    /// out with a warning.
    #[must_use]
    pub fn deny_unmapped(mut self, deny: bool) -> Self {
        self.deny_unmapped = deny;
        self
    }

    /// Adds `op_async`, a call that does not wait, for every operation and
    /// attribute that no annotation `@ami` speaks of. The program needs the
    /// feature `asynchronous` of `orbium` then.
    ///
    /// Not set unless told otherwise: `@ami` in the IDL file, before a module,
    /// interface, operation or attribute, asks for less, and `@ami(FALSE)` takes
    /// out what was asked for here. An external module must have been generated
    /// likewise if its interfaces are inherited.
    #[must_use]
    pub fn asynchronous(mut self, generate: bool) -> Self {
        self.asynchronous = generate;
        self
    }

    /// Writes to this folder, which is made if need be, instead of `$OUT_DIR`.
    #[must_use]
    pub fn out_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(folder.into());
        self
    }

    /// The path of the runtime module that generated code imports, for those
    /// who re-export it; `orbium::codegen` unless told otherwise.
    #[must_use]
    pub fn runtime(mut self, path: impl Into<String>) -> Self {
        self.runtime = Some(path.into());
        self
    }

    /// Names the Rust type that stands for a `native` type, as in
    /// `.native_type("::Clock::Instant", "::std::time::Instant")`.
    #[must_use]
    pub fn native_type(mut self, idl: impl Into<String>, rust: impl Into<String>) -> Self {
        self.natives.push((idl.into(), rust.into()));
        self
    }

    /// Says that the Rust of an IDL module was generated elsewhere, as in
    /// `.external_module("::CosNaming", "::orbium_naming::cos_naming")`.
    #[must_use]
    pub fn external_module(mut self, idl: impl Into<String>, rust: impl Into<String>) -> Self {
        self.external.push((idl.into(), rust.into()));
        self
    }

    /// Compiles each file to `<out_dir>/<stem>.rs`, tells Cargo what to watch,
    /// and shows warnings.
    ///
    /// Ends the build script with status 1 if that fails, after showing why.
    pub fn compile(&self, files: &[impl AsRef<Path>]) {
        self.compile_or_exit(&paths(files));
    }

    pub(crate) fn compile_or_exit(&self, files: &[&Path]) {
        match self.compile_all(files) {
            Ok(outcome) => {
                for file in &outcome.read {
                    println!("cargo:rerun-if-changed={}", file.display());
                }
                for line in outcome.warnings.lines() {
                    if is_warning(line) {
                        println!("cargo:warning={line}");
                    }
                }
                show(&outcome.warnings);
            }
            Err(error) => {
                // Cargo shows this as it is, several lines and carets.
                show(&format!("{error}\n"));
                std::process::exit(1);
            }
        }
    }

    /// Compiles like [`Config::compile`], but tells nobody: neither Cargo nor
    /// the user.
    ///
    /// # Errors
    /// See [`Error`]. Files compiled before the faulty one have been written.
    pub fn try_compile(&self, files: &[impl AsRef<Path>]) -> Result<Compiled, Error> {
        let outcome = self.compile_all(&paths(files))?;
        Ok(Compiled {
            written: outcome.written,
            read: outcome.read.into_iter().collect(),
            warnings: outcome.warnings,
        })
    }

    fn compile_all(&self, files: &[&Path]) -> Result<Outcome, Error> {
        let folder = match &self.out_dir {
            Some(folder) => folder.clone(),
            None => env::var_os("OUT_DIR")
                .map(PathBuf::from)
                .ok_or(Error::NoOutDir)?,
        };
        let mut outcome = Outcome::default();
        for file in files {
            let stem = file.file_stem().unwrap_or(file.as_os_str());
            let mut path = folder.join(stem);
            path.as_mut_os_string().push(".rs");
            if outcome.written.contains(&path) {
                return Err(Error::SameStem {
                    file: (*file).to_owned(),
                });
            }
            let code = self.generate(file, &mut outcome)?;
            write(&path, &code).map_err(|cause| Error::Write {
                path: path.clone(),
                cause,
            })?;
            outcome.written.push(path);
        }
        Ok(outcome)
    }

    /// The Rust of one file.
    fn generate(&self, file: &Path, outcome: &mut Outcome) -> Result<String, Error> {
        let front = orbium_idl::compile(&self.front, file);
        for read in front.files() {
            if !outcome.read.contains(read) {
                outcome.read.push(read.clone());
            }
        }
        let diagnostics = front.to_string();
        let Some(model) = front.model else {
            return Err(Error::Idl {
                file: file.to_owned(),
                diagnostics,
            });
        };
        outcome.warnings.push_str(&diagnostics);
        let generated = orbium_codegen::generate(&model, &self.back(file)).map_err(|unmapped| {
            Error::Unmapped {
                file: file.to_owned(),
                warnings: unmapped.warnings,
            }
        })?;
        for warning in &generated.warnings {
            outcome.warnings.push_str(&format!("{warning}\n"));
        }
        Ok(generated.code)
    }

    /// The options of the generator.
    fn back(&self, file: &Path) -> orbium_codegen::Options {
        let mut options = orbium_codegen::Options::new(file.to_string_lossy());
        options = options
            .deny_unmapped(self.deny_unmapped)
            .asynchronous(self.asynchronous);
        if let Some(runtime) = &self.runtime {
            options = options.runtime(runtime);
        }
        for (idl, rust) in &self.natives {
            options = options.native_type(idl, rust);
        }
        for (idl, rust) in &self.external {
            options = options.external_module(idl, rust);
        }
        options
    }
}

/// What came of some files, before there is a set of those read: only who asks
/// for a set compiles one.
#[derive(Default)]
struct Outcome {
    written: Vec<PathBuf>,
    read: Vec<PathBuf>,
    warnings: String,
}

fn paths(files: &[impl AsRef<Path>]) -> Vec<&Path> {
    files.iter().map(AsRef::as_ref).collect()
}

/// Writes a file unless it says the same already: an unchanged file keeps its
/// time and is not compiled again.
fn write(path: &Path, code: &str) -> io::Result<()> {
    if fs::read(path).is_ok_and(|present| present == code.as_bytes()) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, code)
}

/// Whether a line of diagnostics begins a warning. Octets are compared: a search
/// in text is much to compile.
fn is_warning(line: &str) -> bool {
    let mark = b": warning: ";
    line.as_bytes()
        .windows(mark.len())
        .any(|octets| octets == mark)
}

/// Writes to standard error. That nobody reads it is no reason to fail.
fn show(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
