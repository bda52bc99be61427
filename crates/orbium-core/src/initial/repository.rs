// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lookup_id` for `_interface`, the only call that the ORB itself makes to an Interface
//! Repository.

use std::time::{Instant, SystemTime};

use crate::{Completion, ExceptionKind, ObjectRef, Operation, Orb, SystemException, TimePolicies};

/// `CORBA::Repository::lookup_id`.
static LOOKUP_ID: Operation = Operation::new("lookup_id").idempotent();

impl Orb {
    /// The definition of an interface, from the initial reference `InterfaceRepository`, within
    /// [`Config::naming_timeout`](crate::Config) and by `deadline`.
    ///
    /// # Errors
    /// INTF_REPOS 1: there is no repository, or it does not answer; 2: it does not contain the
    /// interface.
    pub(crate) fn definition_of(
        &self,
        repository_id: &str,
        deadline: Option<Instant>,
    ) -> Result<ObjectRef, SystemException> {
        let refused = |minor| SystemException::omg(ExceptionKind::IntfRepos, minor, Completion::No);
        let repository = self.resolve_initial_references("InterfaceRepository");
        let mut remaining = self.config().naming_timeout.0;
        if let Some(deadline) = deadline {
            remaining = remaining.min(deadline.saturating_duration_since(Instant::now()));
        }
        // Policies of the ORB apply, too.
        let time = TimePolicies {
            reply_end: SystemTime::now().checked_add(remaining),
            ..TimePolicies::NONE
        };
        let repository = repository.map_err(|_| refused(1))?.with_time_policies(time);
        let found = repository.ask_for(&LOOKUP_ID, Some(repository_id));
        found.map_err(|_| refused(1))?.ok_or(refused(2))
    }
}
