// SPDX-License-Identifier: MIT OR Apache-2.0
//! When a command that serves ends.

use std::io::Read as _;
use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::failure::Failure;

/// The signals that end a server, caught from the beginning.
pub(crate) struct Ending(Signals);

impl Ending {
    pub(crate) fn new() -> Result<Self, Failure> {
        let signals = Signals::new([SIGINT, SIGTERM]);
        let failed = |error| Failure::because(format!("cannot wait for signals: {error}"));
        Ok(Self(signals.map_err(failed)?))
    }

    /// Waits for a signal, or for the end of standard input.
    pub(crate) fn wait(mut self, until_input_ends: bool) -> Result<(), Failure> {
        if until_input_ends {
            let handle = self.0.handle();
            let spawned = thread::Builder::new().spawn(move || {
                let mut ignored = [0; 64];
                let mut input = std::io::stdin().lock();
                while matches!(input.read(&mut ignored), Ok(1..)) {}
                handle.close();
            });
            spawned.map_err(|error| Failure::because(format!("cannot start a thread: {error}")))?;
        }
        let _ = self.0.forever().next();
        Ok(())
    }
}
