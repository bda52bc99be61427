// SPDX-License-Identifier: MIT OR Apache-2.0
//! A request that may outlive the upcall to its servant without a reply.

use std::fmt;
use std::sync::{Arc, Weak};
use std::task::Waker;

use orbium_cdr::{CdrWriter, Format};
use orbium_giop::riop::Riop;
use orbium_giop::{Completion, ExceptionKind, ResponseFlags, SystemException, Version, minor};
use orbium_invocation::raises::DispatchError;
use orbium_invocation::spans::original;
use orbium_sync::lock::{Mutex, MutexGuard};

use super::answer_path::{AnswerPath, Nowhere, Unanswered};
use super::registry::{Full, OpenRequests};
use super::urgency::Urgency;
use crate::IncomingRequest;
use crate::reply::{ReplyPath, UntypedReply};

/// The state for answering an open request. The memory of the request itself is not retained.
pub(crate) struct OpenRequest {
    progress: Mutex<Progress>,
    all: Arc<OpenRequests>,
    number: u64,
    version: Version,
    request_id: u32,
    format: Format,
    response: ResponseFlags,
    urgency: Urgency,
}

#[derive(Default)]
struct Progress {
    /// Taken by the reply, by a cancellation, or by the end of the adapter.
    way: Option<Box<dyn AnswerPath>>,
    /// The waker of the future that replies.
    waker: Option<Waker>,
}

impl OpenRequest {
    /// Opens a request of an adapter, within its limit.
    pub(super) fn open(
        incoming: &IncomingRequest<'_>,
        reply: &UntypedReply<'_>,
        adapter: usize,
    ) -> Result<Arc<Self>, DispatchError> {
        let context = incoming.context;
        let all = &context.open_requests;
        let most = context.limits().open_requests;
        let entered = all.enter(adapter, most, |number| {
            Arc::new(Self {
                progress: Mutex::default(),
                all: Arc::clone(all),
                number,
                version: reply.head.version,
                request_id: reply.head.request_id,
                format: reply.head.format,
                response: reply.head.response,
                urgency: Urgency {
                    riop: Riop::of(&incoming.contexts),
                    deadline: incoming.expiry.deadline().instant(),
                },
            })
        });
        let request = entered.map_err(|full| refused(incoming, most, &full))?;
        // Only after the limit was checked: once the deferred path is requested, a refusal here
        // would not be sent.
        let way = match reply.head.response {
            ResponseFlags::Full => reply.path.late(),
            _ => Some(Box::new(Nowhere) as Box<dyn AnswerPath>),
        };
        let Some(way) = way else {
            all.leave(request.number);
            return Err(no_way().into());
        };
        let opened: Weak<Self> = Arc::downgrade(&request);
        let mut progress = request.lock();
        progress
            .way
            .insert(way)
            .opened(reply.head.request_id, opened);
        drop(progress);
        Ok(request)
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock()
    }

    pub(super) fn urgency(&self) -> Urgency {
        self.urgency
    }

    pub(super) fn is_expected(&self) -> bool {
        self.response == ResponseFlags::Full
    }

    pub(super) fn request_id(&self) -> u32 {
        self.request_id
    }

    pub(super) fn all(&self) -> &OpenRequests {
        &self.all
    }

    /// Whether a reply would not reach a client any more.
    pub(super) fn is_cancelled(&self) -> bool {
        self.lock().way.as_ref().is_none_or(|way| way.is_dead())
    }

    /// As `is_cancelled`; otherwise `waker` is woken on cancellation.
    pub(super) fn poll_cancelled(&self, waker: &Waker) -> bool {
        let mut progress = self.lock();
        if progress.way.as_ref().is_none_or(|way| way.is_dead()) {
            return true;
        }
        match &mut progress.waker {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
        false
    }

    /// Replies, once; returns whether this was the reply. Returns the error of `give` if that
    /// fails.
    pub(super) fn answer(
        &self,
        give: impl FnOnce(&mut UntypedReply<'_>) -> Result<(), DispatchError>,
    ) -> (bool, Result<(), SystemException>) {
        let (way, waker) = {
            let mut progress = self.lock();
            (progress.way.take(), progress.waker.take())
        };
        let Some(way) = way else {
            return (false, Ok(()));
        };
        let path = LatePath {
            way: &*way,
            request_id: self.request_id,
        };
        let mut storage = Vec::new();
        let mut reply = UntypedReply::new(
            &path,
            &mut storage,
            self.version,
            self.request_id,
            self.format,
            self.response,
        );
        let given = give(&mut reply).map_err(DispatchError::exception);
        if let Err(exception) = given
            && !reply.is_answered()
            && reply.is_expected()
        {
            reply.system_exception(exception);
        }
        self.close(way);
        drop(waker);
        (true, given)
    }

    /// Ends the request: the connection may close after this, and the adapter end.
    fn close(&self, way: Box<dyn AnswerPath>) {
        way.closed(self.request_id);
        self.all.leave(self.number);
        drop(way);
    }
}

impl Unanswered for OpenRequest {
    fn end_with(&self, exception: SystemException) {
        let waker = self.lock().waker.take();
        let _ = self.answer(|_| Err(exception.into()));
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn cancel(&self) {
        let (way, waker) = {
            let mut progress = self.lock();
            (progress.way.take(), progress.waker.take())
        };
        if let Some(way) = way {
            self.close(way);
        }
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// The path of the reply to one request.
struct LatePath<'a> {
    way: &'a dyn AnswerPath,
    request_id: u32,
}

impl ReplyPath for LatePath<'_> {
    fn send(&self, message: &CdrWriter<'_>) {
        self.way.send(self.request_id, message);
    }
}

/// The exception if the adapter has reached its limit of open requests: TRANSIENT 1.
#[cold]
fn refused(incoming: &IncomingRequest<'_>, most: usize, full: &Full) -> SystemException {
    if let Some(suppressed) = full.suppressed {
        crate::log::warn!(
            target: "orbium::request",
            cause = "open_requests",
            operation = %original(incoming.operation),
            open = most,
            oldest = ?full.oldest.unwrap_or_default(),
            suppressed,
            "request refused: its adapter has as many unanswered ones as it may have",
        );
    }
    SystemException::omg(ExceptionKind::Transient, 1, Completion::No)
}

/// The exception for a request without a path for deferred replies.
#[cold]
fn no_way() -> SystemException {
    SystemException::orbium(
        ExceptionKind::Internal,
        minor::INVARIANT_BROKEN,
        Completion::No,
    )
}

impl fmt::Debug for OpenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenRequest")
            .field("request_id", &self.request_id)
            .finish_non_exhaustive()
    }
}
