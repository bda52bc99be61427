// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shell completion by the program itself: names of operations.

use std::ffi::{OsStr, OsString};

use clap::{Args, Command, FromArgMatches};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};

use crate::object::call::CallArgs;

/// If it is the name of a shell, the program prints a script that completes by calling the program;
/// the script sets it too.
pub(crate) const VARIABLE: &str = "ORBIUM_COMPLETE";

/// The commands of the program with the arguments that it can complete.
pub(crate) fn with_values(program: Command) -> Command {
    program.mut_subcommand("call", |call| {
        // Not `mut_arg`, which makes it the last argument.
        call.mut_args(|argument| {
            if argument.get_id() == "operation" {
                argument.add(ArgValueCompleter::new(operations))
            } else {
                argument
            }
        })
    })
}

/// The operations of the object on the command line that begin with the typed text.
fn operations(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let words = std::env::args_os().skip_while(|word| word != "--").skip(1);
    let names = offered(words).unwrap_or_default();
    let found = names.into_iter().filter(|name| name.starts_with(&*typed));
    found.map(CompletionCandidate::new).collect()
}

/// The operations of the object of a command line, which may be incomplete.
fn offered(words: impl Iterator<Item = OsString>) -> Option<Vec<String>> {
    let call = CallArgs::augment_args(Command::new("call"));
    let call = call.no_binary_name(true).ignore_errors(true);
    // The program and the command.
    let matches = call.try_get_matches_from(words.skip(2)).ok()?;
    CallArgs::from_arg_matches(&matches).ok()?.offered()
}
