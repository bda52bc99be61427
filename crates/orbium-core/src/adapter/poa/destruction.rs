// SPDX-License-Identifier: MIT OR Apache-2.0
//! The destruction of an adapter.

use std::sync::atomic::Ordering;

use orbium_interceptor::AdapterState;

use super::{Poa, PoaCore, PoaError};
use orbium_adapter::before_waiting;

impl PoaCore {
    /// Whether deferred replies are to come.
    pub(super) fn has_open_requests(&self) -> bool {
        let (adapters, number) = (self.adapters.upgrade(), std::ptr::from_ref(self).addr());
        adapters.is_some_and(|it| it.context.open_requests.count_of(number) > 0)
    }

    /// Ends the objects that were kept until the last deferred reply.
    fn end_last_objects(&self) {
        let last = std::mem::take(&mut self.lock().last);
        last.into_iter().for_each(|it| self.end_object(it));
    }
}

impl Poa {
    /// Destroys the adapter, its descendants, and all their objects, which servant activators
    /// etherealize. The name is free after the last request in progress: requests received before
    /// are answered with TRANSIENT, later ones with OBJECT_NOT_EXIST. With `wait`, returns then.
    ///
    /// # Errors
    /// BAD_INV_ORDER for waiting from within a request, which would never end; nothing is done
    /// then.
    pub fn destroy(&self, wait: bool) -> Result<(), PoaError> {
        self.destroy_with(true, wait)
    }

    /// As [`Poa::destroy`], but servant activators do not etherealize the objects: their
    /// servants are dropped.
    ///
    /// # Errors
    /// As [`Poa::destroy`].
    pub fn destroy_without_etherealizing(&self, wait: bool) -> Result<(), PoaError> {
        self.destroy_with(false, wait)
    }

    fn destroy_with(&self, etherealizes: bool, wait: bool) -> Result<(), PoaError> {
        before_waiting(self.0.orb, wait)?;
        if !wait && self.0.destroyed.load(Ordering::Acquire) {
            return Ok(());
        }
        self.end(etherealizes);
        let in_use = |it: Self| it.0.has_open_requests() || it.0.lock().alive > 0;
        if !wait && self.subtree().any(in_use) {
            let dying = self.clone();
            let complete = Box::new(move || dying.complete(true));
            if orbium_sys::spawn_detached("orbium-destroy", None, complete).is_ok() {
                return Ok(());
            }
        }
        self.complete(wait);
        Ok(())
    }

    /// Frees the name; with `waits`, after the last request in progress.
    fn complete(&self, waits: bool) {
        if waits {
            self.wait_until_gone();
        }
        if let Some(parent) = self.parent() {
            parent.0.children().retain(|it| it != self);
            // After the threads that have found it have begun to wait.
            drop(parent.0.lock());
            parent.0.one_gone.notify_all();
        }
        self.forget();
    }

    fn end(&self, etherealizes: bool) {
        // No child is created after this.
        let children = self.0.children();
        self.0.destroyed.store(true, Ordering::Release);
        drop(children);
        for child in self.the_children() {
            child.end(etherealizes);
        }
        self.0.manager.reconsider();
        self.0.deactivate_all(etherealizes);
        self.0.one_gone.notify_all();
    }

    /// Waits for the end of the child adapter of that name that is being destroyed.
    pub(super) fn await_name(&self, name: &str) -> Result<(), PoaError> {
        while let Some(child) = self.0.child_named(name) {
            self.0.check_takes_children()?;
            if !child.0.destroyed.load(Ordering::Acquire) {
                return Err(PoaError::AdapterAlreadyExists);
            }
            before_waiting(self.0.orb, true)?;
            let objects = self.0.lock();
            let is_there = self.0.child_named(name) == Some(child);
            if is_there && !self.0.destroyed.load(Ordering::Acquire) {
                drop(self.0.one_gone.wait(objects));
            }
        }
        Ok(())
    }

    /// Removes the adapter and its descendants from the tables of the ORB, once.
    fn forget(&self) {
        if self.0.gone.swap(true, Ordering::AcqRel) {
            return;
        }
        self.0.end_last_objects();
        self.0.release();
        for child in self.the_children() {
            child.forget();
        }
        if let Some(adapters) = self.0.adapters.upgrade() {
            adapters.registry.forget(self.0.stamp);
            let interceptors = &adapters.ior_interceptors;
            interceptors.adapter_changed(self.template(), AdapterState::NonExistent);
        }
    }

    fn wait_until_gone(&self) {
        for child in self.the_children() {
            child.wait_until_gone();
        }
        // Until open requests are answered, or for `limits.open_time`.
        if let Some(adapters) = self.0.adapters.upgrade() {
            let adapter = std::ptr::from_ref(&*self.0).addr();
            adapters.context.settle_open_requests(Some(adapter));
        }
        self.0.end_last_objects();
        let mut objects = self.0.lock();
        while objects.alive > 0 {
            objects = self.0.one_gone.wait(objects);
        }
    }

    /// Deactivates the managers of this adapter and of those below it.
    pub(crate) fn deactivate_managers(&self) {
        // Before the children are listed: later children see the state.
        self.0.manager.end_with_orb();
        for child in self.the_children() {
            child.deactivate_managers();
        }
    }

    /// As [`Poa::destroy`], at shutdown of the ORB: collocated requests may still be served.
    pub(crate) fn end_with_orb(&self) {
        self.end(true);
        self.wait_until_gone();
        self.forget();
    }
}
