// SPDX-License-Identifier: MIT OR Apache-2.0
//! The resources of an ORB: owners and waiters, and the inheritance of owners.

use std::collections::HashMap;
use std::thread::{self, Thread};

use orbium::Orb;
use orbium::lock::Mutex;
use orbium_rt::PriorityMutex;

use crate::resource::resource_error::ResourceError;
use crate::scheduling::counted_scheduler::CountedScheduler;
use crate::scheduling::parameter::SchedulingParameter;
use crate::thread::DistributableThread;

/// The resources, behind a lock with priority inheritance: a thread that holds it inherits the
/// priority of an urgent waiter.
#[derive(Default)]
pub(crate) struct Resources {
    order: PriorityMutex,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    last: u64,
    resources: HashMap<u64, Resource>,
}

struct Resource {
    name: String,
    ceiling: Option<SchedulingParameter>,
    orb: Orb,
    handles: usize,
    owner: Option<Owner>,
    /// In the order of arrival.
    waiters: Vec<DistributableThread>,
}

struct Owner {
    thread: DistributableThread,
    /// The number of its upcalls here when it locked the resource: it is unlocked when the last of
    /// these ends.
    upcalls: usize,
}

/// Actions after the lock is released, as a thread that lowers its own priority may not run for
/// long.
#[derive(Default)]
struct Effects {
    woken: Vec<Thread>,
    changed: Vec<(DistributableThread, Orb)>,
}

impl Effects {
    /// Applies the changed native priorities of threads, here and where their calls are.
    fn take_place(self, scheduler: &CountedScheduler) {
        self.woken.iter().for_each(Thread::unpark);
        for (thread, orb) in self.changed {
            let notices = {
                let mut presence = thread.presence();
                presence.apply(scheduler);
                presence.notices(thread.id(), scheduler)
            };
            notices.iter().for_each(|it| it.send(&orb));
        }
    }
}

impl Resources {
    fn with<R>(
        &self,
        scheduler: &CountedScheduler,
        act: impl FnOnce(&mut Table, &mut Effects) -> R,
    ) -> R {
        let mut effects = Effects::default();
        // If the system has no such mutex, the other one suffices for order.
        let is_ordered = self.order.lock().is_ok();
        let result = {
            let mut table = self.table.lock();
            act(&mut table, &mut effects)
        };
        if is_ordered {
            let _ = self.order.unlock();
        }
        effects.take_place(scheduler);
        result
    }

    /// A new resource with one handle; none if the name is taken.
    pub(crate) fn add(
        &self,
        name: &str,
        ceiling: Option<SchedulingParameter>,
        orb: &Orb,
        scheduler: &CountedScheduler,
    ) -> Option<u64> {
        self.with(scheduler, |table, _| {
            if table.resources.values().any(|it| it.name == name) {
                return None;
            }
            table.last += 1;
            let resource = Resource {
                name: name.to_owned(),
                ceiling,
                orb: orb.clone(),
                handles: 1,
                owner: None,
                waiters: Vec::new(),
            };
            table.resources.insert(table.last, resource);
            Some(table.last)
        })
    }

    /// Adds another handle of a resource.
    pub(crate) fn share(&self, key: u64, scheduler: &CountedScheduler) {
        self.with(scheduler, |table, _| {
            if let Some(resource) = table.resources.get_mut(&key) {
                resource.handles += 1;
            }
        });
    }

    /// Creates another handle of the resource of that name.
    pub(crate) fn find(&self, name: &str, scheduler: &CountedScheduler) -> Option<u64> {
        self.with(scheduler, |table, _| {
            let mut resources = table.resources.iter_mut();
            let (key, resource) = resources.find(|(_, it)| it.name == name)?;
            resource.handles += 1;
            Some(*key)
        })
    }

    /// Drops a handle, and with the last one the resource.
    pub(crate) fn drop_handle(&self, key: u64, scheduler: &CountedScheduler) {
        // Dropped after the lock is released: it may be the last reference to the ORB.
        let _removed = self.with(scheduler, |table, effects| {
            let resource = table.resources.get_mut(&key)?;
            resource.handles -= 1;
            if resource.handles > 0 {
                return None;
            }
            let resource = table.resources.remove(&key)?;
            if let Some(owner) = &resource.owner {
                owner.thread.presence().release();
                table.settle(&owner.thread, &resource.orb, scheduler, effects);
            }
            Some(resource)
        });
    }

    /// The thread that owns a resource.
    pub(crate) fn owner(
        &self,
        key: u64,
        scheduler: &CountedScheduler,
    ) -> Option<DistributableThread> {
        self.with(scheduler, |table, _| {
            let owner = table.resources.get(&key)?.owner.as_ref()?;
            Some(owner.thread.clone())
        })
    }

    /// Locks a resource if it is free. Returns whether it was.
    ///
    /// # Errors
    /// [`ResourceError::Held`].
    pub(crate) fn try_lock(
        &self,
        key: u64,
        thread: &DistributableThread,
        scheduler: &CountedScheduler,
    ) -> Result<bool, ResourceError> {
        self.with(scheduler, |table, effects| {
            let owner = table.owner(key);
            if owner.is_some_and(|it| it.id() == thread.id()) {
                return Err(ResourceError::Held);
            }
            if owner.is_some() {
                return Ok(false);
            }
            table.grant(key, thread, scheduler, effects);
            Ok(true)
        })
    }

    /// Adds the thread to the waiters of a resource. It is woken when it owns the resource, which
    /// [`leave`](Self::leave) then returns.
    ///
    /// # Errors
    /// [`ResourceError::Deadlock`], [`ResourceError::Waits`].
    pub(crate) fn enter(
        &self,
        key: u64,
        thread: &DistributableThread,
        scheduler: &CountedScheduler,
    ) -> Result<(), ResourceError> {
        self.with(scheduler, |table, effects| {
            if table.is_deadlock(key, thread) {
                return Err(ResourceError::Deadlock);
            }
            // One flow of control waits once, whatever a peer sends: the other native thread would
            // not be woken, and a deadlock between the owners of two resources could remain
            // undetected.
            if table.awaited_by(thread).is_some() {
                return Err(ResourceError::Waits);
            }
            thread.presence().block(thread::current(), scheduler);
            let Some(resource) = table.resources.get_mut(&key) else {
                return Ok(());
            };
            resource.waiters.push(thread.clone());
            match (resource.owner.as_ref(), resource.orb.clone()) {
                (Some(owner), orb) => {
                    let owner = owner.thread.clone();
                    table.settle(&owner, &orb, scheduler, effects);
                }
                // It was unlocked since the attempt.
                (None, _) => table.hand_over(key, scheduler, effects),
            }
            Ok(())
        })
    }

    /// Whether a waiter owns the resource now.
    pub(crate) fn is_owner(
        &self,
        key: u64,
        thread: &DistributableThread,
        scheduler: &CountedScheduler,
    ) -> bool {
        let owner = self.owner(key, scheduler);
        owner.is_some_and(|it| it.id() == thread.id())
    }

    /// Removes a waiter. Returns whether it owns the resource nevertheless.
    pub(crate) fn leave(
        &self,
        key: u64,
        thread: &DistributableThread,
        scheduler: &CountedScheduler,
    ) -> bool {
        self.with(scheduler, |table, effects| {
            let Some(resource) = table.resources.get_mut(&key) else {
                return false;
            };
            resource.waiters.retain(|it| it.id() != thread.id());
            let Some(owner) = resource.owner.as_ref().map(|it| it.thread.clone()) else {
                return false;
            };
            let orb = resource.orb.clone();
            table.settle(&owner, &orb, scheduler, effects);
            owner.id() == thread.id()
        })
    }

    /// Unlocks a resource: the most urgent waiter becomes its owner.
    ///
    /// # Errors
    /// [`ResourceError::NotHeld`].
    pub(crate) fn unlock(
        &self,
        key: u64,
        thread: &DistributableThread,
        scheduler: &CountedScheduler,
    ) -> Result<(), ResourceError> {
        self.with(scheduler, |table, effects| {
            let owner = table.owner(key).filter(|it| it.id() == thread.id());
            owner.ok_or(ResourceError::NotHeld)?;
            table.hand_over(key, scheduler, effects);
            Ok(())
        })
    }

    /// Releases the locks of the upcall that ends, acquired since it began.
    pub(crate) fn release_all(&self, thread: &DistributableThread, scheduler: &CountedScheduler) {
        let upcalls = {
            let presence = thread.presence();
            if !presence.holds() {
                return;
            }
            presence.upcalls()
        };
        let is_left = |it: &Owner| it.thread.id() == thread.id() && it.upcalls >= upcalls;
        self.with(scheduler, |table, effects| {
            let resources = table.resources.iter();
            let left = resources.filter(|(_, it)| it.owner.as_ref().is_some_and(is_left));
            let left: Vec<_> = left.map(|(key, _)| *key).collect();
            for key in left {
                table.hand_over(key, scheduler, effects);
            }
        });
    }

    /// Applies a change of the parameter that a thread inherits from its callers: the owner of the
    /// resource for which it waits inherits that in turn.
    pub(crate) fn changed(
        &self,
        thread: &DistributableThread,
        orb: &Orb,
        scheduler: &CountedScheduler,
    ) {
        self.with(scheduler, |table, effects| {
            effects.changed.push((thread.clone(), orb.clone()));
            if let Some(owner) = table.waits_for(thread).cloned() {
                table.settle(&owner, orb, scheduler, effects);
            }
        });
    }
}

impl Table {
    fn owner(&self, key: u64) -> Option<&DistributableThread> {
        let owner = self.resources.get(&key)?.owner.as_ref()?;
        Some(&owner.thread)
    }

    /// The resource for which a thread waits.
    fn awaited_by(&self, thread: &DistributableThread) -> Option<&Resource> {
        let is_awaited = |it: &&Resource| it.waiters.iter().any(|it| it.id() == thread.id());
        self.resources.values().find(is_awaited)
    }

    /// The owner of the resource for which a thread waits.
    fn waits_for(&self, thread: &DistributableThread) -> Option<&DistributableThread> {
        let owner = self.awaited_by(thread)?.owner.as_ref();
        owner.map(|it| &it.thread)
    }

    /// Whether the owner of a resource waits for the thread. Terminates, as no deadlock exists
    /// before.
    fn is_deadlock(&self, key: u64, thread: &DistributableThread) -> bool {
        let mut owner = self.owner(key);
        while let Some(it) = owner {
            if it.id() == thread.id() {
                return true;
            }
            owner = self.waits_for(it);
        }
        false
    }

    /// Makes the thread the owner of a resource.
    fn grant(
        &mut self,
        key: u64,
        thread: &DistributableThread,
        scheduler: &CountedScheduler,
        effects: &mut Effects,
    ) {
        let Some(resource) = self.resources.get_mut(&key) else {
            return;
        };
        let upcalls = {
            let mut presence = thread.presence();
            presence.hold();
            effects.woken.extend(presence.waiting());
            presence.upcalls()
        };
        resource.owner = Some(Owner {
            thread: thread.clone(),
            upcalls,
        });
        let orb = resource.orb.clone();
        self.settle(thread, &orb, scheduler, effects);
    }

    /// Passes a resource to the most urgent waiter, if any.
    fn hand_over(&mut self, key: u64, scheduler: &CountedScheduler, effects: &mut Effects) {
        let Some(resource) = self.resources.get_mut(&key) else {
            return;
        };
        let (previous, orb) = (resource.owner.take(), resource.orb.clone());
        let waiters = resource.waiters.iter().enumerate();
        let next = scheduler.most_urgent(waiters, |(_, it)| it.presence().effective(scheduler));
        if let Some((index, _)) = next {
            let next = resource.waiters.remove(index);
            self.grant(key, &next, scheduler, effects);
        }
        if let Some(previous) = previous {
            previous.thread.presence().release();
            self.settle(&previous.thread, &orb, scheduler, effects);
        }
    }

    /// Updates the inheritance of a thread from its resources, and of the owner of the one for
    /// which it waits.
    fn settle(
        &self,
        thread: &DistributableThread,
        orb: &Orb,
        scheduler: &CountedScheduler,
        effects: &mut Effects,
    ) {
        let mut next = Some(thread);
        while let Some(thread) = next {
            let inherited = self.inherited_by(thread, scheduler);
            let changes = thread.presence().inherit_of_resources(inherited);
            if changes {
                effects.changed.push((thread.clone(), orb.clone()));
            }
            next = self.waits_for(thread).filter(|_| changes);
        }
    }

    /// The most urgent of the ceilings and waiters of a thread's resources.
    fn inherited_by(
        &self,
        thread: &DistributableThread,
        scheduler: &CountedScheduler,
    ) -> Option<SchedulingParameter> {
        let is_own = |it: &&Resource| {
            let owner = it.owner.as_ref();
            owner.is_some_and(|it| it.thread.id() == thread.id())
        };
        let own = self.resources.values().filter(is_own);
        let all = own.flat_map(|resource| {
            let waiters = resource.waiters.iter();
            let waiters = waiters.map(|it| it.presence().effective(scheduler));
            waiters.chain([resource.ceiling])
        });
        scheduler.most_urgent(all, |it| *it)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduling::fixed_priority::FixedPriority;
    use crate::thread::id::ThreadId;

    /// Regression: with two upcalls of one thread, begun by an asynchronous call and a further one,
    /// the native thread of the first was not woken when the resource was unlocked, and the
    /// resource stayed locked.
    #[test]
    fn a_thread_that_waits_in_one_upcall_does_not_wait_in_another() {
        let scheduler = CountedScheduler::new(FixedPriority::default());
        let (resources, orb) = (Resources::default(), Orb::builder().build().unwrap());
        let add = |name| resources.add(name, None, &orb, &scheduler).unwrap();
        let [first, second] = ["first", "second"].map(add);
        let thread = || DistributableThread::new(ThreadId::unique());
        let (owner, waiter) = (thread(), thread());
        for key in [first, second] {
            assert_eq!(resources.try_lock(key, &owner, &scheduler), Ok(true));
        }
        assert_eq!(resources.enter(first, &waiter, &scheduler), Ok(()));
        for key in [first, second] {
            let refused = resources.enter(key, &waiter, &scheduler);
            assert_eq!(refused, Err(ResourceError::Waits));
        }
        resources.unlock(first, &owner, &scheduler).unwrap();
        assert!(resources.is_owner(first, &waiter, &scheduler));
        waiter.presence().unblock(&scheduler);
        resources.unlock(first, &waiter, &scheduler).unwrap();
        assert_eq!(resources.enter(second, &waiter, &scheduler), Ok(()));
    }
}
