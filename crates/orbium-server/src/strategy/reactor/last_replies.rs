// SPDX-License-Identifier: MIT OR Apache-2.0
//! The last replies of a reactor: what is kept for clients is sent to all of them at once, within
//! one time limit.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use orbium_sys::{Interest, Poller};
use orbium_transport::Deadline;

use crate::connections::connection::ServerConnection;

/// A client that something is kept for, and what shows that it takes more, if that is not the
/// source of its stream.
struct Keeping<'c> {
    connection: &'c ServerConnection,
    sending: Option<Arc<OwnedFd>>,
}

impl<'c> Keeping<'c> {
    fn new(connection: &'c ServerConnection) -> Self {
        let sending = connection.stream.sending_source();
        Self {
            connection,
            sending,
        }
    }

    fn source(&self) -> &dyn AsFd {
        match &self.sending {
            Some(sending) => sending,
            None => self.connection.stream.source(),
        }
    }
}

/// Sends what is kept for clients that no reactor serves any more, as far as they read it until the
/// deadline.
///
/// # Errors
/// The system's: there are no descriptors left.
pub(super) fn send_last_replies<'c>(
    connections: impl Iterator<Item = &'c ServerConnection>,
    deadline: Deadline,
) -> io::Result<()> {
    let keeping = connections.filter(|it| it.has_pending());
    let keeping: Vec<_> = keeping.map(Keeping::new).collect();
    if keeping.is_empty() {
        return Ok(());
    }
    let poller = Poller::new()?;
    for (client, place) in keeping.iter().zip(0..) {
        poller.add(client.source(), place, Interest::Write)?;
    }
    let (mut left, mut ready) = (keeping.len(), Vec::new());
    while left > 0
        && let Ok(time) = deadline.remaining()
    {
        poller.wait(&mut ready, time)?;
        for one in &ready {
            let client = &keeping[one.token as usize];
            if !client.connection.send_kept() {
                poller.remove(client.source(), one.token)?;
                left -= 1;
            }
        }
    }
    Ok(())
}
