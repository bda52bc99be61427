// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Portable Object Adapter (CORBA 3.3 Part 1, clause 15).

mod activation;
mod calls;
mod destruction;
mod error;
mod lookup;
mod references;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, Weak};

use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_sync::SlotKey;
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};

pub use error::PoaError;

use crate::adapter::key::{MAX_DEPTH, MAX_NAME};
use crate::adapter::{Adapters, Lifespan, PoaManager, Policies};

#[derive(Default)]
struct Objects {
    /// Every active object by id.
    by_id: HashMap<Box<[u8]>, SlotKey>,
    /// Those of servants that may be but one object, by the octets of an address: the
    /// same kind of map, for each kind is much code.
    by_servant: HashMap<Box<[u8]>, SlotKey>,
    /// Active objects and those that still serve their last requests.
    alive: usize,
}

pub(crate) struct PoaCore {
    adapters: Weak<Adapters>,
    /// The ORB's number.
    orb: usize,
    name: String,
    /// Names from below the root down to here.
    path: Vec<String>,
    parent: Option<Weak<PoaCore>>,
    policies: Policies,
    manager: PoaManager,
    stamp: u64,
    next_id: AtomicU64,
    destroyed: AtomicBool,
    /// The destruction is complete.
    gone: AtomicBool,
    children: Mutex<Vec<Poa>>,
    objects: Mutex<Objects>,
    one_gone: Condvar,
}

impl PoaCore {
    /// Its path as introspection has it: `RootPOA/child`.
    fn path_text(&self) -> String {
        let below = self.path.iter();
        below.fold("RootPOA".to_owned(), |path, name| format!("{path}/{name}"))
    }
}

/// An object adapter: makes references and finds servants.
#[derive(Clone)]
pub struct Poa(Arc<PoaCore>);

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
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ORB's adapters; OBJECT_NOT_EXIST if this one was destroyed, or the ORB is gone.
    fn adapters(&self) -> Result<Arc<Adapters>, SystemException> {
        let gone = || SystemException::new(ExceptionKind::ObjectNotExist, 0, Completion::No);
        if self.destroyed.load(Ordering::Acquire) {
            return Err(gone());
        }
        self.adapters.upgrade().ok_or_else(gone)
    }
}

impl PoaCore {
    fn lock_children(&self) -> MutexGuard<'_, Vec<Poa>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The adapter of that name below this one.
    fn child_named(&self, name: &str) -> Option<Poa> {
        let children = self.lock_children();
        let place = place(&children, name).ok()?;
        Some(children[place].clone())
    }
}

impl Poa {
    /// The root adapter of an ORB.
    pub(crate) fn root(adapters: &Arc<Adapters>) -> Self {
        let manager = PoaManager::new(&adapters.context, adapters.registry.started(), "RootPOA");
        Self::make(
            adapters,
            "RootPOA",
            Vec::new(),
            None,
            manager,
            Policies::default(),
        )
    }

    fn make(
        adapters: &Arc<Adapters>,
        name: &str,
        path: Vec<String>,
        parent: Option<Weak<PoaCore>>,
        manager: PoaManager,
        policies: Policies,
    ) -> Self {
        let stamp = match policies.lifespan {
            Lifespan::Transient => adapters.registry.next_stamp(),
            Lifespan::Persistent => adapters.registry.incarnation,
        };
        let poa = Self(Arc::new(PoaCore {
            adapters: Arc::downgrade(adapters),
            orb: adapters.context.number,
            name: name.to_owned(),
            path,
            parent,
            policies,
            manager,
            stamp,
            next_id: AtomicU64::new(1),
            destroyed: AtomicBool::new(false),
            gone: AtomicBool::new(false),
            children: Mutex::default(),
            objects: Mutex::default(),
            one_gone: Condvar::new(),
        }));
        if poa.0.policies.lifespan == Lifespan::Transient {
            let adapter: Weak<PoaCore> = Arc::downgrade(&poa.0);
            adapters.registry.remember(stamp, adapter);
        }
        poa
    }

    /// The adapter's name; `RootPOA` for the root.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The adapter this one is a child of.
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

    /// What controls whether requests are served.
    #[must_use]
    pub fn manager(&self) -> PoaManager {
        self.0.manager.clone()
    }

    fn children(&self) -> MutexGuard<'_, Vec<Self>> {
        self.0.lock_children()
    }

    /// The adapters directly below this one.
    #[must_use]
    #[inline]
    pub fn the_children(&self) -> Vec<Self> {
        self.children().clone()
    }

    /// Makes an adapter below this one. Without a manager it gets one of its
    /// own, which holds requests until it is activated.
    ///
    /// # Errors
    /// [`PoaError::AdapterAlreadyExists`], [`PoaError::NameTooLong`]; BAD_INV_ORDER
    /// if this adapter is being destroyed.
    #[inline]
    pub fn create_poa(
        &self,
        name: &str,
        manager: Option<PoaManager>,
        policies: Policies,
    ) -> Result<Self, PoaError> {
        let gone = SystemException::new(ExceptionKind::ObjectNotExist, 0, Completion::No);
        let adapters = self.0.adapters.upgrade().ok_or(gone)?;
        let mut path = self.0.path.clone();
        path.push(name.to_owned());
        if path.len() > MAX_DEPTH || name.len() > MAX_NAME {
            return Err(PoaError::NameTooLong);
        }
        let mut children = self.children();
        if self.0.destroyed.load(Ordering::Acquire) {
            return Err(
                SystemException::omg(ExceptionKind::BadInvOrder, 17, Completion::No).into(),
            );
        }
        let Err(place) = place(&children, name) else {
            return Err(PoaError::AdapterAlreadyExists);
        };
        let manager = manager.unwrap_or_else(|| {
            PoaManager::new(&adapters.context, adapters.registry.started(), name)
        });
        let parent = Some(Arc::downgrade(&self.0));
        let child = Self::make(&adapters, name, path, parent, manager, policies);
        children.insert(place, child.clone());
        Ok(child)
    }

    /// The adapter of that name below this one.
    ///
    /// # Errors
    /// [`PoaError::AdapterNonExistent`].
    #[inline]
    pub fn find_poa(&self, name: &str) -> Result<Self, PoaError> {
        self.0.child_named(name).ok_or(PoaError::AdapterNonExistent)
    }
}

/// Where among children an adapter of that name is, or would be.
fn place(children: &[Poa], name: &str) -> Result<usize, usize> {
    children.binary_search_by(|child| child.name().cmp(name))
}
