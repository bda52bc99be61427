// SPDX-License-Identifier: MIT OR Apache-2.0
//! References to definitions: their object ids are the keys of the store.

use std::sync::OnceLock;

use orbium::{Call, Interface, ObjectRef, SystemException, poa::Poa};

use crate::corba::DefinitionKind;
use crate::entry::{Key, TypeDef};
use crate::fault::{self, Result};
use crate::store::Store;
use crate::type_codes::primitive_kind;

/// Bit in the key of a primitive type.
const PRIMITIVE: Key = 1 << 63;

/// An adapter for each kind of object.
#[derive(Default)]
pub(crate) struct References {
    /// By `DefinitionKind`.
    adapters: OnceLock<Vec<Option<Adapter>>>,
}

/// The adapter of one kind.
pub(crate) struct Adapter {
    pub(crate) poa: Poa,
    /// The repository id in references: the interface that clients of CORBA 2.3 know.
    pub(crate) repository_id: &'static str,
}

impl References {
    /// Sets the adapters, once.
    pub(crate) fn set(&self, made: impl IntoIterator<Item = (DefinitionKind, Adapter)>) {
        let mut adapters = Vec::new();
        adapters.resize_with(DefinitionKind::DkEvent as usize + 1, || None);
        for (kind, adapter) in made {
            adapters[kind as usize] = Some(adapter);
        }
        // They are set nowhere else.
        let _ = self.adapters.set(adapters);
    }

    fn adapter(&self, kind: DefinitionKind) -> Result<&Adapter> {
        let adapters = self.adapters.get().ok_or(fault::GONE)?;
        adapters[kind as usize].as_ref().ok_or(fault::GONE)
    }

    /// The reference to an entry of a kind.
    pub(crate) fn reference<I: Interface>(
        &self,
        stamp: u64,
        kind: DefinitionKind,
        key: Key,
    ) -> Result<I> {
        let adapter = self.adapter(kind)?;
        let id = [key.to_be_bytes(), stamp.to_be_bytes()].concat();
        let made = adapter
            .poa
            .create_object_reference_with_id(&id, adapter.repository_id);
        Ok(I::from_object(made.map_err(SystemException::from)?))
    }

    /// The reference to a primitive type.
    pub(crate) fn primitive<I: Interface>(&self, stamp: u64, ordinal: u32) -> Result<I> {
        let key = PRIMITIVE | Key::from(ordinal);
        self.reference(stamp, DefinitionKind::DkPrimitive, key)
    }

    /// The entry of a request, which has the kind of its adapter: the client may have made up the
    /// object key.
    pub(crate) fn called(&self, store: &Store, call: &Call<'_>) -> Result<Key> {
        let key = key_in(store, call.object_id())?;
        let kind = match primitive_of(key) {
            Some(_) => DefinitionKind::DkPrimitive,
            None => store.entry(key)?.body.kind(),
        };
        if self.adapter(kind)?.poa == call.poa() {
            Ok(key)
        } else {
            Err(fault::GONE)
        }
    }

    /// The entry of a reference to this repository.
    pub(crate) fn key_of(&self, store: &Store, object: &ObjectRef) -> Result<Key> {
        let adapters = self.adapters.get().ok_or(fault::GONE)?;
        let mut ids = adapters.iter().flatten();
        let id = ids.find_map(|adapter| adapter.poa.reference_to_id(object).ok());
        key_in(store, &id.ok_or(fault::BAD_ARGUMENT)?).map_err(|_| fault::BAD_ARGUMENT)
    }

    /// The type of a reference.
    pub(crate) fn type_of(&self, store: &Store, object: Option<&ObjectRef>) -> Result<TypeDef> {
        let key = self.key_of(store, object.ok_or(fault::BAD_ARGUMENT)?)?;
        if let Some(ordinal) = primitive_of(key) {
            return Ok(TypeDef::Primitive(ordinal));
        }
        if store.entry(key)?.body.is_type() {
            Ok(TypeDef::Entry(key))
        } else {
            Err(fault::BAD_ARGUMENT)
        }
    }
}

/// The ordinal of the primitive type of a key.
pub(crate) fn primitive_of(key: Key) -> Option<u32> {
    let ordinal = u32::try_from(key.checked_sub(PRIMITIVE)?).ok()?;
    primitive_kind(ordinal).map(|_| ordinal)
}

/// The key in an object id, if its entry exists.
fn key_in(store: &Store, id: &[u8]) -> Result<Key> {
    let (key, stamp) = id.split_first_chunk::<8>().ok_or(fault::GONE)?;
    let key = Key::from_be_bytes(*key);
    let is_there = primitive_of(key).is_some() || store.entry(key).is_ok();
    if *stamp == store.stamp.to_be_bytes() && is_there {
        Ok(key)
    } else {
        Err(fault::GONE)
    }
}
