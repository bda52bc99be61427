// SPDX-License-Identifier: MIT OR Apache-2.0
//! Value types and the members of their state.

use orbium::{Call, TypeCode};

use crate::corba::ext_value_def::ExtFullValueDescription;
use crate::corba::value_def::FullValueDescription;
use crate::corba::{
    self, AttributeMode, ExceptionDef, ExtInitializer, IdlType, InterfaceDef, OperationMode,
    ParameterDescription, ValueDef,
};
use crate::edit::{Edit, Named, check_names};
use crate::entry::{Body, Initializer, Key, TypeDef, Value};
use crate::fault;
use crate::fault::Result;
use crate::objects::Objects;
use crate::servants::bases::supported;
use crate::servants::features::{NewAttribute, NewOperation};
use crate::view::View;

/// Modifiers of a value type.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) is_custom: bool,
    pub(super) is_abstract: bool,
    pub(super) is_truncatable: bool,
    pub(super) is_event: bool,
}

impl Shape {
    /// The value without its initializers.
    pub(super) fn value(
        self,
        edit: &Edit<'_>,
        base: Option<&ValueDef>,
        abstract_bases: &[Option<ValueDef>],
        supports: &[Option<InterfaceDef>],
    ) -> Result<Value> {
        let value = Value {
            is_custom: self.is_custom,
            is_abstract: self.is_abstract,
            is_truncatable: self.is_truncatable,
            is_event: self.is_event,
            base: base
                .map(|base| edit.key(Some(base), is_concrete))
                .transpose()?,
            abstract_bases: edit.keys(abstract_bases, is_abstract)?,
            supports: supported(edit, supports)?,
            initializers: Vec::new(),
        };
        check_shape(&value)?;
        Ok(value)
    }
}

/// Checks that an abstract value has no state and no concrete base, and that a custom one is not
/// truncatable.
fn check_shape(value: &Value) -> Result<()> {
    let is_wrong = value.is_abstract
        && (value.is_custom || value.base.is_some() || !value.initializers.is_empty())
        || value.is_truncatable && (value.is_custom || value.base.is_none());
    if is_wrong {
        Err(fault::BAD_ARGUMENT)
    } else {
        Ok(())
    }
}

fn is_concrete(body: &Body) -> bool {
    matches!(body, Body::Value(it) if !it.is_abstract)
}

fn is_abstract(body: &Body) -> bool {
    matches!(body, Body::Value(it) if it.is_abstract)
}

fn value(body: &Body) -> Result<&Value> {
    match body {
        Body::Value(it) => Ok(it),
        _ => Err(fault::GONE),
    }
}

impl Edit<'_> {
    pub(super) fn initializers(&self, given: &[corba::Initializer]) -> Result<Vec<Initializer>> {
        let made = given.iter().map(|it| {
            Ok(Initializer {
                name: it.name.clone(),
                members: self.members(&it.members)?,
                raises: Vec::new(),
            })
        });
        let made: Vec<_> = made.collect::<Result<_>>()?;
        check_names(made.iter().map(|it| &*it.name))?;
        Ok(made)
    }

    pub(super) fn ext_initializers(&self, given: &[ExtInitializer]) -> Result<Vec<Initializer>> {
        let made = given.iter().map(|it| {
            Ok(Initializer {
                name: it.name.clone(),
                members: self.members(&it.members)?,
                raises: self.described(&it.exceptions)?,
            })
        });
        let made: Vec<_> = made.collect::<Result<_>>()?;
        check_names(made.iter().map(|it| &*it.name))?;
        Ok(made)
    }

    fn set_value(&mut self, key: Key, change: impl FnOnce(&mut Value)) -> Result<()> {
        self.set(key, |body| {
            if let Body::Value(it) = body {
                change(it);
            }
        })?;
        let it = value(&self.store.entry(key)?.body)?;
        check_shape(it)?;
        if it.is_abstract && !self.store.state(key)?.is_empty() {
            Err(fault::BAD_ARGUMENT)
        } else {
            Ok(())
        }
    }
}

impl View<'_> {
    fn initializers(&self, key: Key) -> Result<Vec<corba::Initializer>> {
        let initializers = value(&self.entry(key)?.body)?.initializers.iter();
        let shown = initializers.map(|it| {
            let (name, members) = (it.name.clone(), self.members(&it.members)?);
            Ok(corba::Initializer { members, name })
        });
        shown.collect()
    }

    fn ext_initializers(&self, key: Key) -> Result<Vec<ExtInitializer>> {
        let initializers = value(&self.entry(key)?.body)?.initializers.iter();
        let shown = initializers.map(|it| {
            let (name, members) = (it.name.clone(), self.members(&it.members)?);
            let exceptions = self.exceptions(&it.raises)?;
            Ok(ExtInitializer {
                members,
                exceptions,
                name,
            })
        });
        shown.collect()
    }

    fn base_id(&self, it: &Value) -> Result<String> {
        Ok(self.ids(it.base.as_slice())?.pop().unwrap_or_default())
    }
}

impl corba::ValueDefServant for Objects {
    fn supported_interfaces(&self, call: &Call<'_>) -> Result<Vec<Option<InterfaceDef>>> {
        self.read(call, |view, key| {
            view.references(&value(&view.entry(key)?.body)?.supports)
        })
    }

    fn set_supported_interfaces(
        &self,
        call: &Call<'_>,
        value: &[Option<InterfaceDef>],
    ) -> Result<()> {
        self.write(call, |edit, key| {
            let new = supported(edit, value)?;
            edit.set_value(key, |it| it.supports = new)
        })
    }

    fn initializers(&self, call: &Call<'_>) -> Result<Vec<corba::Initializer>> {
        // A path to the method would be for one lifetime only.
        #[allow(clippy::redundant_closure_for_method_calls)]
        let shown = self.read(call, |view, key| view.initializers(key));
        shown
    }

    fn set_initializers(&self, call: &Call<'_>, value: &[corba::Initializer]) -> Result<()> {
        self.write(call, |edit, key| {
            let new = edit.initializers(value)?;
            edit.set_value(key, |it| it.initializers = new)
        })
    }

    fn base_value(&self, call: &Call<'_>) -> Result<Option<ValueDef>> {
        self.read(call, |view, key| {
            match value(&view.entry(key)?.body)?.base {
                Some(base) => view.reference(base),
                None => Ok(None),
            }
        })
    }

    fn set_base_value(&self, call: &Call<'_>, value: Option<&ValueDef>) -> Result<()> {
        self.write(call, |edit, key| {
            let new = value
                .map(|base| edit.key(Some(base), is_concrete))
                .transpose()?;
            edit.set_value(key, |it| it.base = new)
        })
    }

    fn abstract_base_values(&self, call: &Call<'_>) -> Result<Vec<Option<ValueDef>>> {
        self.read(call, |view, key| {
            view.references(&value(&view.entry(key)?.body)?.abstract_bases)
        })
    }

    fn set_abstract_base_values(&self, call: &Call<'_>, value: &[Option<ValueDef>]) -> Result<()> {
        self.write(call, |edit, key| {
            let new = edit.keys(value, is_abstract)?;
            edit.set_value(key, |it| it.abstract_bases = new)
        })
    }

    fn is_abstract(&self, call: &Call<'_>) -> Result<bool> {
        self.read(call, |view, key| {
            Ok(value(&view.entry(key)?.body)?.is_abstract)
        })
    }

    fn set_is_abstract(&self, call: &Call<'_>, value: bool) -> Result<()> {
        self.write(call, |edit, key| {
            edit.set_value(key, |it| it.is_abstract = value)
        })
    }

    fn is_custom(&self, call: &Call<'_>) -> Result<bool> {
        self.read(call, |view, key| {
            Ok(value(&view.entry(key)?.body)?.is_custom)
        })
    }

    fn set_is_custom(&self, call: &Call<'_>, value: bool) -> Result<()> {
        self.write(call, |edit, key| {
            edit.set_value(key, |it| it.is_custom = value)
        })
    }

    fn is_truncatable(&self, call: &Call<'_>) -> Result<bool> {
        self.read(call, |view, key| {
            Ok(value(&view.entry(key)?.body)?.is_truncatable)
        })
    }

    fn set_is_truncatable(&self, call: &Call<'_>, value: bool) -> Result<()> {
        self.write(call, |edit, key| {
            edit.set_value(key, |it| it.is_truncatable = value)
        })
    }

    fn is_a(&self, call: &Call<'_>, id: &str) -> Result<bool> {
        self.read(call, |view, key| view.store.is_a(key, id))
    }

    fn describe_value(&self, call: &Call<'_>) -> Result<FullValueDescription> {
        self.read(call, |view, key| {
            let entry = view.entry(key)?;
            let it = value(&entry.body)?;
            Ok(FullValueDescription {
                name: entry.name.clone(),
                id: entry.id.clone(),
                is_abstract: it.is_abstract,
                is_custom: it.is_custom,
                defined_in: view.store.defined_in(key)?.to_owned(),
                version: entry.version.clone(),
                operations: view.operations(key)?,
                attributes: view.attributes(key)?,
                members: view.value_members(key)?,
                initializers: view.initializers(key)?,
                supported_interfaces: view.ids(&it.supports)?,
                abstract_base_values: view.ids(&it.abstract_bases)?,
                is_truncatable: it.is_truncatable,
                base_value: view.base_id(it)?,
                r#type: view.store.type_of(key)?,
            })
        })
    }

    fn create_value_member(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
        r#type: Option<&IdlType>,
        access: i16,
    ) -> Result<Option<corba::ValueMemberDef>> {
        self.write(call, |edit, container| {
            let public = is_public(access)?;
            if is_abstract(&edit.store.entry(container)?.body) {
                return Err(fault::BAD_CONTAINER);
            }
            let ty = edit.member_type(r#type)?;
            let body = Body::ValueMember { ty, public };
            let key = edit.create(container, Named { id, name, version }, body)?;
            // Also the types of the value, and of all that contain it.
            edit.check_users()?;
            edit.reference(key)
        })
    }

    fn create_attribute(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
        r#type: Option<&IdlType>,
        mode: AttributeMode,
    ) -> Result<Option<corba::AttributeDef>> {
        let named = Named { id, name, version };
        let new = NewAttribute {
            named,
            ty: r#type,
            mode,
            get_exceptions: &[],
            set_exceptions: &[],
        };
        self.new_attribute(call, &new)
    }

    fn create_operation(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
        result: Option<&IdlType>,
        mode: OperationMode,
        params: &[ParameterDescription],
        exceptions: &[Option<ExceptionDef>],
        contexts: &[String],
    ) -> Result<Option<corba::OperationDef>> {
        let named = Named { id, name, version };
        let new = NewOperation {
            named,
            result,
            mode,
            params,
            exceptions,
            contexts,
        };
        self.new_operation(call, &new)
    }
}

impl corba::ExtValueDefServant for Objects {
    fn ext_initializers(&self, call: &Call<'_>) -> Result<Vec<ExtInitializer>> {
        // A path to the method would be for one lifetime only.
        #[allow(clippy::redundant_closure_for_method_calls)]
        let shown = self.read(call, |view, key| view.ext_initializers(key));
        shown
    }

    fn set_ext_initializers(&self, call: &Call<'_>, value: &[ExtInitializer]) -> Result<()> {
        self.write(call, |edit, key| {
            let new = edit.ext_initializers(value)?;
            edit.set_value(key, |it| it.initializers = new)
        })
    }

    fn describe_ext_value(&self, call: &Call<'_>) -> Result<ExtFullValueDescription> {
        self.read(call, |view, key| {
            let entry = view.entry(key)?;
            let it = value(&entry.body)?;
            Ok(ExtFullValueDescription {
                name: entry.name.clone(),
                id: entry.id.clone(),
                is_abstract: it.is_abstract,
                is_custom: it.is_custom,
                defined_in: view.store.defined_in(key)?.to_owned(),
                version: entry.version.clone(),
                operations: view.operations(key)?,
                attributes: view.ext_attributes(key)?,
                members: view.value_members(key)?,
                initializers: view.ext_initializers(key)?,
                supported_interfaces: view.ids(&it.supports)?,
                abstract_base_values: view.ids(&it.abstract_bases)?,
                is_truncatable: it.is_truncatable,
                base_value: view.base_id(it)?,
                r#type: view.store.type_of(key)?,
            })
        })
    }

    fn create_ext_attribute(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
        r#type: Option<&IdlType>,
        mode: AttributeMode,
        get_exceptions: &[Option<ExceptionDef>],
        set_exceptions: &[Option<ExceptionDef>],
    ) -> Result<Option<corba::ExtAttributeDef>> {
        let named = Named { id, name, version };
        let new = NewAttribute {
            named,
            ty: r#type,
            mode,
            get_exceptions,
            set_exceptions,
        };
        self.new_attribute(call, &new)
    }
}

fn is_public(access: i16) -> Result<bool> {
    match access {
        corba::PRIVATE_MEMBER => Ok(false),
        corba::PUBLIC_MEMBER => Ok(true),
        _ => Err(fault::BAD_ARGUMENT),
    }
}

fn member(body: &Body) -> Result<(TypeDef, bool)> {
    match body {
        Body::ValueMember { ty, public } => Ok((*ty, *public)),
        _ => Err(fault::GONE),
    }
}

impl corba::ValueMemberDefServant for Objects {
    fn r#type(&self, call: &Call<'_>) -> Result<TypeCode> {
        self.read(call, |view, key| {
            view.store.type_code(member(&view.entry(key)?.body)?.0)
        })
    }

    fn type_def(&self, call: &Call<'_>) -> Result<Option<IdlType>> {
        self.read(call, |view, key| {
            view.type_reference(member(&view.entry(key)?.body)?.0)
        })
    }

    fn set_type_def(&self, call: &Call<'_>, value: Option<&IdlType>) -> Result<()> {
        self.write(call, |edit, key| {
            let ty = edit.member_type(value)?;
            let (_, public) = member(&edit.store.entry(key)?.body)?;
            edit.set(key, |body| *body = Body::ValueMember { ty, public })
        })
    }

    fn access(&self, call: &Call<'_>) -> Result<i16> {
        self.read(call, |view, key| {
            Ok(i16::from(member(&view.entry(key)?.body)?.1))
        })
    }

    fn set_access(&self, call: &Call<'_>, value: i16) -> Result<()> {
        self.write(call, |edit, key| {
            let public = is_public(value)?;
            let (ty, _) = member(&edit.store.entry(key)?.body)?;
            edit.set(key, |body| *body = Body::ValueMember { ty, public })
        })
    }
}
