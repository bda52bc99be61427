// SPDX-License-Identifier: MIT OR Apache-2.0
//! The definitions that a definition names.

use orbium::cdr::TypeRef;
use orbium::{cdr::TCKind, reference::OBJECT_REPOSITORY_ID};

use super::definitions::Definition;
use super::error::ExportError;
use crate::corba::{
    ConstantDescription, DefinitionKind, InterfaceDescription, OperationDescription,
    ValueDescription, ValueMember,
};

pub(super) const VALUE_BASE: &str = "IDL:omg.org/CORBA/ValueBase:1.0";

/// Repository id of a definition, and the needed part of it.
#[derive(Clone, Copy)]
pub(super) enum Need<'n> {
    /// The definition.
    Definition(&'n str),
    /// The definition, or a declaration if it contains itself: it is the element of a sequence.
    Element(&'n str),
    /// A declaration. `is_value` marks a value type, of which a client needs the definition.
    Declaration { id: &'n str, is_value: bool },
}

/// Visits each definition that a definition names itself.
pub(super) struct Needs<'v>(pub(super) &'v mut dyn FnMut(Need<'_>) -> Result<(), ExportError>);

impl Needs<'_> {
    fn id(&mut self, id: &str) -> Result<(), ExportError> {
        (self.0)(Need::Definition(id))
    }

    fn ids(&mut self, ids: &[String]) -> Result<(), ExportError> {
        ids.iter().try_for_each(|id| self.id(id))
    }

    fn ty(&mut self, code: TypeRef<'_>, in_sequence: bool) -> Result<(), ExportError> {
        match code.kind() {
            TCKind::Sequence => self.content(code, true),
            TCKind::Array => self.content(code, in_sequence),
            TCKind::Struct | TCKind::Union if in_sequence => (self.0)(Need::Element(code.id())),
            // Declared before all definitions.
            TCKind::ObjRef
            | TCKind::AbstractInterface
            | TCKind::LocalInterface
            | TCKind::Value
            | TCKind::Event => match code.id() {
                OBJECT_REPOSITORY_ID | VALUE_BASE | "" => Ok(()),
                id => (self.0)(Need::Declaration {
                    id,
                    is_value: matches!(code.kind(), TCKind::Value | TCKind::Event),
                }),
            },
            TCKind::Struct
            | TCKind::Union
            | TCKind::Enum
            | TCKind::Alias
            | TCKind::Except
            | TCKind::ValueBox
            | TCKind::Native => self.id(code.id()),
            _ => Ok(()),
        }
    }

    fn content(&mut self, code: TypeRef<'_>, in_sequence: bool) -> Result<(), ExportError> {
        match code.content_type() {
            Some(content) => self.ty(content, in_sequence),
            None => Ok(()),
        }
    }

    /// The needs of a definition without its contents.
    pub(super) fn of(&mut self, it: &Definition) -> Result<(), ExportError> {
        if it.is_declared {
            return Ok(());
        }
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
