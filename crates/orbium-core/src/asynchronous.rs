// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asynchronous invocations, with the feature `ami`.

mod answered;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use orbium_ami::ReplyReaders;
use orbium_cdr::{CdrError, CdrReader, CdrWriter};
use orbium_invocation::Properties;
use orbium_invocation::collocation::Passing;

#[doc(hidden)]
pub use answered::AnsweredInPlace;
#[doc(hidden)]
pub use orbium_ami::ReadyQueue;
pub use orbium_ami::{Asynchronous, Pollable, PollableError, PollableId, PollableSet, Poller};

use crate::client::{Detour, Reference, ServedCall, TypedOutcome};
use crate::orb::state::EndsWithOrb;
use crate::raises::Raises;
use crate::reference::in_place_call::{InPlaceCall, TypedCall};
use crate::reference::intercepted::serve_detoured;
use crate::{Call, ObjectRef, Operation, Orb, SystemException};

impl ObjectRef {
    /// Begins a call of an operation. Every failure, including that of sending, is reported by its
    /// result.
    ///
    /// The request is sent at once, from this thread, unless the connection has to be opened first
    /// or its peer receives slowly. `write` may run several times, also on other threads: after the
    /// server has closed the connection before the request began, or has forwarded it.
    pub fn call_async<A: Send + 'static, T, E: Raises>(
        &self,
        operation: &'static Operation,
        arguments: A,
        write: for<'a> fn(&'a A, &mut CdrWriter<'a>),
        results: fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Asynchronous<T, E> {
        let object: Arc<Reference> = Arc::clone(&self.0) as _;
        let readers = reply_readers(self.orb());
        orbium_ami::call_async(readers, object, operation, arguments, write, results)
    }

    /// As [`call_async`](Self::call_async), with the properties of a context after the arguments.
    #[doc(hidden)]
    pub fn call_async_in_context<A: Send + 'static, T, E: Raises>(
        &self,
        operation: &'static Operation,
        arguments: A,
        write: for<'a> fn(&'a A, &mut CdrWriter<'a>),
        properties: Result<Properties, SystemException>,
        results: fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Asynchronous<T, E> {
        let object: Arc<Reference> = Arc::clone(&self.0) as _;
        let (readers, arguments) = (reply_readers(self.orb()), (arguments, write));
        orbium_ami::call_async_in_context(
            readers, object, operation, arguments, properties, results,
        )
    }

    /// Counts and logs a reply that this object, its handler, has refused.
    #[doc(hidden)]
    pub fn note_undelivered_reply(&self, operation: &str, exception: SystemException) {
        reply_readers(self.orb()).note_undelivered(operation, exception);
    }

    /// As [`call_async`](Self::call_async); if the servant is in the same ORB and implements `S`, a
    /// thread of the ORB calls it by `in_place`.
    #[doc(hidden)]
    pub fn call_async_or_serve<S, A, T, E>(
        &self,
        operation: &'static Operation,
        arguments: A,
        write: for<'a> fn(&'a A, &mut CdrWriter<'a>),
        results: fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
        in_place: InPlace<S, A, T, E>,
    ) -> Asynchronous<T, E>
    where
        S: ?Sized + Sync + 'static,
        A: Send + Sync + 'static,
        T: Send + 'static,
        E: Raises + Send + 'static,
    {
        if !self.target().may_be_collocated() {
            return self.call_async(operation, arguments, write, results);
        }
        let object: Arc<Reference> = Arc::clone(&self.0) as _;
        let serve = move |arguments: &A, object: &Reference, detour: &Detour| {
            in_place.serve(operation, (arguments, write), object, detour, results)
        };
        let readers = reply_readers(self.orb());
        let arguments = (arguments, write);
        orbium_ami::call_async_or_serve(readers, object, operation, arguments, results, serve)
    }
}

/// Collocated service of the asynchronous calls of an operation: the servant borrows the arguments
/// that the call owns.
#[doc(hidden)]
pub struct InPlace<S: ?Sized, A, T, E> {
    /// The passing of the arguments to the servant.
    pub passing: Passing,
    /// Whether the result can be moved unchecked.
    pub is_plain: bool,
    /// Marshals the arguments that are not plain.
    pub copies: for<'a> fn(&'a A, &mut CdrWriter<'a>),
    /// Marshals a result.
    pub write: for<'v> fn(&'v T, &mut CdrWriter<'v>),
    /// Calls the servant; the reader contains the arguments that are passed as copies.
    pub serve: fn(&A, &S, &Call<'_>, Option<&mut CdrReader<'_>>) -> Result<T, E>,
}

impl<S: ?Sized + Sync + 'static, A: Sync, T: Send, E: Raises + Send> InPlace<S, A, T, E> {
    /// `None`, without any effect, if the call needs a message.
    fn serve<'a>(
        &self,
        operation: &'static Operation,
        (arguments, write): (&'a A, for<'v> fn(&'v A, &mut CdrWriter<'v>)),
        object: &Reference,
        detour: &Detour,
        read: fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Option<ServedCall<T, E>> {
        let orb = Orb::from_owner(&object.client().decoding().owner)?;
        let outcome = TypedOutcome::new();
        let all = |writer: &mut CdrWriter<'a>| write(arguments, writer);
        let copies = |writer: &mut CdrWriter<'a>| (self.copies)(arguments, writer);
        let serve = |servant: &S, call: &Call<'_>, copies: Option<&mut CdrReader<'_>>| {
            (self.serve)(arguments, servant, call, copies)
        };
        let call = TypedCall {
            operation,
            passing: self.passing,
            is_plain: self.is_plain,
            arguments: &all,
            copies: &copies,
            write: self.write,
            read: &read,
            serve: &serve,
        };
        let kept_call = call.keeping(&outcome);
        let call = InPlaceCall {
            lends: false,
            ..kept_call.in_place::<S>()
        };
        let served = serve_detoured((object, &orb), detour, &call)?;
        Some(ServedCall {
            outcome: served.outcome.map(|served| outcome.ended(served)),
            contexts: served.contexts,
        })
    }
}

impl<S: ?Sized, A, T, E> fmt::Debug for InPlace<S, A, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InPlace")
    }
}

impl Orb {
    /// Number of replies of asynchronous calls that their reply handler objects have refused: each
    /// is logged.
    pub fn undelivered_replies(&self) -> u64 {
        reply_readers(self).undelivered()
    }
}

/// The readers of an ORB, created by its first asynchronous call.
fn reply_readers(orb: &Orb) -> &ReplyReaders {
    let slot = &orb.core().reply_readers;
    let readers: &dyn Any = &**slot.get_or_init(|| Box::new(ReplyReaders::default()));
    match readers.downcast_ref() {
        Some(readers) => readers,
        None => unreachable!("nothing else sets the slot"),
    }
}

impl EndsWithOrb for ReplyReaders {
    fn end(&self) {
        self.close();
    }
}
