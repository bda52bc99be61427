// SPDX-License-Identifier: MIT OR Apache-2.0
//! One asynchronous invocation, from its request to its reply.

mod answering;
mod telling;
mod times;

use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError};
use std::task::Waker;
use std::time::Instant;

use orbium_giop::{ReplyStatus, SystemException};
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_sys::fork::Origin;
use orbium_transport::Stamp;

use super::line::{Line, Pending};
use super::reader::Reader;
use super::readers::UnderWay;
use super::reply::Reply;
use super::request::{Arguments, written};
use crate::client::attempt::{Attempt, Choice, Suspended, may_try_others};
use crate::client::exchange::{Answer, Exchange, Outcome};
use crate::client::story::{Failure, Note, story_of};
use crate::client::timing::Timing;
use crate::log::spans::CallSpan;
use crate::{ObjectRef, Operation, Orb, Priority, priority};
use times::Due;

/// What a call comes to.
pub(super) type Answered = Result<Reply, SystemException>;

pub(super) type Handler = Box<dyn FnOnce(Answered) + Send>;

/// What becomes of a request otherwise than by an answer.
#[derive(Debug)]
pub(super) enum News {
    Outcome(Outcome),
    /// There was no connection.
    Unreachable(SystemException),
}

/// What is to happen with the answer.
enum Then {
    /// The result is awaited; the waker of the waiting task.
    Kept(Option<Waker>),
    Handled(Handler),
    /// Nothing: the handle was dropped.
    Dropped,
}

enum Slot {
    Awaited,
    /// It came, but must not be had yet.
    Early(Answered),
    There(Answered),
    Taken,
}

struct State {
    /// `None` while somebody acts on it, and at the end.
    attempt: Option<Suspended>,
    timing: Timing,
    /// Candidates that could not be reached.
    tried: usize,
    /// Where the answer is awaited.
    sent: Option<(Arc<Line>, u32)>,
    /// A thread makes it, and waits.
    is_performed: bool,
    timer: Option<(Instant, Due)>,
    slot: Slot,
    then: Then,
    /// Whether a thread waits for the end, or has done so.
    is_waited_for: bool,
    counted: Option<UnderWay>,
    /// What happened on its way.
    notes: Vec<Note>,
    /// Times that it was sent again, and forwarded.
    counts: (u32, u32),
    /// Whether the request was sent again though it may have been served.
    was_repeated: bool,
    /// Its story, if it has failed.
    failure: Option<Failure>,
    /// Until it is over.
    span: Option<CallSpan>,
}

/// What a call that is over needs no more. It is let go of without its lock: the
/// ORB may end with it.
struct Over {
    _attempt: Option<Suspended>,
    sent: Option<(Arc<Line>, u32)>,
    timer: Option<(Instant, Due)>,
    _counted: Option<UnderWay>,
    _span: Option<CallSpan>,
}

impl Over {
    fn of(state: &mut State) -> Self {
        Self {
            _attempt: state.attempt.take(),
            sent: state.sent.take(),
            timer: state.timer.take(),
            _counted: state.counted.take(),
            _span: state.span.take(),
        }
    }
}

/// A call, shared by its handle, the reader that receives its reply, and its timer.
pub(crate) struct Call {
    /// Makes timers for the same moment distinct.
    number: u64,
    object: ObjectRef,
    operation: &'static Operation,
    arguments: Mutex<Option<Box<dyn Arguments>>>,
    /// The caller's.
    priority: Option<Priority>,
    /// Whether the caller serves a request.
    is_nested: bool,
    /// When it was made.
    begun: Stamp,
    reader: OnceLock<Arc<Reader>>,
    state: Mutex<State>,
    done: Condvar,
    /// When it began, if it is measured.
    measured_since: Option<Instant>,
    begun_by: Origin,
}

/// A request that is ready to be sent.
struct Ready {
    line: Arc<Line>,
    id: u32,
    octets: Vec<u8>,
    pending: Pending,
}

enum Prepared {
    Request(Ready),
    /// A thread has to do it: within the process, or over the one connection of a
    /// binding.
    ByThread {
        is_local: bool,
    },
}

impl Call {
    /// Begins a call.
    pub(super) fn begin(
        object: &ObjectRef,
        operation: &'static Operation,
        arguments: Box<dyn Arguments>,
    ) -> Arc<Self> {
        let readers = object.orb().core().reply_readers();
        let counted = readers.count_in(object.orb());
        let refused = counted.as_ref().err().copied();
        let real_time = object.orb().real_time();
        let is_nested = real_time.is_some_and(|it| it.is_serving());
        let call = Arc::new(Self {
            number: readers.next_number(),
            object: object.clone(),
            operation,
            arguments: Mutex::new(Some(arguments)),
            priority: own_priority(object.orb(), is_nested),
            is_nested,
            begun: Stamp::now(),
            reader: OnceLock::new(),
            state: Mutex::new(State {
                attempt: None,
                timing: Timing::NEVER,
                tried: 0,
                sent: None,
                is_performed: false,
                timer: None,
                slot: Slot::Awaited,
                then: Then::Kept(None),
                is_waited_for: false,
                counted: counted.ok(),
                notes: Vec::new(),
                counts: (0, 0),
                was_repeated: false,
                failure: None,
                span: crate::log::wants_spans()
                    .then(|| CallSpan::begin(object, operation))
                    .flatten(),
            }),
            done: Condvar::new(),
            measured_since: object.orb().core().measurements().map(|_| Instant::now()),
            begun_by: Origin::here(),
        });
        let started = refused.map_or_else(|| call.start(), Err);
        if let Err(refused) = started {
            call.take_notes();
            call.complete(Err(refused));
        }
        call
    }

    fn start(self: &Arc<Self>) -> Result<(), SystemException> {
        let orb = self.orb();
        let mut attempt = Attempt::new(&self.object);
        let start = attempt.apply_policies_or_start_time()?;
        let reader = orb.core().reply_readers().reader(orb, self.priority)?;
        let _ = self.reader.set(Arc::clone(&reader));
        let timing = *attempt.timing();
        self.lock().timing = timing;
        self.with_span(|span| span.note_deadline(timing.reply.instant()));
        if let Some(start) = start {
            self.lock().attempt = Some(attempt.suspend());
            return self.arm(start, Due::Begin);
        }
        self.await_sending(&timing)?;
        self.send(&reader, attempt, Choice::First);
        Ok(())
    }

    pub(super) fn orb(&self) -> &Orb {
        self.object.orb()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records something of the call, if a subscriber wants its span.
    fn with_span(&self, record: impl FnOnce(&CallSpan)) {
        if let Some(span) = &self.lock().span {
            record(span);
        }
    }

    fn note_request_id(&self, id: u32) {
        if crate::log::wants_spans() {
            self.with_span(|span| span.note_request_id(id));
        }
    }

    /// Has the reader's threads do something that may take a while.
    fn chore(self: &Arc<Self>, job: Box<dyn FnOnce() + Send>) {
        match self.reader.get() {
            Some(reader) => reader.chore(job),
            None => job(),
        }
    }

    /// Acts on the attempt, unless the call is over, at the caller's priority.
    fn resume(self: &Arc<Self>, act: impl FnOnce(&Arc<Self>, &Arc<Reader>, Attempt<'_>)) {
        let suspended = self.lock().attempt.take();
        let _entered = self.lock().span.as_ref().map(CallSpan::enter);
        if let (Some(suspended), Some(reader)) = (suspended, self.reader.get()) {
            priority::while_at(self.priority, || {
                let act = || act(self, reader, Attempt::resume(&self.object, suspended));
                match self.orb().real_time() {
                    Some(real_time) if self.is_nested => {
                        let mut act = Some(act);
                        real_time.while_serving(&mut || {
                            if let Some(act) = act.take() {
                                act();
                            }
                        });
                    }
                    _ => act(),
                }
            });
        }
    }

    /// Sends the request, by whatever way there is.
    fn send(self: &Arc<Self>, reader: &Arc<Reader>, attempt: Attempt<'_>, choice: Choice) {
        let refused = match self.prepare(reader, &attempt, choice) {
            Ok(Prepared::Request(ready)) => return self.submit(reader, attempt, ready),
            Ok(Prepared::ByThread { is_local }) => {
                {
                    let mut state = self.lock();
                    state.attempt = Some(attempt.suspend());
                    state.is_performed = true;
                }
                return self.perform_elsewhere(reader, is_local);
            }
            Err(exception) => exception,
        };
        self.go_on_after(reader, attempt, Outcome::Failed(refused), Choice::First);
    }

    fn submit(self: &Arc<Self>, reader: &Arc<Reader>, attempt: Attempt<'_>, ready: Ready) {
        {
            // Before it is sent: the answer may be there at once.
            let mut state = self.lock();
            if !matches!(state.slot, Slot::Awaited) {
                return;
            }
            state.attempt = Some(attempt.suspend());
            state.sent = Some((Arc::clone(&ready.line), ready.id));
        }
        let submitted = ready
            .line
            .submit(reader, ready.id, ready.octets, ready.pending);
        if let Err(news) = submitted {
            // It ended after this call had found it.
            self.note_after_its_beginning(&ready.line.notes());
            self.lock().sent = None;
            self.resume(|call, reader, attempt| call.go_on(reader, attempt, news));
        }
    }

    fn prepare(
        self: &Arc<Self>,
        reader: &Arc<Reader>,
        attempt: &Attempt<'_>,
        choice: Choice,
    ) -> Result<Prepared, SystemException> {
        let way = attempt.way(choice)?;
        self.with_span(|span| {
            span.note_way(&self.object, way.candidate, attempt.is_forwarded());
            span.note_priority(self.priority);
        });
        let pool = match way.pool {
            Some(pool) if !way.own.is_some_and(|own| own.is_single()) => pool,
            pool => {
                let is_local = pool.is_none();
                return Ok(Prepared::ByThread { is_local });
            }
        };
        let orb = self.orb();
        let line = reader.line(orb, &way, pool)?;
        let (id, introduction) = line.introduce(way.said);
        self.note_request_id(id);
        let arguments = self.arguments.lock();
        let arguments = arguments.unwrap_or_else(PoisonError::into_inner);
        let written = written(
            orb.config(),
            way.candidate,
            self.operation,
            (id, introduction),
            attempt.timing(),
            arguments.as_deref(),
        );
        let octets = match written {
            // The server is asked for its code sets first, for which a thread waits.
            Err(request) if request.may_be_asked => {
                return Ok(Prepared::ByThread { is_local: false });
            }
            written => written?,
        };
        Ok(Prepared::Request(Ready {
            line,
            id,
            octets,
            pending: Pending::call(self, way.candidate),
        }))
    }

    /// Goes on after something that was no answer. On the thread that reads: this
    /// does not block.
    pub(super) fn hear(self: &Arc<Self>, news: News) {
        self.lock().sent = None;
        let last = match &news {
            News::Outcome(Outcome::Failed(exception)) => Some(*exception),
            News::Outcome(Outcome::Lost(exception)) if !self.may_repeat() => Some(*exception),
            _ => None,
        };
        if let Some(exception) = last.filter(|_| !self.may_go_on()) {
            return self.complete(Err(exception));
        }
        let call = Arc::clone(self);
        self.chore(Box::new(move || {
            call.resume(|call, reader, attempt| call.go_on(reader, attempt, news));
        }));
    }

    /// Whether a failure is not yet the end.
    pub(super) fn may_go_on(&self) -> bool {
        let state = self.lock();
        state.attempt.as_ref().is_some_and(Suspended::may_go_on)
    }

    /// Whether the request may be sent again though its connection was lost.
    fn may_repeat(&self) -> bool {
        self.operation.is_idempotent() && self.object.state().idempotent_retries() > 0
    }

    fn go_on(self: &Arc<Self>, reader: &Arc<Reader>, attempt: Attempt<'_>, news: News) {
        let tried = self.lock().tried;
        let (outcome, choice) = match news {
            News::Unreachable(exception)
                if may_try_others(exception) && tried + 1 < attempt.ways() =>
            {
                self.lock().tried += 1;
                return self.send(reader, attempt, Choice::Next);
            }
            News::Unreachable(exception) => (Outcome::Failed(exception), Choice::First),
            News::Outcome(Outcome::Readdress(wanted)) => (Outcome::Readdress(wanted), Choice::Same),
            News::Outcome(outcome) => (outcome, Choice::First),
        };
        self.go_on_after(reader, attempt, outcome, choice);
    }

    /// Goes on after an outcome without results, perhaps after a pause; what happens is
    /// noted.
    fn go_on_after(
        self: &Arc<Self>,
        reader: &Arc<Reader>,
        mut attempt: Attempt<'_>,
        outcome: Outcome,
        choice: Choice,
    ) {
        let again = attempt.go_on(self.operation, outcome);
        {
            let mut state = self.lock();
            state.counts = attempt.counts();
            state.was_repeated = attempt.was_repeated();
            state.tried = 0;
            if let Some(span) = &state.span {
                span.note_counts(state.counts.0, state.counts.1);
            }
        }
        self.take_notes();
        match again {
            Ok(None) => self.send(reader, attempt, choice),
            Ok(Some(start)) => {
                {
                    let mut state = self.lock();
                    if !matches!(state.slot, Slot::Awaited) {
                        return;
                    }
                    state.attempt = Some(attempt.suspend());
                }
                if let Err(exception) = self.arm(start, Due::Begin) {
                    self.complete(Err(exception));
                }
            }
            Err(exception) => self.complete(Err(exception)),
        }
    }

    /// Has a thread call, and wait.
    fn perform_elsewhere(self: &Arc<Self>, reader: &Arc<Reader>, is_local: bool) {
        let call = Arc::clone(self);
        let job = move || call.resume(|call, _, attempt| call.perform(attempt));
        if let Err(exception) = reader.perform(is_local, Box::new(job)) {
            self.complete(Err(exception));
        }
    }

    fn perform(self: &Arc<Self>, mut attempt: Attempt<'_>) {
        let arguments = self.arguments.lock();
        let arguments = arguments.unwrap_or_else(PoisonError::into_inner);
        let Some(arguments) = &*arguments else { return };
        let answered = loop {
            let outcome = match attempt.link() {
                Ok(link) => {
                    let timing = attempt.timing();
                    let mut exchange = Exchange::new(self.orb(), timing, false, link);
                    exchange.begin(self.operation);
                    self.note_request_id(exchange.request_id());
                    arguments.write(exchange.writer());
                    match exchange.perform() {
                        Answer::None => exchange.outcome(),
                        Answer::Results => {
                            break exchange.take_reply(ReplyStatus::NoException);
                        }
                        Answer::UserException => {
                            break exchange.take_reply(ReplyStatus::UserException);
                        }
                    }
                }
                Err(exception) => Outcome::Failed(attempt.reached_none(false, exception)),
            };
            if let Err(exception) = attempt.again(self.operation, outcome) {
                self.lock().failure = story_of(exception);
                break Err(exception);
            }
        };
        self.complete(answered);
    }
}

/// The priority of the calling thread: that which its native one means, if it was
/// given no other.
fn own_priority(orb: &Orb, is_nested: bool) -> Option<Priority> {
    match (priority::current(), orb.real_time()) {
        (None, Some(real_time)) if !is_nested => real_time.outgoing(&[]).ok().flatten(),
        (own, _) => own,
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("operation", &self.operation.name())
            .field("object", &self.object)
            .field("priority", &self.priority)
            .finish_non_exhaustive()
    }
}
