// SPDX-License-Identifier: MIT OR Apache-2.0
//! Type and source of COS suppliers' events in the real-time event channel.

use std::sync::Arc;

use orbium::{Any, Call, SystemException};

use crate::channel::Channel;
use crate::event::new_event;
use crate::peer::{Connection, Peer};
use crate::proxies::deactivation;
use crate::rtec::rtec_event_comm::Event;
use crate::supply::publication::Publication;
use crate::supply::publisher::Publisher;

/// The type and source of events from COS suppliers for consumers of the real-time event channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CosHeader {
    /// The type.
    pub r#type: i32,
    /// The source.
    pub source: i32,
}

impl CosHeader {
    /// Connects a supplier with a publication of this header; the object of the call is deactivated
    /// with its connection.
    pub(super) fn connect(
        self,
        channel: &Channel,
        call: &Call<'_>,
        peer: Arc<dyn Peer>,
    ) -> Result<Publisher, SystemException> {
        let connection = Connection {
            peer,
            is_gateway: false,
            on_end: deactivation(call),
        };
        let published = vec![Publication::of(self.r#type, self.source)];
        Ok(channel.connect_publisher(published, connection)?)
    }

    /// An event with this header that carries the any of a supplier.
    pub(super) fn event(self, any: Any) -> Event {
        let mut event = new_event(self.r#type, self.source);
        event.data.any_value = any;
        event
    }
}
