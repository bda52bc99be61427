// SPDX-License-Identifier: MIT OR Apache-2.0
//! RebindPolicy (CORBA 3.3 Part 1, clause 17.2): recovery that the policy forbids.

use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_invocation::RebindMode;
use orbium_invocation::story::{Phase, note};

use super::Attempt;
use crate::errors::binding_lost;
use orbium_connection::outcome::Outcome;

impl Attempt<'_> {
    /// Under NO_RECONNECT: fails if a connection to the server was lost since the first call
    /// through the reference.
    #[cold]
    pub(super) fn check_connection(&self) -> Result<(), SystemException> {
        if self.object.overrides().policies.messaging.rebind() != RebindMode::NoReconnect {
            return Ok(());
        }
        // This detects an idle connection that has ended.
        let lost = match self.link() {
            Ok(link) => link.connections_lost(),
            Err(exception) => {
                let exception = self.reached_none(false, exception);
                return Err(if self.object.is_bound() {
                    binding_lost()
                } else {
                    exception
                });
            }
        };
        if lost.is_none_or(|lost| self.object.remains_bound(lost)) {
            Ok(())
        } else {
            Err(binding_lost())
        }
    }

    /// Fails if the policy forbids the recovery after an exchange without results.
    #[cold]
    pub(super) fn check_rebind(&self, outcome: &Outcome) -> Result<(), SystemException> {
        match (outcome, self.object.overrides().policies.messaging.rebind()) {
            (_, RebindMode::Transparent) => Ok(()),
            (Outcome::Forward(_), _) => {
                note(
                    Phase::Wait,
                    None,
                    &"RebindPolicy forbids to follow a forward",
                );
                let (kind, completed) = (ExceptionKind::Rebind, Completion::No);
                Err(SystemException::new(kind, 0, completed))
            }
            (Outcome::NotBegun(_), RebindMode::NoReconnect) => Err(binding_lost()),
            // The server may have served the request.
            (Outcome::Lost(exception), RebindMode::NoReconnect) => Err(*exception),
            _ => Ok(()),
        }
    }
}
