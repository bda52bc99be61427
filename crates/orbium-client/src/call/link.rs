// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exclusive access to an object's server for one exchange.

use std::sync::Arc;
use std::time::Duration;

use orbium_giop::SystemException;
use orbium_invocation::story::{Phase, note};
use orbium_transport::{Deadline, Stamp};

use crate::reference::candidate::{Candidate, Route};
use orbium_connection::PrivateConnections;
use orbium_connection::introduction::PriorityContext;
use orbium_connection::pool::Pool;
use orbium_connection::{Connection, Received};
use orbium_invocation::exceptions::time_left;
use orbium_invocation::served_queue::wait_serving;
use orbium_invocation::timing::Timing;

/// A candidate, with exclusive use of a connection to it for one exchange.
pub struct Link<'b> {
    pub(crate) candidate: &'b Candidate,
    /// `None` within the process, and once it must not be used any more.
    pub(crate) connection: Option<Box<Connection>>,
    /// The remaining time of the call.
    pub(crate) timeout: Option<Duration>,
    /// The pool to which the connection is returned; `None` within the process.
    pool: Option<&'b Pool>,
}

impl<'b> Link<'b> {
    #[inline(always)]
    pub(crate) fn new(
        candidate: &'b Candidate,
        timing: &Timing,
        begun: &Stamp,
    ) -> Result<Self, SystemException> {
        let pool = match &candidate.route {
            Route::Remote(pool) => Some(&**pool),
            Route::Local => None,
        };
        Self::through(candidate, pool, timing, begun)
    }

    /// A link over a connection of a pool, for a call that began at `begun`.
    #[inline(always)]
    pub(crate) fn through(
        candidate: &'b Candidate,
        pool: Option<&'b Pool>,
        timing: &Timing,
        begun: &Stamp,
    ) -> Result<Self, SystemException> {
        let (connection, timeout) = match pool {
            Some(pool) => match pool.acquire_idle() {
                Some(connection) if connection.was_used_in(begun.tick()) => {
                    (Some(connection), timing.timeout)
                }
                idle => acquired_after_a_pause(pool, idle, timing, begun)?,
            },
            None => (None, timing.timeout),
        };
        Ok(Self {
            candidate,
            connection,
            timeout,
            pool,
        })
    }

    /// Whether the connection was not used yet.
    pub(crate) fn is_new(&self) -> bool {
        let connection = self.connection.as_ref();
        connection.is_some_and(|connection| connection.is_new())
    }

    /// Whether another link would have to wait for a release: all connections that the limits permit
    /// are in use, or none is needed within the process.
    pub(crate) fn is_last(&self) -> bool {
        self.pool.is_none_or(Pool::is_exhausted)
    }

    /// The number of connections to its server that were lost or given up; `None` within the
    /// process.
    pub(crate) fn connections_lost(&self) -> Option<u64> {
        self.pool.map(Pool::connections_lost)
    }

    /// The same link, for a request with a priority context. Its connections have a separate pool,
    /// so all requests over them carry their context.
    pub(crate) fn saying(mut self, said: PriorityContext) -> Self {
        if let Some(connection) = &mut self.connection {
            connection.say(said);
        }
        self
    }

    /// The same link; a new connection requests from its server the features of `own`.
    pub(crate) fn asking(mut self, own: &Arc<PrivateConnections>) -> Self {
        if let Some(connection) = &mut self.connection
            && connection.is_new()
        {
            connection.ask(own);
        }
        self
    }

    /// The same link, over the connection over which buffered oneways have just been sent, if there
    /// were any.
    #[cold]
    pub(crate) fn after_oneways(mut self) -> Self {
        let Some(pool) = self.pool else {
            return self;
        };
        if let Some(mut connection) = pool.take_flushed() {
            let other = self.connection.as_ref();
            if let Some(introduction) = other.and_then(|it| it.introduction) {
                connection.say(introduction.said);
            }
            if let Some(other) = self.connection.replace(connection) {
                pool.release(other);
            }
        }
        self
    }

    /// Returns the connection to its pool, or gives it up if it must not be used any more.
    #[inline(always)]
    pub(crate) fn release(&mut self) {
        if let Some(pool) = self.pool.take() {
            match self.connection.take() {
                Some(connection) => pool.release(connection),
                None => pool.discard(),
            }
            orbium_trace::probe!(Release);
        }
    }

    /// Gives the connection up: it cannot be used any more, and the idle ones of the pool are
    /// probably broken, too.
    #[cold]
    pub(crate) fn give_up(&mut self) {
        self.abandon();
        if let Some(pool) = self.pool {
            pool.forget_idle();
        }
    }

    /// Abandons the connection: its server has not answered in time; another one may.
    #[cold]
    pub(crate) fn abandon(&mut self) {
        self.connection = None;
    }

    /// Whether the server is known to have closed the connection before a request without a reply.
    /// Then the connection is given up. The call began at `begun`.
    #[inline]
    pub(crate) fn is_closed_for_oneway(&mut self, begun: Stamp) -> bool {
        let (Some(connection), Some(pool)) = (&mut self.connection, self.pool) else {
            return false;
        };
        let looks = connection.needs_check(begun) && pool.can_be_looked_at();
        let closed = looks && connection.has_ended();
        if closed {
            pool.note_stale();
            self.give_up();
            pool.close_source();
        }
        closed
    }

    /// The next received message. `has_received` is as for [`Connection::receive_some`].
    pub(crate) fn receive(
        &mut self,
        deadline: Deadline,
        serves: bool,
        has_received: &mut bool,
    ) -> Received {
        loop {
            let received = match &mut self.connection {
                Some(connection) if !serves => connection.receive_some(deadline, has_received),
                Some(_) => self.receive_some_aside(deadline, has_received),
                None => Some(Received::Lost),
            };
            if let Some(received) = received {
                return received;
            }
        }
    }

    /// As [`Connection::receive_some`], for a thread that serves its queue while another thread
    /// receives in its place.
    #[cold]
    // Out of the plain exchange, which it takes registers from.
    #[inline(never)]
    pub(crate) fn receive_some_aside(
        &mut self,
        deadline: Deadline,
        has_received: &mut bool,
    ) -> Option<Received> {
        let mut connection = self.connection.take()?;
        let mut has_any = *has_received;
        let receive = move || {
            let received = connection.receive_some(deadline, &mut has_any);
            (connection, has_any, received)
        };
        let Some((connection, has_any, received)) = wait_serving(receive) else {
            return Some(Received::Lost);
        };
        self.connection = Some(connection);
        *has_received = has_any;
        received
    }

    /// Whether the connection is unusable.
    #[inline]
    pub(crate) fn has_unexpected_input(&mut self) -> bool {
        let connection = self.connection.as_mut();
        connection.is_some_and(|connection| connection.is_known_stale())
    }
}

type Acquired = (Option<Box<Connection>>, Option<Duration>);

/// A connection that was not used in this tick, or a new one. One that was idle for long is
/// checked, and replaced silently if its server has closed it: no sent data can be lost.
#[cold]
// Out of the plain exchange, which it takes registers from.
#[inline(never)]
fn acquired_after_a_pause(
    pool: &Pool,
    mut idle: Option<Box<Connection>>,
    timing: &Timing,
    begun: &Stamp,
) -> Result<Acquired, SystemException> {
    while let Some(mut connection) = idle {
        let is_checked = connection.note_use(*begun) && pool.can_be_looked_at();
        if !is_checked || !connection.has_ended() {
            return Ok((Some(connection), timing.timeout));
        }
        orbium_trace::log::info!(target: "orbium::conn", address = %pool.channel(), "stale connection replaced");
        note(
            Phase::Connect,
            Some(pool.channel()),
            &"the idle connection had ended: another is made",
        );
        drop(connection);
        pool.note_stale();
        pool.discard();
        pool.drop_stale();
        idle = pool.acquire_idle();
    }
    let (mut connection, left) = newly_acquired(pool, timing)?;
    if let Some(connection) = &mut connection {
        connection.note_use(*begun);
    }
    Ok((connection, left))
}

/// A new connection, or one after a wait, and the remaining time.
#[cold]
fn newly_acquired(pool: &Pool, timing: &Timing) -> Result<Acquired, SystemException> {
    let connection = pool.acquire_new(timing.sending)?;
    match time_left(timing.sending) {
        Ok(left) => Ok((Some(connection), left)),
        Err(exception) => {
            pool.release(connection);
            Err(exception)
        }
    }
}

impl Drop for Link<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.release();
    }
}
