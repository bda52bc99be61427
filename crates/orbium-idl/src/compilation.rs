// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stages of the front end, from a file to a model.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::check;
use crate::diagnostic::{Diagnostic, Reporter, Severity};
use crate::expansion;
use crate::loader::{FileSystem, Loader, Memory};
use crate::model::Model;
use crate::options::Options;
use crate::parser;
use crate::preprocessor::{Preprocessor, TokenStream};
use crate::source::SourceMap;

/// Result of compiling IDL files. Displays as all its diagnostics, rendered.
#[derive(Debug, Clone)]
pub struct Compilation {
    /// The model of the file; none if there was an error.
    pub model: Option<Model>,
    /// Errors and warnings in the order of their locations: the main file's first.
    pub diagnostics: Vec<Diagnostic>,
    files: Vec<PathBuf>,
}

impl Compilation {
    /// All files that were read, the main file first: a build script must watch them. Built-in
    /// files are not included.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The diagnostics that are errors.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics
            .iter()
            .filter(|d| d.severity == Severity::Error)
    }

    /// The diagnostics that are warnings.
    pub fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics
            .iter()
            .filter(|d| d.severity == Severity::Warning)
    }

    /// Writes all diagnostics with source lines and carets.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn render(&self, out: &mut impl fmt::Write) -> fmt::Result {
        write!(out, "{self}")
    }
}

impl fmt::Display for Compilation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.diagnostics.iter().try_for_each(|d| d.fmt(f))
    }
}

/// Compiles a file of the file system.
pub fn compile(options: &Options, file: &Path) -> Compilation {
    compile_with(options, &FileSystem, file)
}

/// Compiles a file; the loader provides it and the files that it includes.
pub fn compile_with(options: &Options, loader: &dyn Loader, file: &Path) -> Compilation {
    compile_project_with(options, loader, &[file])
}

/// Compiles files of the file system as one project.
///
/// The result is one model, in which each definition is contained once, however the files include
/// each other and reopen modules. Each file is read independently: macros and prefixes of one do
/// not apply to the next. All of them are main files, and so are the files included by one that
/// only includes others.
pub fn compile_project(options: &Options, files: &[impl AsRef<Path>]) -> Compilation {
    compile_project_with(options, &FileSystem, files)
}

/// Compiles files as one project; the loader provides them and the files that they include. See
/// [`compile_project`].
pub fn compile_project_with(
    options: &Options,
    loader: &dyn Loader,
    files: &[impl AsRef<Path>],
) -> Compilation {
    let mut paths = Vec::with_capacity(files.len());
    for file in files {
        paths.push(file.as_ref());
    }
    run(options, loader, &|preprocessor| {
        preprocessor.run_files(&paths)
    })
}

/// Compiles a text from memory. The name is used in diagnostics. Only built-in files can be
/// included.
///
/// ```
/// use orbium_idl::{Options, compile_source};
///
/// let compilation = compile_source(&Options::new(), "bank.idl", "struct Account { long id; Money m; };");
/// assert!(compilation.model.is_none());
/// let text = compilation.to_string();
/// assert!(text.starts_with("bank.idl:1:27: error: `Money` is not declared"));
/// ```
pub fn compile_source(options: &Options, name: &str, text: &str) -> Compilation {
    compile_bytes(options, name, text.as_bytes())
}

/// Compiles text that may not be UTF-8, as [`compile_source`].
pub fn compile_bytes(options: &Options, name: &str, bytes: &[u8]) -> Compilation {
    run(options, &Memory::new(), &|preprocessor| {
        preprocessor.run_text(name, bytes.to_vec())
    })
}

fn run(
    options: &Options,
    loader: &dyn Loader,
    preprocess: &dyn Fn(Preprocessor<'_>) -> Option<TokenStream>,
) -> Compilation {
    let mut sources = SourceMap::default();
    let mut report = Reporter::new(options.limits.errors);
    let stream = preprocess(Preprocessor::new(
        options,
        loader,
        &mut sources,
        &mut report,
    ));
    let mut files = Vec::new();
    let mut model = None;
    if let Some(mut stream) = stream {
        files = std::mem::take(&mut stream.files);
        expansion::expand(options, &mut stream, &mut report);
        let unit = parser::parse(options, stream, &mut report);
        model = Some(check::check(options, &sources, &unit, &mut report));
    }
    let model = model.filter(|_| !report.has_errors());
    Compilation {
        model,
        diagnostics: report.finish(&sources),
        files,
    }
}
