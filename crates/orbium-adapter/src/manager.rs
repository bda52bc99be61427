// SPDX-License-Identifier: MIT OR Apache-2.0
//! POA managers: whether requests are served, held, discarded or refused (CORBA 3.3 Part 1, clause
//! 15.3.3).

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use orbium_config::Limits;
use orbium_giop::{Completion, ExceptionKind, SystemException, minor};
use orbium_interceptor::{AdapterState, IorInterceptors};
use orbium_invocation::Expiry;
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_sync::role;
use orbium_trace::log::warn;
use orbium_transport::Deadline;

use crate::PoaError;
use crate::exceptions::{before_waiting, being_destroyed};

/// The state of a manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ManagerState {
    /// Requests are held. The initial state.
    Holding,
    /// Requests are served.
    Active,
    /// Requests are answered with TRANSIENT.
    Discarding,
    /// Requests are refused permanently.
    Inactive,
}

/// The state is in the two low bits, the number of requests in progress above.
const STATE_BITS: u32 = 2;
const STATE_MASK: usize = (1 << STATE_BITS) - 1;
const ONE_REQUEST: usize = 1 << STATE_BITS;

/// An adapter as seen by its manager.
pub trait Controlled: Send + Sync {
    /// Called when the manager was deactivated.
    fn deactivated(&self, etherealizes: bool);

    /// Blocks until servant activators have etherealized the objects that have ended.
    fn await_etherealized(&self);
}

struct Shared {
    word: AtomicUsize,
    held: AtomicUsize,
    held_limit: usize,
    /// Maximum time that a request is held.
    hold_time: Option<Duration>,
    /// Its id: unique in the ORB while it exists.
    id: Box<str>,
    /// Whether it was ever activated.
    activated: AtomicBool,
    /// Whether the warning about held requests before the first activation was logged.
    warned: AtomicBool,
    /// Whether it is inactive because the ORB ends.
    ended: AtomicBool,
    /// Whether the objects of its adapters have ended with it, or end with the ORB.
    has_ended_objects: AtomicBool,
    /// Whether any manager of the ORB was ever activated.
    started: Arc<AtomicBool>,
    /// The ORB's number.
    orb: usize,
    changing: Mutex<()>,
    changed: Condvar,
    /// The interceptors of its states.
    interceptors: IorInterceptors,
    /// The adapters that it controls.
    controlled: Mutex<Vec<Weak<dyn Controlled>>>,
}

/// Controls whether the requests for one or more adapters are served.
#[derive(Clone)]
pub struct PoaManager(Arc<Shared>);

impl fmt::Debug for PoaManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoaManager")
            .field("id", &self.0.id)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}

/// A weak reference to a manager.
#[derive(Debug)]
pub struct WeakManager(Weak<Shared>);

impl WeakManager {
    /// The manager, if it still exists.
    #[must_use]
    pub fn upgrade(&self) -> Option<PoaManager> {
        self.0.upgrade().map(PoaManager)
    }
}

impl PartialEq for PoaManager {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

fn state_of(word: usize) -> ManagerState {
    match word & STATE_MASK {
        0 => ManagerState::Holding,
        1 => ManagerState::Active,
        2 => ManagerState::Discarding,
        _ => ManagerState::Inactive,
    }
}

/// A request in progress; dropped at its end.
#[must_use]
pub struct Serving<'m>(&'m Shared);

impl fmt::Debug for Serving<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving")
            .field("manager", &self.0.id)
            .finish_non_exhaustive()
    }
}

impl Drop for Serving<'_> {
    #[inline]
    fn drop(&mut self) {
        let before = self.0.word.fetch_sub(ONE_REQUEST, Ordering::Release);
        // Only a manager that is not active can have threads waiting for the end.
        if before & STATE_MASK != 1 {
            self.0.wake();
        }
    }
}

impl Shared {
    #[cold]
    fn wake(&self) {
        let _guard = self.changing.lock();
        self.changed.notify_all();
    }
}

impl PoaManager {
    /// A manager of the ORB with that number, with that id, which holds requests; `started` is set
    /// when any manager of the ORB is activated.
    #[must_use]
    pub fn new(
        orb: usize,
        limits: &Limits,
        started: &Arc<AtomicBool>,
        id: &str,
        interceptors: IorInterceptors,
    ) -> Self {
        Self(Arc::new(Shared {
            word: AtomicUsize::new(0),
            held: AtomicUsize::new(0),
            held_limit: limits.held_requests,
            hold_time: limits.hold_time,
            id: id.into(),
            activated: AtomicBool::new(false),
            warned: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            has_ended_objects: AtomicBool::new(false),
            started: Arc::clone(started),
            orb,
            changing: Mutex::new(()),
            changed: Condvar::new(),
            interceptors,
            controlled: Mutex::default(),
        }))
    }

    /// Adds an adapter to those that it controls.
    pub fn add(&self, adapter: Weak<dyn Controlled>) {
        let mut controlled = self.controlled();
        controlled.retain(|it| it.strong_count() > 0);
        controlled.push(adapter);
    }

    fn controlled(&self) -> MutexGuard<'_, Vec<Weak<dyn Controlled>>> {
        self.0.controlled.lock()
    }

    /// The number of held requests, and of those in progress.
    #[must_use]
    pub fn load(&self) -> (usize, usize) {
        let held = self.0.held.load(Ordering::Relaxed);
        (held, self.0.word.load(Ordering::Relaxed) >> STATE_BITS)
    }

    /// The id, unique among the managers of the ORB.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// A weak reference to the manager.
    #[must_use]
    pub fn downgrade(&self) -> WeakManager {
        WeakManager(Arc::downgrade(&self.0))
    }

    /// The present state.
    #[must_use]
    pub fn state(&self) -> ManagerState {
        state_of(self.0.word.load(Ordering::Acquire))
    }

    /// The number of requests in progress.
    #[must_use]
    #[inline]
    pub fn requests_in_progress(&self) -> usize {
        self.0.word.load(Ordering::Acquire) >> STATE_BITS
    }

    /// The number of requests held until it is activated.
    #[must_use]
    pub fn held_requests(&self) -> usize {
        self.0.held.load(Ordering::Relaxed)
    }

    /// Starts serving, held requests first.
    ///
    /// # Errors
    /// [`PoaError::AdapterInactive`].
    pub fn activate(&self) -> Result<(), PoaError> {
        self.change(ManagerState::Active)
    }

    /// Holds requests from now on. With `wait`, returns when no request is in progress any more;
    /// deferred replies are not awaited.
    ///
    /// # Errors
    /// [`PoaError::AdapterInactive`]; BAD_INV_ORDER for waiting from within a request, which would
    /// never end: nothing is done then.
    #[inline]
    pub fn hold_requests(&self, wait: bool) -> Result<(), PoaError> {
        before_waiting(self.0.orb, wait)?;
        self.change(ManagerState::Holding)?;
        self.wait_while(wait, ManagerState::Holding);
        Ok(())
    }

    /// Answers requests with TRANSIENT from now on, including held ones. With `wait`, returns when
    /// no request is in progress any more, as [`PoaManager::hold_requests`].
    ///
    /// # Errors
    /// As [`PoaManager::hold_requests`].
    #[inline]
    pub fn discard_requests(&self, wait: bool) -> Result<(), PoaError> {
        before_waiting(self.0.orb, wait)?;
        self.change(ManagerState::Discarding)?;
        self.wait_while(wait, ManagerState::Discarding);
        Ok(())
    }

    /// Refuses requests permanently, including held ones; objects with servant activators are
    /// etherealized after their last requests. With `wait`, returns when no request is in progress
    /// any more and all objects are etherealized, on any thread. A second call only waits.
    ///
    /// # Errors
    /// BAD_INV_ORDER for waiting from within a request.
    #[inline]
    pub fn deactivate(&self, wait: bool) -> Result<(), PoaError> {
        self.deactivate_with(true, wait)
    }

    /// As [`PoaManager::deactivate`], but servant activators do not etherealize their
    /// objects: the servants are dropped.
    ///
    /// # Errors
    /// As [`PoaManager::deactivate`].
    pub fn deactivate_without_etherealizing(&self, wait: bool) -> Result<(), PoaError> {
        self.deactivate_with(false, wait)
    }

    fn deactivate_with(&self, etherealizes: bool, wait: bool) -> Result<(), PoaError> {
        before_waiting(self.0.orb, wait)?;
        // Fails only if it is inactive already.
        let changed = self.change(ManagerState::Inactive).is_ok();
        self.wait_while(wait, ManagerState::Inactive);
        let controlled = self.controlled().clone();
        let controlled = controlled.iter().filter_map(Weak::upgrade);
        if changed {
            for adapter in controlled.clone() {
                adapter.deactivated(etherealizes);
            }
            self.note_ended_objects();
        }
        if wait {
            self.await_ended_objects();
            controlled.for_each(|adapter| adapter.await_etherealized());
        }
        Ok(())
    }

    fn note_ended_objects(&self) {
        self.0.has_ended_objects.store(true, Ordering::Release);
        self.0.wake();
    }

    /// Waits for the thread that has deactivated the manager.
    fn await_ended_objects(&self) {
        let mut guard = self.0.changing.lock();
        while !self.0.has_ended_objects.load(Ordering::Acquire) {
            guard = self.0.changed.wait(guard);
        }
    }

    /// Refuses requests from now on since the ORB ends. The objects may be served again by the next
    /// process, so OBJECT_NOT_EXIST is not raised.
    pub fn end_with_orb(&self) {
        self.0.ended.store(true, Ordering::Release);
        let _ = self.change(ManagerState::Inactive);
        self.note_ended_objects();
    }

    /// Whether the ORB is ending, and this manager with it.
    #[must_use]
    pub fn ends_with_orb(&self) -> bool {
        self.0.ended.load(Ordering::Acquire)
    }

    /// Makes held requests check again whether they can be served.
    #[inline]
    pub fn reconsider(&self) {
        self.0.wake();
    }

    fn change(&self, to: ManagerState) -> Result<(), PoaError> {
        let guard = self.0.changing.lock();
        let mut word = self.0.word.load(Ordering::Acquire);
        loop {
            if state_of(word) == ManagerState::Inactive {
                return Err(PoaError::AdapterInactive);
            }
            let next = word & !STATE_MASK | to as usize;
            match self
                .0
                .word
                .compare_exchange(word, next, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => break,
                Err(now) => word = now,
            }
        }
        if to == ManagerState::Active {
            self.0.activated.store(true, Ordering::Release);
            self.0.started.store(true, Ordering::Release);
        }
        drop(guard);
        self.0.wake();
        if state_of(word) != to {
            let state = AdapterState::of_manager(to as usize);
            self.0.interceptors.manager_changed(&self.0.id, state);
        }
        Ok(())
    }

    /// Logs, once, that a request is held by a manager that was never activated.
    #[cold]
    fn warn_of_holding(&self, operation: &[u8]) {
        let shared = &self.0;
        if shared.activated.load(Ordering::Acquire) || shared.warned.swap(true, Ordering::AcqRel) {
            return;
        }
        let _operation = String::from_utf8_lossy(operation);
        warn!(
            target: "orbium::poa", manager = %shared.id,
            operation = %_operation,
            "a request is held: the POA manager of its adapter was never activated, \
             call poa.manager().activate()"
        );
    }

    /// The exception for a request that was held too long.
    #[cold]
    fn held_too_long(&self) -> SystemException {
        let minor = if self.0.activated.load(Ordering::Acquire) {
            minor::HELD_TOO_LONG
        } else {
            minor::NEVER_ACTIVATED
        };
        SystemException::orbium(ExceptionKind::Transient, minor, Completion::No)
    }

    /// Waits for the end of the requests in progress, while the state remains.
    fn wait_while(&self, wait: bool, state: ManagerState) {
        if !wait {
            return;
        }
        let mut guard = self.0.changing.lock();
        while self.requests_in_progress() > 0 && self.state() == state {
            guard = self.0.changed.wait(guard);
        }
    }

    /// Enters a request at once: only while active.
    #[must_use]
    #[inline]
    pub fn enter(&self) -> Option<Serving<'_>> {
        let before = self.0.word.fetch_add(ONE_REQUEST, Ordering::Acquire);
        let serving = Serving(&self.0);
        (before & STATE_MASK == ManagerState::Active as usize).then_some(serving)
    }

    /// Enters a request in any state: at once, after being held, or not at all. No request is held
    /// beyond its deadline.
    ///
    /// # Errors
    /// TRANSIENT: discarded, held too long, or its adapter is being destroyed; TIMEOUT: it has
    /// expired; OBJECT_NOT_EXIST: the manager was deactivated.
    #[cold]
    pub fn enter_slowly(
        &self,
        destroyed: &AtomicBool,
        expiry: &Expiry,
        operation: &[u8],
    ) -> Result<Serving<'_>, SystemException> {
        let discarded = SystemException::omg(ExceptionKind::Transient, 1, Completion::No);
        if self.state() == ManagerState::Holding {
            self.warn_of_holding(operation);
        }
        let until = Deadline::after(self.0.hold_time);
        let held = self.0.held.fetch_add(1, Ordering::AcqRel);
        if held >= self.0.held_limit && self.state() == ManagerState::Holding {
            self.0.held.fetch_sub(1, Ordering::AcqRel);
            return Err(discarded);
        }
        // Others on this connection, or in this reactor, must not wait, too.
        role::about_to_block();
        let mut guard = self.0.changing.lock();
        while self.state() == ManagerState::Holding && !destroyed.load(Ordering::Acquire) {
            let Ok(left) = expiry.deadline().earlier(until).remaining() else {
                self.0.held.fetch_sub(1, Ordering::AcqRel);
                return Err(if expiry.deadline().has_passed() {
                    expiry.exception()
                } else {
                    self.held_too_long()
                });
            };
            let changed = &self.0.changed;
            guard = changed.wait_at_most(guard, left);
        }
        self.0.held.fetch_sub(1, Ordering::AcqRel);
        // Counted under the lock, so that a waiter sees it.
        let before = self.0.word.fetch_add(ONE_REQUEST, Ordering::Acquire);
        drop(guard);
        let serving = Serving(&self.0);
        match state_of(before) {
            _ if destroyed.load(Ordering::Acquire) => Err(being_destroyed()),
            ManagerState::Active => Ok(serving),
            ManagerState::Inactive if self.0.ended.load(Ordering::Acquire) => {
                Err(being_destroyed())
            }
            ManagerState::Inactive => Err(SystemException::omg(
                ExceptionKind::ObjectNotExist,
                4,
                Completion::No,
            )),
            ManagerState::Holding | ManagerState::Discarding => Err(discarded),
        }
    }
}
