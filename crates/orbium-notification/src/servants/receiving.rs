// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants that own the events of a push: they are read into the channel, not copied into it.

use std::any::TypeId;

use orbium::cdr::{CdrReader, Decode};
use orbium::codegen::collocation::TypedServant;
use orbium::stub::{DispatchError, OperationTable, UntypedReply};
use orbium::{Any, Call, ExceptionKind, Servant, SystemException};

use super::proxy_consumers::Consumed;
use crate::event::Body;
use crate::idl::cos_notification::StructuredEvent;

/// A skeleton with another way to read what a supplier pushes.
pub(super) struct Receiving<S> {
    pub(super) skeleton: S,
    pub(super) consumed: Consumed,
    pub(super) form: Form,
}

/// What a supplier pushes.
#[derive(Clone, Copy)]
pub(super) enum Form {
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
    match consumed.publish(|| body)? {
        true => Ok(()),
        // The supplier was disconnected while its event was read.
        false => Err(ExceptionKind::ObjectNotExist.into()),
    }
}

impl<S: Servant> Servant for Receiving<S> {
    fn repository_id(&self) -> &'static str {
        self.skeleton.repository_id()
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.skeleton.is_a(repository_id)
    }

    fn operations(&self) -> Option<&'static OperationTable> {
        self.skeleton.operations()
    }

    fn typed(&self, interface: TypeId) -> Option<TypedServant<'_>> {
        self.skeleton.typed(interface)
    }

    fn dispatch(
        &self,
        call: &Call<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        let is_push = call.operation() == self.form.operation();
        // The skeleton raises Disconnected.
        if !is_push || !self.consumed.is_connected() {
            return self.skeleton.dispatch(call, arguments, reply);
        }
        self.form.receive(&self.consumed, arguments)?;
        reply.result(|_| {})
    }
}
