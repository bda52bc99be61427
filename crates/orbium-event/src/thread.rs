// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads of a channel.

use std::{io, thread};

use crate::config::ConnectError;

pub(crate) fn start(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), ConnectError> {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(body);
    spawned.map(drop).map_err(|error: io::Error| {
        tracing::warn!(target: "orbium::event", %error, "no thread for {name}");
        ConnectError::NoThread
    })
}
