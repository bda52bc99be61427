// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Portable Object Adapter (CORBA 3.3 Part 1, clause 15).

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_sync::SlotKey;

use crate::adapter::key::{MAX_DEPTH, MAX_NAME, NO_HINT, ObjectKey};
use crate::adapter::manager::{being_destroyed, refuse_to_wait_for_oneself};
use crate::adapter::object::ActiveObject;
use crate::adapter::{IdAssignment, IdUniqueness, Lifespan, PoaManager, Policies};
use crate::orb::OrbCore;
use crate::reference::{Interface, ObjectRef};
use crate::{Orb, Servant, ServedBy};

/// What an adapter refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoaError {
    /// A child of that name exists.
    AdapterAlreadyExists,
    /// There is no child of that name.
    AdapterNonExistent,
    /// The adapter's manager was deactivated, for good.
    AdapterInactive,
    /// The name, or the nesting, is longer than an object key can hold.
    NameTooLong,
    /// An object with that id is active.
    ObjectAlreadyActive,
    /// No object with that id is active.
    ObjectNotActive,
    /// The servant is an object already, and may be but one.
    ServantAlreadyActive,
    /// The servant is not active.
    ServantNotActive,
    /// The reference was not made by this adapter.
    WrongAdapter,
    /// The operation does not fit the adapter's policies.
    WrongPolicy,
    /// A system exception: destroyed, shut down, not able to listen.
    System(SystemException),
}

impl fmt::Display for PoaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::AdapterAlreadyExists => "an adapter of that name exists already",
            Self::AdapterNonExistent => "there is no adapter of that name",
            Self::AdapterInactive => "the POA manager was deactivated",
            Self::NameTooLong => "adapter names are longer, or nested deeper, than a key can hold",
            Self::ObjectAlreadyActive => "an object with that id is active already",
            Self::ObjectNotActive => "no object with that id is active",
            Self::ServantAlreadyActive => "the servant is active already (UNIQUE_ID)",
            Self::ServantNotActive => "the servant is not active",
            Self::WrongAdapter => "the reference belongs to another adapter",
            Self::WrongPolicy => "the adapter's policies do not allow that",
            Self::System(exception) => return exception.fmt(f),
        };
        f.write_str(text)
    }
}

impl std::error::Error for PoaError {}

impl From<SystemException> for PoaError {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

#[derive(Default)]
struct Objects {
    /// Every active object by id.
    by_id: HashMap<Box<[u8]>, SlotKey>,
    /// Ids of servants that may be but one object, by address.
    by_servant: HashMap<usize, Box<[u8]>>,
    /// Active objects and those that still serve their last requests.
    alive: usize,
}

pub(crate) struct PoaCore {
    orb: Weak<OrbCore>,
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
    children: Mutex<BTreeMap<String, Poa>>,
    objects: Mutex<Objects>,
    one_gone: Condvar,
}

/// An object adapter: makes references and finds servants.
#[derive(Clone)]
pub struct Poa(Arc<PoaCore>);

impl From<Arc<PoaCore>> for Poa {
    fn from(core: Arc<PoaCore>) -> Self {
        Self(core)
    }
}

impl PartialEq for Poa {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Poa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poa")
            .field("name", &self.0.name)
            .field("policies", &self.0.policies)
            .field("objects", &self.0.lock().by_id.len())
            .finish_non_exhaustive()
    }
}

fn address(servant: &Arc<dyn Servant>) -> usize {
    Arc::as_ptr(servant).cast::<()>() as usize
}

fn erased(skeleton: impl Servant) -> Arc<dyn Servant> {
    Arc::new(skeleton)
}

impl PoaCore {
    fn lock(&self) -> MutexGuard<'_, Objects> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_destroyed(&self) -> &AtomicBool {
        &self.destroyed
    }

    pub(super) fn object_gone(&self) {
        self.lock().alive -= 1;
        self.one_gone.notify_all();
    }

    fn orb(&self) -> Result<Orb, SystemException> {
        let gone = || SystemException::new(ExceptionKind::ObjectNotExist, 0, Completion::No);
        if self.destroyed.load(Ordering::Acquire) {
            return Err(gone());
        }
        self.orb.upgrade().map(Orb::from).ok_or_else(gone)
    }

    /// The key of an object of this adapter.
    pub(super) fn key_of(&self, id: &[u8], slot: SlotKey) -> Vec<u8> {
        let persistent = self.policies.lifespan == Lifespan::Persistent;
        if !persistent && slot != NO_HINT && *id == *system_id(slot) {
            return ObjectKey::short(self.stamp, slot);
        }
        ObjectKey::long(self.stamp, slot, persistent, &self.path, id)
    }

    pub(super) fn reference(
        &self,
        key: &[u8],
        repository_id: &str,
    ) -> Result<ObjectRef, SystemException> {
        self.orb()?.reference_to_key(key, repository_id)
    }
}

/// The id that an adapter gives to an object by its slot.
pub(super) fn system_id(slot: SlotKey) -> Box<[u8]> {
    [slot.index.to_be_bytes(), slot.generation.to_be_bytes()]
        .as_flattened()
        .into()
}

impl Poa {
    /// The root adapter of an ORB.
    pub(crate) fn root(orb: &Arc<OrbCore>) -> Self {
        let manager = PoaManager::new(orb);
        Self::make(
            orb,
            "RootPOA",
            Vec::new(),
            None,
            manager,
            Policies::default(),
        )
    }

    fn make(
        orb: &Arc<OrbCore>,
        name: &str,
        path: Vec<String>,
        parent: Option<Weak<PoaCore>>,
        manager: PoaManager,
        policies: Policies,
    ) -> Self {
        let stamp = match policies.lifespan {
            Lifespan::Transient => orb.registry.next_stamp(),
            Lifespan::Persistent => orb.registry.incarnation,
        };
        let poa = Self(Arc::new(PoaCore {
            orb: Arc::downgrade(orb),
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
        if policies.lifespan == Lifespan::Transient {
            orb.registry.remember(stamp, Arc::downgrade(&poa.0));
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
    pub fn parent(&self) -> Option<Self> {
        self.0.parent.as_ref()?.upgrade().map(Self)
    }

    /// The adapter's policies.
    #[must_use]
    pub fn policies(&self) -> Policies {
        self.0.policies
    }

    /// What controls whether requests are served.
    #[must_use]
    pub fn manager(&self) -> PoaManager {
        self.0.manager.clone()
    }

    fn children(&self) -> MutexGuard<'_, BTreeMap<String, Self>> {
        self.0
            .children
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The adapters directly below this one.
    #[must_use]
    pub fn the_children(&self) -> Vec<Self> {
        self.children().values().cloned().collect()
    }

    /// Makes an adapter below this one. Without a manager it gets one of its
    /// own, which holds requests until it is activated.
    ///
    /// # Errors
    /// [`PoaError::AdapterAlreadyExists`], [`PoaError::NameTooLong`]; BAD_INV_ORDER
    /// if this adapter is being destroyed.
    pub fn create_poa(
        &self,
        name: &str,
        manager: Option<PoaManager>,
        policies: Policies,
    ) -> Result<Self, PoaError> {
        let gone = SystemException::new(ExceptionKind::ObjectNotExist, 0, Completion::No);
        let orb = self.0.orb.upgrade().ok_or(gone)?;
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
        if children.contains_key(name) {
            return Err(PoaError::AdapterAlreadyExists);
        }
        let manager = manager.unwrap_or_else(|| PoaManager::new(&orb));
        let parent = Some(Arc::downgrade(&self.0));
        let child = Self::make(&orb, name, path, parent, manager, policies);
        children.insert(name.to_owned(), child.clone());
        Ok(child)
    }

    /// The adapter of that name below this one.
    ///
    /// # Errors
    /// [`PoaError::AdapterNonExistent`].
    pub fn find_poa(&self, name: &str) -> Result<Self, PoaError> {
        self.child(name).ok_or(PoaError::AdapterNonExistent)
    }

    pub(crate) fn child(&self, name: &str) -> Option<Self> {
        self.children().get(name).cloned()
    }

    /// Whether a key of that kind and stamp may be served from here.
    pub(super) fn serves(&self, persistent: bool, stamp: u64) -> bool {
        match self.0.policies.lifespan {
            Lifespan::Persistent => persistent,
            Lifespan::Transient => !persistent && self.0.stamp == stamp,
        }
    }

    pub(super) fn active(&self, id: &[u8]) -> Option<Arc<ActiveObject>> {
        let slot = *self.0.lock().by_id.get(id)?;
        self.0.orb.upgrade()?.registry.objects.get(slot)
    }

    /// The active object with an id, for a request. While the adapter is being
    /// destroyed it has none any more, but may soon have them again.
    pub(super) fn object(
        &self,
        id: &[u8],
        unknown: impl FnOnce() -> SystemException,
    ) -> Result<Arc<ActiveObject>, SystemException> {
        match self.active(id) {
            Some(object) => Ok(object),
            None => self.check_not_destroyed().and_then(|()| Err(unknown())),
        }
    }

    /// TRANSIENT if the adapter is being destroyed.
    pub(super) fn check_not_destroyed(&self) -> Result<(), SystemException> {
        let destroyed = self.0.destroyed.load(Ordering::Acquire);
        if destroyed && !self.0.gone.load(Ordering::Acquire) {
            return Err(being_destroyed());
        }
        Ok(())
    }

    /// Makes a servant an object with an id of the adapter's choice, and
    /// returns the reference.
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`] if users name objects here; a system exception
    /// if the ORB cannot listen.
    pub fn activate<I: ServedBy<S>, S>(&self, servant: S) -> Result<I, PoaError> {
        let object = self.activate_servant(&erased(I::skeleton(servant)))?;
        Ok(I::from_object(object))
    }

    /// As [`Poa::activate`], for a servant that is wrapped already.
    ///
    /// # Errors
    /// As [`Poa::activate`]; [`PoaError::ServantAlreadyActive`].
    pub fn activate_servant(&self, servant: &Arc<dyn Servant>) -> Result<ObjectRef, PoaError> {
        if self.0.policies.id_assignment != IdAssignment::System {
            return Err(PoaError::WrongPolicy);
        }
        let id = (self.0.policies.lifespan == Lifespan::Persistent).then(|| self.new_system_id());
        self.enter(id, servant)
    }

    /// Makes a servant the object with that id.
    ///
    /// # Errors
    /// [`PoaError::ObjectAlreadyActive`]; a system exception if the adapter
    /// names objects itself and the id is not one of its, or if the ORB cannot
    /// listen.
    pub fn activate_with_id<I: ServedBy<S>, S>(
        &self,
        id: &[u8],
        servant: S,
    ) -> Result<I, PoaError> {
        let object = self.activate_servant_with_id(id, &erased(I::skeleton(servant)))?;
        Ok(I::from_object(object))
    }

    /// As [`Poa::activate_with_id`], for a servant that is wrapped already.
    ///
    /// # Errors
    /// As [`Poa::activate_with_id`]; [`PoaError::ServantAlreadyActive`].
    pub fn activate_servant_with_id(
        &self,
        id: &[u8],
        servant: &Arc<dyn Servant>,
    ) -> Result<ObjectRef, PoaError> {
        self.check_id(id)?;
        self.enter(Some(id.into()), servant)
    }

    /// An id that no adapter of this path ever gave before.
    fn new_system_id(&self) -> Box<[u8]> {
        let incarnation = self
            .0
            .orb
            .upgrade()
            .map_or(0, |orb| orb.registry.incarnation);
        let count = self.0.next_id.fetch_add(1, Ordering::Relaxed);
        [incarnation.to_be_bytes(), count.to_be_bytes()]
            .as_flattened()
            .into()
    }

    /// Refuses ids that an adapter which names objects itself cannot have given.
    fn check_id(&self, id: &[u8]) -> Result<(), PoaError> {
        let plausible = match self.0.policies.lifespan {
            Lifespan::Transient => matches!(id.len(), 8 | 16),
            Lifespan::Persistent => id.len() == 16,
        };
        if self.0.policies.id_assignment == IdAssignment::System && !plausible {
            return Err(SystemException::omg(ExceptionKind::BadParam, 14, Completion::No).into());
        }
        Ok(())
    }

    fn enter(
        &self,
        id: Option<Box<[u8]>>,
        servant: &Arc<dyn Servant>,
    ) -> Result<ObjectRef, PoaError> {
        let core = &self.0;
        let orb = core.orb()?;
        // Listen first: an object that nobody could reach is not made.
        orb.published()?;
        let repository_id = servant.repository_id();
        let unique = core.policies.id_uniqueness == IdUniqueness::Unique;
        let mut objects = core.lock();
        // Again, under the lock: `end` empties the map under it.
        core.orb()?;
        if unique && objects.by_servant.contains_key(&address(servant)) {
            return Err(PoaError::ServantAlreadyActive);
        }
        if id.as_ref().is_some_and(|id| objects.by_id.contains_key(id)) {
            return Err(PoaError::ObjectAlreadyActive);
        }
        let mut given = Box::<[u8]>::default();
        let inserted = orb.core().registry.objects.insert_with(|slot| {
            let id = id.unwrap_or_else(|| system_id(slot));
            given.clone_from(&id);
            Arc::new(ActiveObject {
                id,
                servant: Arc::clone(servant),
                manager: core.manager.clone(),
                stamp: core.stamp,
                slot,
                adapter: Arc::clone(core),
            })
        });
        let slot = inserted
            .map_err(|_| SystemException::new(ExceptionKind::NoResources, 0, Completion::No))?;
        objects.alive += 1;
        if unique {
            objects.by_servant.insert(address(servant), given.clone());
        }
        let key = core.key_of(&given, slot);
        objects.by_id.insert(given, slot);
        drop(objects);
        Ok(core.reference(&key, repository_id)?)
    }

    /// Ends an object. Requests being served go on; the servant is dropped
    /// after the last.
    ///
    /// # Errors
    /// [`PoaError::ObjectNotActive`].
    pub fn deactivate(&self, id: &[u8]) -> Result<(), PoaError> {
        let orb = self.0.orb()?;
        let removed = {
            let mut objects = self.0.lock();
            let slot = objects.by_id.remove(id).ok_or(PoaError::ObjectNotActive)?;
            let removed = orb.core().registry.objects.remove(slot);
            if let Some(object) = &removed {
                objects.by_servant.remove(&address(&object.servant));
            }
            removed
        };
        // Dropped without the lock: the servant's own code may run here.
        drop(removed);
        Ok(())
    }

    /// A reference to an object that need not be active (yet), with a new id.
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`] if users name objects here.
    pub fn create_reference<I: Interface>(&self) -> Result<I, PoaError> {
        if self.0.policies.id_assignment != IdAssignment::System {
            return Err(PoaError::WrongPolicy);
        }
        self.create_reference_with_id(&self.new_system_id())
    }

    /// A reference to the object with that id, which need not be active (yet).
    ///
    /// # Errors
    /// As [`Poa::activate_with_id`].
    pub fn create_reference_with_id<I: Interface>(&self, id: &[u8]) -> Result<I, PoaError> {
        self.check_id(id)?;
        let slot = self.0.lock().by_id.get(id).copied().unwrap_or(NO_HINT);
        let key = self.0.key_of(id, slot);
        Ok(I::from_object(self.0.reference(&key, I::REPOSITORY_ID)?))
    }

    /// The reference to an active object.
    ///
    /// # Errors
    /// [`PoaError::ObjectNotActive`].
    pub fn id_to_reference(&self, id: &[u8]) -> Result<ObjectRef, PoaError> {
        self.0.orb()?;
        let object = self.active(id).ok_or(PoaError::ObjectNotActive)?;
        Ok(object.reference()?)
    }

    /// The servant of an active object.
    ///
    /// # Errors
    /// [`PoaError::ObjectNotActive`].
    pub fn id_to_servant(&self, id: &[u8]) -> Result<Arc<dyn Servant>, PoaError> {
        self.0.orb()?;
        let object = self.active(id).ok_or(PoaError::ObjectNotActive)?;
        Ok(Arc::clone(&object.servant))
    }

    /// The id of a servant that is one object.
    ///
    /// # Errors
    /// [`PoaError::ServantNotActive`], [`PoaError::WrongPolicy`].
    pub fn servant_to_id(&self, servant: &Arc<dyn Servant>) -> Result<Vec<u8>, PoaError> {
        self.0.orb()?;
        if self.0.policies.id_uniqueness != IdUniqueness::Unique {
            return Err(PoaError::WrongPolicy);
        }
        let objects = self.0.lock();
        let id = objects
            .by_servant
            .get(&address(servant))
            .ok_or(PoaError::ServantNotActive)?;
        Ok(id.to_vec())
    }

    /// The id in a reference that this adapter made.
    ///
    /// # Errors
    /// [`PoaError::WrongAdapter`].
    pub fn reference_to_id(&self, reference: &impl Interface) -> Result<Vec<u8>, PoaError> {
        self.0.orb()?;
        let key = reference
            .as_object()
            .own_key()
            .ok_or(PoaError::WrongAdapter)?;
        let key = ObjectKey::parse(&key).ok_or(PoaError::WrongAdapter)?;
        match key.path {
            None if key.incarnation == self.0.stamp => Ok(system_id(key.hint).into()),
            Some(path)
                if self.serves(path.persistent, key.incarnation)
                    && path
                        .names()
                        .eq(self.0.path.iter().map(std::string::String::as_bytes)) =>
            {
                Ok(path.object_id.to_vec())
            }
            _ => Err(PoaError::WrongAdapter),
        }
    }

    /// Ends the adapter, those below it, and all their objects. With `wait`,
    /// returns when no request is being served any more; requests that come
    /// before it returns are answered with TRANSIENT, later ones with
    /// OBJECT_NOT_EXIST.
    ///
    /// # Errors
    /// BAD_INV_ORDER for waiting from within a request, which would be for
    /// ever; nothing is done then.
    pub fn destroy(&self, wait: bool) -> Result<(), PoaError> {
        refuse_to_wait_for_oneself(self.0.orb.as_ptr() as usize, wait)?;
        self.end();
        if wait {
            self.wait_until_gone();
        }
        self.forget();
        if let Some(parent) = self.parent() {
            let mut siblings = parent.children();
            if siblings.get(self.name()) == Some(self) {
                siblings.remove(self.name());
            }
        }
        Ok(())
    }

    fn end(&self) {
        {
            // No child is made after this.
            let _children = self.children();
            self.0.destroyed.store(true, Ordering::Release);
        }
        for child in self.the_children() {
            child.end();
        }
        self.0.manager.reconsider();
        let slots: Vec<SlotKey> = {
            let mut objects = self.0.lock();
            objects.by_servant.clear();
            objects.by_id.drain().map(|(_, slot)| slot).collect()
        };
        if let Some(orb) = self.0.orb.upgrade() {
            for slot in slots {
                drop(orb.registry.objects.remove(slot));
            }
        }
    }

    /// Takes the adapter and those below it out of the ORB's books.
    fn forget(&self) {
        self.0.gone.store(true, Ordering::Release);
        for child in self.the_children() {
            child.forget();
        }
        if let Some(orb) = self.0.orb.upgrade() {
            orb.registry.forget(self.0.stamp);
        }
    }

    fn wait_until_gone(&self) {
        for child in self.the_children() {
            child.wait_until_gone();
        }
        let mut objects = self.0.lock();
        while objects.alive > 0 {
            objects = self
                .0
                .one_gone
                .wait(objects)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Deactivates the managers of this adapter and of those below it.
    pub(crate) fn deactivate_managers(&self) {
        // Never waits, so never refuses.
        let _ = self.0.manager.deactivate(false);
        for child in self.the_children() {
            child.deactivate_managers();
        }
    }

    /// As [`Poa::destroy`] without waiting, when the ORB ends.
    pub(crate) fn end_with_orb(&self) {
        self.end();
        self.forget();
    }
}
