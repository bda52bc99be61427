// SPDX-License-Identifier: MIT OR Apache-2.0
//! The thread of a reader.

use std::sync::Arc;
use std::time::{Duration, Instant};

use orbium_giop::SystemException;
use orbium_invocation::exceptions::already_shut_down;
use orbium_sync::lock::MutexGuard;
use orbium_sys::{Interest, Ready};

use super::sources::line_of;
use super::{LINGER, Reader, Running, State, WAKER, begin};
use crate::line::end::End;
use orbium_connection::connecting::no_thread;

/// Time before a timer from which the wait becomes exact: the time-outs of pollers have a
/// resolution of milliseconds.
const POLL_GRANULARITY: Duration = Duration::from_millis(2);

/// Minimum interval of checks for idle connections.
const MIN_IDLE_CHECK_INTERVAL: Duration = Duration::from_millis(4);

/// Interval of retries to start threads that the system refused.
const THREAD_RETRY_PAUSE: Duration = Duration::from_millis(50);

impl Reader {
    /// The state of a reader with a running thread, for adding work.
    ///
    /// # Errors
    /// BAD_INV_ORDER after the end; the reason why its thread cannot run.
    pub(super) fn running(self: &Arc<Self>) -> Result<MutexGuard<'_, State>, SystemException> {
        let mut state = self.lock();
        loop {
            if state.ended {
                return Err(already_shut_down());
            }
            match state.running {
                Running::Yes => return Ok(state),
                Running::Begins => {
                    state = self.begun.wait(state);
                    if let (Running::No, Some(refused)) = (state.running, state.refused) {
                        return Err(refused);
                    }
                }
                Running::No => {
                    let reader = Arc::clone(self);
                    let run = Box::new(move || reader.run());
                    let thread = orbium_sys::spawn("orbium-replies", None, run);
                    state.thread = Some(thread.map_err(|error| no_thread(&error))?);
                    state.running = Running::Begins;
                    state.refused = None;
                }
            }
        }
    }

    fn run(self: &Arc<Self>) {
        /// Handles the end of the reader thread, also by a panic.
        struct Over<'r>(&'r Reader);
        impl Drop for Over<'_> {
            fn drop(&mut self) {
                self.0.lock().running = Running::No;
                self.0.begun.notify_all();
            }
        }
        let over = Over(self);
        let begun = begin(self.real_time.as_ref(), self.priority);
        {
            let mut state = self.lock();
            state.refused = begun.err();
            if begun.is_err() {
                drop(state);
                return;
            }
            state.running = Running::Yes;
            state.idle_since = Instant::now();
        }
        self.begun.notify_all();
        let mut ready = Vec::new();
        while self.is_needed() {
            if let Err(error) = self.wait(&mut ready) {
                orbium_trace::log::error!(target: "orbium::conn", %error, "cannot wait for replies");
                std::thread::sleep(THREAD_RETRY_PAUSE);
            }
            for ready in &ready {
                self.attend(*ready);
            }
            self.look();
            self.send_deferred();
            self.fire();
            self.find_threads();
            self.end_idle();
        }
        std::mem::forget(over);
    }

    /// Whether there is anything to wait for, or may be soon. If not, the thread ends.
    fn is_needed(&self) -> bool {
        let mut state = self.lock();
        let idle = state.lines.is_empty()
            && state.watched.is_empty()
            && state.timers.is_empty()
            && state.looks.is_empty()
            && state.deferred.is_empty()
            && !state.lacks_threads
            && state.idle_since.elapsed() >= LINGER;
        if idle || state.ended {
            state.running = Running::No;
            return false;
        }
        true
    }

    fn wait(&self, ready: &mut Vec<Ready>) -> std::io::Result<()> {
        let timeout = {
            let mut state = self.lock();
            let timer = state.timers.first_key_value();
            let timer = timer.map(|((at, _), _)| at.saturating_duration_since(Instant::now()));
            state.is_waiting = state.deferred.is_empty();
            let has_work = !(state.looks.is_empty() && state.is_waiting);
            let looks = has_work.then_some(Duration::ZERO);
            let threads = state.lacks_threads.then_some(THREAD_RETRY_PAUSE);
            let idle = self.idle_time() / 4;
            [timer, looks, threads]
                .into_iter()
                .flatten()
                .fold(idle, Duration::min)
        };
        let waited = self.wait_until(ready, timeout);
        self.lock().is_waiting = false;
        waited
    }

    fn wait_until(&self, ready: &mut Vec<Ready>, timeout: Duration) -> std::io::Result<()> {
        match timeout.checked_sub(POLL_GRANULARITY) {
            Some(coarse) if coarse >= POLL_GRANULARITY => self.poller.wait(ready, Some(coarse)),
            _ => {
                let own = self.waker.source();
                let woken =
                    self.poller
                        .wait_including(own, Interest::Read, ready, Some(timeout))?;
                if woken {
                    self.waker.clear();
                    return self.poller.wait(ready, Some(Duration::ZERO));
                }
                Ok(())
            }
        }
    }

    fn idle_time(&self) -> Duration {
        let time = self.config.limits.client_idle_time.unwrap_or(LINGER);
        time.max(MIN_IDLE_CHECK_INTERVAL)
    }

    fn attend(self: &Arc<Self>, ready: Ready) {
        if ready.token == WAKER {
            return self.waker.clear();
        }
        let (number, is_room) = line_of(ready.token);
        let line = self.lock().watched.get(&number).cloned();
        if let Some(line) = line {
            if is_room || line.wants_room() {
                line.flush(self);
            }
            if !is_room {
                line.receive(self);
            }
        }
    }

    fn look(self: &Arc<Self>) {
        let looks = std::mem::take(&mut self.lock().looks);
        for line in looks {
            line.receive(self);
        }
    }

    fn send_deferred(self: &Arc<Self>) {
        let deferred = std::mem::take(&mut self.lock().deferred);
        for line in deferred {
            line.send_deferred(self);
        }
    }

    /// Fires the timers that are due.
    fn fire(&self) {
        let now = Instant::now();
        loop {
            let due = {
                let mut state = self.lock();
                match state.timers.first_entry() {
                    Some(first) if first.key().0 <= now => first.remove_entry(),
                    _ => return,
                }
            };
            let ((at, _), call) = due;
            call.fire(at);
        }
    }

    /// Retries the start of threads that the system refused.
    fn find_threads(&self) {
        if !self.lock().lacks_threads {
            return;
        }
        let chores = self.chores.go_on(&self.threads);
        let points = self.points.go_on(&self.threads);
        let handlers = self.handlers.go_on(&self.threads);
        self.lock().lacks_threads = !(chores && points && handlers);
    }

    /// Closes lines over which no reply was pending for long.
    fn end_idle(self: &Arc<Self>) {
        let time = self.idle_time();
        let idle: Vec<_> = {
            let mut state = self.lock();
            if !state.watched.is_empty() || !state.timers.is_empty() {
                state.idle_since = Instant::now();
            }
            let lines = state.watched.values();
            lines.filter(|line| line.is_idle(time)).cloned().collect()
        };
        for line in idle {
            line.end(self, End::Idle);
        }
    }
}
