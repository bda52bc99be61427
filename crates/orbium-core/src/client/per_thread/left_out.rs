// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections of one thread each in a program without the feature `strategies`:
//! there are none.

use std::sync::Weak;
use std::time::Instant;

use crate::ClientStrategy;
use crate::client::connection::Connection;
use crate::client::pool::Pool;

#[derive(Debug)]
pub(super) enum OwnConnections {}

impl OwnConnections {
    pub(super) fn new(_: ClientStrategy, _: &Weak<Pool>) -> Option<Self> {
        None
    }

    pub(super) fn acquire(&self) -> Option<Box<Connection>> {
        match *self {}
    }

    pub(super) fn oldest_idle(&self, _: Instant) -> Option<Instant> {
        match *self {}
    }

    pub(super) fn close_idle_since(&self, _: Instant) -> usize {
        match *self {}
    }

    pub(super) fn close_all(&self) -> usize {
        match *self {}
    }

    pub(super) fn close_oldest(&self) -> bool {
        match *self {}
    }

    pub(super) fn give_one_up(&self) -> bool {
        match *self {}
    }

    pub(super) fn release(&self, _: &Pool, _: Box<Connection>) {
        match *self {}
    }
}
