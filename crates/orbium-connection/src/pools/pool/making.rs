// SPDX-License-Identifier: MIT OR Apache-2.0
//! Opening the connections of a pool.

use orbium_giop::SystemException;
use orbium_invocation::story;
use orbium_transport::Deadline;

use super::{Pool, Source};
use crate::connection::Connection;
use crate::connection::connecting::refused;
use crate::connection::reacting;
use crate::counts::Counted;

impl Pool {
    /// A new connection, or a call slot of the multiplexed one.
    pub(super) fn connect(&self, deadline: Deadline) -> Result<Box<Connection>, SystemException> {
        let limit = Deadline::after(Some(self.config.connect_timeout.0));
        let earliest = deadline.earlier(limit);
        let negotiated = self.key.negotiated;
        let begun = story::start_connecting();
        let made = match &self.source {
            Source::Exclusive(connector) => {
                let made = if self.reacts {
                    reacting::connect(connector, earliest)
                } else {
                    connector.connect(earliest)
                };
                made.map(|stream| {
                    let counted = Counted::new(&self.counts, &self.key.channel);
                    counted.note_in_force(self.key.partition.to_string());
                    let stream = counted.metered(stream);
                    let made = Connection::new(stream, &self.config, negotiated, Some(counted));
                    let made = made.with_headers(self.headers).numbering(self.headers);
                    if self.reacts { made.reacting() } else { made }
                })
            }
            Source::Shared(multiplexer) => multiplexer.call_slot(earliest).map(|(slot, stream)| {
                let made = Connection::new(stream, &self.config, negotiated, None);
                made.with_headers(self.headers).over(slot)
            }),
        };
        match made {
            Ok(connection) => {
                story::note_connecting(&self.key.channel, begun, None);
                Ok(Box::new(connection))
            }
            Err(error) => {
                orbium_trace::log::debug!(target: "orbium::conn", channel = %self.key.channel, %error, "cannot connect");
                story::note_connecting(&self.key.channel, begun, Some(&error));
                Err(refused(&error, deadline, &self.key.channel, &self.counts))
            }
        }
    }
}
