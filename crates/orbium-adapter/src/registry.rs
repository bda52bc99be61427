// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registry of all active objects of an ORB, of all adapters, and of the adapters on the paths of
//! keys.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

use orbium_giop::{Completion, ExceptionKind, SystemException, minor};
use orbium_invocation::Expiry;
use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_sync::{Pinned, Slab, SlotKey};

use crate::exceptions::{no_such_adapter, no_such_object};
use crate::managers::Managers;
use crate::object_key::{ObjectKey, system_id};
use crate::plain_keys::PlainKeys;

/// An active object as seen by the registry.
pub trait RegisteredObject {
    /// Distinguishes keys of its adapter from those of an earlier one at its path.
    fn stamp(&self) -> u64;
}

/// An adapter with objects of type `O`, as seen by the registry.
pub trait RegisteredAdapter<O>: Send + Sync {
    /// Checks that the adapter is not being destroyed, and was not.
    ///
    /// # Errors
    /// TRANSIENT: it is being destroyed; OBJECT_NOT_EXIST: it was destroyed.
    fn check_not_destroyed(&self) -> Result<(), SystemException>;

    /// The child adapter of that name.
    fn child(&self, name: &str) -> Option<Arc<dyn RegisteredAdapter<O>>>;

    /// Whether it has an adapter activator, or a manager that holds requests.
    fn may_get_children(&self) -> bool;

    /// Has the adapter activator create the child adapter of that name, as soon as the manager
    /// serves requests; returns whether it exists.
    ///
    /// # Errors
    /// The manager refuses the request, or the activator fails.
    fn activates(
        self: Arc<Self>,
        name: &str,
        expiry: &Expiry,
        operation: &[u8],
    ) -> Result<bool, SystemException>;

    /// Whether this adapter may serve a key of that lifespan and stamp.
    fn serves(&self, persistent: bool, stamp: u64) -> bool;

    /// The slot of the active object with an id.
    fn slot_of(&self, id: &[u8]) -> Option<SlotKey>;

    /// A stand-in for an object that is not active, if a servant manager or a default servant may
    /// serve it nonetheless.
    fn stand_in(self: Arc<Self>, id: &[u8]) -> Option<Arc<O>>;

    /// The adapter for a downcast to its own type.
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// The object of a call.
pub enum Found<'r, O> {
    /// It is in the map of its adapter.
    Active(Pinned<'r, Arc<O>>),
    /// It is not active; its adapter finds a servant for it.
    StandIn(Arc<O>),
}

impl<O> Deref for Found<'_, O> {
    type Target = O;

    fn deref(&self) -> &O {
        match self {
            Self::Active(object) => object,
            Self::StandIn(object) => object,
        }
    }
}

/// Finds objects by key.
pub struct Registry<O> {
    /// The active objects by their slots.
    pub objects: Arc<Slab<Arc<O>>>,
    /// Distinguishes keys of this ORB from those of an earlier process.
    pub incarnation: u64,
    stamps: AtomicU64,
    /// The number of ids assigned so far.
    ids: AtomicU64,
    /// The root adapter, set before the ORB is complete.
    pub root: OnceLock<Arc<dyn RegisteredAdapter<O>>>,
    /// For short keys with a stale hint.
    adapters: Mutex<Stamped<O>>,
    /// Plain keys, for corbaloc URLs, and the real keys to which they map.
    pub plain_keys: PlainKeys,
    /// Whether a POA manager was ever activated.
    started: Arc<AtomicBool>,
    /// Whether an adapter activator was ever set.
    activates: AtomicBool,
    /// The existing POA managers.
    pub managers: Managers,
}

/// Transient adapters in the order of their stamps.
type Stamped<O> = Vec<(u64, Weak<dyn RegisteredAdapter<O>>)>;

fn adapter_place<O>(adapters: &Stamped<O>, stamp: u64) -> Result<usize, usize> {
    adapters.binary_search_by(|(it, _)| it.cmp(&stamp))
}

impl<O> fmt::Debug for Registry<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("objects", &self.objects)
            .finish_non_exhaustive()
    }
}

impl<O: RegisteredObject> Default for Registry<O> {
    fn default() -> Self {
        Self::new(false)
    }
}

impl<O: RegisteredObject> Registry<O> {
    /// An empty registry with a new incarnation number. Requests for missing adapters wait for the
    /// manager of the parent if `awaits_adapters`, or else only for adapter activators.
    #[must_use]
    pub fn new(awaits_adapters: bool) -> Self {
        // Unique enough: two ORBs of one host would have to start in the same
        // nanosecond with the same process id.
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let seed = (now.as_nanos() as u64) ^ (u64::from(std::process::id()) << 40);
        static ORBS: AtomicU64 = AtomicU64::new(0);
        let orb = ORBS.fetch_add(1, Ordering::Relaxed);
        let incarnation = seed.wrapping_add(orb.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        Self {
            objects: Arc::default(),
            incarnation,
            stamps: AtomicU64::new(1),
            ids: AtomicU64::new(0),
            root: OnceLock::new(),
            adapters: Mutex::default(),
            plain_keys: PlainKeys::default(),
            started: Arc::default(),
            activates: AtomicBool::new(awaits_adapters),
            managers: Managers::default(),
        }
    }

    /// A stamp that is unique among the adapters of this incarnation.
    pub fn next_stamp(&self) -> u64 {
        let count = self.stamps.fetch_add(1, Ordering::Relaxed);
        self.incarnation
            .wrapping_add(count.wrapping_mul(0xD134_2543_DE82_EF95))
    }

    /// An object id that no adapter has assigned before, in this incarnation or another: an adapter
    /// must not reuse the ids of an earlier one at its path.
    pub fn next_id(&self) -> Box<[u8]> {
        let count = 1 + self.ids.fetch_add(1, Ordering::Relaxed);
        [self.incarnation.to_be_bytes(), count.to_be_bytes()]
            .as_flattened()
            .into()
    }

    fn lock_adapters(&self) -> MutexGuard<'_, Stamped<O>> {
        self.adapters.lock()
    }

    /// Registers a transient adapter under its stamp.
    pub fn remember(&self, stamp: u64, poa: Weak<dyn RegisteredAdapter<O>>) {
        let mut adapters = self.lock_adapters();
        if let Err(place) = adapter_place(&adapters, stamp) {
            adapters.insert(place, (stamp, poa));
        }
    }

    /// Removes a transient adapter.
    #[inline]
    pub fn forget(&self, stamp: u64) {
        let mut adapters = self.lock_adapters();
        // A persistent adapter was never registered.
        if let Ok(place) = adapter_place(&adapters, stamp) {
            adapters.remove(place);
        }
    }

    /// The transient adapter with that stamp.
    fn adapter(&self, stamp: u64) -> Option<Arc<dyn RegisteredAdapter<O>>> {
        let adapters = self.lock_adapters();
        let place = adapter_place(&adapters, stamp).ok()?;
        adapters[place].1.upgrade()
    }

    /// Set when the first POA manager is activated. Until then the server is starting: missing
    /// objects and adapters may still be created.
    pub fn started(&self) -> &Arc<AtomicBool> {
        &self.started
    }

    /// The object with that key, kept as long as the returned value.
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST: there is none; TRANSIENT: the server is starting, or the adapter is being
    /// destroyed.
    pub fn find(&self, key: &[u8]) -> Result<Found<'_, O>, SystemException> {
        self.find_any(key)
    }

    /// The object with that key if its hint is valid, on the path of a call.
    #[inline(always)]
    pub fn find_hinted(&self, key: &[u8]) -> Option<Pinned<'_, Arc<O>>> {
        let short = ObjectKey::parse_short(key);
        orbium_trace::probe!(ObjectKey);
        let (incarnation, hint) = short?;
        self.find_by_hint(incarnation, hint)
    }

    /// As `find_hinted`, for a key of either form.
    #[inline]
    pub fn find_active(&self, key: &[u8]) -> Option<Pinned<'_, Arc<O>>> {
        let short = ObjectKey::parse_short(key);
        let whole = || ObjectKey::parse(key).map(|key| (key.incarnation, key.hint));
        let (incarnation, hint) = short.or_else(whole)?;
        self.find_by_hint(incarnation, hint)
    }

    #[inline]
    fn find_by_hint(&self, incarnation: u64, hint: SlotKey) -> Option<Pinned<'_, Arc<O>>> {
        let object = self.objects.pin(hint)?;
        (object.stamp() == incarnation).then_some(object)
    }

    /// As `find`, for any key.
    fn find_any(&self, key: &[u8]) -> Result<Found<'_, O>, SystemException> {
        let found = match ObjectKey::parse(key) {
            Some(key) => self.find_parsed(&key),
            None => self.find_plain(key),
        };
        found.map_err(|exception| self.while_starting(exception))
    }

    /// Converts OBJECT_NOT_EXIST to TRANSIENT while the server starts, as the object may still be
    /// created.
    #[cold]
    fn while_starting(&self, exception: SystemException) -> SystemException {
        let is_final = exception.kind == ExceptionKind::ObjectNotExist;
        if is_final && !self.started.load(Ordering::Acquire) {
            SystemException::orbium(
                ExceptionKind::Transient,
                minor::SERVER_STARTING,
                Completion::No,
            )
        } else {
            exception
        }
    }

    fn find_parsed(&self, key: &ObjectKey<'_>) -> Result<Found<'_, O>, SystemException> {
        match self.find_by_hint(key.incarnation, key.hint) {
            Some(object) => Ok(Found::Active(object)),
            None => self.find_by_path(key),
        }
    }

    fn find_plain(&self, plain: &[u8]) -> Result<Found<'_, O>, SystemException> {
        let key = self
            .plain_keys
            .key_behind(plain)
            .ok_or_else(no_such_adapter)?;
        self.find_parsed(&ObjectKey::parse(&key).ok_or_else(no_such_adapter)?)
    }

    /// Look-up without a valid hint: down the adapters by name, then by id.
    #[cold]
    fn find_by_path(&self, key: &ObjectKey<'_>) -> Result<Found<'_, O>, SystemException> {
        let Some(path) = key.path else {
            // An object with a system id, reactivated in another slot.
            let poa = self.adapter(key.incarnation).ok_or_else(no_such_object)?;
            return self.find_in(&poa, &system_id(key.hint));
        };
        let mut poa = self.root.get().cloned().ok_or_else(no_such_adapter)?;
        for name in path.names() {
            let name = std::str::from_utf8(name).map_err(|_| no_such_adapter())?;
            poa.check_not_destroyed()?;
            poa = poa.child(name).ok_or_else(no_such_adapter)?;
        }
        if !poa.serves(path.persistent, key.incarnation) {
            return Err(no_such_adapter());
        }
        self.find_in(&poa, path.object_id)
    }

    /// Records that an adapter activator was set.
    pub fn note_activator(&self) {
        self.activates.store(true, Ordering::Release);
    }

    /// The first missing adapter on the path of a key, and its parent; none if the key is valid
    /// only for the adapter that made it.
    fn first_missing(&self, key: &[u8]) -> Option<(Arc<dyn RegisteredAdapter<O>>, String)> {
        if !self.activates.load(Ordering::Acquire) {
            return None;
        }
        let plain = self.plain_keys.key_behind(key);
        let path = ObjectKey::parse(plain.as_deref().unwrap_or(key))?.path?;
        let mut poa = self.root.get().cloned().filter(|_| path.persistent)?;
        for name in path.names() {
            let name = std::str::from_utf8(name).ok()?;
            match poa.child(name) {
                Some(child) => poa = child,
                None => return Some((poa, name.to_owned())),
            }
        }
        None
    }

    /// Whether a missing adapter on the path of a key may be created.
    pub fn may_activate(&self, key: &[u8]) -> bool {
        self.first_missing(key)
            .is_some_and(|(parent, _)| parent.may_get_children())
    }

    /// Has adapter activators create the missing adapters on the path of a request's key; returns
    /// whether to look again: all may exist, also by an activation that has ended in the meantime.
    ///
    /// # Errors
    /// The manager of an adapter refuses the request, or an activator fails.
    pub fn activate(
        &self,
        key: &[u8],
        expiry: &Expiry,
        operation: &[u8],
    ) -> Result<bool, SystemException> {
        while let Some((parent, name)) = self.first_missing(key) {
            if !parent.activates(&name, expiry, operation)? {
                return Ok(false);
            }
        }
        Ok(self.activates.load(Ordering::Acquire))
    }

    /// The object with an id. While its adapter is being destroyed, there are no objects, but there
    /// may be again soon.
    fn find_in(
        &self,
        poa: &Arc<dyn RegisteredAdapter<O>>,
        id: &[u8],
    ) -> Result<Found<'_, O>, SystemException> {
        if let Some(slot) = poa.slot_of(id)
            && let Some(object) = self.objects.pin(slot)
        {
            return Ok(Found::Active(object));
        }
        poa.check_not_destroyed()?;
        let stand_in = Arc::clone(poa).stand_in(id);
        stand_in.map(Found::StandIn).ok_or_else(no_such_object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object_key::NO_HINT;

    struct Object;

    impl RegisteredObject for Object {
        fn stamp(&self) -> u64 {
            0
        }
    }

    /// An adapter with one child, of which the activation ends after `hidden` look-ups.
    struct Parent {
        hidden: AtomicU64,
    }

    impl RegisteredAdapter<Object> for Parent {
        fn check_not_destroyed(&self) -> Result<(), SystemException> {
            Ok(())
        }

        fn child(&self, _: &str) -> Option<Arc<dyn RegisteredAdapter<Object>>> {
            let left = self.hidden.load(Ordering::Relaxed);
            self.hidden.store(left.saturating_sub(1), Ordering::Relaxed);
            let child = || Self {
                hidden: AtomicU64::new(0),
            };
            (left == 0).then(|| Arc::new(child()) as Arc<dyn RegisteredAdapter<Object>>)
        }

        fn may_get_children(&self) -> bool {
            true
        }

        fn activates(
            self: Arc<Self>,
            _: &str,
            _: &Expiry,
            _: &[u8],
        ) -> Result<bool, SystemException> {
            Ok(false)
        }

        fn serves(&self, _: bool, _: u64) -> bool {
            true
        }

        fn slot_of(&self, _: &[u8]) -> Option<SlotKey> {
            None
        }

        fn stand_in(self: Arc<Self>, _: &[u8]) -> Option<Arc<Object>> {
            Some(Arc::new(Object))
        }

        fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
            self
        }
    }

    fn look_up(hidden: u64, has_activator: bool) -> (bool, bool) {
        let registry = Registry::<Object>::default();
        let hidden = AtomicU64::new(hidden);
        assert!(registry.root.set(Arc::new(Parent { hidden })).is_ok());
        if has_activator {
            registry.note_activator();
        }
        let key = ObjectKey::long(7, NO_HINT, true, &["a".to_owned()], b"x");
        let is_found = registry.find(&key).is_ok();
        let looks_again = registry.activate(&key, &Expiry::NEVER, b"noop");
        (is_found, looks_again.expect("no exception"))
    }

    /// The object was OBJECT_NOT_EXIST.
    #[test]
    fn an_adapter_activated_after_the_look_up_is_looked_up_again() {
        assert_eq!(look_up(1, true), (false, true));
        // Its activator declines.
        assert_eq!(look_up(2, true), (false, false));
        assert_eq!(look_up(1, false), (false, false));
    }
}
