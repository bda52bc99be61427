// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sends the request of a call: over a line, by a blocking thread, or by one of the object's lane.

use std::sync::Arc;

use orbium_cdr::{CdrWriter, Format};
use orbium_giop::SystemException;
use orbium_invocation::{CallQueue, Expiry, QueueableCall as _, QueuedCall};

use super::super::line::{Line, Pending};
use super::super::reader::Reader;
use super::super::request::written;
use super::Call;
use orbium_client::attempt::Attempt;
use orbium_client::request_path::Choice;
use orbium_connection::outcome::Outcome;

/// A request that is ready to be sent.
struct Ready {
    line: Arc<Line>,
    id: u32,
    octets: Vec<u8>,
    pending: Pending,
}

enum Prepared {
    Request(Ready),
    /// A thread has to send it: within the process, or over the one connection of a binding.
    ByThread {
        is_local: bool,
    },
    /// A thread of the object's lane does it.
    InLane(Arc<dyn CallQueue>),
}

impl Call {
    /// Sends the request by one of the available paths.
    pub(super) fn send(
        self: &Arc<Self>,
        reader: &Arc<Reader>,
        mut attempt: Attempt<'_>,
        choice: Choice,
    ) {
        // An attempt is large: it is moved only if interceptors process the call.
        if self.slots.is_some() {
            let Some(same) = self.start_flow(reader, attempt) else {
                return;
            };
            attempt = same;
        }
        let prepared = match self.prepare(reader, &attempt, choice) {
            Ok(prepared) => prepared,
            Err(refused) => {
                let failed = Outcome::Failed(refused);
                return self.go_on_after(reader, attempt, failed, Choice::First);
            }
        };
        if self.slots.is_some() {
            let Some(same) = self.flow_is_sent(reader, attempt) else {
                return;
            };
            attempt = same;
        }
        match prepared {
            Prepared::Request(ready) => self.submit(reader, attempt, ready),
            Prepared::InLane(queue) => self.queue(attempt, &queue),
            Prepared::ByThread { is_local } => {
                {
                    let mut state = self.lock();
                    if !state.may_send() {
                        return;
                    }
                    state.attempt = Some(attempt.suspend());
                    state.is_performed = true;
                }
                self.perform_elsewhere(reader, is_local);
            }
        }
    }

    fn submit(self: &Arc<Self>, reader: &Arc<Reader>, attempt: Attempt<'_>, ready: Ready) {
        let Ready {
            line,
            id,
            octets,
            pending,
        } = ready;
        let mut suspended = Some(attempt.suspend());
        // Before it is sent: the reply may arrive at once.
        let begins = || {
            let mut state = self.lock();
            let begins = state.may_send();
            if begins {
                state.attempt = suspended.take();
                state.sent = Some((Arc::clone(&line), id));
                state.is_performed = false;
            }
            begins
        };
        if let Err(news) = line.submit(reader, id, octets, pending, begins) {
            // It ended after this call had looked it up.
            self.note_after_its_beginning(&line.notes());
            {
                let mut state = self.lock();
                if !state.may_send() {
                    return;
                }
                state.attempt = suspended;
            }
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
                let key = &way.candidate.object_key;
                let queue = || self.object.orb().call_queue(key, self.operation);
                let is_local = pool.is_none();
                return Ok(match is_local.then(queue).flatten() {
                    Some(queue) => Prepared::InLane(queue),
                    None => Prepared::ByThread { is_local },
                });
            }
        };
        let line = reader.line(&way, pool)?;
        let introduced = line.introduce(way.said);
        let id = introduced.id;
        self.note_request_id(id);
        let arguments = self.arguments.lock();
        let written = written(
            self.client().config(),
            way.candidate,
            self.operation,
            introduced,
            attempt.timing(),
            &self.added_contexts().borrowed(),
            arguments.as_deref(),
        );
        let octets = match written {
            // The server is first asked for its code sets, by a thread that blocks for the reply.
            Err(request) if request.may_be_asked => {
                return Ok(Prepared::ByThread { is_local: false });
            }
            written => written?,
        };
        Ok(Prepared::Request(Ready {
            line,
            id,
            octets,
            pending: Pending::call(Arc::clone(self) as _, way.candidate),
        }))
    }

    /// Has a thread make the call and block.
    fn perform_elsewhere(self: &Arc<Self>, reader: &Arc<Reader>, is_local: bool) {
        let call = Arc::clone(self);
        let job = move || {
            call.resume(|call, reader, attempt| call.perform(reader, attempt).deliver(call));
        };
        if let Err(exception) = reader.perform(is_local, Box::new(job)) {
            self.complete(Err(exception));
        }
    }

    /// Has a thread of the object's lane make the call.
    fn queue(self: &Arc<Self>, attempt: Attempt<'_>, queue: &Arc<dyn CallQueue>) {
        let expiry = Expiry::of_call(attempt.timing());
        {
            // Before it blocks: the reply may arrive at once.
            let mut state = self.lock();
            if !state.may_send() {
                return;
            }
            state.attempt = Some(attempt.suspend());
            state.queue = Some(Arc::clone(queue));
            state.is_performed = false;
        }
        let octets = if queue.bounds_octets() {
            self.octets()
        } else {
            0
        };
        let put = queue.put(QueuedCall {
            number: self.number,
            priority: self.priority,
            deadline: expiry.deadline().instant(),
            octets,
            call: Arc::clone(self) as _,
        });
        if let Err(exception) = put {
            Arc::clone(self).refuse(exception);
        }
    }

    /// Octets of its arguments, were they written.
    fn octets(&self) -> usize {
        let mut writer = CdrWriter::new(Format::native());
        let arguments = self.arguments.lock();
        if let Some(arguments) = &*arguments {
            arguments.write(&mut writer);
        }
        writer.len()
    }
}
