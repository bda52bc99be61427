// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections that ask their server for something in a program without real time:
//! there are none.

use orbium_giop::dedication::{DedicationReply, DedicationRequest};

use crate::Channel;

#[derive(Debug)]
pub(crate) enum Own {}

impl Own {
    pub(crate) fn asks(&self) -> Option<DedicationRequest> {
        match *self {}
    }

    pub(crate) fn is_once(&self) -> bool {
        match *self {}
    }

    pub(crate) fn may_lead_to(&self, _: Option<&Channel>) -> bool {
        match *self {}
    }

    pub(crate) fn leads_to(&self, _: Option<&Channel>) {
        match *self {}
    }

    pub(crate) fn note(&self, _: DedicationReply) {
        match *self {}
    }
}
