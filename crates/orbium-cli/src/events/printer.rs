// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events that are printed before their channel gets the reply.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use orbium::lock::Mutex;
use orbium::{ExceptionKind, Orb, SystemException};

use crate::failure::Failure;
use crate::output;
use crate::serving::because;

/// Interval of checks whether the channel still serves the consumer: a process that dies does not
/// disconnect it.
const CHECK_INTERVAL: Duration = Duration::from_secs(3);

/// Reason for the end of the output.
pub(super) enum End {
    /// All requested lines are printed.
    Complete,
    /// The program is to end.
    Interrupted,
}

/// Waits for the end.
pub(super) struct Ended(Receiver<Result<End, Failure>>);

/// Prints so many lines, or all lines until the end.
#[derive(Clone)]
pub(super) struct Printer {
    left: Arc<Mutex<Option<u64>>>,
    end: SyncSender<Result<End, Failure>>,
}

impl Printer {
    /// A printer with the number of lines to print.
    pub(super) fn new(count: Option<u64>) -> (Self, Ended) {
        let (end, ended) = mpsc::sync_channel(1);
        let left = Arc::new(Mutex::new(count));
        let printer = Self { left, end };
        if count == Some(0) {
            printer.end_by(Ok(End::Complete));
        }
        (printer, Ended(ended))
    }

    /// Prints a line. A line that is not printed is for the next consumer: TRANSIENT.
    pub(super) fn print(&self, line: &str) -> Result<(), SystemException> {
        let mut left = self.left.lock();
        if *left == Some(0) {
            return Err(ExceptionKind::Transient.into());
        }
        if let Err(failure) = output::print(&format!("{line}\n")) {
            *left = Some(0);
            self.end_by(Err(failure));
            return Err(ExceptionKind::Transient.into());
        }
        *left = left.map(|it| it - 1);
        if *left == Some(0) {
            self.end_by(Ok(End::Complete));
        }
        Ok(())
    }

    /// Ends printing.
    pub(super) fn end(&self) {
        self.end_by(Ok(End::Interrupted));
    }

    /// Ends printing: the channel has disconnected the consumer.
    pub(super) fn disconnected(&self) {
        self.end_by(Err(disconnected()));
    }

    fn end_by(&self, end: Result<End, Failure>) {
        // The first end counts.
        let _ = self.end.try_send(end);
    }
}

/// The printer of a consumer. The ORB drops the consumer when the channel disconnects it, and printing
/// ends.
pub(super) struct ConsumerPrinter(pub(super) Printer);

impl Deref for ConsumerPrinter {
    type Target = Printer;

    fn deref(&self) -> &Printer {
        &self.0
    }
}

impl Drop for ConsumerPrinter {
    fn drop(&mut self) {
        self.0.disconnected();
    }
}

fn disconnected() -> Failure {
    Failure::because("the channel has disconnected this consumer")
}

impl Ended {
    /// Waits until the output has ended, or the channel serves the consumer no longer, and disconnects.
    /// Once all lines are printed, the replies to their pushes are sent before the program ends: without
    /// them the channel would deliver the events again.
    pub(super) fn then_disconnect(
        self,
        orb: &Orb,
        is_connected: impl Fn() -> Result<bool, SystemException>,
        disconnect: impl FnOnce() -> Result<(), SystemException>,
    ) -> Result<(), Failure> {
        let end = self.wait(is_connected);
        let disconnected = disconnect().map_err(because);
        if let End::Complete = end? {
            orb.shutdown(true).map_err(because)?;
        }
        disconnected
    }

    fn wait(
        self,
        is_connected: impl Fn() -> Result<bool, SystemException>,
    ) -> Result<End, Failure> {
        loop {
            match self.0.recv_timeout(CHECK_INTERVAL) {
                Ok(end) => return end,
                Err(RecvTimeoutError::Disconnected) => return Ok(End::Interrupted),
                Err(RecvTimeoutError::Timeout) => {}
            }
            match is_connected() {
                Ok(true) => {}
                Ok(false) => return Err(disconnected()),
                // It may be busy.
                Err(exception) if exception.kind == ExceptionKind::Timeout => {}
                Err(exception) => {
                    let text = format!("the channel cannot be called any more: {exception}");
                    return Err(Failure::because(text));
                }
            }
        }
    }
}
