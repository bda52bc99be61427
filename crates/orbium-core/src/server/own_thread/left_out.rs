// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads of connections in a program without real time: no connection has one of
//! its own, and the marker that asks for it is passed over.

use std::io;
use std::sync::Arc;

use orbium_giop::dedication::DedicationReply;
use orbium_giop::{MessageHeader, ServiceContexts};

use crate::Orb;
use crate::server::bell::Bell;
use crate::server::intake::{Intake, Source};
use crate::server::{LaneCore, ServerConnection};

#[derive(Debug, Default)]
pub(super) struct Settled {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Due,
    Told(DedicationReply),
}

impl ServerConnection {
    pub(super) fn marker(&self, _: &Orb, _: &ServiceContexts<'_>) -> Option<Marker> {
        None
    }

    #[inline]
    pub(super) fn is_due(&self) -> bool {
        false
    }

    #[inline]
    pub(super) fn has_own_thread(&self) -> bool {
        false
    }

    pub(super) fn leave(&self, _: &Bell) {}

    pub(super) fn come_back(&self, _: &Bell) -> io::Result<()> {
        Ok(())
    }
}

impl LaneCore {
    pub(super) fn dedicate(
        &self,
        _: &Arc<ServerConnection>,
        intake: Box<Intake>,
    ) -> Result<(), Box<Intake>> {
        Err(intake)
    }
}

impl Intake {
    pub(super) fn is_marked(&mut self, _: &Source<'_>, _: &MessageHeader) -> bool {
        false
    }
}
