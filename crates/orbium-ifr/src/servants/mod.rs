// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operations of CORBA's interfaces, each once: all kinds of objects have the same servant.

mod bases;
mod canonical;
mod container;
mod events;
mod features;
mod interfaces;
mod types;
mod values;

use orbium::{Any, Call, TypeCode};

use crate::corba::contained;
use crate::corba::{
    self, ContainedServant, Container, DefinitionKind, IdlTypeServant, IrObjectServant,
    ModuleDefServant, PrimitiveKind, Repository, RepositoryServant,
};
use crate::edit::Edit;
use crate::entry::{Body, Entry, ROOT, TypeDef};
use crate::error::LoadError;
use crate::fault;
use crate::fault::Result;
use crate::literal;
use crate::objects::Objects;
use crate::references::primitive_of;
use crate::repositories::{LoadingRepositoryServant, Rejected, RejectedError};
use crate::type_codes::primitive_kind;

impl IrObjectServant for Objects {
    fn def_kind(&self, call: &Call<'_>) -> Result<DefinitionKind> {
        self.read(call, |view, key| match primitive_of(key) {
            Some(_) => Ok(DefinitionKind::DkPrimitive),
            None => Ok(view.entry(key)?.body.kind()),
        })
    }

    fn destroy(&self, call: &Call<'_>) -> Result<()> {
        // A path to the method would be for one lifetime only.
        #[allow(clippy::redundant_closure_for_method_calls)]
        let destroyed = self.write(call, |edit, key| edit.destroy(key));
        destroyed
    }
}

impl ContainedServant for Objects {
    fn id(&self, call: &Call<'_>) -> Result<String> {
        self.read(call, |view, key| Ok(view.entry(key)?.id.clone()))
    }

    fn set_id(&self, call: &Call<'_>, value: &str) -> Result<()> {
        self.write(call, |edit, key| edit.set_id(key, value))
    }

    fn name(&self, call: &Call<'_>) -> Result<String> {
        self.read(call, |view, key| Ok(view.entry(key)?.name.clone()))
    }

    fn set_name(&self, call: &Call<'_>, value: &str) -> Result<()> {
        self.write(call, |edit, key| edit.set_name(key, value))
    }

    fn version(&self, call: &Call<'_>) -> Result<String> {
        self.read(call, |view, key| Ok(view.entry(key)?.version.clone()))
    }

    fn set_version(&self, call: &Call<'_>, value: &str) -> Result<()> {
        self.write(call, |edit, key| edit.set_version(key, value))
    }

    fn defined_in(&self, call: &Call<'_>) -> Result<Option<Container>> {
        self.read(call, |view, key| {
            view.reference(view.entry(key)?.container.ok_or(fault::GONE)?)
        })
    }

    fn absolute_name(&self, call: &Call<'_>) -> Result<String> {
        self.read(call, |view, key| view.store.absolute_name(key))
    }

    fn containing_repository(&self, call: &Call<'_>) -> Result<Option<Repository>> {
        self.read(call, |view, _| view.repository())
    }

    fn describe(&self, call: &Call<'_>) -> Result<contained::Description> {
        self.read(call, |view, key| {
            let (kind, value) = view.describe(key)?;
            Ok(contained::Description { kind, value })
        })
    }

    fn r#move(
        &self,
        call: &Call<'_>,
        new_container: Option<&Container>,
        new_name: &str,
        new_version: &str,
    ) -> Result<()> {
        self.write(call, |edit, key| {
            let container = edit.key(new_container, |_| true)?;
            edit.relocate(key, container, new_name)?;
            edit.set_version(key, new_version)
        })
    }
}

impl ModuleDefServant for Objects {}

impl IdlTypeServant for Objects {
    fn r#type(&self, call: &Call<'_>) -> Result<TypeCode> {
        self.read(call, |view, key| match primitive_of(key) {
            Some(ordinal) => view.store.type_code(TypeDef::Primitive(ordinal)),
            None => view.store.type_of(key),
        })
    }
}

impl Objects {
    /// Adds an anonymous type. An unused one stays until it is destroyed.
    fn anonymous<I: orbium::Interface>(
        &self,
        call: &Call<'_>,
        body: impl FnOnce(&Edit<'_>) -> Result<Body>,
    ) -> Result<Option<I>> {
        self.write(call, |edit, _| {
            let body = body(edit)?;
            let key = edit.store.insert(Entry::anonymous(body))?;
            edit.check(key)?;
            edit.reference(key)
        })
    }
}

impl RepositoryServant for Objects {
    fn lookup_id(&self, call: &Call<'_>, search_id: &str) -> Result<Option<corba::Contained>> {
        self.read(call, |view, _| match view.store.with_id(search_id) {
            Some(key) => view.reference(key),
            None => Ok(None),
        })
    }

    fn get_canonical_typecode(&self, call: &Call<'_>, tc: &TypeCode) -> Result<TypeCode> {
        self.read(call, |view, _| view.store.canonical(tc))
    }

    fn get_primitive(
        &self,
        call: &Call<'_>,
        kind: PrimitiveKind,
    ) -> Result<Option<corba::PrimitiveDef>> {
        self.read(call, |view, _| match kind {
            PrimitiveKind::PkNull => Err(fault::BAD_ARGUMENT),
            kind => view.type_reference(TypeDef::primitive(kind)),
        })
    }

    fn create_string(&self, call: &Call<'_>, bound: u32) -> Result<Option<corba::StringDef>> {
        self.anonymous(call, |_| match bound {
            0 => Err(fault::BAD_ARGUMENT),
            bound => Ok(Body::String(bound)),
        })
    }

    fn create_wstring(&self, call: &Call<'_>, bound: u32) -> Result<Option<corba::WstringDef>> {
        self.anonymous(call, |_| match bound {
            0 => Err(fault::BAD_ARGUMENT),
            bound => Ok(Body::Wstring(bound)),
        })
    }

    fn create_sequence(
        &self,
        call: &Call<'_>,
        bound: u32,
        element_type: Option<&corba::IdlType>,
    ) -> Result<Option<corba::SequenceDef>> {
        self.anonymous(call, |edit| {
            let element = edit.member_type(element_type)?;
            Ok(Body::Sequence { bound, element })
        })
    }

    fn create_array(
        &self,
        call: &Call<'_>,
        length: u32,
        element_type: Option<&corba::IdlType>,
    ) -> Result<Option<corba::ArrayDef>> {
        self.anonymous(call, |edit| {
            let element = edit.member_type(element_type)?;
            match length {
                0 => Err(fault::BAD_ARGUMENT),
                length => Ok(Body::Array { length, element }),
            }
        })
    }

    fn create_fixed(
        &self,
        call: &Call<'_>,
        digits: u16,
        scale: i16,
    ) -> Result<Option<corba::FixedDef>> {
        self.anonymous(call, |_| fixed(digits, scale))
    }
}

/// A fixed-point type of at most 31 digits.
fn fixed(digits: u16, scale: i16) -> Result<Body> {
    let fits = (1..=31).contains(&digits) && scale.unsigned_abs() <= 31 && scale <= digits as i16;
    if fits {
        Ok(Body::Fixed { digits, scale })
    } else {
        Err(fault::BAD_ARGUMENT)
    }
}

impl LoadingRepositoryServant for Objects {
    fn load(&self, call: &Call<'_>, idl: &str) -> std::result::Result<u32, RejectedError> {
        self.read(call, |_, key| match key {
            ROOT => Ok(()),
            _ => Err(fault::GONE),
        })?;
        let rejected = |why: String| Rejected { why };
        let model = crate::load::compiled(idl).map_err(rejected)?;
        let loaded = self.edit(|edit| crate::load::load(edit, &model));
        loaded.map_err(|error| match error {
            LoadError::System(exception) => exception.into(),
            error => rejected(error.to_string()).into(),
        })
    }
}

impl corba::PrimitiveDefServant for Objects {
    fn kind(&self, call: &Call<'_>) -> Result<PrimitiveKind> {
        self.read(call, |_, key| {
            let ordinal = primitive_of(key).ok_or(fault::GONE)?;
            primitive_kind(ordinal).ok_or(fault::GONE)
        })
    }
}

/// The value of a constant: an any of a constant's type.
impl corba::ConstantDefServant for Objects {
    fn r#type(&self, call: &Call<'_>) -> Result<TypeCode> {
        self.read(call, |view, key| {
            view.store.type_code(constant(&view.entry(key)?.body)?.0)
        })
    }

    fn type_def(&self, call: &Call<'_>) -> Result<Option<corba::IdlType>> {
        self.read(call, |view, key| {
            view.type_reference(constant(&view.entry(key)?.body)?.0)
        })
    }

    fn set_type_def(&self, call: &Call<'_>, value: Option<&corba::IdlType>) -> Result<()> {
        self.write(call, |edit, key| {
            let ty = edit.ty(value)?;
            let (_, constant) = constant(&edit.store.entry(key)?.body)?;
            let value = edit.constant(ty, &literal::constant(constant)?)?;
            edit.set(key, |body| *body = Body::Constant { ty, value })
        })
    }

    fn value(&self, call: &Call<'_>) -> Result<Any> {
        self.read(call, |view, key| {
            literal::constant(constant(&view.entry(key)?.body)?.1)
        })
    }

    fn set_value(&self, call: &Call<'_>, value: &Any) -> Result<()> {
        self.write(call, |edit, key| {
            let (ty, _) = constant(&edit.store.entry(key)?.body)?;
            let value = edit.constant(ty, value)?;
            edit.set(key, |body| *body = Body::Constant { ty, value })
        })
    }
}

fn constant(body: &Body) -> Result<(TypeDef, &[u8])> {
    match body {
        Body::Constant { ty, value } => Ok((*ty, value)),
        _ => Err(fault::GONE),
    }
}
