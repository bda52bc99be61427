// SPDX-License-Identifier: MIT OR Apache-2.0
//! A progress bar.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar on standard error; hidden where that is no terminal.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    begun: u64,
}

impl Progress {
    /// A bar of this many steps.
    #[must_use]
    pub fn new(total: usize) -> Self {
        let style = ProgressStyle::with_template("[{bar:24}] {percent:>3} %  {msg}");
        let style = style.expect("the template is well-formed");
        let bar = ProgressBar::new(total.max(1) as u64);
        bar.set_style(style.progress_chars("## "));
        Self { bar, begun: 0 }
    }

    /// Begins the next step.
    pub fn step(&mut self, what: &str) {
        self.bar.set_position(self.begun);
        self.bar.set_message(what.to_owned());
        self.begun += 1;
    }

    /// Removes the bar, so that other output can be written.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
