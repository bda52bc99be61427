// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests with a single policy.

use std::time::Duration;

use orbium_giop::SystemException;
use orbium_invocation::timing::Timing;
use orbium_invocation::{Operation, RebindMode, SyncScope};

use super::{Attempt, Path};

impl Attempt<'_> {
    /// As `begin_request`, with a relative time-out only.
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

    /// Whether the only check of a request is that it is buffered.
    pub(super) fn is_only_buffered(&self, operation: &Operation) -> bool {
        let messaging = &self.object.overrides().policies.messaging;
        operation.is_oneway()
            && messaging.sync_scope() == SyncScope::None
            && messaging.rebind() != RebindMode::NoReconnect
    }
}
