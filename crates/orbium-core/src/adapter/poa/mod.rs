// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Portable Object Adapter (CORBA 3.3 Part 1, clause 15).

mod activation;
mod activators;
mod calls;
mod current;
mod destruction;
mod etherealization;
mod lane_change;
mod lookup;
mod references;
mod servant_managers;
mod servants;
mod template;
mod upcall;

use std::collections::HashMap;
use std::fmt;
use std::iter;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::thread::ThreadId;

use orbium_channel::protocol::ProfileComponents;
use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_interceptor::{CurrentFactory, OrbIdentity};
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_sync::{SlotKey, Turn};

pub use activators::AdapterActivator;
pub(super) use calls::active;
pub use current::PoaCurrent;
pub use orbium_adapter::{NoContext, PoaError};
pub use servant_managers::{ServantActivator, ServantLocator};
pub use servants::servant_of;

use crate::Servant;
use crate::adapter::managing::{Creating, ServantManager};
use crate::adapter::object::ActiveObject;
use crate::adapter::{Adapters, Lifespan, PoaManager, PoaManagerFactory, Policies, ThreadModel};
use orbium_adapter::gone;
use orbium_adapter::object_key::{MAX_DEPTH, MAX_NAME, NO_HINT, ObjectKey};

#[derive(Default)]
struct Objects {
    /// Every active object by id.
    by_id: HashMap<Box<[u8]>, SlotKey>,
    /// Active objects by the address of their servant, for servants with UNIQUE_ID: the same kind
    /// of map, since each further kind adds much code.
    by_servant: HashMap<Box<[u8]>, SlotKey>,
    /// The number of active objects, plus those with requests in progress.
    alive: usize,
    /// Deactivated objects that are not etherealized yet, by id.
    ending: HashMap<Box<[u8]>, SlotKey>,
    /// The number of objects that are not etherealized yet, if the adapter etherealizes.
    incarnated: usize,
    /// The number of objects of a servant, by its address, if the adapter etherealizes.
    incarnations: HashMap<[u8; size_of::<usize>()], usize>,
    /// Deactivated objects that end after the last deferred reply.
    last: Vec<Arc<ActiveObject>>,
    /// Names for which the adapter activator is running, and its threads.
    activations: Vec<(String, ThreadId)>,
}

pub(crate) struct PoaCore {
    adapters: Weak<Adapters>,
    /// The ORB's number.
    orb: usize,
    name: String,
    /// Names from below the root down to this adapter.
    path: Vec<String>,
    parent: Option<Weak<PoaCore>>,
    policies: Policies,
    manager: PoaManager,
    /// Components of its references that interceptors have added.
    components: OnceLock<ProfileComponents>,
    /// The factory of its references, if an interceptor has set one.
    factory: OnceLock<CurrentFactory>,
    stamp: u64,
    destroyed: AtomicBool,
    /// The destruction is complete.
    gone: AtomicBool,
    children: Mutex<Vec<Poa>>,
    objects: Mutex<Objects>,
    one_gone: Condvar,
    servant_manager: Mutex<Option<Arc<ServantManager>>>,
    default_servant: Mutex<Option<Arc<dyn Servant>>>,
    activator: Mutex<Option<Arc<dyn Creating>>>,
    /// Held during calls to the servant activator, and during upcalls under SINGLE_THREAD.
    turn: Turn,
}

impl PoaCore {
    /// The identity of its ORB.
    fn identity(&self) -> Arc<OrbIdentity> {
        let adapters = self.adapters.upgrade();
        adapters.map_or_else(Arc::default, |it| Arc::clone(&it.identity))
    }

    /// Its path in introspection: `RootPOA/child`.
    fn path_text(&self) -> String {
        let below = self.path.iter();
        below.fold("RootPOA".to_owned(), |path, name| format!("{path}/{name}"))
    }
}

/// An object adapter: makes references and finds servants.
#[derive(Clone)]
pub struct Poa(pub(crate) Arc<PoaCore>);

impl PartialEq for Poa {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Poa {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poa")
            .field("name", &self.0.name)
            .field("policies", &self.0.policies)
            .field("objects", &self.0.lock().by_id.len())
            .finish_non_exhaustive()
    }
}

impl PoaCore {
    fn lock(&self) -> MutexGuard<'_, Objects> {
        self.objects.lock()
    }

    /// The ORB's adapters; OBJECT_NOT_EXIST if this one was destroyed, or the ORB is gone.
    pub(crate) fn adapters(&self) -> Result<Arc<Adapters>, SystemException> {
        if self.destroyed.load(Ordering::Acquire) {
            return Err(gone());
        }
        self.adapters.upgrade().ok_or_else(gone)
    }

    /// Refuses children once the destruction has begun (`create_POA` and `destroy` in CORBA 3.3
    /// Part 1, clause 15.3).
    fn check_takes_children(&self) -> Result<(), SystemException> {
        if !self.destroyed.load(Ordering::Acquire) {
            return Ok(());
        }
        if self.gone.load(Ordering::Acquire) {
            self.adapters().map(drop)
        } else {
            Err(SystemException::omg(
                ExceptionKind::BadInvOrder,
                17,
                Completion::No,
            ))
        }
    }

    fn children(&self) -> MutexGuard<'_, Vec<Poa>> {
        self.children.lock()
    }

    /// The child adapter of that name.
    fn child_named(&self, name: &str) -> Option<Poa> {
        let children = self.children();
        let place = place(&children, name).ok()?;
        Some(children[place].clone())
    }
}

impl Poa {
    /// The root adapter of an ORB, which interceptors cannot refuse.
    pub(crate) fn root(adapters: &Arc<Adapters>) -> Self {
        let manager = match adapters.new_manager(None, "RootPOA") {
            Ok(manager) => manager,
            Err(_) => unreachable!("the ORB has no other manager yet"),
        };
        let policies = Policies {
            implicit_activation: true,
            ..Policies::default()
        };
        let root = Self::make(adapters, Vec::new(), None, manager, policies);
        let _ = root.establish(adapters);
        root.register_object(adapters);
        root
    }

    /// An adapter that is not registered yet.
    fn make(
        adapters: &Arc<Adapters>,
        path: Vec<String>,
        parent: Option<Weak<PoaCore>>,
        manager: PoaManager,
        mut policies: Policies,
    ) -> Self {
        if adapters.goes_both_ways {
            policies.bidirectional.get_or_insert(adapters.bidirectional);
        }
        let stamp = match policies.lifespan {
            Lifespan::Transient => adapters.registry.next_stamp(),
            Lifespan::Persistent => adapters.registry.incarnation,
        };
        Self(Arc::new(PoaCore {
            adapters: Arc::downgrade(adapters),
            orb: adapters.context.number,
            name: path.last().map_or("RootPOA", String::as_str).to_owned(),
            path,
            parent,
            policies,
            manager,
            components: OnceLock::new(),
            factory: OnceLock::new(),
            stamp,
            destroyed: AtomicBool::new(false),
            gone: AtomicBool::new(false),
            children: Mutex::default(),
            objects: Mutex::default(),
            one_gone: Condvar::new(),
            servant_manager: Mutex::default(),
            default_servant: Mutex::default(),
            activator: Mutex::default(),
            turn: Turn::default(),
        }))
    }

    /// Registers the adapter with its manager and the registry.
    fn register_object(&self, adapters: &Adapters) {
        let adapter: Weak<PoaCore> = Arc::downgrade(&self.0);
        self.0.manager.add(adapter.clone());
        if self.0.policies.lifespan == Lifespan::Transient {
            adapters.registry.remember(self.0.stamp, adapter);
        }
    }

    /// The adapter's name; `RootPOA` for the root.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The parent of the adapter.
    #[must_use]
    #[inline]
    pub fn parent(&self) -> Option<Self> {
        self.0.parent.as_ref()?.upgrade().map(Self)
    }

    /// The adapter's policies.
    #[must_use]
    #[inline]
    pub fn policies(&self) -> Policies {
        self.0.policies.clone()
    }

    /// The manager that controls whether requests are served.
    #[must_use]
    pub fn manager(&self) -> PoaManager {
        self.0.manager.clone()
    }

    /// The factory of managers, with look-up by id (`the_POAManagerFactory`).
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST if the adapter was destroyed.
    pub fn manager_factory(&self) -> Result<PoaManagerFactory, PoaError> {
        Ok(PoaManagerFactory(self.0.adapters()?))
    }

    /// The identity of the adapter in its ORB (`id`): the same in the next process if it is
    /// PERSISTENT, another one for each adapter if it is TRANSIENT.
    #[must_use]
    pub fn id(&self) -> Vec<u8> {
        let persistent = self.0.policies.lifespan == Lifespan::Persistent;
        let stamp = if persistent { 0 } else { self.0.stamp };
        ObjectKey::long(stamp, NO_HINT, persistent, &self.0.path, &[])
    }

    /// The adapters directly below this one.
    #[must_use]
    #[inline]
    pub fn the_children(&self) -> Vec<Self> {
        self.0.children().clone()
    }

    /// The adapter and all its descendants, each before its children.
    #[doc(hidden)]
    pub fn subtree(&self) -> impl Iterator<Item = Self> + use<> {
        let mut todo = vec![self.clone()];
        iter::from_fn(move || {
            let poa = todo.pop()?;
            todo.extend(poa.the_children().into_iter().rev());
            Some(poa)
        })
    }

    /// Its name after those of its parents, as in `RootPOA/devices`.
    #[doc(hidden)]
    #[must_use]
    pub fn path_text(&self) -> String {
        self.0.path_text()
    }

    /// Creates a child adapter. If one of that name is being destroyed, waits for its end. Without
    /// a manager the child gets its own, which holds requests until it is activated.
    ///
    /// # Errors
    /// [`PoaError::AdapterAlreadyExists`], [`PoaError::InvalidPolicy`] for policies that do not go
    /// together, [`PoaError::NameTooLong`]; BAD_INV_ORDER 17 while this adapter is being destroyed,
    /// OBJECT_NOT_EXIST after that; BAD_INV_ORDER 3 for a request that would wait for such an end.
    pub fn create_poa(
        &self,
        name: &str,
        manager: Option<PoaManager>,
        policies: Policies,
    ) -> Result<Self, PoaError> {
        let adapters = self.0.adapters.upgrade().ok_or_else(gone)?;
        let mut path = self.0.path.clone();
        path.push(name.to_owned());
        if path.len() > MAX_DEPTH || name.len() > MAX_NAME {
            return Err(PoaError::NameTooLong);
        }
        let checked = policies.check(adapters.goes_both_ways);
        checked.map_err(PoaError::InvalidPolicy)?;
        if policies.thread_model == ThreadModel::MainThread {
            adapters.factory()?.main_lane()?;
        }
        self.await_name(name)?;
        let manager = match manager {
            Some(manager) => manager,
            // A generated id cannot be taken.
            None => adapters
                .new_manager(None, name)
                .map_err(|_| PoaError::AdapterAlreadyExists)?,
        };
        let parent = Some(Arc::downgrade(&self.0));
        let child = Self::make(&adapters, path, parent, manager, policies);
        // Before this adapter is locked: interceptors may use it.
        child.establish(&adapters)?;
        let mut children = self.0.children();
        self.0.check_takes_children()?;
        let Err(place) = place(&children, name) else {
            return Err(PoaError::AdapterAlreadyExists);
        };
        child.register_object(&adapters);
        children.insert(place, child.clone());
        // Interceptors that see its manager may list them.
        drop(children);
        // The others were deactivated before this child existed.
        if self.0.manager.ends_with_orb() {
            child.deactivate_managers();
        }
        Ok(child)
    }

    /// The child adapter of that name.
    ///
    /// # Errors
    /// [`PoaError::AdapterNonExistent`]; OBJECT_NOT_EXIST if this adapter was destroyed.
    pub fn find_poa(&self, name: &str) -> Result<Self, PoaError> {
        self.0.adapters()?;
        self.0.child_named(name).ok_or(PoaError::AdapterNonExistent)
    }
}

/// The index of the child of that name, or its insertion point.
fn place(children: &[Poa], name: &str) -> Result<usize, usize> {
    children.binary_search_by(|child| child.name().cmp(name))
}
