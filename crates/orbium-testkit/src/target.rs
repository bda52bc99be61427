// SPDX-License-Identifier: MIT OR Apache-2.0
//! The servant of the test interface.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use orbium::lock::{Condvar, Mutex};
use orbium::{
    Call, Completion, ExceptionKind, Reply, Sent, SystemException, reference::nil_reference,
};

use crate::probe::{
    LineRef, Pair, Refused, RefusedError, Target, TargetEchoWstringReply, TargetServant,
};
use crate::waiting::{PATIENCE, eventually};

/// The action of `act`.
type Action = dyn Fn(&Call<'_>, i32) -> Result<i32, SystemException> + Send + Sync;

/// A gate at which requests wait.
#[derive(Debug, Default)]
pub struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
    waiting: AtomicU64,
}

impl Gate {
    /// Opens the gate: waiting and later requests pass.
    pub fn open(&self) {
        *self.open.lock() = true;
        self.opened.notify_all();
    }

    /// Closes the gate: requests wait from now on.
    pub fn close(&self) {
        *self.open.lock() = false;
    }

    /// The number of waiting calls.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::SeqCst)
    }

    /// Waits until that many calls wait at the gate.
    ///
    /// # Panics
    /// Fewer do.
    #[track_caller]
    pub fn await_waiting(&self, count: u64) {
        eventually("requests wait at the gate", || self.waiting() == count);
    }

    /// Waits until the gate is open.
    pub fn pass(&self) {
        let guard = self.open.lock();
        self.waiting.fetch_add(1, Ordering::SeqCst);
        // Bounded: a test that fails while the gate is closed must not leave a blocked thread.
        let passed = self
            .opened
            .wait_timeout_while(guard, 3 * PATIENCE, |open| !*open);
        drop(passed);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The servant: counts requests, and executes the actions of the test.
#[derive(Default)]
pub struct TargetState {
    calls: AtomicU64,
    posted: Mutex<Vec<i32>>,
    action: Mutex<Option<std::sync::Arc<Action>>>,
    /// The gate at which `gate` waits.
    pub gate: Gate,
}

impl fmt::Debug for TargetState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TargetState")
            .field("calls", &self.calls())
            .finish_non_exhaustive()
    }
}

impl TargetState {
    /// The number of served requests, oneways included.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// The arguments of `post`, in order.
    pub fn posted(&self) -> Vec<i32> {
        self.posted.lock().clone()
    }

    /// Sets the action of `act`.
    pub fn on_act(
        &self,
        action: impl Fn(&Call<'_>, i32) -> Result<i32, SystemException> + Send + Sync + 'static,
    ) {
        *self.action.lock() = Some(std::sync::Arc::new(action));
    }

    fn count(&self) {
        self.calls.fetch_add(1, Ordering::SeqCst);
    }
}

/// Octets of the strings and sequences of a line.
fn octets_of(line: &LineRef<'_>) -> u32 {
    let tags: usize = line.tags.iter().map(|tag| tag.len()).sum();
    let octets = line.name.len() + line.data.len() + size_of_val(line.curve) + tags;
    u32::try_from(octets).unwrap_or(u32::MAX)
}

impl TargetServant for TargetState {
    fn noop(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.count();
        Ok(())
    }

    fn post(&self, _: &Call<'_>, v: i32) -> Result<(), SystemException> {
        self.posted.lock().push(v);
        self.count();
        Ok(())
    }

    fn echo_octet(&self, _: &Call<'_>, v: u8) -> Result<u8, SystemException> {
        self.count();
        Ok(v)
    }

    fn echo_long(&self, _: &Call<'_>, v: i32) -> Result<i32, SystemException> {
        self.count();
        Ok(v)
    }

    fn echo_pair(&self, _: &Call<'_>, v: &Pair) -> Result<Pair, SystemException> {
        self.count();
        Ok(*v)
    }

    fn echo_string(
        &self,
        _: &Call<'_>,
        v: &str,
        reply: Reply<'_, str>,
    ) -> Result<Sent, SystemException> {
        self.count();
        reply.send(v)
    }

    fn echo_wstring(
        &self,
        _: &Call<'_>,
        v: &str,
        reply: Reply<'_, TargetEchoWstringReply<'_>>,
    ) -> Result<Sent, SystemException> {
        self.count();
        reply.send(&TargetEchoWstringReply { result: v })
    }

    fn echo_octets(
        &self,
        _: &Call<'_>,
        v: &[u8],
        reply: Reply<'_, [u8]>,
    ) -> Result<Sent, SystemException> {
        self.count();
        reply.send(v)
    }

    fn measure(&self, _: &Call<'_>, v: LineRef<'_>) -> Result<u32, SystemException> {
        self.count();
        Ok(octets_of(&v))
    }

    fn measure_all(&self, _: &Call<'_>, v: &[LineRef<'_>]) -> Result<u32, SystemException> {
        self.count();
        Ok(v.iter().map(octets_of).sum())
    }

    fn make(&self, _: &Call<'_>, size: u32) -> Result<Vec<u8>, SystemException> {
        self.count();
        Ok(vec![0xA5; size as usize])
    }

    fn refuse(&self, _: &Call<'_>, code: i32) -> Result<i32, RefusedError> {
        self.count();
        Err(RefusedError::Refused(Refused {
            code,
            why: "told to".to_owned(),
        }))
    }

    fn raise_system(&self, _: &Call<'_>, name: &str) -> Result<(), SystemException> {
        self.count();
        let kind = ExceptionKind::from_name(name).unwrap_or(ExceptionKind::BadParam);
        Err(SystemException::new(kind, 77, Completion::No))
    }

    fn act(&self, call: &Call<'_>, v: i32) -> Result<i32, SystemException> {
        self.count();
        let action = self.action.lock().clone();
        match action {
            Some(action) => action(call, v),
            None => Ok(v),
        }
    }

    fn gate(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.count();
        self.gate.pass();
        Ok(())
    }

    fn nest(
        &self,
        call: &Call<'_>,
        other: Option<&Target>,
        depth: i32,
    ) -> Result<i32, SystemException> {
        self.count();
        if depth == 0 {
            return Ok(0);
        }
        let this: Target = call.this()?;
        let below = other
            .ok_or_else(nil_reference)?
            .nest(Some(&this), depth - 1)?;
        Ok(below + 1)
    }

    fn post_nest(&self, _: &Call<'_>, other: Option<&Target>) -> Result<(), SystemException> {
        self.count();
        other.ok_or_else(nil_reference)?.noop()
    }

    fn pour(&self, _: &Call<'_>, _: &[u8]) -> Result<(), SystemException> {
        self.count();
        Ok(())
    }
}
