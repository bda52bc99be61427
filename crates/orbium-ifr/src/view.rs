// SPDX-License-Identifier: MIT OR Apache-2.0
//! View of the repository's definitions in the types of CORBA.

use orbium::{Any, Interface, SystemException, cdr::Typed};

use crate::corba::{
    self, AttributeDescription, AttributeMode, ConstantDescription, DefinitionKind,
    ExceptionDescription, ExtAttributeDescription, InterfaceDescription, ModuleDescription,
    OperationDescription, OperationMode, ParameterDescription, ParameterMode, StructMember,
    TypeDescription, UnionMember, ValueDescription, ValueMember,
};
use crate::entry::{Attribute, Body, Case, Entry, Key, Member, Parameter, ROOT, TypeDef, Way};
use crate::fault::{self, Result};
use crate::literal;
use crate::references::References;
use crate::store::Store;

/// The store, with the references to its entries.
pub(crate) struct View<'s> {
    pub(crate) references: &'s References,
    pub(crate) store: &'s Store,
}

/// The common first members of descriptions.
struct Head {
    name: String,
    id: String,
    defined_in: String,
    version: String,
}

fn any<T: Typed + orbium::codegen::Encode>(value: &T) -> Result<Any> {
    Any::new(value).map_err(|error| SystemException::from_cdr(error, orbium::Completion::No))
}

impl View<'_> {
    pub(crate) fn entry(&self, key: Key) -> Result<&Entry> {
        self.store.entry(key)
    }

    /// The reference to an entry.
    pub(crate) fn reference<I: Interface>(&self, key: Key) -> Result<Option<I>> {
        let kind = self.entry(key)?.body.kind();
        self.references
            .reference(self.store.stamp, kind, key)
            .map(Some)
    }

    pub(crate) fn references<I: Interface>(&self, keys: &[Key]) -> Result<Vec<Option<I>>> {
        keys.iter().map(|key| self.reference(*key)).collect()
    }

    pub(crate) fn type_reference<I: Interface>(&self, ty: TypeDef) -> Result<Option<I>> {
        match ty {
            TypeDef::Entry(key) => self.reference(key),
            TypeDef::Primitive(ordinal) => self
                .references
                .primitive(self.store.stamp, ordinal)
                .map(Some),
        }
    }

    pub(crate) fn repository(&self) -> Result<Option<corba::Repository>> {
        self.reference(ROOT)
    }

    fn head(&self, key: Key) -> Result<Head> {
        let entry = self.entry(key)?;
        Ok(Head {
            name: entry.name.clone(),
            id: entry.id.clone(),
            defined_in: self.store.defined_in(key)?.to_owned(),
            version: entry.version.clone(),
        })
    }

    pub(crate) fn ids(&self, keys: &[Key]) -> Result<Vec<String>> {
        let ids = keys.iter().map(|key| Ok(self.entry(*key)?.id.clone()));
        ids.collect()
    }

    pub(crate) fn members(&self, members: &[Member]) -> Result<Vec<StructMember>> {
        let members = members.iter().map(|member| {
            Ok(StructMember {
                name: member.name.clone(),
                r#type: self.store.type_code(member.ty)?,
                type_def: self.type_reference(member.ty)?,
            })
        });
        members.collect()
    }

    pub(crate) fn cases(&self, discriminator: TypeDef, cases: &[Case]) -> Result<Vec<UnionMember>> {
        let discriminator = self.store.type_code(discriminator)?;
        let cases = cases.iter().map(|case| {
            Ok(UnionMember {
                name: case.name.clone(),
                label: literal::label(&discriminator, case.label)?,
                r#type: self.store.type_code(case.ty)?,
                type_def: self.type_reference(case.ty)?,
            })
        });
        cases.collect()
    }

    pub(crate) fn parameters(&self, parameters: &[Parameter]) -> Result<Vec<ParameterDescription>> {
        let parameters = parameters.iter().map(|parameter| {
            Ok(ParameterDescription {
                name: parameter.name.clone(),
                r#type: self.store.type_code(parameter.ty)?,
                type_def: self.type_reference(parameter.ty)?,
                mode: match parameter.way {
                    Way::In => ParameterMode::ParamIn,
                    Way::Out => ParameterMode::ParamOut,
                    Way::InOut => ParameterMode::ParamInout,
                },
            })
        });
        parameters.collect()
    }

    pub(crate) fn exceptions(&self, keys: &[Key]) -> Result<Vec<ExceptionDescription>> {
        keys.iter().map(|key| self.exception(*key)).collect()
    }

    fn exception(&self, key: Key) -> Result<ExceptionDescription> {
        let Head {
            name,
            id,
            defined_in,
            version,
        } = self.head(key)?;
        let r#type = self.store.type_of(key)?;
        Ok(ExceptionDescription {
            name,
            id,
            defined_in,
            version,
            r#type,
        })
    }

    fn operation(&self, key: Key) -> Result<OperationDescription> {
        let Body::Operation(it) = &self.entry(key)?.body else {
            return Err(fault::GONE);
        };
        let Head {
            name,
            id,
            defined_in,
            version,
        } = self.head(key)?;
        Ok(OperationDescription {
            name,
            id,
            defined_in,
            version,
            result: self.store.type_code(it.result)?,
            mode: operation_mode(it.oneway),
            contexts: it.contexts.clone(),
            parameters: self.parameters(&it.parameters)?,
            exceptions: self.exceptions(&it.raises)?,
        })
    }

    fn attribute_entry(&self, key: Key) -> Result<&Attribute> {
        match &self.entry(key)?.body {
            Body::Attribute(it) => Ok(it),
            _ => Err(fault::GONE),
        }
    }

    fn attribute(&self, key: Key) -> Result<AttributeDescription> {
        let it = self.attribute_entry(key)?;
        let Head {
            name,
            id,
            defined_in,
            version,
        } = self.head(key)?;
        Ok(AttributeDescription {
            name,
            id,
            defined_in,
            version,
            r#type: self.store.type_code(it.ty)?,
            mode: attribute_mode(it.readonly),
        })
    }

    pub(crate) fn ext_attribute(&self, key: Key) -> Result<ExtAttributeDescription> {
        let it = self.attribute_entry(key)?;
        let Head {
            name,
            id,
            defined_in,
            version,
        } = self.head(key)?;
        Ok(ExtAttributeDescription {
            name,
            id,
            defined_in,
            version,
            r#type: self.store.type_code(it.ty)?,
            mode: attribute_mode(it.readonly),
            get_exceptions: self.exceptions(&it.get_raises)?,
            put_exceptions: self.exceptions(&it.set_raises)?,
        })
    }

    /// The operations, own and inherited, of an interface or value.
    pub(crate) fn operations(&self, key: Key) -> Result<Vec<OperationDescription>> {
        let operations = self.contents_of(key, DefinitionKind::DkOperation, false)?;
        operations.iter().map(|key| self.operation(*key)).collect()
    }

    /// The attributes, own and inherited.
    pub(crate) fn attributes(&self, key: Key) -> Result<Vec<AttributeDescription>> {
        let attributes = self.contents_of(key, DefinitionKind::DkAttribute, false)?;
        attributes.iter().map(|key| self.attribute(*key)).collect()
    }

    pub(crate) fn ext_attributes(&self, key: Key) -> Result<Vec<ExtAttributeDescription>> {
        let attributes = self.contents_of(key, DefinitionKind::DkAttribute, false)?;
        let attributes = attributes.iter().map(|key| self.ext_attribute(*key));
        attributes.collect()
    }

    pub(crate) fn value_members(&self, key: Key) -> Result<Vec<ValueMember>> {
        let state = self.store.state(key)?;
        let members = state.iter().map(|(key, _, ty, public)| {
            let Head {
                name,
                id,
                defined_in,
                version,
            } = self.head(*key)?;
            Ok(ValueMember {
                name,
                id,
                defined_in,
                version,
                r#type: self.store.type_code(*ty)?,
                type_def: self.type_reference(*ty)?,
                access: i16::from(*public),
            })
        });
        members.collect()
    }

    /// The contents of a container of one kind.
    pub(crate) fn contents_of(
        &self,
        key: Key,
        limit: DefinitionKind,
        exclude_inherited: bool,
    ) -> Result<Vec<Key>> {
        let mut contents = self.store.contents(key, exclude_inherited)?;
        contents.retain(|key| {
            let entry = self.store.entry(*key);
            entry.is_ok_and(|entry| is_of(&entry.body, limit))
        });
        Ok(contents)
    }

    /// The kind of an entry, and its description.
    pub(crate) fn describe(&self, key: Key) -> Result<(DefinitionKind, Any)> {
        let entry = self.entry(key)?;
        let Head {
            name,
            id,
            defined_in,
            version,
        } = self.head(key)?;
        let value = match &entry.body {
            Body::Module => any(&ModuleDescription {
                name,
                id,
                defined_in,
                version,
            }),
            Body::Constant { ty, value } => {
                let (r#type, value) = (self.store.type_code(*ty)?, literal::constant(value)?);
                any(&ConstantDescription {
                    name,
                    id,
                    defined_in,
                    version,
                    r#type,
                    value,
                })
            }
            Body::Exception(_) => any(&self.exception(key)?),
            Body::Attribute(_) => any(&self.attribute(key)?),
            Body::Operation(_) => any(&self.operation(key)?),
            Body::Interface { bases, .. } => {
                let base_interfaces = self.ids(bases)?;
                any(&InterfaceDescription {
                    name,
                    id,
                    defined_in,
                    version,
                    base_interfaces,
                })
            }
            Body::Value(it) => any(&ValueDescription {
                name,
                id,
                is_abstract: it.is_abstract,
                is_custom: it.is_custom,
                defined_in,
                version,
                supported_interfaces: self.ids(&it.supports)?,
                abstract_base_values: self.ids(&it.abstract_bases)?,
                is_truncatable: it.is_truncatable,
                base_value: self.ids(it.base.as_slice())?.pop().unwrap_or_default(),
            }),
            Body::ValueMember { ty, public } => any(&ValueMember {
                name,
                id,
                defined_in,
                version,
                r#type: self.store.type_code(*ty)?,
                type_def: self.type_reference(*ty)?,
                access: i16::from(*public),
            }),
            body if body.is_typedef() => {
                let r#type = self.store.type_of(key)?;
                any(&TypeDescription {
                    name,
                    id,
                    defined_in,
                    version,
                    r#type,
                })
            }
            _ => Err(fault::GONE),
        };
        Ok((entry.body.kind(), value?))
    }
}

pub(crate) fn operation_mode(oneway: bool) -> OperationMode {
    if oneway {
        OperationMode::OpOneway
    } else {
        OperationMode::OpNormal
    }
}

pub(crate) fn attribute_mode(readonly: bool) -> AttributeMode {
    if readonly {
        AttributeMode::AttrReadonly
    } else {
        AttributeMode::AttrNormal
    }
}

/// Whether a definition is of the kind `limit`.
pub(crate) fn is_of(body: &Body, limit: DefinitionKind) -> bool {
    match limit {
        DefinitionKind::DkAll => true,
        DefinitionKind::DkTypedef => body.is_typedef(),
        limit => body.kind() == limit,
    }
}
