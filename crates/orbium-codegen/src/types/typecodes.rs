// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statics that describe types, for `any` and TypeCode.

use orbium_idl_model::{DefinitionKind, InterfaceKind, Type};

use crate::emit::Emitter;
use crate::types::data::quoted;

impl Emitter<'_, '_> {
    /// Whether the described type is implied by the Rust type and its codec: it contains no alias,
    /// which Rust does not know, and no recursive type.
    pub(crate) fn follows(&self, ty: &Type, recursive: bool) -> bool {
        match ty {
            Type::Void => false,
            Type::Sequence { element, .. } | Type::Array { element, .. } => {
                self.follows(element, recursive)
            }
            Type::Named(id) => match &self.plan.model[*id].kind {
                DefinitionKind::Interface(interface) => interface.kind != InterfaceKind::Local,
                DefinitionKind::Alias(_)
                | DefinitionKind::Native
                | DefinitionKind::ValueType(_)
                | DefinitionKind::ValueBox(_) => false,
                _ => !recursive,
            },
            _ => true,
        }
    }

    /// An expression of type `&'static orb::Type`.
    pub(crate) fn described_type(&self, ty: &Type) -> String {
        let simple = |name: &str| format!("orb::Type::{name}");
        match ty {
            Type::Void => simple("VOID"),
            Type::Boolean => simple("BOOLEAN"),
            Type::Char => simple("CHAR"),
            Type::WChar => simple("WCHAR"),
            // CORBA has no TypeCode for `int8`; it is marshalled as an octet.
            Type::Octet | Type::Int8 => simple("OCTET"),
            Type::Short => simple("SHORT"),
            Type::UShort => simple("USHORT"),
            Type::Long => simple("LONG"),
            Type::ULong => simple("ULONG"),
            Type::LongLong => simple("LONGLONG"),
            Type::ULongLong => simple("ULONGLONG"),
            Type::Float => simple("FLOAT"),
            Type::Double => simple("DOUBLE"),
            Type::LongDouble => simple("LONGDOUBLE"),
            Type::Any => simple("ANY"),
            Type::TypeCode => simple("TYPE_CODE"),
            Type::Object => simple("OBJECT"),
            Type::ValueBase => "<orb::ValueBase as orb::Typed>::TYPE".to_owned(),
            Type::String(None) => simple("STRING"),
            Type::WString(None) => simple("WSTRING"),
            Type::String(Some(bound)) => format!("&orb::Type::string({bound})"),
            Type::WString(Some(bound)) => format!("&orb::Type::wstring({bound})"),
            Type::Fixed { digits, scale } => format!("&orb::Type::fixed({digits}, {scale})"),
            Type::Sequence { element, bound } => {
                let element = self.described_type(element);
                format!("&orb::Type::sequence({element}, {})", bound.unwrap_or(0))
            }
            Type::Array {
                element,
                dimensions,
            } => {
                let mut inner = self.described_type(element);
                for n in dimensions.iter().rev() {
                    inner = format!("&orb::Type::array({inner}, {n})");
                }
                inner
            }
            Type::Named(id) => match &self.plan.model[*id].kind {
                DefinitionKind::Interface(i) if i.kind == InterfaceKind::Local => {
                    let local = &self.plan.model[*id];
                    let (id, name) = (quoted(&local.repository_id), quoted(&local.name));
                    format!("&orb::Type::local_interface({id}, {name})")
                }
                DefinitionKind::Interface(i) if i.kind == InterfaceKind::Abstract => {
                    format!(
                        "<orb::Abstract<{}> as orb::Typed>::TYPE",
                        self.plan.path_to(&self.module, *id)
                    )
                }
                DefinitionKind::Interface(_) => {
                    format!(
                        "<{} as orb::Typed>::TYPE",
                        self.plan.path_to(&self.module, *id)
                    )
                }
                DefinitionKind::Native => {
                    let native = &self.plan.model[*id];
                    let (id, name) = (quoted(&native.repository_id), quoted(&native.name));
                    format!("&orb::Type::native({id}, {name})")
                }
                _ => {
                    let place = self.plan.place_of(*id);
                    let name = self.plan.type_code(*id);
                    format!("&{}", self.plan.path(&self.module, &place.module, name))
                }
            },
        }
    }
}
