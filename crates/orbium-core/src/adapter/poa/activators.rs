// SPDX-License-Identifier: MIT OR Apache-2.0
//! Adapter activators: creation of adapters on demand (CORBA 3.3 Part 1, clause 15.3.3).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, ThreadId};

use orbium_adapter::RegisteredAdapter;
use orbium_giop::SystemException;
use orbium_sync::role;

use super::servant_managers::handle;
use super::upcall::obj_adapter;
use super::{Poa, PoaCore, PoaError};
use crate::adapter::ThreadModel;
use crate::adapter::managing::Creating;
use crate::adapter::object::Adapter;

/// Creates child adapters on demand.
///
/// Functions and closures that take the parent and the name implement it.
pub trait AdapterActivator: Send + Sync + 'static {
    /// Called when `parent` has no child adapter of that name: creates it with [`Poa::create_poa`]
    /// and returns `true`, or returns `false`. Calls for one name never overlap; requests for the
    /// new adapter wait until this returns.
    ///
    /// # Errors
    /// The request, or [`Poa::find_or_activate_poa`], ends with OBJ_ADAPTER, minor code 1;
    /// so it does if this panics.
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> Result<bool, SystemException>;
}

impl<F> AdapterActivator for F
where
    F: Fn(&Poa, &str) -> Result<bool, SystemException> + Send + Sync + 'static,
{
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> Result<bool, SystemException> {
        self(parent, name)
    }
}

struct Creator<A>(A);

impl<A: AdapterActivator> Creating for Creator<A> {
    fn unknown_adapter(
        &self,
        parent: &Arc<dyn Adapter>,
        name: &str,
    ) -> Result<bool, SystemException> {
        self.0.unknown_adapter(&handle(parent), name)
    }
}

/// The name of an activation in progress; freed when dropped.
struct Activation<'p>(&'p PoaCore, &'p str);

impl Drop for Activation<'_> {
    fn drop(&mut self) {
        let mut objects = self.0.lock();
        objects.activations.retain(|(name, _)| name != self.1);
        drop(objects);
        self.0.one_gone.notify_all();
    }
}

impl PoaCore {
    /// The thread that is calling the activator for that child.
    pub(super) fn is_being_activated(&self, name: &str) -> Option<ThreadId> {
        let objects = self.lock();
        let activation = objects.activations.iter().find(|(it, _)| it == name)?;
        Some(activation.1)
    }

    /// Whether there is an activator.
    pub(super) fn has_activator(&self) -> bool {
        self.activator.lock().is_some()
    }

    /// Calls the activator for a child; returns whether the child exists now.
    pub(super) fn activate_child(self: &Arc<Self>, name: &str) -> Result<bool, SystemException> {
        let Some(activator) = self.activator.lock().clone() else {
            return Ok(self.child_named(name).is_some());
        };
        let single = self.policies.thread_model == ThreadModel::SingleThread;
        let _turn = single.then(|| self.turn.take());
        let mine = thread::current().id();
        let mut objects = self.lock();
        while let Some((_, thread)) = objects.activations.iter().find(|(it, _)| it == name) {
            if *thread == mine {
                // Called from within the activator.
                drop(objects);
                return Ok(self.child_named(name).is_some());
            }
            drop(objects);
            role::about_to_block();
            objects = self.lock();
            if objects.activations.iter().any(|(it, _)| it == name) {
                objects = self.one_gone.wait(objects);
            }
        }
        // Under the lock: an activation hides the child from other requests.
        if self.child_named(name).is_some() {
            return Ok(true);
        }
        objects.activations.push((name.to_owned(), mine));
        drop(objects);
        let _activation = Activation(self, name);
        self.check_not_destroyed()?;
        let adapter: Arc<dyn Adapter> = self.clone();
        // It must not wait for the end of its adapter, whichever thread asks for the child.
        let create = || activator.unknown_adapter(&adapter, name);
        let created = catch_unwind(AssertUnwindSafe(|| {
            role::while_serving_own_thread(self.orb, create)
        }));
        match created {
            Ok(Ok(created)) => Ok(created && self.child_named(name).is_some()),
            _ => {
                crate::log::warn!(
                    target: "orbium::poa", adapter = self.path_text(), name,
                    "an adapter activator failed"
                );
                Err(obj_adapter(1))
            }
        }
    }
}

impl Poa {
    /// Sets the activator that creates children of this adapter on demand (`the_activator`).
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST if the adapter was destroyed.
    pub fn set_adapter_activator(&self, activator: impl AdapterActivator) -> Result<(), PoaError> {
        self.replace_activator(Some(Arc::new(Creator(activator))))
    }

    /// Removes the activator: missing children are not created any more.
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST if the adapter was destroyed.
    pub fn clear_adapter_activator(&self) -> Result<(), PoaError> {
        self.replace_activator(None)
    }

    fn replace_activator(&self, activator: Option<Arc<dyn Creating>>) -> Result<(), PoaError> {
        self.0.adapters()?.registry.note_activator();
        let mut place = self.0.activator.lock();
        let before = std::mem::replace(&mut *place, activator);
        drop(place);
        drop(before);
        Ok(())
    }

    /// The child adapter of that name, created by the adapter activator if it does not exist
    /// (`find_POA` with `activate_it`).
    ///
    /// # Errors
    /// [`PoaError::AdapterNonExistent`]; OBJ_ADAPTER 1 if the activator fails.
    pub fn find_or_activate_poa(&self, name: &str) -> Result<Self, PoaError> {
        match self.find_poa(name) {
            Err(PoaError::AdapterNonExistent) if self.0.activate_child(name)? => {
                self.find_poa(name)
            }
            found => found,
        }
    }
}
