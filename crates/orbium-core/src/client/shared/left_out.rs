// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections that calls share in a program without the feature `strategies`: there
//! are none.

use std::io;
use std::sync::Arc;

use orbium_transport::{ByteStream, Connector, Deadline};

use crate::client::counts::Counts;
use crate::{Channel, ClientStrategy, Config};

#[derive(Debug)]
pub(super) enum Hub {}

type Seated = (Box<dyn ByteStream>, (u32, u32));

impl Hub {
    pub(super) fn new(
        _: ClientStrategy,
        connector: Box<dyn Connector>,
        _: &Channel,
        _: &Config,
        _: &Arc<Counts>,
    ) -> Result<Self, Box<dyn Connector>> {
        Err(connector)
    }

    pub(super) fn seat(&self, _: Deadline) -> io::Result<Seated> {
        match *self {}
    }

    pub(super) fn close(&self) {
        match *self {}
    }

    pub(super) fn is_open(&self) -> bool {
        match *self {}
    }
}
