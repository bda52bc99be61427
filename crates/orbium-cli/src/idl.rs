// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium idl`: the compiler.

pub(crate) mod definitions;
pub(crate) mod idl_files;
mod mapping_arguments;

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use orbium_build::Config;
use orbium_idl::{Compilation, Diagnostic, Excerpt, Options};
use orbium_ridl::{Requirements, RtInfos};
use serde_json::{Value, json};

use self::mapping_arguments::MappingArgs;
use crate::failure::Failure;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct IdlArgs {
    #[command(subcommand)]
    command: IdlCommand,
}

#[derive(Debug, Subcommand)]
enum IdlCommand {
    /// Check IDL files: errors and warnings with the line and advice.
    ///
    /// A directory stands for every `.idl` file in it and below, and is searched for
    /// included files too; a summary line follows. Exits with 0 if no file has an
    /// error, else with 1.
    Check(CheckArgs),
    /// Generate Rust from IDL files, to check it in.
    ///
    /// Several files, or a folder of them, are one project: they become one tree
    /// of modules in one Rust file, `x.rs` if the first of them is `x.idl`. In a
    /// build script, use the crate orbium-build instead.
    Gen(GenArgs),
    /// Write servants for the interfaces of IDL files, as a template.
    ///
    /// A struct for each interface, which implements the traits of the interface and of
    /// its bases; the methods are `todo!()`. It compiles with the code that `gen`, or the crate
    /// orbium-build, generates from the same files.
    Stub(StubArgs),
}

/// Files, and how to read them.
#[derive(Debug, Args)]
struct SourceArgs {
    /// IDL files; `check` takes directories too
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Search this folder for included files; may be repeated
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Define a macro, as 1 unless a value is given; may be repeated
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]", value_parser = define)]
    defines: Vec<(String, String)>,
    /// Undefine a predefined macro; may be repeated
    #[arg(short = 'U', long = "undefine", value_name = "NAME")]
    undefines: Vec<String>,
    /// Read CORBA 3 words (component, home, import …) as plain names
    #[arg(long)]
    pre_corba3: bool,
    /// Follow IDL 4 where it differs from CORBA 3
    #[arg(long)]
    idl4: bool,
    /// Only warn of parameters and members named like types, which are frequent in old IDL
    #[arg(long)]
    lenient: bool,
    /// Reject modules reopened under another prefix, and interfaces that are used but
    /// never defined, instead of warning of them
    #[arg(long)]
    strict: bool,
}

#[derive(Debug, Args)]
struct CheckArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Print the diagnostics as one JSON array
    #[arg(long)]
    json: bool,
    /// Warn of more: pragmas without effect, deprecated anonymous types
    #[arg(long)]
    warnings: bool,
}

#[derive(Debug, Args)]
struct GenArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Folder to write to; created if it does not exist
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    output: PathBuf,
    /// Name of the Rust file without `.rs`; that of the first file or folder
    /// unless given
    #[arg(long)]
    name: Option<String>,
    /// Fail when something has no mapping to Rust, instead of leaving it out
    /// with a warning
    #[arg(long)]
    deny_unmapped: bool,
    /// Acknowledge that a construct without a mapping is left out, such as
    /// `components` or `native types`: one line counts them; may be
    /// repeated
    #[arg(long, value_name = "CONSTRUCT")]
    allow_unmapped: Vec<String>,
    /// Give the methods of servant traits a body that raises NO_IMPLEMENT
    #[arg(long)]
    default_bodies: bool,
    #[command(flatten)]
    mapping: MappingArgs,
    /// Add a trait of `async fn`s, for servants of interfaces of that name, such as
    /// `Bank::Account` or `Bank::*`, and of all their bases; may be repeated
    #[arg(long, value_name = "NAME")]
    async_servants: Vec<String>,
    /// Add calls that do not wait, `op_async`, for every operation and attribute
    /// that no annotation `@ami` speaks of
    #[arg(long)]
    asynchronous: bool,
    /// Add `sendp_op`, calls that return a typed poller, for every `op_async`;
    /// includes `--asynchronous`
    #[arg(long)]
    pollers: bool,
    /// Add `sendc_op`, calls with a reply handler `AMI_IHandler`; includes `--asynchronous`
    #[arg(long)]
    handlers: bool,
}

#[derive(Debug, Args)]
struct StubArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// File to write, or an existing folder for `servants.rs`; standard output
    /// unless given
    #[arg(short = 'o', long = "output", value_name = "PATH")]
    output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long, requires = "output")]
    force: bool,
    /// The Rust module that includes the generated code
    #[arg(long = "in", value_name = "RUST", default_value = "crate")]
    around: String,
    #[command(flatten)]
    mapping: MappingArgs,
}

impl SourceArgs {
    fn options(&self) -> Options {
        let mut options = Options::new();
        options.include_paths.clone_from(&self.include);
        options.defines.clone_from(&self.defines);
        options.undefines.clone_from(&self.undefines);
        options.pre_corba3 = self.pre_corba3;
        options.idl4 = self.idl4;
        options.lenient_names = self.lenient;
        options.strict = self.strict;
        options
    }
}

/// `NAME` or `NAME=VALUE`.
pub(crate) fn define(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    if name.is_empty() {
        return Err("the name of the macro is missing".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}

pub(crate) fn run(args: &IdlArgs) -> Result<(), Failure> {
    match &args.command {
        IdlCommand::Check(args) => check(args),
        IdlCommand::Gen(args) => generate(args),
        IdlCommand::Stub(args) => stub(args),
    }
}

fn check(args: &CheckArgs) -> Result<(), Failure> {
    let mut options = args.source.options();
    options.pedantic = args.warnings;
    let sources = expanded(&args.source.files)?;
    let summarized = args.source.files.iter().any(|path| path.is_dir());
    let (mut errors, mut warnings) = (0, 0);
    let mut found = Vec::new();
    for Source { file, folder } in &sources {
        let mut options = options.clone();
        options.include_paths.extend(folder.clone());
        let mut compilation = orbium_idl::compile(&options, file);
        if let Some(model) = &compilation.model {
            let timing = Requirements::of(model).diagnostics;
            compilation.diagnostics.extend(timing);
        }
        errors += compilation.errors().count();
        warnings += compilation.warnings().count();
        if args.json {
            found.extend(compilation.diagnostics.iter().map(|d| describe(d, file)));
        } else {
            output::diagnostics(&rendered(&compilation, file));
        }
    }
    if args.json {
        output::announce(&output::json_text(&Value::Array(found)))?;
    } else if errors + warnings > 0 || summarized {
        let files = count(sources.len(), "file");
        let (errors, warnings) = (count(errors, "error"), count(warnings, "warning"));
        output::write_error(&format!("{errors} and {warnings} in {files}\n"));
    }
    if errors > 0 {
        return Err(Failure::Shown);
    }
    Ok(())
}

/// A file to check.
struct Source {
    file: PathBuf,
    /// The directory on the command line that it was found in.
    folder: Option<PathBuf>,
}

/// The files, with those in and below of directories, each directory's in order.
fn expanded(paths: &[PathBuf]) -> Result<Vec<Source>, Failure> {
    let mut sources = Vec::new();
    for path in paths {
        if !path.is_dir() {
            sources.push(Source {
                file: path.clone(),
                folder: None,
            });
            continue;
        }
        let mut files = Vec::new();
        idl_below(path, &mut files)?;
        files.sort();
        if files.is_empty() {
            let path = path.display();
            return Err(Failure::because(format!(
                "there is no `.idl` file in `{path}`"
            )));
        }
        sources.extend(files.into_iter().map(|file| Source {
            file,
            folder: Some(path.clone()),
        }));
    }
    Ok(sources)
}

/// Links to directories are not followed: they may form a cycle.
fn idl_below(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        let unreadable = |e: std::io::Error| {
            Failure::because(format!("cannot read `{}`: {e}", folder.display()))
        };
        for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let path = entry.path();
            if entry.file_type().map_err(unreadable)?.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|e| e == "idl") && path.is_file() {
                files.push(path);
            }
        }
    }
    Ok(())
}

/// All diagnostics of a file as text. A diagnostic without a place is about the
/// file as a whole.
pub(crate) fn rendered(compilation: &Compilation, file: &Path) -> String {
    let mut text = String::new();
    for diagnostic in &compilation.diagnostics {
        if diagnostic.excerpt.is_none() {
            text.push_str(&format!("{}: ", file.display()));
        }
        text.push_str(&diagnostic.to_string());
    }
    text
}

/// A diagnostic as JSON. Without a place it is about the file as a whole.
fn describe(diagnostic: &Diagnostic, file: &Path) -> Value {
    let mut value = match &diagnostic.excerpt {
        Some(excerpt) => place(excerpt),
        None => json!({ "file": file.to_string_lossy(), "line": null, "column": null }),
    };
    value["severity"] = json!(diagnostic.severity.to_string());
    value["code"] = json!(diagnostic.code);
    value["message"] = json!(diagnostic.message);
    value["help"] = json!(diagnostic.help);
    let labels = diagnostic.labels.iter().map(|label| {
        let mut value = place(&label.excerpt);
        value["message"] = json!(label.message);
        value
    });
    value["labels"] = labels.collect();
    value
}

fn place(at: &Excerpt) -> Value {
    json!({ "file": &*at.file, "line": at.line, "column": at.column, "width": at.width })
}

fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

fn generate(args: &GenArgs) -> Result<(), Failure> {
    let mut config = Config::new()
        .front_end(args.source.options())
        .deny_unmapped(args.deny_unmapped)
        .asynchronous(args.asynchronous)
        .pollers(args.pollers)
        .handlers(args.handlers)
        .default_bodies(args.default_bodies)
        .extend(RtInfos::checked())
        .out_dir(&args.output);
    config = args.mapping.apply(config);
    for name in &args.async_servants {
        config = config.async_servants(name);
    }
    for construct in &args.allow_unmapped {
        config = config.allow_unmapped(construct);
    }
    if let Some(name) = &args.name {
        config = config.name(name);
    }
    match config.try_compile(&args.source.files) {
        Ok(compiled) => {
            output::diagnostics(&compiled.warnings);
            let written = compiled.written.iter();
            let written: String = written.map(|p| format!("{}\n", p.display())).collect();
            output::print(&written)
        }
        Err(error) => {
            output::diagnostics(&format!("{error}\n"));
            Err(Failure::Shown)
        }
    }
}

fn stub(args: &StubArgs) -> Result<(), Failure> {
    let config = Config::new()
        .front_end(args.source.options())
        .extend(RtInfos::checked());
    let config = args.mapping.apply(config);
    let stub = match config.try_stub(&args.source.files, &args.around) {
        Ok(stub) => stub,
        Err(error) => {
            output::diagnostics(&format!("{error}\n"));
            return Err(Failure::Shown);
        }
    };
    output::diagnostics(&stub.warnings);
    let Some(path) = &args.output else {
        return output::print(&stub.code);
    };
    let path = if path.is_dir() {
        path.join("servants.rs")
    } else {
        path.clone()
    };
    save(&path, &stub.code, args.force)?;
    output::print(&format!("{}\n", path.display()))
}

/// Writes a file for a programmer to change: an existing one is retained.
fn save(path: &Path, code: &str, force: bool) -> Result<(), Failure> {
    let written = if force {
        orbium_sys::write_whole(path, code.as_bytes())
    } else {
        write_new(path, code)
    };
    written.map_err(|error| {
        let path = path.display();
        Failure::because(match error.kind() {
            ErrorKind::AlreadyExists => {
                format!("`{path}` is there already; `--force` replaces it")
            }
            _ => format!("cannot write `{path}`: {error}"),
        })
    })
}

/// Writes a new file completely or not at all: a part of it would prevent the next attempt.
fn write_new(path: &Path, code: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(code.as_bytes()).inspect_err(|_| {
        // The first error is reported.
        let _ = fs::remove_file(path);
    })
}
