// SPDX-License-Identifier: MIT OR Apache-2.0
//! TypeCodes and signatures out of compiled IDL.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

use orbium_cdr::{Type as Static, TypeCode, Typed};
use orbium_idl::model::{
    Attribute, DefId, DefMap, Definition, DefinitionKind, Direction as Way, Interface,
    InterfaceKind, Member, Model, Operation, Type, Union, ValueKind, ValueType,
};
use orbium_value::ValueBase;

use crate::json::TypesById;
use crate::signature::{Direction, Parameter, Signature};

/// Definitions of IDL, as types of values and signatures of operations.
///
/// TypeCodes are created on demand, so a large file costs no more than its compilation.
#[derive(Debug)]
pub struct Definitions {
    model: Model,
    by_id: HashMap<String, DefId>,
    made: RefCell<DefMap<TypeCode>>,
}

/// Error of a definition without a TypeCode.
#[derive(Clone, PartialEq, Eq)]
pub enum TypeError {
    /// The name is not defined.
    Unknown(String),
    /// The name is not that of a type.
    NoType(String),
    /// The attribute cannot be written.
    ReadOnly(String),
    /// Values of the type cannot be marshalled: it is local, or not supported by orbium.
    Unsupported {
        /// The scoped name.
        name: String,
        /// The IDL construct.
        construct: &'static str,
    },
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "`{name}` is not defined"),
            Self::NoType(name) => write!(f, "`{name}` is not a type"),
            Self::ReadOnly(name) => write!(f, "the attribute `{name}` is readonly"),
            Self::Unsupported { name, construct } => {
                write!(f, "values of the {construct} `{name}` cannot be marshalled")
            }
        }
    }
}

impl fmt::Debug for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for TypeError {}

/// Definitions of types that are being created, the outermost first.
type Open = Vec<DefId>;

/// A TypeCode, and the outermost type in progress to which it refers.
type Made = (TypeCode, usize);

/// A member from which a TypeCode is created.
type NamedType<'m> = (&'m str, TypeCode);

/// The types that consist of a keyword only. An `int8` of IDL 4 is encoded as an octet.
const SIMPLE: &[(Type, &Static)] = &[
    (Type::Void, Static::VOID),
    (Type::Boolean, Static::BOOLEAN),
    (Type::Char, Static::CHAR),
    (Type::WChar, Static::WCHAR),
    (Type::Octet, Static::OCTET),
    (Type::Int8, Static::OCTET),
    (Type::Short, Static::SHORT),
    (Type::UShort, Static::USHORT),
    (Type::Long, Static::LONG),
    (Type::ULong, Static::ULONG),
    (Type::LongLong, Static::LONGLONG),
    (Type::ULongLong, Static::ULONGLONG),
    (Type::Float, Static::FLOAT),
    (Type::Double, Static::DOUBLE),
    (Type::LongDouble, Static::LONGDOUBLE),
    (Type::Any, Static::ANY),
    (Type::TypeCode, Static::TYPE_CODE),
    (Type::Object, Static::OBJECT),
    (Type::ValueBase, ValueBase::TYPE),
];

/// Refers to no type in progress.
const COMPLETE: usize = usize::MAX;

impl Definitions {
    /// The definitions of a model.
    #[must_use]
    pub fn new(model: Model) -> Self {
        let ids = model.definitions();
        let by_id = ids.map(|it| (it.repository_id.clone(), it.id)).collect();
        Self {
            model,
            by_id,
            made: RefCell::default(),
        }
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The definition with a repository id.
    #[must_use]
    pub fn definition_with_id(&self, repository_id: &str) -> Option<&Definition> {
        self.by_id.get(repository_id).map(|id| &self.model[*id])
    }

    /// The interface with a repository id, or with a scoped name such as `M::I`.
    #[must_use]
    pub fn interface(&self, id_or_name: &str) -> Option<DefId> {
        let named = self.definition_with_id(id_or_name);
        let definition = named.or_else(|| self.model.lookup(id_or_name))?;
        matches!(definition.kind, DefinitionKind::Interface(_)).then_some(definition.id)
    }

    /// All interfaces that can be called.
    pub fn interfaces(&self) -> impl Iterator<Item = &Definition> {
        let callable = |it: &&Definition| matches!(&it.kind, DefinitionKind::Interface(i) if i.kind != InterfaceKind::Local);
        self.model.definitions().filter(callable)
    }

    /// The types of all values that have a state, which an ORB needs to read values of derived
    /// types ([`Factories::register_described`]).
    ///
    /// [`Factories::register_described`]: orbium_value::Factories::register_described
    pub fn value_types(&self) -> impl Iterator<Item = TypeCode> {
        let concrete = self.model.definitions().filter(|it| match &it.kind {
            DefinitionKind::ValueType(it) => it.kind == ValueKind::Plain,
            kind => matches!(kind, DefinitionKind::ValueBox(_)),
        });
        concrete.filter_map(|it| self.type_of(it.id).ok())
    }

    /// The type with a scoped name such as `M::S`.
    ///
    /// # Errors
    /// [`TypeError`].
    pub fn type_named(&self, name: &str) -> Result<TypeCode, TypeError> {
        let unknown = || TypeError::Unknown(name.to_owned());
        let definition = self.model.lookup(name).ok_or_else(unknown)?;
        self.type_of(definition.id)
    }

    /// The type that a definition is.
    ///
    /// # Errors
    /// [`TypeError`].
    pub fn type_of(&self, id: DefId) -> Result<TypeCode, TypeError> {
        Ok(self.named(id, &mut Open::new())?.0)
    }

    /// The TypeCode of a type as it is used.
    ///
    /// # Errors
    /// [`TypeError`].
    pub fn type_code(&self, ty: &Type) -> Result<TypeCode, TypeError> {
        Ok(self.make(ty, &mut Open::new())?.0)
    }

    /// The names of all operations and attributes of an interface, inherited ones first.
    #[must_use]
    pub fn operation_names(&self, interface: DefId) -> Vec<&str> {
        let features = self.model.all_features(interface);
        let names = features.into_iter().map(|id| self.model[id].name.as_str());
        names.collect()
    }

    /// The signature of an operation of an interface or a base of it. The name of an attribute
    /// denotes reading it, or with `writes` writing it; the names on the wire (`_get_a`, `_set_a`)
    /// are accepted, too.
    ///
    /// # Errors
    /// [`TypeError::Unknown`] if the name is not defined, [`TypeError::ReadOnly`], a type that has
    /// no TypeCode.
    pub fn signature(
        &self,
        interface: DefId,
        name: &str,
        writes: bool,
    ) -> Result<Signature, TypeError> {
        let features = self.model.all_features(interface);
        let find = |name: &str| {
            let mut features = features.iter().map(|id| &self.model[*id]);
            features.find(|it| it.name == name)
        };
        let (found, writes) = if let Some(found) = find(name) {
            (Some(found), writes)
        } else if let Some(attribute) = name.strip_prefix("_get_") {
            (find(attribute), false)
        } else if let Some(attribute) = name.strip_prefix("_set_") {
            (find(attribute), true)
        } else {
            (None, writes)
        };
        let found = found.ok_or_else(|| TypeError::Unknown(name.to_owned()))?;
        match &found.kind {
            DefinitionKind::Operation(operation) => self.operation(&found.name, operation),
            DefinitionKind::Attribute(attribute) => self.attribute(&found.name, attribute, writes),
            _ => Err(TypeError::Unknown(name.to_owned())),
        }
    }

    fn operation(&self, name: &str, operation: &Operation) -> Result<Signature, TypeError> {
        let parameters = operation.parameters.iter().map(|parameter| {
            Ok(Parameter {
                name: parameter.name.clone(),
                direction: match parameter.direction {
                    Way::In => Direction::In,
                    Way::Out => Direction::Out,
                    Way::InOut => Direction::InOut,
                },
                code: self.type_code(&parameter.ty)?,
            })
        });
        Ok(Signature {
            name: name.to_owned(),
            wire_name: name.to_owned(),
            oneway: operation.oneway,
            parameters: parameters.collect::<Result<_, TypeError>>()?,
            returns: self.type_code(&operation.result)?,
            exceptions: self.exceptions(&operation.raises)?,
            contexts: operation.contexts.clone(),
        })
    }

    fn attribute(
        &self,
        name: &str,
        attribute: &Attribute,
        writes: bool,
    ) -> Result<Signature, TypeError> {
        let code = self.type_code(&attribute.ty)?;
        if writes && attribute.readonly {
            return Err(TypeError::ReadOnly(name.to_owned()));
        }
        let value = Parameter {
            name: "value".to_owned(),
            direction: Direction::In,
            code: code.clone(),
        };
        let (prefix, parameters, returns, raises) = if writes {
            (
                "_set_",
                vec![value],
                Static::VOID.into(),
                &attribute.set_raises,
            )
        } else {
            ("_get_", Vec::new(), code, &attribute.get_raises)
        };
        Ok(Signature {
            name: name.to_owned(),
            wire_name: format!("{prefix}{name}"),
            oneway: false,
            parameters,
            returns,
            exceptions: self.exceptions(raises)?,
            contexts: Vec::new(),
        })
    }

    fn exceptions(&self, raises: &[DefId]) -> Result<Vec<TypeCode>, TypeError> {
        let exceptions = raises
            .iter()
            .filter(|id| matches!(self.model[**id].kind, DefinitionKind::Exception(_)));
        exceptions.map(|id| self.type_of(*id)).collect()
    }

    fn make(&self, ty: &Type, open: &mut Open) -> Result<Made, TypeError> {
        let simple = match ty {
            Type::Sequence { element, bound } => {
                let (element, refers) = self.make(element, open)?;
                let bound = bound.unwrap_or(0);
                return Ok((TypeCode::sequence(element, bound), refers));
            }
            Type::Array {
                element,
                dimensions,
            } => {
                let (element, refers) = self.make(element, open)?;
                let inner_first = dimensions.iter().rev();
                let array = inner_first.fold(element, |it, length| TypeCode::array(it, *length));
                return Ok((array, refers));
            }
            Type::Named(id) => return self.named(*id, open),
            Type::String(bound) => match bound {
                None => Static::STRING.into(),
                Some(bound) => TypeCode::string(*bound),
            },
            Type::WString(bound) => match bound {
                None => Static::WSTRING.into(),
                Some(bound) => TypeCode::wstring(*bound),
            },
            Type::Fixed { digits, scale } => TypeCode::fixed(u16::from(*digits), i16::from(*scale)),
            simple => match SIMPLE.iter().find(|(ty, _)| ty == simple) {
                Some((_, code)) => TypeCode::from(*code),
                None => return Err(TypeError::NoType(format!("{simple:?}"))),
            },
        };
        Ok((simple, COMPLETE))
    }

    /// The type of a definition. It is cached once it refers to no unfinished type.
    fn named(&self, id: DefId, open: &mut Open) -> Result<Made, TypeError> {
        if let Some(made) = self.made.borrow().get(id) {
            return Ok((made.clone(), COMPLETE));
        }
        let definition = &self.model[id];
        if let Some(place) = open.iter().position(|it| *it == id) {
            return Ok((TypeCode::recursive(&definition.repository_id), place));
        }
        // A TypeCode refers back to structs, unions and exceptions, not to typedefs.
        if let DefinitionKind::Alias(alias) = &definition.kind {
            let (original, refers) = self.make(&alias.ty, open)?;
            let code = TypeCode::alias(&definition.repository_id, &definition.name, original);
            return Ok(self.keep(id, (code, refers), COMPLETE));
        }
        let place = open.len();
        open.push(id);
        let made = self.construct(definition, open);
        open.pop();
        Ok(self.keep(id, made?, place))
    }

    /// Caches a type unless it refers to one that was begun before `place`.
    fn keep(&self, id: DefId, (code, refers): Made, place: usize) -> Made {
        if refers < place {
            return (code, refers);
        }
        self.made.borrow_mut().insert(id, code.clone());
        (code, COMPLETE)
    }

    fn construct(&self, definition: &Definition, open: &mut Open) -> Result<Made, TypeError> {
        let (id, name) = (&*definition.repository_id, &*definition.name);
        Ok(match &definition.kind {
            DefinitionKind::Struct(it) => {
                let (members, refers) = self.members(it.members.iter(), open)?;
                (TypeCode::structure(id, name, members), refers)
            }
            DefinitionKind::Exception(it) => {
                let (members, refers) = self.members(it.members.iter(), open)?;
                (TypeCode::exception(id, name, members), refers)
            }
            DefinitionKind::Union(it) => self.union(definition, it, open)?,
            DefinitionKind::Enum(it) => {
                let names = it.enumerators.iter().map(|it| &*it.name);
                (TypeCode::enumeration(id, name, names), COMPLETE)
            }
            DefinitionKind::Interface(Interface {
                kind: InterfaceKind::Plain,
                ..
            }) => (TypeCode::interface(id, name), COMPLETE),
            DefinitionKind::Interface(Interface {
                kind: InterfaceKind::Abstract,
                ..
            }) => (TypeCode::abstract_interface(id, name), COMPLETE),
            DefinitionKind::Interface(_) => {
                return Err(unsupported("local interface", definition));
            }
            DefinitionKind::ValueType(it) => self.value_type(definition, it, open)?,
            DefinitionKind::ValueBox(it) => {
                let (boxed, refers) = self.make(&it.ty, open)?;
                (TypeCode::value_box(id, name, boxed), refers)
            }
            kind @ (DefinitionKind::Native | DefinitionKind::Unmapped(_)) => {
                return Err(unsupported(kind.noun(), definition));
            }
            _ => return Err(TypeError::NoType(definition.scoped_name())),
        })
    }

    fn members<'m>(
        &self,
        members: impl Iterator<Item = &'m Member>,
        open: &mut Open,
    ) -> Result<(Vec<NamedType<'m>>, usize), TypeError> {
        let mut refers = COMPLETE;
        let mut made = Vec::new();
        for member in members {
            let (code, outermost) = self.make(&member.ty, open)?;
            refers = refers.min(outermost);
            made.push((&*member.name, code));
        }
        Ok((made, refers))
    }

    fn value_type(
        &self,
        definition: &Definition,
        value: &ValueType,
        open: &mut Open,
    ) -> Result<Made, TypeError> {
        let is_concrete = |id: &&DefId| matches!(&self.model[**id].kind, DefinitionKind::ValueType(it) if it.kind != ValueKind::Abstract);
        let base = value.bases.first().filter(is_concrete);
        let base = base.map(|id| self.named(*id, open)).transpose()?;
        let (base, base_refers) = base.map_or((None, COMPLETE), |(base, it)| (Some(base), it));
        let members = value.members.iter().map(|it| &it.member);
        let (members, refers) = self.members(members, open)?;
        let visible = members.into_iter().zip(&value.members);
        let visible = visible.map(|((name, code), member)| (name, code, member.public));
        let modifier = match value.kind {
            ValueKind::Custom => 1,
            ValueKind::Abstract => 2,
            ValueKind::Plain if value.truncatable => 3,
            ValueKind::Plain => 0,
        };
        let (id, name) = (&*definition.repository_id, &*definition.name);
        let code = if value.event {
            TypeCode::event(id, name, modifier, base, visible)
        } else {
            TypeCode::value(id, name, modifier, base, visible)
        };
        Ok((code, refers.min(base_refers)))
    }

    fn union(
        &self,
        definition: &Definition,
        union: &Union,
        open: &mut Open,
    ) -> Result<Made, TypeError> {
        let (discriminator, _) = self.make(&union.discriminator, open)?;
        let (members, refers) = self.members(union.cases.iter().map(|it| &it.member), open)?;
        let cases = union.cases.iter().zip(members);
        let labelled = cases.flat_map(|(case, (name, code))| {
            let labels = case.discriminators().into_iter();
            labels.map(move |label| (label, name, code.clone()))
        });
        let (id, name) = (&*definition.repository_id, &*definition.name);
        let code = TypeCode::union(id, name, discriminator, labelled);
        let no_type = || TypeError::NoType(definition.scoped_name());
        Ok((code.ok_or_else(no_type)?, refers))
    }
}

fn unsupported(construct: &'static str, definition: &Definition) -> TypeError {
    TypeError::Unsupported {
        name: definition.scoped_name(),
        construct,
    }
}

impl TypesById for Definitions {
    fn type_with_id(&self, repository_id: &str) -> Option<TypeCode> {
        self.type_of(*self.by_id.get(repository_id)?).ok()
    }
}
