// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loading of compiled IDL into the repository.

mod compare;
mod constants;
mod primitive_types;

use std::collections::{HashMap, HashSet};

use orbium::SystemException;
use orbium_idl::model::{
    DefId, DefMap, DefSet, Definition, DefinitionKind, Direction, Member as IdlMember, Model,
    Operation as IdlOperation, Parameter as IdlParameter, Type, Union, ValueKind, ValueType,
};
use orbium_idl::{Options, compile_source};

use crate::edit::Edit;
use crate::entry::{
    Attribute, Body, Case, Entry, Initializer, InterfaceKind, Key, Member, Operation, Parameter,
    ROOT, TypeDef, Value, Way,
};
use crate::error::LoadError;
use crate::fault;

use primitive_types::primitive;

type Loaded<T> = Result<T, LoadError>;

/// Compiles a text that includes only built-in files.
pub(crate) fn compiled(idl: &str) -> Result<Model, String> {
    let mut options = Options::new();
    options.lenient_names = true;
    let mut compilation = compile_source(&options, "idl", idl);
    match compilation.model.take() {
        Some(model) => Ok(model),
        None => {
            let first = compilation.errors().next();
            Err(first.map_or_else(|| "not IDL".to_owned(), ToString::to_string))
        }
    }
}

/// Adds the definitions of a model, and returns the number of new ones.
pub(crate) fn load(edit: &mut Edit<'_>, model: &Model) -> Loaded<u32> {
    let mut loading = Loading {
        edit,
        model,
        keys: DefMap::default(),
        names: HashMap::new(),
        fresh: Vec::new(),
        known: Vec::new(),
        completed: DefSet::default(),
        anonymous: Vec::new(),
        added: 0,
    };
    loading.declare(model.top_level(), ROOT, true)?;
    for id in std::mem::take(&mut loading.fresh) {
        loading.define(id)?;
    }
    loading.compare()?;
    loading.check()?;
    Ok(loading.added)
}

struct Loading<'l, 'e> {
    edit: &'l mut Edit<'e>,
    model: &'l Model,
    keys: DefMap<Key>,
    /// The names in each container to which definitions were added, in lower case.
    names: HashMap<Key, HashSet<String>>,
    /// Definitions that the repository lacks.
    fresh: Vec<DefId>,
    /// Definitions that the repository already has.
    known: Vec<DefId>,
    /// Value types among those that it already has, but without contents: they may have been
    /// declared without being defined.
    completed: DefSet,
    /// Created anonymous types.
    anonymous: Vec<Key>,
    added: u32,
}

/// Maximum depth of nested definitions.
const MAX_DEPTH: usize = 64;

/// Maximum number of bases and inherited definitions, of all interfaces and values of one load
/// together: readers wait while they are checked.
const MAX_INHERITED: usize = 4_000_000;

impl<'l> Loading<'l, '_> {
    fn different(definition: &Definition) -> LoadError {
        LoadError::Different(definition.repository_id.clone())
    }

    /// Assigns a key to every definition in a scope. `is_open`: whether new contents may be
    /// added to the container.
    fn declare(&mut self, scope: &[DefId], container: Key, is_open: bool) -> Loaded<()> {
        for id in scope {
            let definition = &self.model[*id];
            if let DefinitionKind::Unmapped(_) = definition.kind {
                continue;
            }
            if definition.path.len() > MAX_DEPTH {
                return Err(SystemException::into(fault::TOO_LARGE));
            }
            let known = self.edit.store.with_id(&definition.repository_id);
            let key = match known {
                Some(key) => self.check_known(definition, key, container)?,
                None if is_open => self.add(definition, container)?,
                None => return Err(Self::different(definition)),
            };
            self.keys.insert(*id, key);
            match known {
                Some(_) => self.known.push(*id),
                None => self.fresh.push(*id),
            }
            let may_grow = known.is_none() || self.may_grow(key)?;
            if known.is_some()
                && may_grow
                && matches!(definition.kind, DefinitionKind::ValueType(_))
            {
                self.completed.insert(*id);
            }
            self.declare(self.model.contents(*id), key, may_grow)?;
        }
        Ok(())
    }

    /// Whether an existing definition is a module, or an interface or a value type that may have
    /// been declared without being defined.
    fn may_grow(&self, key: Key) -> Loaded<bool> {
        let entry = self.edit.store.entry(key)?;
        Ok(match &entry.body {
            Body::Module => true,
            Body::Interface { bases, .. } => bases.is_empty() && entry.contents.is_empty(),
            Body::Value(it) => *it == it.as_declared() && entry.contents.is_empty(),
            _ => false,
        })
    }

    fn check_known(&self, definition: &Definition, key: Key, container: Key) -> Loaded<Key> {
        let entry = self.edit.store.entry(key)?;
        if entry.name == definition.name && entry.container == Some(container) {
            Ok(key)
        } else {
            Err(Self::different(definition))
        }
    }

    /// Adds an entry that is filled in later.
    fn add(&mut self, definition: &Definition, container: Key) -> Loaded<Key> {
        if !self.names.contains_key(&container) {
            let mut names = HashSet::new();
            for key in &self.edit.store.entry(container)?.contents {
                names.insert(self.edit.store.entry(*key)?.name.to_ascii_lowercase());
            }
            self.names.insert(container, names);
        }
        let names = self.names.entry(container).or_default();
        if !names.insert(definition.name.to_ascii_lowercase()) {
            return Err(LoadError::NameInUse(definition.scoped_name()));
        }
        self.insert(
            container,
            &definition.name,
            &definition.repository_id,
            Body::Module,
        )
    }

    fn insert(&mut self, container: Key, name: &str, id: &str, body: Body) -> Loaded<Key> {
        let version = if id.starts_with("IDL:") {
            id.rsplit_once(':').map_or("1.0", |(_, version)| version)
        } else {
            "1.0"
        };
        let key = self.edit.store.insert(Entry {
            name: name.to_owned(),
            id: id.to_owned(),
            version: version.to_owned(),
            container: Some(container),
            contents: Vec::new(),
            body,
        })?;
        let store = &mut self.edit.store;
        store.update(container, |it| it.contents.push(key))?;
        self.added += 1;
        Ok(key)
    }

    fn define(&mut self, id: DefId) -> Loaded<()> {
        let key = self.keys[id];
        let body = self.body(&self.model[id])?;
        self.edit.store.update(key, |it| it.body = body)?;
        if let DefinitionKind::ValueType(value) = &self.model[id].kind {
            self.state(key, value)?;
        }
        Ok(())
    }

    /// Adds the members of a value's state, before its other contents.
    fn state(&mut self, key: Key, value: &ValueType) -> Loaded<()> {
        let contents = self.edit.store.entry(key)?.contents.clone();
        self.edit.store.update(key, |it| it.contents.clear())?;
        for member in &value.members {
            let id = member_id(&self.edit.store.entry(key)?.id, &member.member.name);
            if self.edit.store.with_id(&id).is_some() {
                return Err(LoadError::Different(id));
            }
            let ty = self.ty(&member.member.ty)?;
            let public = member.public;
            self.insert(
                key,
                &member.member.name,
                &id,
                Body::ValueMember { ty, public },
            )?;
        }
        let store = &mut self.edit.store;
        store.update(key, |it| it.contents.extend(contents))?;
        Ok(())
    }

    fn check(&self) -> Loaded<()> {
        let mut inherited = 0;
        for definition in self.model.definitions() {
            if let Some(key) = self.keys.get(definition.id) {
                inherited += self.edit.check(*key)?;
            }
            if inherited > MAX_INHERITED {
                return Err(SystemException::into(fault::TOO_LARGE));
            }
        }
        // Also the types that contain a previously declared value.
        Ok(self.edit.check_users()?)
    }

    fn body(&mut self, definition: &'l Definition) -> Loaded<Body> {
        Ok(match &definition.kind {
            DefinitionKind::Module(_) => Body::Module,
            DefinitionKind::Interface(it) => Body::Interface {
                kind: match it.kind {
                    orbium_idl::model::InterfaceKind::Plain => InterfaceKind::Plain,
                    orbium_idl::model::InterfaceKind::Abstract => InterfaceKind::Abstract,
                    orbium_idl::model::InterfaceKind::Local => InterfaceKind::Local,
                },
                bases: self.named(&it.bases)?,
            },
            DefinitionKind::Operation(it) => Body::Operation(self.operation(it)?),
            DefinitionKind::Attribute(it) => Body::Attribute(Attribute {
                ty: self.ty(&it.ty)?,
                readonly: it.readonly,
                get_raises: self.named(&it.get_raises)?,
                set_raises: self.named(&it.set_raises)?,
            }),
            DefinitionKind::Struct(it) => Body::Struct(self.members(&it.members)?),
            DefinitionKind::Exception(it) => Body::Exception(self.members(&it.members)?),
            DefinitionKind::Union(it) => self.union(it)?,
            DefinitionKind::Enum(it) => {
                Body::Enum(it.enumerators.iter().map(|it| it.name.clone()).collect())
            }
            DefinitionKind::Alias(it) => Body::Alias(self.ty(&it.ty)?),
            DefinitionKind::Constant(it) => Body::Constant {
                ty: self.ty(&it.ty)?,
                value: self.constant(&it.ty, &it.value)?,
            },
            DefinitionKind::ValueType(it) => Body::Value(self.value(it)?),
            DefinitionKind::ValueBox(it) => Body::ValueBox(self.ty(&it.ty)?),
            DefinitionKind::Native => Body::Native,
            DefinitionKind::Unmapped(_) => return Err(unsupported(definition)),
        })
    }

    fn key(&self, id: DefId) -> Loaded<Key> {
        let key = self.keys.get(id).copied();
        key.ok_or_else(|| unsupported(&self.model[id]))
    }

    fn named(&self, ids: &[DefId]) -> Loaded<Vec<Key>> {
        ids.iter().map(|id| self.key(*id)).collect()
    }

    fn members(&mut self, members: &[IdlMember]) -> Loaded<Vec<Member>> {
        let members = members.iter().map(|it| {
            let (name, ty) = (it.name.clone(), self.ty(&it.ty)?);
            Ok(Member { name, ty })
        });
        members.collect()
    }

    fn parameters(&mut self, parameters: &[IdlParameter]) -> Loaded<Vec<Parameter>> {
        let parameters = parameters.iter().map(|it| {
            Ok(Parameter {
                name: it.name.clone(),
                ty: self.ty(&it.ty)?,
                way: match it.direction {
                    Direction::In => Way::In,
                    Direction::Out => Way::Out,
                    Direction::InOut => Way::InOut,
                },
            })
        });
        parameters.collect()
    }

    fn operation(&mut self, it: &IdlOperation) -> Loaded<Operation> {
        Ok(Operation {
            result: self.ty(&it.result)?,
            oneway: it.oneway,
            parameters: self.parameters(&it.parameters)?,
            raises: self.named(&it.raises)?,
            contexts: it.contexts.clone(),
        })
    }

    fn union(&mut self, it: &Union) -> Loaded<Body> {
        let mut cases = Vec::new();
        for case in &it.cases {
            let ty = self.ty(&case.member.ty)?;
            for label in case.discriminators() {
                let name = case.member.name.clone();
                cases.push(Case { label, name, ty });
            }
        }
        let discriminator = self.ty(&it.discriminator)?;
        Ok(Body::Union {
            discriminator,
            cases,
        })
    }

    fn value(&mut self, it: &ValueType) -> Loaded<Value> {
        let mut value = Value {
            is_custom: it.kind == ValueKind::Custom,
            is_abstract: it.kind == ValueKind::Abstract,
            is_truncatable: it.truncatable,
            is_event: it.event,
            supports: self.named(&it.supports)?,
            ..Value::default()
        };
        for base in &it.bases {
            let key = self.key(*base)?;
            match &self.model[*base].kind {
                DefinitionKind::ValueType(base) if base.kind == ValueKind::Abstract => {
                    value.abstract_bases.push(key);
                }
                _ => value.base = Some(key),
            }
        }
        for factory in &it.factories {
            let parameters = self.parameters(&factory.parameters)?.into_iter();
            let members = parameters.map(|Parameter { name, ty, .. }| Member { name, ty });
            value.initializers.push(Initializer {
                name: factory.name.clone(),
                members: members.collect(),
                raises: self.named(&factory.raises)?,
            });
        }
        Ok(value)
    }

    fn ty(&mut self, ty: &Type) -> Loaded<TypeDef> {
        let body = match ty {
            Type::Named(id) => return Ok(TypeDef::Entry(self.key(*id)?)),
            Type::String(Some(bound)) => Body::String(*bound),
            Type::WString(Some(bound)) => Body::Wstring(*bound),
            Type::Fixed { digits, scale } => Body::Fixed {
                digits: u16::from(*digits),
                scale: i16::from(*scale),
            },
            Type::Sequence { element, bound } => Body::Sequence {
                bound: bound.unwrap_or(0),
                element: self.ty(element)?,
            },
            Type::Array {
                element,
                dimensions,
            } => {
                let mut array = self.ty(element)?;
                for length in dimensions.iter().rev() {
                    let (length, element) = (*length, array);
                    array = self.anonymous(Body::Array { length, element })?;
                }
                return Ok(array);
            }
            simple => return Ok(TypeDef::primitive(primitive(simple))),
        };
        self.anonymous(body)
    }

    fn anonymous(&mut self, body: Body) -> Loaded<TypeDef> {
        let key = self.edit.store.insert(Entry::anonymous(body))?;
        self.anonymous.push(key);
        Ok(TypeDef::Entry(key))
    }
}

fn unsupported(definition: &Definition) -> LoadError {
    LoadError::Unsupported {
        name: definition.scoped_name(),
        construct: definition.kind.noun(),
    }
}

/// The id of a member of a value with that id.
fn member_id(value: &str, name: &str) -> String {
    match value
        .strip_prefix("IDL:")
        .and_then(|id| id.rsplit_once(':'))
    {
        Some((path, version)) => format!("IDL:{path}/{name}:{version}"),
        None => format!("{value}/{name}"),
    }
}
