// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waiting for a reply in a program without the feature `strategies`: nobody serves
//! others meanwhile.

use std::io;
use std::os::fd::AsFd;
use std::rc::Rc;

use orbium_sync::ThreadCache;
use orbium_sys::{Interest, wait_for};
use orbium_transport::Deadline;

use super::Held;
use crate::server::ServerConnection;

pub(super) struct Own;

impl Own {
    pub(super) fn new(_: &Rc<Held>) -> Self {
        Self
    }
}

#[derive(Default)]
pub(super) struct Waits {}

impl Waits {
    pub(super) fn may_keep(&self, _: &ServerConnection) -> bool {
        false
    }

    pub(super) fn has_kept(&self) -> bool {
        false
    }

    pub(super) fn let_go(&self) {}
}

pub(crate) fn is_within_a_wait() -> bool {
    false
}

pub(crate) fn keeps_reactor() -> Option<ThreadCache> {
    None
}

pub(crate) fn wait_meanwhile(
    source: &dyn AsFd,
    interest: Interest,
    deadline: Deadline,
) -> io::Result<()> {
    while wait_for([(source, interest)], deadline.remaining()?)? != [true] {}
    Ok(())
}
