// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of objects of a servant activator.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use orbium_sync::{SlotKey, role};

use super::PoaCore;
use super::activation::address;
use crate::adapter::managing::ServantManager;
use crate::adapter::object::{ActiveObject, CLEANED_UP, ETHEREALIZED};
use orbium_adapter::Controlled;

impl PoaCore {
    /// Hands the servant of an object to the activator, after its last request.
    pub(super) fn etherealize(&self, object: &ActiveObject) {
        let _turn = self.turn.take();
        self.hand_back(object);
        // Within the turn: a thread that holds it never waits for this.
        let mut objects = self.lock();
        objects.ending.remove(&object.id);
        objects.incarnated -= 1;
    }

    fn hand_back(&self, object: &ActiveObject) {
        let end = object.end.load(Ordering::Acquire);
        let remains = {
            let mut objects = self.lock();
            let servant = address(&object.servant);
            let count = objects.incarnations.entry(servant).or_default();
            *count = count.saturating_sub(1);
            let remains = *count > 0;
            if !remains {
                objects.incarnations.remove(&servant);
            }
            remains
        };
        if end & ETHEREALIZED == 0 {
            return;
        }
        let manager = self.servant_manager();
        if let Some(ServantManager::Activator(activator)) = manager.as_deref() {
            let cleans_up = end & CLEANED_UP != 0;
            // It must not wait for the end of its adapter, whichever thread ends the object.
            let etherealize = || activator.etherealize(object, cleans_up, remains);
            let etherealized = catch_unwind(AssertUnwindSafe(|| {
                role::while_serving_own_thread(self.orb, etherealize);
            }));
            if etherealized.is_err() {
                crate::log::error!(
                    target: "orbium::poa", adapter = self.path_text(),
                    "a servant activator panicked in etherealize"
                );
            }
        }
    }

    /// Deactivates all objects; with `etherealizes`, `cleanup_in_progress` is set.
    pub(super) fn deactivate_all(&self, etherealizes: bool) {
        let slots: Vec<SlotKey> = {
            let mut objects = self.lock();
            objects.by_servant.clear();
            let by_id = std::mem::take(&mut objects.by_id);
            let slots = by_id.values().copied().collect();
            if self.policies.etherealizes() {
                objects.ending.extend(by_id);
            }
            slots
        };
        let Some(adapters) = self.adapters.upgrade() else {
            return;
        };
        let destroyed = self.destroyed.load(Ordering::Acquire);
        let keeps = destroyed && self.policies.etherealizes() && self.has_open_requests();
        for slot in slots {
            let removed = adapters.registry.objects.remove(slot);
            if let Some(object) = removed.as_ref().filter(|_| etherealizes) {
                let end = ETHEREALIZED | CLEANED_UP;
                object.end.store(end, Ordering::Release);
            }
            let kept = removed.as_deref().filter(|_| keeps);
            self.lock().last.extend(kept.cloned());
            self.end_object(removed);
        }
    }

    /// Drops a reference to a deactivated object.
    pub(super) fn end_object<O>(&self, object: O) {
        // A destructor that panics prevents neither the end of other objects nor that of the ORB.
        if catch_unwind(AssertUnwindSafe(|| drop(object))).is_err() {
            crate::log::error!(
                target: "orbium::poa", adapter = self.path_text(),
                "a servant panicked when it was dropped"
            );
        }
    }
}

impl Controlled for PoaCore {
    fn deactivated(&self, etherealizes: bool) {
        if self.policies.etherealizes() {
            self.deactivate_all(etherealizes);
        }
    }

    fn await_etherealized(&self) {
        let mut objects = self.lock();
        while objects.incarnated > objects.by_id.len() {
            objects = self.one_gone.wait(objects);
        }
    }
}
