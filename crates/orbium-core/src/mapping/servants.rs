// SPDX-License-Identifier: MIT OR Apache-2.0
//! Skeletons, which dispatch requests to servants.

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;

use orbium_cdr::CdrReader;
use orbium_invocation::collocation::TypedServant;

use crate::unknown_operation;
use crate::{Call, DispatchError, Interface, OperationTable, Servant, UntypedReply};

/// The operations that an interface itself declares, and the table including inherited ones.
#[doc(hidden)]
pub trait Declares: Interface {
    /// Their names on the wire, in the order of their indices.
    const OPERATIONS: &'static [&'static str];

    /// The operations of the bases, and its own; `None` without operations. A constant, so that the look-up
    /// is compiled for this table.
    const TABLE: Option<&'static OperationTable>;

    /// The same table at one address, which identifies it in metrics.
    fn table() -> Option<&'static OperationTable>;
}

/// Dispatches requests to a servant of type `S`.
#[doc(hidden)]
pub trait DispatchesTo<S>: Declares {
    /// Calls the operation with that index in the table.
    ///
    /// # Errors
    /// As [`Servant::dispatch`].
    fn dispatch(
        servant: &S,
        index: usize,
        call: &Call<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError>;

    /// Calls the operation with that index among those that the interface itself declares.
    ///
    /// # Errors
    /// As [`Servant::dispatch`].
    fn dispatch_own(
        servant: &S,
        index: usize,
        call: &Call<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError>;

    /// The servant typed by an interface, its own or a base, selected by the `TypeId` of its trait
    /// object.
    fn view(servant: &S, interface: TypeId) -> Option<TypedServant<'_>>;

    /// The same for its own interface only.
    fn view_own(servant: &S, interface: TypeId) -> Option<TypedServant<'_>>;
}

/// The skeleton of interface `I` around a servant.
#[doc(hidden)]
pub struct Skeleton<I, S>(S, PhantomData<fn() -> I>);

impl<I, S> Skeleton<I, S> {
    /// Wraps a servant.
    pub const fn new(servant: S) -> Self {
        Self(servant, PhantomData)
    }
}

impl<I, S> fmt::Debug for Skeleton<I, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Skeleton")
    }
}

impl<I: DispatchesTo<S>, S: Send + Sync + 'static> Servant for Skeleton<I, S> {
    fn repository_id(&self) -> &'static str {
        I::REPOSITORY_ID
    }

    fn is_a(&self, repository_id: &str) -> bool {
        repository_id == I::REPOSITORY_ID || I::BASES.contains(&repository_id)
    }

    fn operations(&self) -> Option<&'static OperationTable> {
        I::table()
    }

    fn typed(&self, interface: TypeId) -> Option<TypedServant<'_>> {
        I::view(&self.0, interface)
    }

    fn dispatch(
        &self,
        call: &Call<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        let Some(index) = I::TABLE.and_then(|table| table.find(call.operation())) else {
            return Err(unknown_operation());
        };
        I::dispatch(&self.0, index, call, arguments, reply)
    }
}
