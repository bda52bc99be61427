// SPDX-License-Identifier: MIT OR Apache-2.0
//! Receiver of pushed events: they are read into the channel, not copied into it.

use orbium::cdr::{CdrReader, Decode};
use orbium::{Any, ExceptionKind, SystemException};
use orbium_event::Receive;

use super::Consumed;
use crate::event::Body;
use crate::idl::cos_notification::StructuredEvent;

/// Receives the events that a supplier pushes to a proxy.
pub(in crate::servants) struct Pushed {
    pub(in crate::servants) consumed: Consumed,
    pub(in crate::servants) form: Form,
}

/// The form of pushed events.
#[derive(Clone, Copy)]
pub(in crate::servants) enum Form {
    Any,
    Structured,
    Sequence,
}

impl Form {
    fn operation(self) -> &'static [u8] {
        match self {
            Self::Any => b"push",
            Self::Structured => b"push_structured_event",
            Self::Sequence => b"push_structured_events",
        }
    }

    /// Reads the events, and publishes them.
    fn receive(
        self,
        consumed: &Consumed,
        arguments: &mut CdrReader<'_>,
    ) -> Result<(), SystemException> {
        match self {
            Self::Any => publish(consumed, Body::Any(Any::decode(arguments)?)),
            Self::Structured => {
                let event = StructuredEvent::decode(arguments)?;
                publish(consumed, Body::Structured(event))
            }
            Self::Sequence => {
                let events = Vec::<StructuredEvent>::decode(arguments)?;
                let mut events = events.into_iter().map(Body::Structured);
                events.try_for_each(|it| publish(consumed, it))
            }
        }
    }
}

fn publish(consumed: &Consumed, body: Body) -> Result<(), SystemException> {
    if consumed.publish(|| body)? {
        Ok(())
    } else {
        // The supplier was disconnected while its event was being read.
        Err(ExceptionKind::ObjectNotExist.into())
    }
}

impl Receive for Pushed {
    fn takes(&self, operation: &[u8]) -> bool {
        // Without a connection the skeleton raises Disconnected.
        operation == self.form.operation() && self.consumed.is_connected()
    }

    fn receive(&self, events: &mut CdrReader<'_>) -> Result<(), SystemException> {
        self.form.receive(&self.consumed, events)
    }
}
