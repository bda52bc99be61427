// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants of `push` that read events into memory of earlier ones.

use std::any::TypeId;

use orbium::cdr::CdrReader;
use orbium::codegen::collocation::TypedServant;
use orbium::stub::{DispatchError, OperationTable, UntypedReply};
use orbium::{Call, Servant, SystemException};

/// Takes the events of a `push`.
pub(crate) trait Receive: Send + Sync + 'static {
    /// Reads the events, and passes them on.
    ///
    /// # Errors
    /// MARSHAL: they cannot be read; none is passed on.
    fn receive(&self, events: &mut CdrReader<'_>) -> Result<(), SystemException>;
}

/// A skeleton with another way to read the events of `push`.
pub(crate) struct Receiving<S, R> {
    pub(crate) skeleton: S,
    pub(crate) receiver: R,
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
        if call.operation() != b"push" {
            return self.skeleton.dispatch(call, arguments, reply);
        }
        self.receiver.receive(arguments)?;
        reply.result(|_| {})
    }
}
