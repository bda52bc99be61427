// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium top`: the activity of a running ORB, as a screen, as text or as JSON.

use std::fs;
use std::io::IsTerminal;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use clap::Args;
use orbium_top::{Selection, Source, TopError, View, json_of, picture_of, run_screen, text_of};

use crate::failure::Failure;
use crate::object::ping::seconds;
use crate::object::reference;
use crate::output;

/// Columns of the text that `--once` prints, and of a picture.
const COLUMNS: u16 = 110;

/// Lines of a picture.
const LINES: u16 = 24;

#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    /// Process id, with -N behind it for one of several ORBs; socket; or reference of a watch
    /// object [default: the only ORB that the processes of this user publish]
    #[arg(value_name = "PID[-N]|SOCKET|REF")]
    what: Option<String>,
    /// The ORB of that name (orb_id, -ORBId)
    #[arg(long, value_name = "NAME")]
    orb_id: Option<String>,
    /// Seconds of an interval
    #[arg(long, short = 'i', value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    interval: Duration,
    /// Print one JSON object per interval, on a line of its own
    #[arg(long)]
    json: bool,
    /// Print the activity within one interval, and end
    #[arg(long)]
    once: bool,
    /// Print a picture of the screen after one interval, as SVG, and end
    #[arg(long, conflicts_with_all = ["json", "once"])]
    svg: bool,
}

impl TopArgs {
    /// The source that the arguments name, or the only ORB there is.
    fn source(&self) -> Result<Source, Failure> {
        let what = self.what.as_deref();
        let selection = what.map_or(Some(Selection::default()), Selection::of_process);
        let source = match (selection, what) {
            (Some(selection), _) => Source::selected(&Selection {
                orb_id: self.orb_id.clone(),
                ..selection
            }),
            (None, _) if self.orb_id.is_some() => {
                return Err(Failure::wrong_usage("--orb-id is for processes"));
            }
            (None, Some(what)) if is_socket(what) => Source::at_socket(Path::new(what)),
            (None, what) => Source::at(&reference::text(what.unwrap_or_default())?),
        };
        Ok(source?)
    }
}

pub(crate) fn run(args: &TopArgs) -> Result<(), Failure> {
    let source = args.source()?;
    let mut before = source.look()?;
    if !args.json && !args.once && !args.svg {
        if !std::io::stdout().is_terminal() {
            let text = "standard output is no terminal: use --json, or --once for a text";
            return Err(Failure::wrong_usage(text));
        }
        return Ok(run_screen(&source, args.interval, before)?);
    }
    loop {
        thread::sleep(args.interval);
        let now = source.look()?;
        let view = View::between(&before, &now);
        if args.svg {
            return output::print(&picture_of(&view, COLUMNS, LINES)?);
        }
        if args.json {
            output::print(&format!("{}\n", json_of(&view)))?;
        } else {
            output::print(&text_of(&view, COLUMNS))?;
        }
        if args.once {
            return Ok(());
        }
        before = now;
    }
}

fn is_socket(what: &str) -> bool {
    fs::metadata(what).is_ok_and(|it| it.file_type().is_socket())
}

impl From<TopError> for Failure {
    fn from(error: TopError) -> Self {
        Self::because(error.to_string())
    }
}
