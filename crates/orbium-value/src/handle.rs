// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handles on values, and their types at run time.

use core::any::TypeId;
use core::cell::{Cell, RefCell};
use core::fmt;
use std::sync::Arc;

use orbium_cdr::{CdrError, CdrReader, CdrWriter, Decode, Type};
use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::described::description::{Description, VALUE_BASE_ID};
use crate::{Facet, Kind, Read, State, Write};

/// A handle on a value of any type: IDL's `ValueBase`. Clones share the value.
///
/// Two handles are equal if they are handles on the same value.
#[derive(Clone)]
pub struct ValueBase(
    /// `None` only while the handle is being dropped.
    Option<Arc<Object<dyn State>>>,
);

/// A value.
struct Object<S: ?Sized> {
    class: &'static Class,
    /// Its operations; `None` for values of types without operations.
    facets: Facets,
    state: RwLock<S>,
}

/// The operations of a value; shared by those created in the same way.
pub(crate) type Facets = Option<Arc<Vec<Facet>>>;

/// A handle on values of one type and of derived ones. Generated.
pub trait ValueType: Clone + Sized + 'static {
    /// The type.
    fn class() -> &'static Class;

    /// Wraps a handle on a value of this type.
    #[doc(hidden)]
    fn wrap(value: ValueBase) -> Self;

    /// The handle on a value of any type.
    fn as_value(&self) -> &ValueBase;
}

/// A handle on values with a state. Generated.
pub trait HasState: ValueType {
    /// The state.
    type State: State + Default + Decode;
}

/// Creates a value with the default state.
#[doc(hidden)]
#[must_use]
pub fn made<V: HasState>() -> ValueBase {
    ValueBase::with_state(V::class(), V::State::default())
}

/// Reads the state of a value.
#[doc(hidden)]
#[allow(clippy::missing_errors_doc)]
pub fn read_into<V: HasState>(
    value: &ValueBase,
    reader: &mut CdrReader<'_>,
) -> Result<(), CdrError> {
    let state = V::State::decode(reader)?;
    *value.write_state::<V::State>() = state;
    Ok(())
}

impl ValueBase {
    #[doc(hidden)]
    #[must_use]
    pub fn with_state<S: State>(class: &'static Class, state: S) -> Self {
        Self(Some(Arc::new(Object {
            class,
            facets: None,
            state: RwLock::new(state),
        })))
    }

    #[doc(hidden)]
    #[must_use]
    pub fn with_facets<S: State>(class: &'static Class, state: S, facets: Vec<Facet>) -> Self {
        Self(Some(Arc::new(Object {
            class,
            facets: (!facets.is_empty()).then(|| Arc::new(facets)),
            state: RwLock::new(state),
        })))
    }

    /// The value itself.
    #[inline]
    fn object(&self) -> &Arc<Object<dyn State>> {
        match &self.0 {
            Some(object) => object,
            None => unreachable!("a handle has its value until it is dropped"),
        }
    }

    /// A new value of a type, with the operations of another one.
    pub(crate) fn with_shared(class: &'static Class, facets: &Facets) -> Self {
        let mut value = (class.make)();
        if let Some(object) = value.0.as_mut().and_then(Arc::get_mut) {
            object.facets.clone_from(facets);
        }
        value
    }

    pub(crate) fn facets(&self) -> Facets {
        self.object().facets.clone()
    }

    /// The type of the value itself, not that of the handle.
    #[must_use]
    pub fn class(&self) -> &'static Class {
        self.object().class
    }

    /// The repository id of the type of the value itself.
    #[must_use]
    pub fn repository_id(&self) -> &str {
        match self.description() {
            Some(description) => description.code().id(),
            None => self.class().id,
        }
    }

    /// The description of a type without generated code.
    #[inline]
    pub(crate) fn description(&self) -> Option<&Description> {
        match self.class().id {
            "" => self.operations().map(|description| &**description),
            _ => None,
        }
    }

    /// The handle as one on type `T`, if the value is of that type or of one derived from it.
    #[must_use]
    pub fn downcast<T: ValueType>(&self) -> Option<T> {
        self.class().is_a(T::class()).then(|| T::wrap(self.clone()))
    }

    /// Whether both are handles on the same value.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.object(), other.object())
    }

    /// The operations of a trait, if the value has them.
    #[doc(hidden)]
    #[must_use]
    pub fn operations<O: ?Sized + 'static>(&self) -> Option<&Arc<O>> {
        self.object().facets.as_deref()?.iter().find_map(Facet::get)
    }

    /// The number of handles on the value, including those within other values. Another thread may
    /// change it at any time.
    #[must_use]
    pub fn handles(&self) -> usize {
        Arc::strong_count(self.object())
    }

    /// A number that is unique during the lifetime of the value.
    #[must_use]
    pub fn identity(&self) -> usize {
        Arc::as_ptr(self.object()).cast::<()>().addr()
    }

    /// Calls a function with a read lock on the state. Readers overtake waiting writers, so that
    /// two threads that marshal overlapping graphs cannot deadlock.
    pub(crate) fn with_whole<R>(&self, work: impl FnOnce(&dyn State) -> R) -> R {
        work(&*self.object().state.read_recursive())
    }

    pub(crate) fn reset(&self) {
        self.object().state.write().reset();
    }

    /// Read access to the value's state of type `S`.
    #[doc(hidden)]
    pub fn read_state<S: State>(&self) -> Read<'_, S> {
        let whole = self.object().state.read_recursive();
        let part = RwLockReadGuard::try_map(whole, |whole: &dyn State| {
            whole.part(TypeId::of::<S>())?.downcast_ref()
        });
        match part {
            Ok(part) => Read(part),
            Err(_) => unreachable!("a handle is made for values of its type only"),
        }
    }

    /// Write access to the value's state of type `S`.
    #[doc(hidden)]
    pub fn write_state<S: State>(&self) -> Write<'_, S> {
        let whole = self.object().state.write();
        let part = RwLockWriteGuard::try_map(whole, |whole: &mut dyn State| {
            whole.part_mut(TypeId::of::<S>())?.downcast_mut()
        });
        match part {
            Ok(part) => Write(part),
            Err(_) => unreachable!("a handle is made for values of its type only"),
        }
    }
}

/// The last handle frees the value, and those to which it has the only handles.
impl Drop for ValueBase {
    #[inline]
    fn drop(&mut self) {
        if let Some(object) = self.0.take()
            && Arc::strong_count(&object) == 1
        {
            free(object);
        }
    }
}

impl PartialEq for ValueBase {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other)
    }
}

impl Eq for ValueBase {}

/// The type only: the state may refer to the value.
impl fmt::Debug for ValueBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "value of {}", self.repository_id())
    }
}

/// Returns a class: a function rather than a reference, so that statics may refer to one another.
pub type ClassOf = fn() -> &'static Class;

/// Marshalling of a custom value type.
#[doc(hidden)]
#[derive(Debug)]
pub struct Custom {
    pub(crate) marshal: fn(&ValueBase, &mut CdrWriter<'_>) -> Result<(), CdrError>,
    pub(crate) unmarshal: fn(&ValueBase, &mut CdrReader<'_>) -> Result<(), CdrError>,
}

/// A value type.
#[derive(Debug)]
pub struct Class {
    /// The repository id.
    pub id: &'static str,
    /// The kind of the type.
    pub kind: Kind,
    /// The value types it inherits, the concrete one first.
    pub bases: &'static [ClassOf],
    /// The known value types that inherit it directly.
    pub derived: &'static [ClassOf],
    /// The marshalling of a custom type.
    #[doc(hidden)]
    pub custom: Option<Custom>,
    /// The IDL type.
    pub described: &'static Type,
    /// Creates a value with the default state.
    #[doc(hidden)]
    pub make: fn() -> ValueBase,
    /// Reads the state of a value of this class.
    #[doc(hidden)]
    pub read: fn(&ValueBase, &mut CdrReader<'_>) -> Result<(), CdrError>,
    /// Reads the state of a value that is entered in the message under a number, and creates the
    /// value.
    #[doc(hidden)]
    pub read_new: fn(usize, &mut CdrReader<'_>) -> Result<ValueBase, CdrError>,
}

impl Class {
    /// Whether it is `other`, or inherits it.
    #[must_use]
    pub fn is_a(&self, other: &Self) -> bool {
        core::ptr::eq(self, other)
            || self.id == other.id
            || other.id == VALUE_BASE_ID
            || self.bases.iter().any(|base| base().is_a(other))
    }

    /// Whether it is the type of that id, or inherits it.
    pub(crate) fn inherits(&self, id: &str) -> bool {
        self.id == id || self.bases.iter().any(|base| base().inherits(id))
    }

    /// The class of that id among this one and the known ones that inherit it.
    #[must_use]
    pub fn find(&'static self, id: &str) -> Option<&'static Self> {
        if self.id == id {
            return Some(self);
        }
        self.derived.iter().find_map(|derived| derived().find(id))
    }

    /// The class to which a value of this one may be truncated.
    #[must_use]
    pub fn truncated(&self) -> Option<&'static Self> {
        match self.kind {
            Kind::Truncatable => self.bases.first().map(|base| base()),
            _ => None,
        }
    }
}

/// A handle on a value that is probably the last.
type Last = Arc<Object<dyn State>>;

/// Maximum nesting of values freed on the stack; deeper ones are freed after these.
const MAX_NESTED: u32 = 32;

thread_local! {
    /// Values that this thread is freeing.
    static NESTED: Cell<u32> = const { Cell::new(0) };
    /// Values to be freed once the stack is unwound.
    static PENDING: RefCell<Vec<Last>> = const { RefCell::new(Vec::new()) };
}

/// One level of values being freed.
struct Level;

impl Level {
    fn enter() -> Self {
        NESTED.set(NESTED.get() + 1);
        Self
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        NESTED.set(NESTED.get() - 1);
    }
}

/// Drops a handle that is probably the last one. A message can contain a chain of any length
/// without nesting its values: each refers back to the previous one. Freeing it uses no stack for
/// each of them.
fn free(object: Last) {
    let level = NESTED.get();
    if level >= MAX_NESTED {
        // At the end of a thread, when the list no longer exists, the value is freed here.
        let _ = PENDING.try_with(|pending| pending.borrow_mut().push(object));
        return;
    }
    let _entered = Level::enter();
    drop(object);
    if level == 0 {
        while let Some(next) = PENDING.try_with(|it| it.borrow_mut().pop()).ok().flatten() {
            drop(next);
        }
    }
}
