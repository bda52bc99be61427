// SPDX-License-Identifier: MIT OR Apache-2.0
//! A bar that shows how far we are, on a terminal.

use std::io::{self, IsTerminal};

use crate::output;

/// Characters of the bar.
const WIDTH: usize = 24;

/// A bar on standard error; nothing at all where that is no terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    done: usize,
    total: usize,
    is_shown: bool,
}

impl Progress {
    pub(crate) fn new(total: usize) -> Self {
        Self {
            done: 0,
            total: total.max(1),
            is_shown: io::stderr().is_terminal(),
        }
    }

    /// One step more has begun.
    pub(crate) fn step(&mut self, what: &str) {
        let done = self.done.min(self.total);
        self.done += 1;
        if !self.is_shown {
            return;
        }
        let filled = WIDTH * done / self.total;
        let percent = 100 * done / self.total;
        output::tell(&format!(
            "\r\x1b[K[{}{}] {percent:3} %  {what}",
            "#".repeat(filled),
            " ".repeat(WIDTH - filled),
        ));
    }

    /// Takes the bar away, so that something else can be written.
    pub(crate) fn clear(&self) {
        if self.is_shown {
            output::tell("\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
