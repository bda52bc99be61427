// SPDX-License-Identifier: MIT OR Apache-2.0
//! An order in which definitions stand after what they need.

use std::collections::HashSet;

use orbium::cdr::TypeRef;
use orbium::{OBJECT_REPOSITORY_ID, TCKind};

use super::definitions::{Definition, Definitions};
use super::error::{ExportError, Fault};
use crate::corba::{
    ConstantDescription, DefinitionKind, InterfaceDescription, OperationDescription,
    ValueDescription, ValueMember,
};

/// Definitions directly in modules or in the repository, ordered.
pub(super) struct Order {
    pub(super) places: Vec<usize>,
}

pub(super) const VALUE_BASE: &str = "IDL:omg.org/CORBA/ValueBase:1.0";

impl Order {
    pub(super) fn of(found: &Definitions) -> Result<Self, Fault> {
        let mut leaves = Vec::new();
        collect(found, &found.top_level, &mut leaves);
        let mut sorting = Sorting {
            found,
            done: HashSet::new(),
            open: Vec::new(),
            places: Vec::new(),
        };
        for leaf in leaves {
            sorting.visit(leaf)?;
        }
        Ok(Self {
            places: sorting.places,
        })
    }
}

fn collect(found: &Definitions, scope: &[usize], leaves: &mut Vec<usize>) {
    for place in scope.iter().filter(|place| found.is_sound(**place)) {
        let definition = &found.definitions[*place];
        match definition.kind {
            DefinitionKind::DkModule => collect(found, &definition.contents, leaves),
            _ => leaves.push(*place),
        }
    }
}

struct Sorting<'f> {
    found: &'f Definitions,
    done: HashSet<usize>,
    open: Vec<usize>,
    places: Vec<usize>,
}

impl Sorting<'_> {
    fn visit(&mut self, place: usize) -> Result<(), Fault> {
        if self.done.contains(&place) {
            return Ok(());
        }
        let id = &self.found.definitions[place].id;
        if self.open.contains(&place) || self.open.len() > 1000 {
            let error = ExportError::Circular(id.clone());
            return Err(Fault { place, error });
        }
        self.open.push(place);
        let mut needs = Needs {
            found: self.found,
            leaf: place,
            seen: HashSet::new(),
            places: Vec::new(),
            at: place,
        };
        if let Err(error) = needs.definition(place) {
            let place = needs.at;
            return Err(Fault { place, error });
        }
        for needed in needs.places {
            self.visit(needed)?;
        }
        self.open.pop();
        self.done.insert(place);
        self.places.push(place);
        Ok(())
    }
}

/// What a definition needs before it.
struct Needs<'f> {
    found: &'f Definitions,
    leaf: usize,
    seen: HashSet<usize>,
    places: Vec<usize>,
    /// The definition that is looked at.
    at: usize,
}

impl Needs<'_> {
    /// The one with an id must stand before, with the definition that contains it.
    fn id(&mut self, id: &str) -> Result<(), ExportError> {
        let mut place = self.found.with_id(id)?;
        while let Some(container) = self.found.definitions[place].container {
            if self.found.definitions[container].kind == DefinitionKind::DkModule {
                break;
            }
            place = container;
        }
        if place != self.leaf && self.seen.insert(place) {
            self.places.push(place);
        }
        Ok(())
    }

    fn ids(&mut self, ids: &[String]) -> Result<(), ExportError> {
        ids.iter().try_for_each(|id| self.id(id))
    }

    fn ty(&mut self, code: TypeRef<'_>, in_sequence: bool) -> Result<(), ExportError> {
        match code.kind() {
            TCKind::Sequence => self.content(code, true),
            TCKind::Array => self.content(code, in_sequence),
            TCKind::Struct | TCKind::Union => {
                let place = self.found.with_id(code.id())?;
                if in_sequence && self.found.definitions[place].is_recursive() {
                    Ok(())
                } else {
                    self.id(code.id())
                }
            }
            // Declared before all definitions.
            TCKind::ObjRef
            | TCKind::AbstractInterface
            | TCKind::LocalInterface
            | TCKind::Value
            | TCKind::Event => match code.id() {
                OBJECT_REPOSITORY_ID | VALUE_BASE | "" => Ok(()),
                id => self.found.with_id(id).map(drop),
            },
            TCKind::Enum | TCKind::Alias | TCKind::Except | TCKind::ValueBox | TCKind::Native => {
                self.id(code.id())
            }
            _ => Ok(()),
        }
    }

    fn content(&mut self, code: TypeRef<'_>, in_sequence: bool) -> Result<(), ExportError> {
        match code.content_type() {
            Some(content) => self.ty(content, in_sequence),
            None => Ok(()),
        }
    }

    /// What a definition with all in it needs.
    fn definition(&mut self, place: usize) -> Result<(), ExportError> {
        let outer = core::mem::replace(&mut self.at, place);
        self.of_its_own(place)?;
        let found = self.found;
        for content in &found.definitions[place].contents {
            if found.is_sound(*content) {
                self.definition(*content)?;
            }
        }
        self.at = outer;
        Ok(())
    }

    fn of_its_own(&mut self, place: usize) -> Result<(), ExportError> {
        let it = &self.found.definitions[place];
        match it.kind {
            DefinitionKind::DkStruct | DefinitionKind::DkException => self.members(it)?,
            DefinitionKind::DkUnion => {
                if let Some(discriminator) = it.code.discriminator_type() {
                    self.ty(discriminator.as_ref(), false)?;
                }
                self.members(it)?;
            }
            DefinitionKind::DkAlias | DefinitionKind::DkValueBox => {
                self.content(it.code.as_ref(), false)?;
            }
            DefinitionKind::DkConstant => {
                let constant: ConstantDescription = it.described()?;
                self.ty(constant.r#type.as_ref(), false)?;
            }
            DefinitionKind::DkAttribute => {
                self.ty(it.code.as_ref(), false)?;
                if let Some(raised) = &it.attribute {
                    for exception in raised.get_exceptions.iter().chain(&raised.put_exceptions) {
                        self.id(&exception.id)?;
                    }
                }
            }
            DefinitionKind::DkOperation => {
                let operation: OperationDescription = it.described()?;
                self.ty(operation.result.as_ref(), false)?;
                for parameter in &operation.parameters {
                    self.ty(parameter.r#type.as_ref(), false)?;
                }
                for exception in &operation.exceptions {
                    self.id(&exception.id)?;
                }
            }
            DefinitionKind::DkValueMember => {
                let member: ValueMember = it.described()?;
                self.ty(member.r#type.as_ref(), false)?;
            }
            DefinitionKind::DkValue | DefinitionKind::DkEvent => self.value(it)?,
            _ if it.is_interface() => {
                let interface: InterfaceDescription = it.described()?;
                self.ids(&interface.base_interfaces)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn members(&mut self, it: &Definition) -> Result<(), ExportError> {
        for member in it.code.members() {
            if let Some(code) = member.type_code() {
                self.ty(code, false)?;
            }
        }
        Ok(())
    }

    fn value(&mut self, it: &Definition) -> Result<(), ExportError> {
        let value: ValueDescription = it.described()?;
        self.ids(&value.supported_interfaces)?;
        self.ids(&value.abstract_base_values)?;
        if !value.base_value.is_empty() {
            self.id(&value.base_value)?;
        }
        for initializer in &it.initializers {
            for member in &initializer.members {
                self.ty(member.r#type.as_ref(), false)?;
            }
            for exception in &initializer.exceptions {
                self.id(&exception.id)?;
            }
        }
        Ok(())
    }
}
