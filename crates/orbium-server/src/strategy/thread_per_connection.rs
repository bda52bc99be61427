// SPDX-License-Identifier: MIT OR Apache-2.0
//! A thread per connection: it reads, and runs the servants itself.

use std::io;
use std::sync::Arc;

use orbium_channel::accepting::Accepting;
use orbium_giop::{GiopRequests, NumberedRequests, RequestForm, ShortRequests, UsualForm};
use orbium_sys::{Poller, Waker};
use orbium_transport::ByteStream;

use crate::LaneCore;
use crate::connections::connection::ServerConnection;
use crate::connections::ending::{Left, refuse_remaining};
use crate::connections::receiving::{self, Receiving};
use crate::intake::{HandOver, Intake, Source};
use crate::lane::nested_calls::Refusing;
use crate::message_outcome::Outcome;
use orbium_request::Dispatcher;

/// Starts the thread that accepts.
pub(crate) fn start(
    shared: &Arc<LaneCore>,
    accepting: Accepting,
    waker: Arc<Waker>,
) -> io::Result<()> {
    let poller = Poller::new()?;
    accepting.register(&poller, &waker)?;
    let serving = Serving {
        shared: Arc::clone(shared),
    };
    shared.threads.run(move || {
        let is_stopping = || serving.shared.is_stopping();
        let take_on = |stream, at| serving.take_on(stream, at);
        let make_room = || serving.shared.end_emptiest(|it| serving.end(it));
        accepting.run(&poller, &waker, &is_stopping, &take_on, &make_room);
    })
}

/// The state of a serving thread. It does not keep the ORB alive.
#[derive(Clone)]
struct Serving {
    shared: Arc<LaneCore>,
}

impl Serving {
    fn take_on(&self, stream: Box<dyn ByteStream>, at: usize) {
        let context = &self.shared.host.context;
        let limits = context.limits();
        let receive = receiving::first_bound(limits);
        let timeouts = stream.set_timeouts(Some(Some(receive)), Some(Some(limits.send_time)));
        if timeouts.is_err() {
            return;
        }
        let registered = self.shared.register(stream, at, None, |it| self.end(it));
        let Some(connection) = registered else {
            return;
        };
        let intake = connection.new_intake(context);
        if self.read_elsewhere(&connection, intake).is_err() {
            self.shared.forget(&connection);
        }
    }

    /// Closes a connection for another: the thread that reads it closes it.
    fn end(&self, connection: &ServerConnection) -> bool {
        connection.stop_receiving();
        self.shared.forget(connection);
        true
    }

    fn read_elsewhere(&self, connection: &Arc<ServerConnection>, intake: Intake) -> io::Result<()> {
        let (serving, connection) = (self.clone(), Arc::clone(connection));
        let spawned = self
            .shared
            .threads
            .run(move || serving.read(&connection, intake));
        spawned.inspect_err(|error| {
            crate::log::warn!(target: "orbium::conn", %error, "no thread for a connection");
        })
    }

    /// Reads a connection to its end, or until another thread reads it.
    fn read(&self, connection: &Arc<ServerConnection>, mut intake: Intake) {
        let Some(dispatcher) = self.shared.host.dispatcher() else {
            return;
        };
        if connection.is_due() {
            match self.shared.dedicate(connection, Box::new(intake)) {
                Ok(()) => return,
                Err(back) => intake = *back,
            }
        }
        let mut goes_on = true;
        if self.is_to_refuse(connection) {
            match self.refuse(&*dispatcher, connection, intake) {
                Some(refused) => (intake, goes_on) = refused,
                None => return,
            }
        }
        if goes_on {
            match self.serve(&*dispatcher, connection, intake) {
                Some(last) => intake = last,
                None => return,
            }
        }
        connection.end();
        if self.shared.is_stopping() && connection.is_shared() && !connection.is_broken() {
            refuse_remaining(Left {
                lane: Arc::clone(&self.shared),
                dispatcher,
                connections: vec![(Arc::clone(connection), Box::new(intake))],
            });
        }
        self.shared.forget(connection);
    }

    /// Whether as many threads as may wait in nested calls, and one of them has a request of this
    /// connection: others have a thread for one request each.
    fn is_to_refuse(&self, connection: &ServerConnection) -> bool {
        self.shared.nested.is_full() && connection.is_shared()
    }

    /// Refuses requests until a thread returns from its call, or the connection is to end, and says
    /// whether it goes on; `None` if another thread reads it.
    #[cold]
    fn refuse(
        &self,
        dispatcher: &dyn Dispatcher,
        connection: &Arc<ServerConnection>,
        mut intake: Intake,
    ) -> Option<(Intake, bool)> {
        let mut receiving = Receiving::new(connection, dispatcher.context().limits());
        let source = Source::new(dispatcher, connection, self);
        while self.is_to_refuse(connection) {
            match intake.take_for(&source, &Refusing(&self.shared.pool)) {
                Outcome::Incomplete => {
                    let late = receiving.is_late(&intake) || intake.is_assembly_late();
                    if late || self.shared.is_stopping() || !receiving.receive(&mut intake) {
                        return Some((intake, false));
                    }
                }
                Outcome::Close => return Some((intake, false)),
                Outcome::ThreadGranted | Outcome::Dedicated => {
                    match self.shared.dedicate(connection, Box::new(intake)) {
                        Ok(()) => return None,
                        Err(back) => intake = *back,
                    }
                }
                _ => receiving.message_ends(),
            }
        }
        Some((intake, true))
    }

    /// Serves messages until the connection has to be closed; `None` if another thread reads it.
    fn serve(
        &self,
        dispatcher: &dyn Dispatcher,
        connection: &Arc<ServerConnection>,
        intake: Intake,
    ) -> Option<Intake> {
        let form = intake.giop.usual_form();
        let intake = Box::new(intake);
        match form {
            UsualForm::Giop => self.serve_most::<GiopRequests>(dispatcher, connection, intake),
            UsualForm::Short => {
                self.serve_most::<ShortRequests<false>>(dispatcher, connection, intake)
            }
            UsualForm::Native => {
                self.serve_most::<ShortRequests<true>>(dispatcher, connection, intake)
            }
            UsualForm::Numbered => {
                self.serve_most::<NumberedRequests>(dispatcher, connection, intake)
            }
        }
    }

    /// As `serve`, for connections with mostly requests of that form.
    fn serve_most<F: RequestForm>(
        &self,
        dispatcher: &dyn Dispatcher,
        connection: &Arc<ServerConnection>,
        intake: Box<Intake>,
    ) -> Option<Intake> {
        // In the frame of this function, for direct access by the loop.
        let mut intake = *intake;
        let mut receiving = Receiving::new(connection, dispatcher.context().limits());
        let source = Source::new(dispatcher, connection, self);
        loop {
            match intake.take_within::<F>(&source) {
                Outcome::Dispatched | Outcome::Forwarded | Outcome::QueueFull => {
                    receiving.message_ends();
                    // Mostly no data follow the message: then no check is needed.
                    if intake.giop.is_partial() {
                        continue;
                    }
                }
                Outcome::HandedOff => return None,
                Outcome::Close => return Some(intake),
                Outcome::Incomplete => {}
                Outcome::ThreadGranted | Outcome::Dedicated => {
                    match self.shared.dedicate(connection, Box::new(intake)) {
                        Ok(()) => return None,
                        Err(back) => {
                            intake = *back;
                            continue;
                        }
                    }
                }
            }
            let late = receiving.is_late(&intake);
            if late || self.shared.is_stopping() || intake.is_assembly_late() {
                return Some(intake);
            }
            orbium_trace::probe!(ServerStart);
            if !receiving.receive(&mut intake) {
                return Some(intake);
            }
        }
    }
}

impl HandOver for Serving {
    fn hand_over(&self, connection: &Arc<ServerConnection>, intake: Intake) -> bool {
        let nested = &self.shared.nested;
        let handed = nested.begin(|| self.read_elsewhere(connection, intake));
        handed.is_ok()
    }

    fn returns(&self) {
        self.shared.nested.end();
    }
}
