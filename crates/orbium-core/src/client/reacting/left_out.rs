// SPDX-License-Identifier: MIT OR Apache-2.0
//! Making connections in a program without the feature `strategies`: nobody serves
//! others meanwhile.

use std::io;
use std::sync::Arc;

use orbium_transport::{ByteStream, Connector, Deadline};

pub(super) fn connect(
    connector: &Arc<dyn Connector>,
    deadline: Deadline,
) -> io::Result<Box<dyn ByteStream>> {
    connector.connect(deadline)
}
