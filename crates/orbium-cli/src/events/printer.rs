// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events that are printed before their channel gets the reply.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};

use orbium::lock::Mutex;
use orbium::{ExceptionKind, SystemException};

use crate::failure::Failure;
use crate::output;

/// Prints so many lines, or those until the end.
#[derive(Clone)]
pub(super) struct Printer {
    left: Arc<Mutex<Option<u64>>>,
    end: SyncSender<Result<(), Failure>>,
}

impl Printer {
    /// With how many lines are to be printed; what is received is the end.
    pub(super) fn new(count: Option<u64>) -> (Self, Receiver<Result<(), Failure>>) {
        let (end, ended) = mpsc::sync_channel(1);
        let left = Arc::new(Mutex::new(count));
        let printer = Self { left, end };
        if count == Some(0) {
            printer.end();
        }
        (printer, ended)
    }

    /// Prints a line. What is not printed is for the next consumer: TRANSIENT.
    pub(super) fn print(&self, line: &str) -> Result<(), SystemException> {
        let mut left = self.left.lock();
        if *left == Some(0) {
            return Err(ExceptionKind::Transient.into());
        }
        if let Err(failure) = output::print(&format!("{line}\n")) {
            *left = Some(0);
            // The first end counts.
            let _ = self.end.try_send(Err(failure));
            return Err(ExceptionKind::Transient.into());
        }
        *left = left.map(|it| it - 1);
        if *left == Some(0) {
            self.end();
        }
        Ok(())
    }

    /// Ends printing.
    pub(super) fn end(&self) {
        // The first end counts.
        let _ = self.end.try_send(Ok(()));
    }
}
