// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium shell`: a prompt for the operations of one object.

mod words;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::io::{BufRead, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser};
use orbium::ObjectRef;
use orbium_dynamic::Definitions;
use orbium_idl::model::{DefId, DefinitionKind, Direction};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{CompletionType, Editor, Helper};

use crate::failure::Failure;
use crate::idl::definitions::{DefinitionArgs, Loaded};
use crate::object::call::{self, LineArgs, Target};
use crate::object::{ping, reference};
use crate::output;

/// Maximum length of a line that is not typed at a terminal, in bytes.
const MAX_LINE_LENGTH: u64 = 64 << 20;

const HELP: &str = "\
OPERATION [ARGUMENT…]   call an operation; read an attribute, or write it with an argument
                        (an argument is JSON, plain text, or @FILE; 'quotes' keep spaces)
                        --repeat N, --json, --arguments JSON, --context NAME=VALUE as in `orbium call`
:operations             what can be called
:describe               the IDL of the interface
:help                   this text
:quit                   the end, as Ctrl-D
";

/// Commands of the prompt itself: no operation begins with a colon.
const COMMANDS: [&str; 4] = [":describe", ":help", ":operations", ":quit"];

#[derive(Debug, Args)]
pub(crate) struct ShellArgs {
    #[arg(value_name = "REF", help = reference::HELP)]
    reference: String,
    #[command(flatten)]
    definitions: DefinitionArgs,
    /// Seconds that a call may take
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = ping::seconds)]
    timeout: Duration,
    /// CORBA priority to call at
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i16).range(0..))]
    priority: Option<i16>,
    /// File of the lines typed at a terminal [default: orbium/shell-history in $XDG_STATE_HOME or
    /// ~/.local/state]
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    #[command(flatten)]
    protocols: reference::ProtocolArgs,
}

/// A line, parsed as the arguments of `orbium call`.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true, name = "")]
struct Line {
    #[command(flatten)]
    call: LineArgs,
}

pub(crate) fn run(args: &ShellArgs) -> Result<(), Failure> {
    if args.reference == "-" {
        let sentence = "standard input is the prompt's own: give the reference as text or @FILE";
        return Err(Failure::wrong_usage(sentence));
    }
    let object = reference::object(&args.reference, &args.protocols, Some(args.timeout))?;
    let loaded = args.definitions.load_interface(&object)?;
    if let Some(priority) = args.priority {
        call::set_priority(&object, priority)?;
    }
    let session = Session {
        args,
        object,
        loaded,
        whole: OnceCell::new(),
    };
    if std::io::stdin().is_terminal() {
        session.converse()
    } else {
        session.follow(std::io::stdin().lock())
    }
}

/// The object and definitions that lines are called with.
struct Session<'a> {
    args: &'a ShellArgs,
    object: ObjectRef,
    loaded: Loaded,
    /// The whole repository, once a call needs it.
    whole: OnceCell<(Definitions, DefId)>,
}

/// The action after a line.
#[derive(PartialEq)]
enum Next {
    Line,
    End,
}

impl Session<'_> {
    /// Reads lines at a terminal.
    fn converse(&self) -> Result<(), Failure> {
        let failed = |error: ReadlineError| Failure::because(format!("no terminal: {error}"));
        let config = rustyline::Config::builder();
        let config = config.completion_type(CompletionType::List).build();
        let mut editor = Editor::<Names, DefaultHistory>::with_config(config).map_err(failed)?;
        editor.set_helper(Some(Names(self.names())));
        let history = self.args.history.clone().or_else(default_history);
        if let Some(history) = &history {
            // The file does not exist the first time.
            let _ = editor.load_history(history);
        }
        let Loaded {
            definitions,
            interface,
            ..
        } = &self.loaded;
        let name = definitions.model()[*interface].name.clone();
        let ended = loop {
            let line = match editor.readline(&format!("{name}> ")) {
                Ok(line) => line,
                Err(ReadlineError::Interrupted) => continue,
                Err(ReadlineError::Eof) => break Ok(()),
                Err(error) => break Err(failed(error)),
            };
            let _ = editor.add_history_entry(line.as_str());
            match self.perform(&line) {
                Ok(Next::Line) => {}
                Ok(Next::End) => break Ok(()),
                Err(Failure::OutputClosed) => break Err(Failure::OutputClosed),
                Err(failure) => {
                    let _ = output::report(failure);
                }
            }
        };
        if let Some(history) = &history {
            save(&mut editor, history);
        }
        ended
    }

    /// Reads lines from a file or a program. A failed one does not end it.
    fn follow(&self, mut lines: impl BufRead) -> Result<(), Failure> {
        let mut all_done = true;
        loop {
            let mut line = Vec::new();
            let read = lines.by_ref().take(MAX_LINE_LENGTH);
            let count = { read }.read_until(b'\n', &mut line);
            let unread = |error| Failure::because(format!("standard input: {error}"));
            if count.map_err(unread)? == 0 {
                break;
            }
            match self.perform(&String::from_utf8_lossy(&line)) {
                Ok(Next::Line) => {}
                Ok(Next::End) => break,
                Err(Failure::OutputClosed) => return Err(Failure::OutputClosed),
                Err(failure) => {
                    all_done = false;
                    let _ = output::report(failure);
                }
            }
        }
        if all_done {
            Ok(())
        } else {
            Err(Failure::Shown)
        }
    }

    fn perform(&self, line: &str) -> Result<Next, Failure> {
        let words = words::split(line).map_err(Failure::wrong_usage)?;
        match words.first().map(String::as_str) {
            None => {}
            Some(":quit") => return Ok(Next::End),
            Some(":help") => output::print(HELP)?,
            Some(":describe") => {
                output::print(&self.loaded.definitions.idl_of(self.loaded.interface))?;
            }
            Some(":operations") => output::print(&self.operations())?,
            Some(word) if word.starts_with(':') => {
                let known = COMMANDS.join(", ");
                let sentence = format!("there is no `{word}`: {known}");
                return Err(Failure::wrong_usage(sentence));
            }
            Some(word) => {
                if let Some(command) = self.command_for(word) {
                    let sentence = format!("there is no operation `{word}`: try `{command}`");
                    return Err(Failure::wrong_usage(sentence));
                }
                self.call(words)?;
            }
        }
        Ok(Next::Line)
    }

    /// The command for a word that is a command at the prompts of other programs, unless it is an
    /// operation here.
    fn command_for(&self, word: &str) -> Option<&'static str> {
        let command = match word {
            "help" | "?" => ":help",
            "exit" | "quit" => ":quit",
            _ => return None,
        };
        let is_operation = self.names().iter().any(|name| name == word);
        (!is_operation).then_some(command)
    }

    fn call(&self, words: Vec<String>) -> Result<(), Failure> {
        let line = Line::try_parse_from(words).map_err(|error| {
            // Without the usage of a program.
            let text = error.to_string();
            let sentence = text.lines().next().unwrap_or_default();
            Failure::wrong_usage(sentence.trim_start_matches("error: "))
        })?;
        if line.call.reads_standard_input() {
            let sentence = "standard input is the prompt's own: give @FILE in place of -";
            return Err(Failure::wrong_usage(sentence));
        }
        let (definitions, interface) = self.definitions_for(&line.call)?;
        let target = Target {
            definitions,
            object: &self.object,
            interface,
            timeout: self.args.timeout,
        };
        target.call(&line.call)
    }

    /// The definitions of a call: the whole repository if there may be values in it.
    fn definitions_for(&self, line: &LineArgs) -> Result<(&Definitions, DefId), Failure> {
        let Loaded {
            definitions,
            interface,
            is_partial,
        } = &self.loaded;
        let has_values = || {
            let writes = line.has_arguments();
            let meant = call::signature(definitions, *interface, line.operation(), writes);
            meant.is_ok_and(|signature| signature.may_hold_values())
        };
        if !is_partial || !has_values() {
            return Ok((definitions, *interface));
        }
        if self.whole.get().is_none() {
            let whole = self.args.definitions.load(&self.object)?;
            let _ = self.whole.set(whole);
        }
        let whole = self.whole.get();
        Ok(whole.map_or((definitions, *interface), |(all, it)| (all, *it)))
    }

    /// Words that a line may begin with.
    fn names(&self) -> Vec<String> {
        let Loaded {
            definitions,
            interface,
            ..
        } = &self.loaded;
        let operations = definitions.operation_names(*interface);
        let mut names: Vec<String> = operations.into_iter().map(str::to_owned).collect();
        names.extend(COMMANDS.map(str::to_owned));
        names.sort();
        names
    }

    /// Operations and attributes with the names of their arguments.
    fn operations(&self) -> String {
        let model = self.loaded.definitions.model();
        let mut text = String::new();
        for id in model.all_features(self.loaded.interface) {
            let definition = &model[id];
            text.push_str(&definition.name);
            match &definition.kind {
                DefinitionKind::Operation(operation) => {
                    for parameter in &operation.parameters {
                        if parameter.direction != Direction::Out {
                            text.push(' ');
                            text.push_str(&parameter.name);
                        }
                    }
                }
                DefinitionKind::Attribute(attribute) if !attribute.readonly => {
                    text.push_str(" [value]");
                }
                _ => {}
            }
            text.push('\n');
        }
        text
    }
}

fn default_history() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state"));
    let state = state.filter(|path| path.is_absolute()).or_else(home)?;
    Some(state.join("orbium/shell-history"))
}

/// Errors are ignored: a shell works without a history, too.
fn save(editor: &mut Editor<Names, DefaultHistory>, history: &Path) {
    if let Some(folder) = history.parent() {
        let _ = std::fs::create_dir_all(folder);
    }
    let _ = editor.save_history(history);
}

/// Completes the first word of a line.
struct Names(Vec<String>);

impl Completer for Names {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &rustyline::Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = &line[..position];
        let start = typed.len() - typed.trim_start().len();
        let word = &typed[start..];
        let found = self.0.iter().filter(|name| name.starts_with(word));
        Ok((start, found.map(|name| format!("{name} ")).collect()))
    }
}

impl rustyline::hint::Hinter for Names {
    type Hint = String;
}

impl rustyline::highlight::Highlighter for Names {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        Cow::Borrowed(line)
    }
}

impl rustyline::validate::Validator for Names {}

impl Helper for Names {}
