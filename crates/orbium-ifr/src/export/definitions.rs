// SPDX-License-Identifier: MIT OR Apache-2.0
//! Definitions as described by a repository.

use std::collections::{HashMap, HashSet};

use orbium::cdr::MemberRef;
use orbium::{Any, Interface, SystemException, TypeCode, cdr::TCKind};

use super::error::{ExportError, Fault, is_of_definition};
use crate::corba::container::Description as Described;
use crate::corba::ext_value_def::ExtFullValueDescription;
use crate::corba::{
    AttributeDescription, Contained, Container, DefinitionKind, ExceptionDescription,
    ExtAttributeDescription, ExtInitializer, ExtValueDef, InterfaceAttrExtension, Repository,
    TypeDescription, ValueDef, ValueDescription,
};
use crate::edit::{check_id, check_name};
use crate::fault;

/// Maximum number of definitions that are read.
const MAX_DEFINITIONS: usize = 200_000;

/// Maximum depth of nested containers.
pub(super) const MAX_DEPTH: usize = 64;

/// Maximum bytes of the scoped names of all definitions.
const MAX_NAMES: usize = 64 << 20;

/// One definition.
pub(super) struct Definition {
    pub(super) id: String,
    /// The names from the repository on, its own last.
    pub(super) path: Vec<String>,
    pub(super) kind: DefinitionKind,
    /// Its description, as returned by `describe`.
    pub(super) value: Any,
    /// The TypeCode of a type or exception.
    pub(super) code: TypeCode,
    /// Indices of its contents.
    pub(super) contents: Vec<usize>,
    pub(super) container: Option<usize>,
    /// The description of an attribute, with its exceptions, if the repository has those.
    pub(super) attribute: Option<ExtAttributeDescription>,
    /// Whether only its declaration is needed: of an interface that others name.
    pub(super) is_declared: bool,
    /// The initializers of a value.
    pub(super) initializers: Vec<ExtInitializer>,
}

impl Definition {
    pub(super) fn name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    pub(super) fn invalid(&self) -> ExportError {
        ExportError::Invalid(self.id.clone())
    }

    /// Its description.
    pub(super) fn described<T: orbium::cdr::Typed + orbium::codegen::Decode>(
        &self,
    ) -> Result<T, ExportError> {
        self.value.extract().map_err(|_| self.invalid())
    }

    pub(super) fn is_interface(&self) -> bool {
        is_interface(self.kind)
    }

    /// Whether it is declared before all definitions.
    pub(super) fn has_forward(&self) -> bool {
        self.is_interface() || is_value(self.kind) || self.is_recursive()
    }

    /// Whether it is a struct or union that contains itself.
    pub(super) fn is_recursive(&self) -> bool {
        matches!(
            self.kind,
            DefinitionKind::DkStruct | DefinitionKind::DkUnion
        ) && recurs(&self.code)
    }
}

/// Whether it is a value type, including event types.
pub(super) fn is_value(kind: DefinitionKind) -> bool {
    matches!(kind, DefinitionKind::DkValue | DefinitionKind::DkEvent)
}

fn is_interface(kind: DefinitionKind) -> bool {
    matches!(
        kind,
        DefinitionKind::DkInterface
            | DefinitionKind::DkAbstractInterface
            | DefinitionKind::DkLocalInterface
    )
}

/// Whether a type contains itself, through sequences and typedefs.
fn recurs(code: &TypeCode) -> bool {
    let mut seen = HashSet::new();
    let mut pending: Vec<_> = code.members().filter_map(MemberRef::type_code).collect();
    // Types that a peer describes may unfold endlessly: each is visited once, by its id.
    while let Some(part) = pending.pop() {
        match part.kind() {
            TCKind::Struct | TCKind::Union => {
                if part.id() == code.id() {
                    return true;
                }
                if seen.insert(part.id().to_owned()) {
                    pending.extend(part.members().filter_map(MemberRef::type_code));
                }
            }
            TCKind::Sequence | TCKind::Array | TCKind::Alias => pending.extend(part.content_type()),
            _ => {}
        }
        if seen.len() > MAX_DEFINITIONS || pending.len() > MAX_DEFINITIONS {
            return false;
        }
    }
    false
}

/// All definitions of a repository.
#[derive(Default)]
pub(super) struct Definitions {
    /// Whether invalid definitions are left out.
    pub(super) leaves_out: bool,
    /// The reasons for which definitions are left out.
    pub(super) left_out: Vec<ExportError>,
    /// The indices of left-out definitions.
    pub(super) broken: HashSet<usize>,
    pub(super) definitions: Vec<Definition>,
    pub(super) top_level: Vec<usize>,
    pub(super) by_id: HashMap<String, usize>,
    /// Bytes of scoped names.
    names: usize,
}

impl Definitions {
    /// Without definitions.
    pub(super) fn leaving_out(leaves_out: bool) -> Self {
        Self {
            leaves_out,
            ..Self::default()
        }
    }

    /// Reads all definitions, or with `leaves_out` all that can be read.
    pub(super) fn read(repository: &Repository, leaves_out: bool) -> Result<Self, ExportError> {
        let mut found = Self::leaving_out(leaves_out);
        let root = Container::from_object(repository.as_object().clone());
        found.top_level = found.container(&root, None)?;
        Ok(found)
    }

    /// The definition with an id.
    pub(super) fn with_id(&self, id: &str) -> Result<usize, ExportError> {
        let missing = || ExportError::Missing(id.to_owned());
        let place = self.by_id.get(id).copied();
        let sound = place.filter(|place| self.is_sound(*place));
        sound.ok_or_else(missing)
    }

    fn container(
        &mut self,
        container: &Container,
        parent: Option<usize>,
    ) -> Result<Vec<usize>, ExportError> {
        if self.path(parent).len() >= MAX_DEPTH {
            return Err(ExportError::TooLarge);
        }
        let mut places = Vec::new();
        for described in self.descriptions(container, parent)? {
            match self.add(described, parent) {
                Ok(place) => places.push(place),
                Err(error) if self.may_leave_out(parent, &error) => self.note(error)?,
                Err(error) => return Err(error),
            }
        }
        Ok(places)
    }

    /// The descriptions of a container's contents. If the repository cannot return all at once,
    /// those are left out that it cannot describe individually.
    fn descriptions(
        &mut self,
        container: &Container,
        parent: Option<usize>,
    ) -> Result<Vec<Described>, ExportError> {
        let error = match container.describe_contents(DefinitionKind::DkAll, true, -1) {
            Ok(all) => return Ok(all),
            Err(error) => ExportError::from(error),
        };
        if !self.may_leave_out(parent, &error) {
            return Err(error);
        }
        let mut all = Vec::new();
        for contained in container.contents(DefinitionKind::DkAll, true)? {
            let Some(contained) = contained else {
                self.note(ExportError::Invalid(String::new()))?;
                continue;
            };
            match contained.describe().map_err(ExportError::from) {
                Ok(described) => all.push(Described {
                    contained_object: Some(contained),
                    kind: described.kind,
                    value: described.value,
                }),
                Err(error) if is_of_definition(&error) => self.note(error)?,
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }

    fn path(&self, place: Option<usize>) -> &[String] {
        place.map_or(&[], |it| &self.definitions[it].path)
    }

    /// Adds a definition with all its contents.
    fn add(&mut self, described: Described, parent: Option<usize>) -> Result<usize, ExportError> {
        let invalid = || ExportError::Invalid(self.path(parent).join("::"));
        let object = described.contained_object.clone().ok_or_else(invalid)?;
        let place = self.push(described, parent)?;
        self.ask_or_leave_out(place, &object)?;
        Ok(place)
    }

    /// Adds a definition without contents.
    pub(super) fn push(
        &mut self,
        described: Described,
        parent: Option<usize>,
    ) -> Result<usize, ExportError> {
        if self.definitions.len() >= MAX_DEFINITIONS {
            return Err(ExportError::TooLarge);
        }
        let mut path = self.path(parent).to_vec();
        let invalid = || ExportError::Invalid(path.join("::"));
        let (name, id) = head(&described.value).ok_or_else(invalid)?;
        let code = code(described.kind, &described.value);
        let has_type = type_kind(described.kind).is_none_or(|kind| kind == code.kind());
        if check_head(&name, &id).is_err() || !has_type {
            return Err(invalid());
        }
        path.push(name);
        self.names += path.iter().map(String::len).sum::<usize>();
        if self.names > MAX_NAMES {
            return Err(ExportError::TooLarge);
        }
        // Also for a container that contains itself.
        if self.by_id.contains_key(&id) {
            return Err(ExportError::Repeated(id));
        }
        let place = self.definitions.len();
        self.by_id.insert(id.clone(), place);
        self.definitions.push(Definition {
            id,
            path,
            kind: described.kind,
            code,
            value: described.value,
            contents: Vec::new(),
            container: parent,
            attribute: None,
            is_declared: false,
            initializers: Vec::new(),
        });
        Ok(place)
    }

    /// As `ask`; a definition without further description in the repository is left out.
    pub(super) fn ask_or_leave_out(
        &mut self,
        place: usize,
        object: &Contained,
    ) -> Result<(), ExportError> {
        let parent = self.definitions[place].container;
        match self.ask(place, object) {
            Err(error) if self.may_leave_out(parent, &error) => {
                self.leave_out(Fault { place, error })
            }
            asked => asked,
        }
    }

    /// Requests the contents of a definition, and the facts that its description lacks.
    fn ask(&mut self, place: usize, object: &Contained) -> Result<(), ExportError> {
        if is_container(self.definitions[place].kind) {
            let inner = Container::from_object(object.as_object().clone());
            self.definitions[place].contents = self.container(&inner, Some(place))?;
        }
        self.load_missing(place, object)
    }

    /// The facts that descriptions of CORBA 2 lack.
    fn load_missing(&mut self, place: usize, object: &Contained) -> Result<(), ExportError> {
        let kind = self.definitions[place].kind;
        let contents = self.definitions[place].contents.clone();
        let mut attributes = Vec::new();
        if is_value(kind) {
            let (initializers, described) = initializers(object)?;
            self.definitions[place].initializers = initializers;
            attributes = described;
        } else if is_interface(kind) {
            let is_attribute =
                |it: &usize| self.definitions[*it].kind == DefinitionKind::DkAttribute;
            // Repositories of CORBA 2 do not know the exceptions of attributes.
            if contents.iter().any(is_attribute)
                && let Ok(extension) = object.as_object().narrow::<InterfaceAttrExtension>()
            {
                attributes = extension.describe_ext_interface()?.attributes;
            }
        }
        for attribute in attributes {
            let Some(described) = self.by_id.get(&attribute.id) else {
                continue;
            };
            let described = &mut self.definitions[*described];
            if described.container == Some(place) {
                described.attribute = Some(attribute);
            }
        }
        Ok(())
    }
}

/// The factories of a value, and its attributes with their exceptions.
fn initializers(
    object: &Contained,
) -> Result<(Vec<ExtInitializer>, Vec<ExtAttributeDescription>), ExportError> {
    if let Ok(value) = object.as_object().narrow::<ExtValueDef>() {
        let ExtFullValueDescription {
            initializers,
            attributes,
            ..
        } = value.describe_ext_value()?;
        return Ok((initializers, attributes));
    }
    let value = ValueDef::from_object(object.as_object().clone());
    let initializers = value.initializers()?.into_iter().map(|it| ExtInitializer {
        members: it.members,
        exceptions: Vec::new(),
        name: it.name,
    });
    Ok((initializers.collect(), Vec::new()))
}

fn is_container(kind: DefinitionKind) -> bool {
    matches!(
        kind,
        DefinitionKind::DkModule
            | DefinitionKind::DkStruct
            | DefinitionKind::DkUnion
            | DefinitionKind::DkException
    ) || is_value(kind)
        || is_interface(kind)
}

/// The name and the id, the first members of every description.
fn head(value: &Any) -> Option<(String, String)> {
    use orbium::codegen::Decode;
    let first = value.type_code().member(0)?.name() == "name";
    let read = value.read_with(|reader| {
        let name = String::decode(reader)?;
        let id = String::decode(reader)?;
        Ok((name, id))
    });
    read.ok().filter(|_| first)
}

/// The id of a definition and that of its container.
pub(super) fn container_of(kind: DefinitionKind, value: &Any) -> Option<(String, String)> {
    use orbium::codegen::Decode;
    if is_value(kind) {
        let described = value.extract::<ValueDescription>().ok()?;
        return Some((described.id, described.defined_in));
    }
    let third = value.type_code().member(2)?.name() == "defined_in";
    let read = value.read_with(|reader| {
        let _name = String::decode(reader)?;
        let id = String::decode(reader)?;
        Ok((id, String::decode(reader)?))
    });
    read.ok().filter(|_| third)
}

/// The TypeCode kind for a kind of definition, if the text is derived from the type.
fn type_kind(kind: DefinitionKind) -> Option<TCKind> {
    Some(match kind {
        DefinitionKind::DkStruct => TCKind::Struct,
        DefinitionKind::DkUnion => TCKind::Union,
        DefinitionKind::DkEnum => TCKind::Enum,
        DefinitionKind::DkAlias => TCKind::Alias,
        DefinitionKind::DkException => TCKind::Except,
        DefinitionKind::DkValueBox => TCKind::ValueBox,
        _ => return None,
    })
}

/// Validates external data for the text.
fn check_head(name: &str, id: &str) -> Result<(), SystemException> {
    check_name(name)?;
    check_id(id)?;
    if id.contains(['"', '\\']) {
        Err(fault::BAD_ID)
    } else {
        Ok(())
    }
}

/// The type in a description.
fn code(kind: DefinitionKind, value: &Any) -> TypeCode {
    match kind {
        DefinitionKind::DkException => {
            let described = value.extract::<ExceptionDescription>();
            described.map(|it| it.r#type).unwrap_or_default()
        }
        DefinitionKind::DkAttribute => {
            let described = value.extract::<AttributeDescription>();
            described.map(|it| it.r#type).unwrap_or_default()
        }
        _ => {
            let described = value.extract::<TypeDescription>();
            described.map(|it| it.r#type).unwrap_or_default()
        }
    }
}
