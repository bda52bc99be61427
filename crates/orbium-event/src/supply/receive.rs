// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants of pushes that read events themselves: into memory of earlier ones, or to retain them.

use std::any::TypeId;

use orbium::cdr::CdrReader;
use orbium::codegen::collocation::TypedServant;
use orbium::stub::{DispatchError, OperationTable, UntypedReply};
use orbium::{Call, Servant, SystemException};

use crate::delivery::dropped::dropped_events;

/// Receives pushed events, in place of a skeleton that would lend them to a servant.
pub trait Receive: Send + Sync + 'static {
    /// Whether it serves requests of that operation; the skeleton serves all others. Default:
    /// `push`.
    fn takes(&self, operation: &[u8]) -> bool {
        operation == b"push"
    }

    /// Reads the events, and forwards them.
    ///
    /// # Errors
    /// MARSHAL: they cannot be read; none is forwarded. Other exceptions of the push.
    fn receive(&self, events: &mut CdrReader<'_>) -> Result<(), SystemException>;

    /// As [`receive`](Self::receive), after the channel has dropped so many events since its last
    /// push, for consumers. By default the number is ignored.
    ///
    /// # Errors
    /// As `receive`.
    fn receive_after(
        &self,
        dropped: u64,
        events: &mut CdrReader<'_>,
    ) -> Result<(), SystemException> {
        let _ = dropped;
        self.receive(events)
    }
}

/// A skeleton with another way to read pushed events.
///
/// ```
/// use std::sync::Arc;
/// use orbium::cdr::{CdrReader, Decode};
/// use orbium::{Any, Servant, SystemException};
/// use orbium_event::{Receive, Receiving};
///
/// struct Log;
///
/// impl Receive for Log {
///     fn receive(&self, events: &mut CdrReader<'_>) -> Result<(), SystemException> {
///         drop(Any::decode(events)?);
///         Ok(())
///     }
/// }
///
/// fn logging(skeleton: impl Servant) -> Arc<dyn Servant> {
///     Arc::new(Receiving { skeleton, receiver: Log })
/// }
/// ```
#[derive(Debug)]
pub struct Receiving<S, R> {
    /// Serves all requests that the receiver does not.
    pub skeleton: S,
    /// Receives pushed events.
    pub receiver: R,
}

impl<S: Servant, R: Receive> Servant for Receiving<S, R> {
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
        if !self.receiver.takes(call.operation()) {
            return self.skeleton.dispatch(call, arguments, reply);
        }
        match dropped_events(call) {
            0 => self.receiver.receive(arguments)?,
            dropped => self.receiver.receive_after(dropped, arguments)?,
        }
        reply.result(|_| {})
    }
}
