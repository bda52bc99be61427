// SPDX-License-Identifier: MIT OR Apache-2.0
//! Factories: creation of received values.

use core::any::Any;
use core::fmt;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use orbium_cdr::{CdrReader, Owner, OwnerWithValues, TypeCode};
use parking_lot::RwLock;

use crate::handle::Facets;
use crate::{Class, Kind, ValueBase, ValueType};

/// Bases of a type that are read for it at most.
const MAX_BASES: usize = 64;

/// Returns the bases of an unregistered value type, given its repository id: those to which its
/// values may be truncated, the nearest first.
type FindBases = dyn Fn(&str) -> Vec<String> + Send + Sync;

type Make = dyn Fn() -> ValueBase + Send + Sync;

/// The factories of one ORB: by repository id, how received values are created.
///
/// A type needs no factory where the expected type is itself or a base of the same IDL file. With
/// one its values have operations on arrival, and are accepted where `ValueBase`, or a base of
/// another file, is expected.
#[derive(Default)]
pub struct Factories {
    factories: RwLock<ById>,
    /// Set if the bases of unknown types can be queried elsewhere.
    bases: OnceLock<Box<FindBases>>,
}

/// Factories by repository id.
#[derive(Default)]
struct ById {
    factories: HashMap<Cow<'static, str>, Factory>,
    /// Octets of the longest id that was registered.
    longest: usize,
}

impl ById {
    /// The factory of an id. An id longer than any registered one is not looked up: a peer chooses
    /// it, and a message may contain it very often.
    fn get(&self, id: &str) -> Option<&Factory> {
        if id.len() > self.longest {
            return None;
        }
        self.factories.get(id)
    }

    /// Whether the id had another factory.
    fn insert(&mut self, id: Cow<'static, str>, factory: Factory) -> bool {
        self.longest = self.longest.max(id.len());
        self.factories.insert(id, factory).is_some()
    }
}

#[derive(Clone)]
struct Factory {
    class: &'static Class,
    /// The type, if only its TypeCode is available.
    described: Option<TypeCode>,
    /// `None` if values have the default state and no operations.
    make: Option<Arc<Make>>,
}

impl Factory {
    fn new(class: &'static Class, make: Option<Arc<Make>>) -> Self {
        Self {
            class,
            described: None,
            make,
        }
    }

    fn code(&self) -> TypeCode {
        let compiled = || self.class.described.into();
        self.described.clone().unwrap_or_else(compiled)
    }
}

impl Factories {
    /// Registers how values of type `T` are created: with their operations and the default state. A
    /// factory of the same type is replaced; returns whether there was one.
    ///
    /// If a factory creates a value of another type, for example one derived from `T`, the message
    /// cannot be read.
    pub fn register<T: ValueType>(&self, make: impl Fn() -> T + Send + Sync + 'static) -> bool {
        let make = Arc::new(move || make().as_value().clone());
        self.insert(T::class().id.into(), Factory::new(T::class(), Some(make)))
    }

    /// Registers type `T`: its values have the default state and no operations.
    pub fn register_type<T: ValueType>(&self) -> bool {
        self.insert(T::class().id.into(), Factory::new(T::class(), None))
    }

    fn insert(&self, id: Cow<'static, str>, factory: Factory) -> bool {
        self.factories.write().insert(id, factory)
    }

    /// Registers the type of a value; new ones have its operations.
    pub(crate) fn register_like(&self, value: &ValueBase) {
        let class = value.class();
        let mut factory = Factory::new(class, Some(make_like(class, value.facets())));
        let id = match value.description() {
            None => class.id.into(),
            Some(description) => {
                factory.described = Some(description.code().to_type_code());
                description.code().id().to_owned().into()
            }
        };
        self.insert(id, factory);
    }

    /// Sets the function that returns the bases to which a value of an unknown type may be
    /// truncated if its message names none: their repository ids, the nearest first, only those
    /// reached by `truncatable`. It is called while the message is read, so it must not block for
    /// long. Returns whether it is the first.
    pub fn find_bases_by(
        &self,
        find: impl Fn(&str) -> Vec<String> + Send + Sync + 'static,
    ) -> bool {
        self.bases.set(Box::new(find)).is_ok()
    }

    /// The bases of an unknown type.
    pub(crate) fn bases_of(&self, id: &str) -> Vec<String> {
        let mut found = self.bases.get().map_or_else(Vec::new, |find| find(id));
        found.truncate(MAX_BASES);
        found
    }

    /// A value created by the factory of that type: with its operations and the default state.
    /// `None` if the type is not registered, or its factory creates values of another type.
    pub fn make(&self, repository_id: &str) -> Option<ValueBase> {
        self.compiled(repository_id)?.make()
    }

    /// Removes the factory of a type; returns whether there was one.
    pub fn unregister(&self, repository_id: &str) -> bool {
        let factories = &mut self.factories.write().factories;
        factories.remove(repository_id).is_some()
    }

    /// The registered type of an id, if it was compiled, with its factory.
    pub(crate) fn compiled(&self, id: &str) -> Option<Found> {
        let Factory { class, make, .. } = self.find(id).filter(|it| it.described.is_none())?;
        Some(Found { class, make })
    }

    /// The registered type of an id, if it was compiled.
    pub(crate) fn class_of(&self, id: &str) -> Option<&'static Class> {
        let factories = self.factories.read();
        let factory = factories.get(id).filter(|it| it.described.is_none());
        factory.map(|it| it.class)
    }

    /// The TypeCode of the registered type of an id.
    pub(crate) fn code_of(&self, id: &str) -> Option<TypeCode> {
        self.factories.read().get(id).map(Factory::code)
    }

    fn find(&self, id: &str) -> Option<Factory> {
        self.factories.read().get(id).cloned()
    }
}

impl fmt::Debug for Factories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.factories.read().factories.keys())
            .finish()
    }
}

/// Owners with factories, which an ORB sets in its readers.
#[derive(Debug)]
pub struct ValueOwner(());

impl ValueOwner {
    /// An owner with no factories yet.
    #[allow(clippy::new_ret_no_self)]
    pub fn new(owner: impl Any + Send + Sync) -> OwnerWithValues {
        OwnerWithValues {
            owner: Box::new(owner),
            values: Some(Box::new(Factories::default())),
        }
    }

    /// The factories of an owner.
    #[must_use]
    pub fn factories(owner: &Owner) -> Option<&Factories> {
        let owner = owner.downcast_ref::<OwnerWithValues>()?;
        let values: &dyn Any = &**owner.values.as_ref()?;
        values.downcast_ref()
    }
}

/// The type of an id, and its factory if it has one.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) class: &'static Class,
    make: Option<Arc<Make>>,
}

impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.class.id)
    }
}

/// Creates values with the operations of another value.
fn make_like(class: &'static Class, facets: Facets) -> Arc<Make> {
    Arc::new(move || ValueBase::with_shared(class, &facets))
}

impl Found {
    /// The type of values with these operations.
    pub(crate) fn like(class: &'static Class, facets: Facets) -> Self {
        let make = Some(make_like(class, facets));
        Self { class, make }
    }

    /// The type itself, without a factory.
    pub(crate) fn formal(class: &'static Class, reader: &CdrReader<'_>) -> Self {
        Self::find(class.id, class, reader).unwrap_or(Self { class, make: None })
    }

    /// The type of that id, if it is assignable to `formal`.
    pub(crate) fn find(id: &str, formal: &'static Class, reader: &CdrReader<'_>) -> Option<Self> {
        let factories = reader
            .owner()
            .and_then(|owner| ValueOwner::factories(owner));
        if let Some(Factory { class, make, .. }) = factories.and_then(|all| all.find(id))
            && class.is_a(formal)
        {
            return Some(Self { class, make });
        }
        let class = formal
            .find(id)
            .filter(|class| class.kind != Kind::Abstract)?;
        Some(Self { class, make: None })
    }

    /// The type, if the ORB itself creates its values and reads their states.
    #[inline]
    pub(crate) fn without_factory(&self) -> Option<&'static Class> {
        let is_plain = self.make.is_none() && self.class.custom.is_none();
        is_plain.then_some(self.class)
    }

    /// A value to read into; `None` if the factory creates values of another type.
    pub(crate) fn make(&self) -> Option<ValueBase> {
        let value = match &self.make {
            Some(make) => make(),
            None => (self.class.make)(),
        };
        core::ptr::eq(value.class(), self.class).then_some(value)
    }
}
