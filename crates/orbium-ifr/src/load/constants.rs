// SPDX-License-Identifier: MIT OR Apache-2.0
//! Constants, labels and primitive types of a model.

use orbium::TypeCode;
use orbium_dynamic::{JsonOptions, from_json, quoted};
use orbium_idl::model::{ConstValue, DefinitionKind, Type};

use super::primitive_types::primitive;
use super::{Loaded, Loading, unsupported};
use crate::error::LoadError;
use crate::literal;

impl Loading<'_, '_> {
    /// The stored form of a constant.
    pub(super) fn constant(&self, ty: &Type, value: &ConstValue) -> Loaded<Vec<u8>> {
        let json = match value {
            ConstValue::Integer(value) => value.to_string(),
            ConstValue::Float(value) => format!("{value:?}"),
            ConstValue::Fixed(value) => quoted(&value.to_string()),
            ConstValue::Char(value) => quoted(&char::from(*value).to_string()),
            ConstValue::WChar(value) => quoted(&String::from_utf16_lossy(&[*value])),
            ConstValue::Boolean(value) => value.to_string(),
            ConstValue::String(value) => quoted(value),
            ConstValue::WString(value) => quoted(&String::from_utf16_lossy(value)),
            ConstValue::Enumerator { of, index } => match &self.model[*of].kind {
                DefinitionKind::Enum(it) => match it.enumerators.get(*index as usize) {
                    Some(it) => quoted(&it.name),
                    None => return Err(unsupported(&self.model[*of])),
                },
                _ => return Err(unsupported(&self.model[*of])),
            },
        };
        let code = self.constant_type(ty)?;
        let any = from_json(&code, &json, &JsonOptions::default());
        let any = any.map_err(|error| LoadError::Invalid(error.to_string()))?;
        Ok(literal::stored(&any)?)
    }

    /// The TypeCode of a constant's type, from the model: it may not be in the store yet.
    fn constant_type(&self, ty: &Type) -> Loaded<TypeCode> {
        Ok(match ty {
            Type::Named(id) => {
                let definition = &self.model[*id];
                let (id, name) = (&*definition.repository_id, &*definition.name);
                match &definition.kind {
                    DefinitionKind::Alias(it) => {
                        TypeCode::alias(id, name, self.constant_type(&it.ty)?)
                    }
                    DefinitionKind::Enum(it) => {
                        TypeCode::enumeration(id, name, it.enumerators.iter().map(|it| &*it.name))
                    }
                    _ => return Err(unsupported(definition)),
                }
            }
            Type::String(Some(bound)) => TypeCode::string(*bound),
            Type::WString(Some(bound)) => TypeCode::wstring(*bound),
            Type::Fixed { digits, scale } => TypeCode::fixed(u16::from(*digits), i16::from(*scale)),
            simple => primitive(simple).type_code(),
        })
    }
}
