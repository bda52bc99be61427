// SPDX-License-Identifier: MIT OR Apache-2.0
//! All active objects of an ORB, whatever adapter they are in.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

use orbium_giop::{Completion, ExceptionKind, SystemException, minor};
use orbium_server::IncomingRequest;
use orbium_sync::lock::{Mutex, MutexGuard, RwLock};
use orbium_sync::{Pinned, Slab, SlotKey};

use crate::adapter::object::{ActiveObject, Adapter};
use orbium_adapter::WeakManager;
use orbium_adapter::object_key::{ObjectKey, system_id};

/// A plain key and the real one that it stands for.
#[derive(Debug)]
struct PlainKey {
    plain: Box<[u8]>,
    key: Arc<[u8]>,
    /// Whether clients are sent to the whole reference.
    forwards: bool,
}

/// Plain keys in their order. They are a few: the program names each.
type PlainKeys = Vec<PlainKey>;

/// An object that is being called.
pub(crate) enum Found<'r> {
    /// It is in the map of its adapter.
    Active(Pinned<'r, Arc<ActiveObject>>),
    /// Its adapter is to find a servant for it.
    StandIn(Arc<ActiveObject>),
}

impl Deref for Found<'_> {
    type Target = ActiveObject;

    fn deref(&self) -> &ActiveObject {
        match self {
            Self::Active(object) => object,
            Self::StandIn(object) => object,
        }
    }
}

/// Finds objects by key.
pub(crate) struct Registry {
    pub(super) objects: Arc<Slab<Arc<ActiveObject>>>,
    /// Distinguishes keys of this ORB from those of an earlier process.
    pub(super) incarnation: u64,
    stamps: AtomicU64,
    pub(super) root: OnceLock<Arc<dyn Adapter>>,
    /// Transient adapters in the order of their stamps: for short keys with a stale
    /// hint.
    adapters: Mutex<Vec<(u64, Weak<dyn Adapter>)>>,
    /// Plain keys, as a corbaloc has them, and the real keys they stand for.
    plain_keys: RwLock<PlainKeys>,
    /// Whether a POA manager was ever activated.
    started: Arc<AtomicBool>,
    /// Whether an adapter activator was ever set.
    activates: AtomicBool,
    /// The POA managers that exist, and how many have got ids of the ORB's choice.
    pub(super) managers: Mutex<(Vec<WeakManager>, u64)>,
}

pub(super) fn no_such_adapter() -> SystemException {
    SystemException::omg(ExceptionKind::ObjectNotExist, 2, Completion::No)
}

pub(super) fn no_such_object() -> SystemException {
    SystemException::orbium(
        ExceptionKind::ObjectNotExist,
        minor::NO_SUCH_OBJECT,
        Completion::No,
    )
}

fn adapter_place(adapters: &[(u64, Weak<dyn Adapter>)], stamp: u64) -> Result<usize, usize> {
    adapters.binary_search_by(|(it, _)| it.cmp(&stamp))
}

fn plain_place(keys: &PlainKeys, plain: &[u8]) -> Result<usize, usize> {
    keys.binary_search_by(|it| (*it.plain).cmp(plain))
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("objects", &self.objects)
            .finish_non_exhaustive()
    }
}

impl Registry {
    pub(crate) fn new() -> Self {
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
            root: OnceLock::new(),
            adapters: Mutex::default(),
            plain_keys: RwLock::default(),
            started: Arc::default(),
            activates: AtomicBool::new(false),
            managers: Mutex::default(),
        }
    }

    /// A number that no adapter had before.
    pub(super) fn next_stamp(&self) -> u64 {
        let count = self.stamps.fetch_add(1, Ordering::Relaxed);
        self.incarnation
            .wrapping_add(count.wrapping_mul(0xD134_2543_DE82_EF95))
    }

    fn lock_adapters(&self) -> MutexGuard<'_, Vec<(u64, Weak<dyn Adapter>)>> {
        self.adapters.lock()
    }

    /// Takes a transient adapter into the books.
    #[inline(never)]
    pub(super) fn remember(&self, stamp: u64, poa: Weak<dyn Adapter>) {
        let mut adapters = self.lock_adapters();
        if let Err(place) = adapter_place(&adapters, stamp) {
            adapters.insert(place, (stamp, poa));
        }
    }

    #[inline]
    pub(super) fn forget(&self, stamp: u64) {
        let mut adapters = self.lock_adapters();
        // A persistent one is not there.
        if let Ok(place) = adapter_place(&adapters, stamp) {
            adapters.remove(place);
        }
    }

    /// The transient adapter of that stamp.
    fn adapter(&self, stamp: u64) -> Option<Arc<dyn Adapter>> {
        let adapters = self.lock_adapters();
        let place = adapter_place(&adapters, stamp).ok()?;
        adapters[place].1.upgrade()
    }

    /// Set when the first POA manager is activated: until then the server is
    /// starting, and what is not there may still come.
    pub(crate) fn started(&self) -> &Arc<AtomicBool> {
        &self.started
    }

    /// Whether clients that call by that key are to be sent to the whole reference.
    pub(crate) fn forwards(&self, key: &[u8]) -> bool {
        let keys = self.plain_keys.read();
        plain_place(&keys, key).is_ok_and(|place| keys[place].forwards)
    }

    /// Makes a plain key stand for a real one.
    pub(crate) fn bind_plain_key(&self, plain: &[u8], key: &[u8], forwards: bool) {
        let mut keys = self.plain_keys.write();
        match plain_place(&keys, plain) {
            Ok(place) => {
                keys[place].key = key.into();
                keys[place].forwards = forwards;
            }
            Err(place) => {
                let (plain, key) = (plain.into(), key.into());
                keys.insert(
                    place,
                    PlainKey {
                        plain,
                        key,
                        forwards,
                    },
                );
            }
        }
    }

    /// The object with that key, which stays as long as what is returned.
    pub(crate) fn find(&self, key: &[u8]) -> Result<Found<'_>, SystemException> {
        self.find_any(key)
    }

    /// The object with that key if its hint is good, as part of the path of a call.
    #[inline(always)]
    pub(crate) fn find_hinted(&self, key: &[u8]) -> Option<Pinned<'_, Arc<ActiveObject>>> {
        let short = ObjectKey::parse_short(key);
        orbium_trace::probe!(ObjectKey);
        let (incarnation, hint) = short?;
        self.find_by_hint(incarnation, hint)
    }

    /// The same for a key of either form.
    #[inline]
    pub(crate) fn find_active(&self, key: &[u8]) -> Option<Pinned<'_, Arc<ActiveObject>>> {
        let short = ObjectKey::parse_short(key);
        let whole = || ObjectKey::parse(key).map(|key| (key.incarnation, key.hint));
        let (incarnation, hint) = short.or_else(whole)?;
        self.find_by_hint(incarnation, hint)
    }

    #[inline]
    fn find_by_hint(
        &self,
        incarnation: u64,
        hint: SlotKey,
    ) -> Option<Pinned<'_, Arc<ActiveObject>>> {
        let object = self.objects.pin(hint)?;
        (object.stamp == incarnation).then_some(object)
    }

    /// As `find`, for any key.
    #[inline(never)]
    fn find_any(&self, key: &[u8]) -> Result<Found<'_>, SystemException> {
        let found = match ObjectKey::parse(key) {
            Some(key) => self.find_parsed(&key),
            None => self.find_plain(key),
        };
        found.map_err(|exception| self.while_starting(exception))
    }

    /// What is not there while the server starts may still come.
    #[cold]
    fn while_starting(&self, exception: SystemException) -> SystemException {
        let is_final = exception.kind == ExceptionKind::ObjectNotExist;
        match is_final && !self.started.load(Ordering::Acquire) {
            true => SystemException::orbium(
                ExceptionKind::Transient,
                minor::SERVER_STARTING,
                Completion::No,
            ),
            false => exception,
        }
    }

    fn find_parsed(&self, key: &ObjectKey<'_>) -> Result<Found<'_>, SystemException> {
        match self.find_by_hint(key.incarnation, key.hint) {
            Some(object) => Ok(Found::Active(object)),
            None => self.find_by_path(key),
        }
    }

    /// The key that a plain one stands for.
    fn key_behind(&self, plain: &[u8]) -> Option<Arc<[u8]>> {
        let keys = self.plain_keys.read();
        let place = plain_place(&keys, plain).ok()?;
        Some(Arc::clone(&keys[place].key))
    }

    fn find_plain(&self, plain: &[u8]) -> Result<Found<'_>, SystemException> {
        let key = self.key_behind(plain).ok_or_else(no_such_adapter)?;
        self.find_parsed(&ObjectKey::parse(&key).ok_or_else(no_such_adapter)?)
    }

    /// Without a good hint: down the adapters by name, then by id.
    #[cold]
    fn find_by_path(&self, key: &ObjectKey<'_>) -> Result<Found<'_>, SystemException> {
        let Some(path) = key.path else {
            // An object with a system id, active again under another slot.
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

    /// An adapter activator was set.
    pub(super) fn note_activator(&self) {
        self.activates.store(true, Ordering::Release);
    }

    /// The first adapter on the path of a key that is not there, and its parent; none if
    /// the key is good for the adapter that made it alone.
    fn first_missing(&self, key: &[u8]) -> Option<(Arc<dyn Adapter>, String)> {
        if !self.activates.load(Ordering::Acquire) {
            return None;
        }
        let plain = self.key_behind(key);
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

    /// Whether an adapter activator may create what is missing on the path of a key.
    pub(super) fn may_activate(&self, key: &[u8]) -> bool {
        self.first_missing(key)
            .is_some_and(|(parent, _)| parent.has_activator())
    }

    /// Has adapter activators create what is missing on the path of a request's key;
    /// whether there was something.
    pub(super) fn activate(&self, request: &IncomingRequest<'_>) -> Result<bool, SystemException> {
        let mut activated = false;
        while let Some((parent, name)) = self.first_missing(request.key) {
            if !parent.activates(&name, &request.expiry, request.operation)? {
                break;
            }
            activated = true;
        }
        Ok(activated)
    }

    /// The object with an id. While its adapter is being destroyed there is none any
    /// more, but may soon be again.
    fn find_in(&self, poa: &Arc<dyn Adapter>, id: &[u8]) -> Result<Found<'_>, SystemException> {
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
