// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants and their requests: what the ORB calls, and what a call provides.

mod reply;

use std::fmt;
use std::time::Instant;

use orbium_cdr::{ByteOrder, CdrReader, CdrWriter, Encode, Format};
use orbium_giop::{
    Completion, ReplyStatus, ResponseFlags, ServiceContexts, SystemException, SystemExceptionBody,
    Version, begin_reply, finish_message,
};
use orbium_transport::Peer;

use crate::adapter::{ActiveObject, Incoming};
use crate::lane::Decided;
use crate::raises::{DispatchError, Raised, Raises, server_fault};
use crate::reference::Interface;
use crate::server::ServerConnection;
use crate::{Lane, ObjectRef, OperationTable, Orb, Poa, Priority, priority};

pub use reply::{Reply, Sent};

/// A servant as the ORB sees it: generated skeletons implement this around the
/// user's implementation of an interface's servant trait.
pub trait Servant: Send + Sync + 'static {
    /// Repository id of the most derived interface.
    fn repository_id(&self) -> &'static str;

    /// Whether the servant implements that interface: its own or a base.
    /// `CORBA::Object` is answered by the ORB.
    fn is_a(&self, repository_id: &str) -> bool;

    /// The operations that [`dispatch`](Self::dispatch) knows. Metrics name these
    /// and no others: a peer must not be able to invent series. Default: none.
    fn operations(&self) -> Option<&'static OperationTable> {
        None
    }

    /// Runs an operation: reads the arguments, calls the implementation, and
    /// answers through `reply`.
    ///
    /// # Errors
    /// A [`DispatchError`] that the ORB answers with.
    fn dispatch<'a>(
        &'a self,
        call: &'a Call<'a>,
        arguments: &mut CdrReader<'a>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError>;
}

/// An interface that a servant of type `S` can implement.
pub trait ServedBy<S>: Interface {
    /// The skeleton around `S`.
    type Skeleton: Servant;
    /// Wraps a servant.
    fn skeleton(servant: S) -> Self::Skeleton;
}

/// A request, as the servant may look at it.
#[derive(Clone, Copy)]
pub struct Call<'r> {
    pub(crate) incoming: &'r Incoming<'r>,
    pub(crate) object: &'r ActiveObject,
}

impl<'r> Call<'r> {
    /// Name of the operation on the wire.
    #[must_use]
    #[inline]
    pub fn operation(&self) -> &'r [u8] {
        self.incoming.operation
    }

    /// Id of the object called.
    #[must_use]
    pub fn object_id(&self) -> &'r [u8] {
        &self.object.id
    }

    /// The CORBA priority that the request is served at; `None` if it has none.
    #[must_use]
    #[inline]
    pub fn priority(&self) -> Option<Priority> {
        priority::current()
    }

    /// The priority that the object itself was given.
    #[must_use]
    pub fn object_priority(&self) -> Option<Priority> {
        self.object.priority
    }

    /// The adapter that the object is active in.
    #[must_use]
    pub fn poa(&self) -> Poa {
        self.object.poa()
    }

    /// The ORB that serves the request.
    #[must_use]
    pub fn orb(&self) -> &'r Orb {
        self.incoming.orb
    }

    /// The client; `None` for a call within the process.
    #[must_use]
    #[inline]
    pub fn peer(&self) -> Option<&'r Peer> {
        self.incoming.peer.map(ServerConnection::peer)
    }

    /// The service contexts of the request.
    #[must_use]
    pub fn service_contexts(&self) -> ServiceContexts<'r> {
        self.incoming.contexts
    }

    /// Until when the client waits for the reply, or considers the request worth
    /// executing if it is a oneway; `None` if it has not said. Long-running servants
    /// may check it, and pass it on to the calls they make.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.incoming.expiry.deadline().instant()
    }

    /// Whether the caller waits for an answer.
    #[must_use]
    pub fn response_expected(&self) -> bool {
        self.incoming.response.expects_reply()
    }

    /// A reference to the object called.
    ///
    /// # Errors
    /// The ORB cannot listen.
    pub fn this<I: Interface>(&self) -> Result<I, SystemException> {
        self.object.reference().map(I::from_object)
    }
}

impl fmt::Debug for Call<'_> {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("operation", &String::from_utf8_lossy(self.operation()))
            .field("object_id", &self.object.id)
            .field("peer", &self.peer())
            .finish_non_exhaustive()
    }
}

/// Where a finished reply goes.
pub(crate) trait ReplyPath {
    /// Sends the message in the writer. It does not report a failed connection: the
    /// servant has done its work.
    fn send(&self, message: &CdrWriter<'_>);

    /// When the request had arrived, if it waited and is measured.
    fn arrived(&self) -> Option<Instant> {
        None
    }

    /// The connection was given a thread of its own.
    fn dedicated(&self) {}

    /// Has another lane serve the request and answer it, as was decided; whether
    /// it will.
    fn move_to(&self, _: &Lane, _: Decided) -> bool {
        false
    }
}

/// The answer to a request, with the results that a skeleton writes: given once, or not
/// at all for a oneway.
pub struct UntypedReply<'r> {
    pub(crate) path: &'r dyn ReplyPath,
    pub(crate) storage: &'r mut Vec<u8>,
    pub(crate) version: Version,
    pub(crate) request_id: u32,
    pub(crate) format: Format,
    pub(crate) response: ResponseFlags,
    pub(crate) answered: bool,
    /// The answer is a user exception.
    pub(crate) raised: bool,
    /// Another lane has the request.
    pub(crate) moved: bool,
    /// The answer sends the client elsewhere.
    pub(crate) forwarded: bool,
}

impl fmt::Debug for UntypedReply<'_> {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UntypedReply")
            .field("request_id", &self.request_id)
            .field("answered", &self.answered)
            .finish_non_exhaustive()
    }
}

impl<'r> UntypedReply<'r> {
    /// The answer to that request, not given yet.
    #[inline(always)]
    pub(crate) fn new(
        path: &'r dyn ReplyPath,
        storage: &'r mut Vec<u8>,
        version: Version,
        request_id: u32,
        format: Format,
        response: ResponseFlags,
    ) -> Self {
        Self {
            path,
            storage,
            version,
            request_id,
            format,
            response,
            answered: false,
            raised: false,
            moved: false,
            forwarded: false,
        }
    }
}

impl UntypedReply<'_> {
    /// Answers with results: `write` writes the return value, then the inout
    /// and out arguments. The answer is sent before this returns, so what it
    /// borrows may be local.
    ///
    /// # Errors
    /// A result cannot be written: a bound exceeded, a character that the code
    /// set lacks.
    #[inline]
    pub fn result<'v>(
        &mut self,
        write: impl FnOnce(&mut CdrWriter<'v>),
    ) -> Result<(), DispatchError> {
        orbium_trace::probe!(Upcall);
        if self.response != ResponseFlags::Full {
            self.answered = true;
            return Ok(());
        }
        self.answer(ReplyStatus::NoException, write)
    }

    /// Answers with an exception.
    ///
    /// # Errors
    /// A member of the exception cannot be written.
    #[cold]
    pub fn raise(&mut self, error: &impl Raises) -> Result<(), DispatchError> {
        self.raised = true;
        if crate::log::wants_spans()
            && let Raised::User(id, _) = error.raised()
        {
            crate::log::spans::note_user_exception(id);
        }
        if self.response != ResponseFlags::Full {
            self.answered = true;
            return Ok(());
        }
        match error.raised() {
            Raised::System(exception) => Err(exception.into()),
            Raised::User(id, members) => self.say(ReplyStatus::UserException, &mut |writer| {
                writer.write_name(id);
                members.encode(writer);
            }),
        }
    }

    /// Answers with a system exception; always possible.
    pub(crate) fn system_exception(&mut self, exception: SystemException) {
        // Fails never: an id, two numbers.
        let _ = self.say(ReplyStatus::SystemException, &mut |writer| {
            SystemExceptionBody::from(exception).write(writer);
        });
    }

    /// Sends the client elsewhere: LOCATION_FORWARD to that reference, which every
    /// version of GIOP has. For a twoway that was not begun.
    #[cold]
    pub(crate) fn forward(&mut self, to: &ObjectRef) -> Result<(), DispatchError> {
        let ior = to.ior();
        self.forwarded = true;
        self.say(ReplyStatus::LocationForward, &mut |writer| {
            ior.encode(writer);
        })
    }

    /// [`UntypedReply::result`] for what is rare: it is there once, whatever is written.
    #[cold]
    pub(crate) fn say_result<'v>(
        &mut self,
        write: &mut dyn FnMut(&mut CdrWriter<'v>),
    ) -> Result<(), DispatchError> {
        self.result(write)
    }

    /// The same with a status.
    #[cold]
    pub(crate) fn say<'v>(
        &mut self,
        status: ReplyStatus,
        write: &mut dyn FnMut(&mut CdrWriter<'v>),
    ) -> Result<(), DispatchError> {
        self.answer(status, write)
    }

    /// Says that the request has arrived, before the servant begins: this does not wait for
    /// replies behind it.
    #[cold]
    #[inline(never)]
    pub(crate) fn confirm(&mut self, peer: Option<&ServerConnection>) -> Result<(), DispatchError> {
        self.say(ReplyStatus::NoException, &mut |_| {})?;
        if let Some(peer) = peer {
            peer.send_collected();
        }
        Ok(())
    }

    #[inline(never)]
    pub(crate) fn answer<'v>(
        &mut self,
        status: ReplyStatus,
        write: impl FnOnce(&mut CdrWriter<'v>),
    ) -> Result<(), DispatchError> {
        let format = self.format.with_order(ByteOrder::NATIVE);
        let mut writer = CdrWriter::reuse(std::mem::take(self.storage), format);
        let start = begin_reply(&mut writer, self.version, self.request_id, status, &[]);
        orbium_trace::probe!(MessagingSend);
        write(&mut writer);
        orbium_trace::probe!(Marshal);
        finish_message(&mut writer, start);
        if let Some(error) = writer.error() {
            *self.storage = writer.into_storage();
            return Err(server_fault(error, Completion::Yes).into());
        }
        orbium_trace::probe!(MessagingSend);
        self.path.send(&writer);
        orbium_trace::probe!(TransportSend);
        self.answered = true;
        *self.storage = writer.into_storage();
        Ok(())
    }
}
