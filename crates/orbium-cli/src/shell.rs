// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium completions` and `orbium man`: scripts for shells and manual pages.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::failure::Failure;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write a page for the program and one for each command into this directory, which is created
    /// if it does not exist, instead of the program's to standard output
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

/// Prints the script that completes command lines.
pub(crate) fn completions(args: &CompletionsArgs, mut program: Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "orbium", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}

/// Prints the page of the program, or writes all pages.
pub(crate) fn man(args: &ManArgs, mut program: Command) -> Result<(), Failure> {
    program.build();
    let Some(directory) = &args.directory else {
        return output::print(&page(&program)?);
    };
    let unwritable = |path: &Path, error: std::io::Error| {
        Failure::because(format!("cannot write `{}`: {error}", path.display()))
    };
    fs::create_dir_all(directory).map_err(|error| unwritable(directory, error))?;
    let mut pending = vec![program];
    let mut written = String::new();
    while let Some(command) = pending.pop() {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let path = directory.join(format!("{name}.1"));
        orbium_sys::write_whole(&path, page(&command)?.as_bytes())
            .map_err(|error| unwritable(&path, error))?;
        written.push_str(&format!("{}\n", path.display()));
        let below = command.get_subcommands();
        let shown = below.filter(|it| !it.is_hide_set() && it.get_name() != "help");
        pending.extend(shown.cloned());
    }
    output::print(&written)
}

fn page(command: &Command) -> Result<String, Failure> {
    let mut page = Vec::new();
    Man::new(command.clone())
        .render(&mut page)
        .map_err(|error| Failure::because(error.to_string()))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
