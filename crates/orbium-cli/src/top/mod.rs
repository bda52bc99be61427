// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium top`: what a running ORB does, as a screen, as text or as JSON.

mod json;
mod keys;
mod pages;
mod picture;
mod screen;
mod source;
mod view;

use std::io::IsTerminal;
use std::thread;
use std::time::Duration;

use clap::Args;

use crate::failure::Failure;
use crate::object::ping::seconds;
use crate::output;
use keys::{Choice, Page};
use source::Source;
use view::View;

/// Columns of the text that `--once` prints, and of a picture.
const COLUMNS: u16 = 110;

/// Lines of a picture.
const LINES: u16 = 24;

#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    /// Process id, socket, or reference of a watch object [default: the only process of
    /// this user that shows its ORB]
    #[arg(value_name = "PID|SOCKET|REF")]
    what: Option<String>,
    /// Seconds between two looks
    #[arg(long, short = 'i', value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    interval: Duration,
    /// Print one JSON object per interval, on a line of its own
    #[arg(long)]
    json: bool,
    /// Print what happened within one interval, and end
    #[arg(long)]
    once: bool,
    /// Print a picture of the screen after one interval, as SVG, and end
    #[arg(long, conflicts_with_all = ["json", "once"])]
    svg: bool,
}

pub(crate) fn run(args: &TopArgs) -> Result<(), Failure> {
    let source = Source::find(args.what.as_deref())?;
    let mut before = source.look()?;
    if !args.json && !args.once && !args.svg {
        if !std::io::stdout().is_terminal() {
            let text = "standard output is no terminal: use --json, or --once for a text";
            return Err(Failure::wrong_usage(text));
        }
        return screen::run(&source, args.interval, before);
    }
    loop {
        thread::sleep(args.interval);
        let now = source.look()?;
        let view = View::between(&before, &now);
        if args.svg {
            let choice = Choice::at(Page::Operations);
            let buffer = picture::drawn(&view, &choice, COLUMNS, LINES)?;
            return output::print(&picture::svg(&buffer));
        }
        if args.json {
            output::print(&format!("{}\n", json::of(&view)))?;
        } else {
            output::print(&pages::text_of(&view, COLUMNS))?;
        }
        if args.once {
            return Ok(());
        }
        before = now;
    }
}
