// SPDX-License-Identifier: MIT OR Apache-2.0
//! A server with a well-behaved client that calls continuously.

use orbium::{
    Config,
    config::{Limits, ServerStrategy},
};

use super::wire::Wire;
use crate::transport_suite::Subject;
use crate::{Served, WellBehaved};

pub(super) struct Live<'s> {
    subject: &'s Subject,
    pub(super) served: Served,
    well_behaved: WellBehaved,
}

impl<'s> Live<'s> {
    pub(super) fn new(subject: &'s Subject, strategy: ServerStrategy, limits: Limits) -> Self {
        let served = Served::with(Config {
            limits,
            ..subject.server_config(subject.endpoint(), strategy)
        });
        let client = subject.client_orb();
        let target = served.seen_by(&client);
        Self {
            subject,
            served,
            well_behaved: WellBehaved::start(client, &target),
        }
    }

    #[track_caller]
    pub(super) fn connect(&self) -> Wire {
        Wire::new(self.subject, &self.served.orb)
    }

    /// Requires that the well-behaved client is served, now and at the end.
    #[track_caller]
    pub(super) fn end(self) {
        self.well_behaved.end();
        self.served.end();
    }
}
