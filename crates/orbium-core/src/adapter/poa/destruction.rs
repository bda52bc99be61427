// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of an adapter.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use orbium_interceptor::AdapterState;

use super::{Poa, PoaError};
use orbium_adapter::before_waiting;

impl Poa {
    /// Ends the adapter, those below it, and all their objects, which servant activators
    /// etherealize. With `wait`, returns when no request is being served any more; requests
    /// that come before it returns are answered with TRANSIENT, later ones with
    /// OBJECT_NOT_EXIST.
    ///
    /// # Errors
    /// BAD_INV_ORDER for waiting from within a request, which would be for
    /// ever; nothing is done then.
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
        self.end(etherealizes);
        if wait {
            self.wait_until_gone();
        }
        if let Some(parent) = self.parent() {
            let mut siblings = parent.children();
            if let Ok(place) = super::place(&siblings, self.name())
                && siblings[place] == *self
            {
                siblings.remove(place);
            }
        }
        self.forget();
        Ok(())
    }

    fn end(&self, etherealizes: bool) {
        {
            // No child is made after this.
            let _children = self.children();
            self.0.destroyed.store(true, Ordering::Release);
        }
        for child in self.the_children() {
            child.end(etherealizes);
        }
        self.0.manager.reconsider();
        self.0.deactivate_all(etherealizes);
    }

    /// Takes the adapter and those below it out of the ORB's books, once.
    fn forget(&self) {
        if self.0.gone.swap(true, Ordering::AcqRel) {
            return;
        }
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
        self.settle_open_requests();
        let mut objects = self.0.lock();
        while objects.alive > 0 {
            objects = self.0.one_gone.wait(objects);
        }
    }

    /// Waits until the requests that are open were answered, or for `limits.open_time`.
    fn settle_open_requests(&self) {
        if let Some(adapters) = self.0.adapters.upgrade() {
            let number = Arc::as_ptr(&self.0).addr();
            adapters.context.settle_open_requests(Some(number));
        }
    }

    /// Deactivates the managers of this adapter and of those below it.
    pub(crate) fn deactivate_managers(&self) {
        // Before the children are listed: those that come later see it.
        self.0.manager.end_with_orb();
        for child in self.the_children() {
            child.deactivate_managers();
        }
    }

    /// As [`Poa::destroy`] without waiting, when the ORB ends.
    pub(crate) fn end_with_orb(&self) {
        self.end(true);
        self.forget();
    }
}
