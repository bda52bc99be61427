// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants of containers.

use orbium::{Any, Call};

use crate::corba::container::Description;
use crate::corba::{
    self, Contained, ContainerServant, DefinitionKind, ExtInitializer, IdlType, Initializer,
    StructMember, UnionMember,
};
use crate::edit::{self, Edit, Named};
use crate::entry::{Body, InterfaceKind, Key, Value};
use crate::fault;
use crate::fault::Result;
use crate::objects::Objects;
use crate::servants::bases::bases_of;
use crate::servants::values::Shape;
use crate::view::{View, is_of};

/// Maximum number of definitions in a reply.
const MAX_DEFINITIONS: usize = 200_000;

impl Objects {
    /// Adds a definition to the called container.
    pub(super) fn create<I: orbium::Interface>(
        &self,
        call: &Call<'_>,
        (id, name, version): (&str, &str, &str),
        body: impl FnOnce(&Edit<'_>) -> Result<Body>,
    ) -> Result<Option<I>> {
        self.write(call, |edit, container| {
            let body = body(edit)?;
            let key = edit.create(container, Named { id, name, version }, body)?;
            edit.reference(key)
        })
    }
}

/// Finds definitions of a name, level by level.
struct Search<'v> {
    view: &'v View<'v>,
    name: &'v str,
    limit: DefinitionKind,
    exclude_inherited: bool,
    found: Vec<Key>,
}

impl Search<'_> {
    fn descend(&mut self, container: Key, levels: i32) -> Result<()> {
        // IDL nests no deeper than this; definitions that are created remotely may.
        let mut scopes = vec![(container, levels)];
        let mut seen = std::collections::HashSet::new();
        while let Some((scope, levels)) = scopes.pop() {
            if levels == 0 || !seen.insert(scope) {
                continue;
            }
            for key in self.view.store.contents(scope, self.exclude_inherited)? {
                let entry = self.view.entry(key)?;
                if entry.name == self.name
                    && is_of(&entry.body, self.limit)
                    && !self.found.contains(&key)
                {
                    self.found.push(key);
                }
                if entry.body.is_container() {
                    scopes.push((key, levels.saturating_sub(1).max(-1)));
                }
            }
        }
        Ok(())
    }
}

impl ContainerServant for Objects {
    fn lookup(&self, call: &Call<'_>, search_name: &str) -> Result<Option<Contained>> {
        self.read(call, |view, key| {
            match view.store.lookup(key, search_name)? {
                Some(found) => view.reference(found),
                None => Ok(None),
            }
        })
    }

    fn contents(
        &self,
        call: &Call<'_>,
        limit_type: DefinitionKind,
        exclude_inherited: bool,
    ) -> Result<Vec<Option<Contained>>> {
        self.read(call, |view, key| {
            view.references(&view.contents_of(key, limit_type, exclude_inherited)?)
        })
    }

    fn lookup_name(
        &self,
        call: &Call<'_>,
        search_name: &str,
        levels_to_search: i32,
        limit_type: DefinitionKind,
        exclude_inherited: bool,
    ) -> Result<Vec<Option<Contained>>> {
        self.read(call, |view, key| {
            if levels_to_search < -1 || levels_to_search == 0 {
                return Err(fault::BAD_ARGUMENT);
            }
            let mut search = Search {
                view,
                name: search_name,
                limit: limit_type,
                exclude_inherited,
                found: Vec::new(),
            };
            search.descend(key, levels_to_search)?;
            view.references(&search.found)
        })
    }

    fn describe_contents(
        &self,
        call: &Call<'_>,
        limit_type: DefinitionKind,
        exclude_inherited: bool,
        max_returned_objs: i32,
    ) -> Result<Vec<Description>> {
        self.read(call, |view, key| {
            let contents = view.contents_of(key, limit_type, exclude_inherited)?;
            let most = usize::try_from(max_returned_objs).unwrap_or(MAX_DEFINITIONS);
            let described = contents
                .into_iter()
                .take(most.min(MAX_DEFINITIONS))
                .map(|key| {
                    let (kind, value) = view.describe(key)?;
                    let contained_object = view.reference(key)?;
                    Ok(Description {
                        contained_object,
                        kind,
                        value,
                    })
                });
            described.collect()
        })
    }

    fn create_module(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
    ) -> Result<Option<corba::ModuleDef>> {
        self.create(call, (id, name, version), |_| Ok(Body::Module))
    }

    fn create_constant(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
        r#type: Option<&IdlType>,
        value: &Any,
    ) -> Result<Option<corba::ConstantDef>> {
        self.create(call, (id, name, version), |edit| {
            let ty = edit.ty(r#type)?;
            let value = edit.constant(ty, value)?;
            Ok(Body::Constant { ty, value })
        })
    }

    fn create_struct(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
        members: &[StructMember],
    ) -> Result<Option<corba::StructDef>> {
        self.create(call, (id, name, version), |edit| {
            Ok(Body::Struct(edit.members(members)?))
        })
    }

    fn create_union(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
        discriminator_type: Option<&IdlType>,
        members: &[UnionMember],
    ) -> Result<Option<corba::UnionDef>> {
        self.create(call, (id, name, version), |edit| {
            let discriminator = edit.ty(discriminator_type)?;
            let cases = edit.cases(discriminator, members)?;
            Ok(Body::Union {
                discriminator,
                cases,
            })
        })
    }

    fn create_enum(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
        members: &[String],
    ) -> Result<Option<corba::EnumDef>> {
        self.create(call, (id, name, version), |_| {
            edit::check_names(members.iter().map(|it| &**it))?;
            Ok(Body::Enum(members.to_vec()))
        })
    }

    fn create_alias(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
        original_type: Option<&IdlType>,
    ) -> Result<Option<corba::AliasDef>> {
        self.create(call, (id, name, version), |edit| {
            Ok(Body::Alias(edit.member_type(original_type)?))
        })
    }

    fn create_interface(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
        base_interfaces: &[Option<corba::InterfaceDef>],
    ) -> Result<Option<corba::InterfaceDef>> {
        self.create(call, (id, name, version), |edit| {
            interface(edit, InterfaceKind::Plain, base_interfaces)
        })
    }

    fn create_value(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
        is_custom: bool,
        is_abstract: bool,
        base_value: Option<&corba::ValueDef>,
        is_truncatable: bool,
        abstract_base_values: &[Option<corba::ValueDef>],
        supported_interfaces: &[Option<corba::InterfaceDef>],
        initializers: &[Initializer],
    ) -> Result<Option<corba::ValueDef>> {
        self.create(call, (id, name, version), |edit| {
            let shape = Shape {
                is_custom,
                is_abstract,
                is_truncatable,
                is_event: false,
            };
            let mut value =
                shape.value(edit, base_value, abstract_base_values, supported_interfaces)?;
            value.initializers = edit.initializers(initializers)?;
            Ok(Body::Value(value))
        })
    }

    fn create_value_box(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
        original_type_def: Option<&IdlType>,
    ) -> Result<Option<corba::ValueBoxDef>> {
        self.create(call, (id, name, version), |edit| {
            Ok(Body::ValueBox(edit.boxed_type(original_type_def)?))
        })
    }

    fn create_exception(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
        members: &[StructMember],
    ) -> Result<Option<corba::ExceptionDef>> {
        self.create(call, (id, name, version), |edit| {
            Ok(Body::Exception(edit.members(members)?))
        })
    }

    fn create_native(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
    ) -> Result<Option<corba::NativeDef>> {
        self.create(call, (id, name, version), |_| Ok(Body::Native))
    }

    fn create_abstract_interface(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
        base_interfaces: &[Option<corba::AbstractInterfaceDef>],
    ) -> Result<Option<corba::AbstractInterfaceDef>> {
        self.create(call, (id, name, version), |edit| {
            interface(edit, InterfaceKind::Abstract, base_interfaces)
        })
    }

    fn create_local_interface(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
        base_interfaces: &[Option<corba::InterfaceDef>],
    ) -> Result<Option<corba::LocalInterfaceDef>> {
        self.create(call, (id, name, version), |edit| {
            interface(edit, InterfaceKind::Local, base_interfaces)
        })
    }

    fn create_ext_value(
        &self,
        call: &Call<'_>,
        id: &str,
        name: &str,
        version: &str,
        is_custom: bool,
        is_abstract: bool,
        base_value: Option<&corba::ValueDef>,
        is_truncatable: bool,
        abstract_base_values: &[Option<corba::ValueDef>],
        supported_interfaces: &[Option<corba::InterfaceDef>],
        initializers: &[ExtInitializer],
    ) -> Result<Option<corba::ExtValueDef>> {
        self.create(call, (id, name, version), |edit| {
            let shape = Shape {
                is_custom,
                is_abstract,
                is_truncatable,
                is_event: false,
            };
            let value =
                shape.value(edit, base_value, abstract_base_values, supported_interfaces)?;
            let initializers = edit.ext_initializers(initializers)?;
            Ok(Body::Value(Value {
                initializers,
                ..value
            }))
        })
    }
}

fn interface<I: orbium::Interface>(
    edit: &Edit<'_>,
    kind: InterfaceKind,
    bases: &[Option<I>],
) -> Result<Body> {
    let bases = bases_of(edit, kind, bases)?;
    Ok(Body::Interface { kind, bases })
}
