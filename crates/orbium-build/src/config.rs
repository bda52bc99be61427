// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options of a build script, and the compilation of IDL files to Rust.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, io};

use orbium_idl::model::Model;
use orbium_idl::{Diagnostic, Severity};

use crate::Error;
use crate::compiled::{Compiled, Stub};
use crate::extension::{Extension, unread};
use crate::files::{self, IdlFiles};
use crate::rust_file::{claim, write};

/// Configuration of a compilation of IDL.
#[derive(Debug, Clone, Default)]
pub struct Config {
    front: orbium_idl::Options,
    deny_unmapped: bool,
    asynchronous: bool,
    pollers: bool,
    handlers: bool,
    default_bodies: bool,
    allowed: Vec<String>,
    borrowed: Vec<String>,
    deferred: Vec<String>,
    async_servants: Vec<String>,
    viewed: Vec<String>,
    out_dir: Option<PathBuf>,
    name: Option<String>,
    runtime: Option<String>,
    natives: Vec<(String, String)>,
    external: Vec<(String, String)>,
    external_files: Vec<(String, String)>,
    extensions: Vec<Arc<dyn Extension>>,
}

impl Config {
    /// No search path, CORBA 3, output in `$OUT_DIR`.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a folder to the search path of included files, after the folder of the including file.
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

    /// Replaces the options of the front end, search path and macros included: for dialects and
    /// limits.
    #[must_use]
    pub fn front_end(mut self, options: orbium_idl::Options) -> Self {
        self.front = options;
        self
    }

    /// Treats definitions without a mapping to Rust as errors. Otherwise they are left out with a
    /// warning.
    #[must_use]
    pub fn deny_unmapped(mut self, deny: bool) -> Self {
        self.deny_unmapped = deny;
        self
    }

    /// Acknowledges that definitions of a construct without a mapping are left out, with their
    /// users, as in `.allow_unmapped("components")`: one line counts them, and
    /// [`Config::deny_unmapped`] does not apply to them. The constructs are `components` and
    /// `homes` without a module `Components`, `valuetypes` that are never defined, `native types`,
    /// `local types`, `long interfaces` and `ambiguous interfaces`.
    #[must_use]
    pub fn allow_unmapped(mut self, construct: impl Into<String>) -> Self {
        self.allowed.push(construct.into());
        self
    }

    /// Adds an extension of the compiler, as in
    /// `.extend(orbium_ridl::RtInfos::module("operations"))` for the timing requirements that `@rt`
    /// and `@calls` declare. Without an extension that reads them, those annotations are errors.
    #[must_use]
    pub fn extend(mut self, extension: impl Extension + 'static) -> Self {
        self.extensions.push(Arc::new(extension));
        self
    }

    /// Gives the methods of servant traits a body that raises NO_IMPLEMENT: if 15 of 45 operations
    /// are served, a servant then has 15.
    #[must_use]
    pub fn default_bodies(mut self, generate: bool) -> Self {
        self.default_bodies = generate;
        self
    }

    /// Adds `op_async`, an asynchronous invocation, for every operation and attribute
    /// without an annotation `@ami`. The generated code needs the feature `ami` of the
    /// crate `orbium`.
    ///
    /// Off by default: `@ami` in the IDL file, before a module, interface, operation or attribute,
    /// requests it selectively, and `@ami(FALSE)` excludes what is requested here. An external
    /// module must have been generated with the same option if its interfaces are inherited.
    #[must_use]
    pub fn asynchronous(mut self, generate: bool) -> Self {
        self.asynchronous = generate;
        self
    }

    /// Adds `sendp_op`, an asynchronous invocation that returns the typed poller of its interface,
    /// for every operation and attribute with an asynchronous form; all have one then, as with
    /// [`asynchronous`](Self::asynchronous). The generated code needs the feature `ami` of the
    /// crate `orbium`. Off by default.
    #[must_use]
    pub fn pollers(mut self, generate: bool) -> Self {
        self.pollers = generate;
        self
    }

    /// Adds `sendc_op`, an asynchronous invocation with a reply handler that is an object, for
    /// every operation and attribute with an asynchronous form (all have one then, as with
    /// [`asynchronous`](Self::asynchronous)), and the interfaces of the handlers: `AMI_IHandler`
    /// for each interface `I`. The generated code needs the features `ami` and `values` of the
    /// crate `orbium`. Off by default.
    ///
    /// An external module must have been generated with the same option if its interfaces are
    /// inherited.
    #[must_use]
    pub fn handlers(mut self, generate: bool) -> Self {
        self.handlers = generate;
        self
    }

    /// Gives servants a reply slot for the operations and attributes of that name, as `@borrow` in
    /// IDL does, so that they send borrowed results instead of returning owned ones:
    /// `.borrowed_results("Bank::Account::history")`, or `"Bank::*"` as a prefix. Those with only
    /// numbers and enums for results, and those marked `@borrow(FALSE)`, are not affected.
    #[must_use]
    pub fn borrowed_results(mut self, pattern: impl Into<String>) -> Self {
        self.borrowed.push(pattern.into());
        self
    }

    /// Gives servants a reply token for the operations and attributes of that name, as `@deferred`
    /// in IDL does, so that they can reply at any time and on any thread:
    /// `.deferred_replies("Bank::Account::audit")`, or `"Bank::*"` as a prefix. Those marked
    /// `@deferred(FALSE)` or `@borrow` are not affected.
    #[must_use]
    pub fn deferred_replies(mut self, pattern: impl Into<String>) -> Self {
        self.deferred.push(pattern.into());
        self
    }

    /// Generates a trait `…AsyncServant` for the interfaces of that name; its methods are
    /// `async fn`s: `.async_servants("Bank::Account")`, or `"Bank::*"` as a prefix.
    /// `orbium::asynchronous::AsyncServant` makes an implementation of it a servant, with an
    /// executor. Bases have to be named too.
    #[must_use]
    pub fn async_servants(mut self, pattern: impl Into<String>) -> Self {
        self.async_servants.push(pattern.into());
        self
    }

    /// Gives servants views of the arguments of the operations and attributes of that name, as
    /// `@view` in IDL does, so that they read strings and sequences in the request instead of
    /// copies: `.viewed_arguments("Bank::Account::book")`, or `"Bank::*"` as a prefix. Arguments
    /// without a possible view, and those marked `@view(FALSE)`, are not affected.
    #[must_use]
    pub fn viewed_arguments(mut self, pattern: impl Into<String>) -> Self {
        self.viewed.push(pattern.into());
        self
    }

    /// Writes to this folder, which is created if it does not exist, instead of `$OUT_DIR`.
    #[must_use]
    pub fn out_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(folder.into());
        self
    }

    /// The path of the runtime module that generated code imports, for crates that
    /// re-export it; `orbium::codegen` by default.
    #[must_use]
    pub fn runtime(mut self, path: impl Into<String>) -> Self {
        self.runtime = Some(path.into());
        self
    }

    /// Sets the Rust type of a `native` type, as in
    /// `.native_type("::Clock::Instant", "::std::time::Instant")`.
    #[must_use]
    pub fn native_type(mut self, idl: impl Into<String>, rust: impl Into<String>) -> Self {
        self.natives.push((idl.into(), rust.into()));
        self
    }

    /// Declares that the Rust of an IDL module was generated elsewhere, as in
    /// `.external_module("::CosNaming", "::orbium_naming::cos_naming")`. Code for definitions that
    /// the compiled files themselves add to the module is generated here.
    #[must_use]
    pub fn external_module(mut self, idl: impl Into<String>, rust: impl Into<String>) -> Self {
        self.external.push((idl.into(), rust.into()));
        self
    }

    /// Declares that the Rust of an IDL file was generated elsewhere, and the path of its modules,
    /// as in `.external_file("CosNaming.idl", "::orbium_naming")`. The file is named by the last
    /// part of its path, or by more of it.
    #[must_use]
    pub fn external_file(mut self, idl: impl Into<String>, rust: impl Into<String>) -> Self {
        self.external_files.push((idl.into(), rust.into()));
        self
    }

    /// Sets the name of the Rust file, without `.rs`; by default that of the first compiled file or
    /// folder. Two projects of one build script need different names.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Compiles files as one project to one Rust file, prints the `rerun-if-changed` lines for
    /// Cargo, and shows warnings.
    ///
    /// All definitions are in one tree of modules, each once, however the files include each other
    /// and reopen modules. A folder stands for all `.idl` files in it and below, and is searched
    /// for included files; a file that only includes others stands for those. Macros and prefixes
    /// of one file do not apply to the next.
    ///
    /// `idl/a.idl`, or a folder `idl/a`, in the first place becomes `<out_dir>/a.rs`,
    /// to be included by `orbium::include_idl!("a")`; see [`Config::name`]. Unrelated
    /// files are better compiled separately.
    ///
    /// On failure it shows the error and ends the build script with status 1.
    pub fn compile(&self, files: impl IdlFiles) {
        match self.compile_all(&files.paths()) {
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
                // Cargo shows this unchanged, several lines and carets.
                show(&format!("{error}\n"));
                std::process::exit(1);
            }
        }
    }

    /// Compiles like [`Config::compile`], but prints nothing, neither for Cargo nor for the user.
    ///
    /// # Errors
    /// See [`Error`]. No file has been written then.
    pub fn try_compile(&self, files: impl IdlFiles) -> Result<Compiled, Error> {
        let outcome = self.compile_all(&files.paths())?;
        Ok(Compiled {
            written: outcome.written,
            read: outcome.read.into_iter().collect(),
            warnings: outcome.warnings,
        })
    }

    /// Servant templates for the interfaces of a project: structs that implement the traits which
    /// [`Config::compile`] generates, with `todo!()` for bodies. No file is written.
    ///
    /// `around` is the path of the Rust module that includes the generated code, such as `crate`.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn try_stub(&self, files: impl IdlFiles, around: &str) -> Result<Stub, Error> {
        let mut outcome = Outcome::default();
        let (front, files) = self.project(&files.paths(), &mut outcome)?;
        let (code, _) = self.generate(&front, &files, &mut outcome, &|model, options| {
            orbium_codegen::stub(model, options, around)
        })?;
        Ok(Stub {
            code,
            warnings: outcome.warnings,
        })
    }

    fn compile_all(&self, given: &[PathBuf]) -> Result<Outcome, Error> {
        let folder = match &self.out_dir {
            Some(folder) => folder.clone(),
            None => env::var_os("OUT_DIR")
                .map(PathBuf::from)
                .ok_or(Error::NoOutDir)?,
        };
        let mut outcome = Outcome::default();
        let (front, files) = self.project(given, &mut outcome)?;
        let (mut code, model) =
            self.generate(&front, &files, &mut outcome, &orbium_codegen::generate)?;
        for extension in &self.extensions {
            code.push_str(&extension.code(&model).map_err(Error::Extension)?);
        }
        let mut path = folder.join(match &self.name {
            Some(name) => name.into(),
            None => files::stem(&given[0]),
        });
        path.as_mut_os_string().push(".rs");
        claim(&path, given)?;
        write(&path, &code).map_err(|cause| Error::Write {
            path: path.clone(),
            cause,
        })?;
        outcome.written.push(path);
        Ok(outcome)
    }

    /// The files of a project, at least one, and the options of the front end.
    fn project(
        &self,
        given: &[PathBuf],
        outcome: &mut Outcome,
    ) -> Result<(orbium_idl::Options, Vec<PathBuf>), Error> {
        let mut front = self.front.clone();
        let mut files = Vec::new();
        for path in given {
            if path.is_dir() {
                files::below(path, &mut files, &mut outcome.read)?;
                front = front.include(path);
            } else if !files.contains(path) {
                files.push(path.clone());
            }
        }
        if files.is_empty() {
            return Err(Error::NoFiles {
                given: given.to_vec(),
            });
        }
        Ok((front, files))
    }

    /// The Rust of a project, and its model.
    fn generate(
        &self,
        front: &orbium_idl::Options,
        files: &[PathBuf],
        outcome: &mut Outcome,
        generator: &Generator<'_>,
    ) -> Result<(String, Model), Error> {
        let front = orbium_idl::compile_project(front, files);
        for read in front.files() {
            if !outcome.read.contains(read) {
                outcome.read.push(read.clone());
            }
        }
        if let Some(path) = outcome.read.iter().find(|it| has_line_break(it)) {
            return Err(Error::LineBreak { path: path.clone() });
        }
        let mut diagnostics = front.to_string();
        let model = front.model.filter(|model| {
            let found = self.check(model);
            diagnostics.extend(found.iter().map(ToString::to_string));
            !found.iter().any(|it| it.severity == Severity::Error)
        });
        let Some(model) = model else {
            return Err(Error::Idl {
                file: files[0].clone(),
                diagnostics,
            });
        };
        outcome.warnings.push_str(&diagnostics);
        let generated =
            generator(&model, &self.back(files)).map_err(|unmapped| Error::Unmapped {
                file: files[0].clone(),
                warnings: unmapped.warnings,
            })?;
        for warning in &generated.warnings {
            outcome.warnings.push_str(&format!("{warning}\n"));
        }
        Ok((generated.code, model))
    }

    /// The findings of extensions in a model, and the annotations that no extension reads.
    fn check(&self, model: &Model) -> Vec<Diagnostic> {
        let annotations = self.extensions.iter().flat_map(|it| it.annotations());
        let mut found = unread(model, &annotations.copied().collect::<Vec<_>>());
        for extension in &self.extensions {
            found.extend(extension.check(model));
        }
        found
    }

    /// The options of the generator.
    fn back(&self, files: &[PathBuf]) -> orbium_codegen::Options {
        let mut options = orbium_codegen::Options::new(files[0].to_string_lossy());
        for file in &files[1..] {
            options = options.also_from(file.to_string_lossy());
        }
        options = options
            .deny_unmapped(self.deny_unmapped)
            .asynchronous(self.asynchronous)
            .pollers(self.pollers)
            .handlers(self.handlers)
            .default_bodies(self.default_bodies);
        for pattern in &self.borrowed {
            options = options.borrowed_results(pattern);
        }
        for pattern in &self.deferred {
            options = options.deferred_replies(pattern);
        }
        for pattern in &self.async_servants {
            options = options.async_servants(pattern);
        }
        for pattern in &self.viewed {
            options = options.viewed_arguments(pattern);
        }
        for construct in &self.allowed {
            options = options.allow_unmapped(construct);
        }
        if let Some(runtime) = &self.runtime {
            options = options.runtime(runtime);
        }
        for (idl, rust) in &self.natives {
            options = options.native_type(idl, rust);
        }
        for (idl, rust) in &self.external {
            options = options.external_module(idl, rust);
        }
        for (idl, rust) in &self.external_files {
            options = options.external_file(idl, rust);
        }
        options
    }
}

/// A generator of Rust from a model.
type Generator<'g> = dyn Fn(
        &Model,
        &orbium_codegen::Options,
    ) -> Result<orbium_codegen::Generated, orbium_codegen::Unmapped>
    + 'g;

/// The outcome for some files. Callers that need the set of read files convert it into a
/// [`Compiled`].
#[derive(Default)]
struct Outcome {
    written: Vec<PathBuf>,
    read: Vec<PathBuf>,
    warnings: String,
}

/// Whether a line for Cargo with this path would be two.
fn has_line_break(path: &Path) -> bool {
    path.to_string_lossy().contains(['\n', '\r'])
}

/// Whether a line of diagnostics begins a warning.
fn is_warning(line: &str) -> bool {
    line.contains(": warning: ")
}

/// Writes to standard error; errors are ignored.
fn show(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
