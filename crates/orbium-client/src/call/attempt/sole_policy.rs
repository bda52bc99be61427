// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests that one policy alone concerns.

use std::time::Duration;

use orbium_giop::SystemException;
use orbium_invocation::Operation;
use orbium_invocation::timing::Timing;

use super::{Attempt, Path};

impl Attempt<'_> {
    /// As `begin_request`, with nothing but a relative timeout.
    pub(super) fn begin_within(
        &mut self,
        timeout: Duration,
        operation: &'static Operation,
    ) -> Result<Path, SystemException> {
        let is_propagated = !self.object.client().config().keeps_deadlines;
        match Timing::within(timeout, is_propagated) {
            Ok(timing) => {
                self.timing = timing;
                Ok(Path::Plain)
            }
            Err(late) => Err(self.failed(operation, late)),
        }
    }
}
