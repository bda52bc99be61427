// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statics that describe types, for `any` and TypeCode.

use orbium_idl::model::{
    Alias, ConstValue, Definition, DefinitionKind, Enum, InterfaceKind, Member, Type, Union,
};

use crate::data::quoted;
use crate::emit::Emitter;
use crate::text::Argument;

impl Emitter<'_, '_> {
    pub(crate) fn struct_type(
        &mut self,
        definition: &Definition,
        constructor: &str,
        members: &[Member],
    ) {
        let members = members
            .iter()
            .map(|member| {
                let parts = [quoted(&member.name), self.described_type(&member.ty)];
                self.described("new", &parts)
            })
            .collect::<Vec<_>>();
        self.type_static(definition, constructor, None, &members);
        self.typed(definition);
    }

    pub(crate) fn enum_type(&mut self, definition: &Definition, enumeration: &Enum) {
        let members = enumeration
            .enumerators
            .iter()
            .map(|enumerator| self.described("enumerator", &[quoted(&enumerator.name)]))
            .collect::<Vec<_>>();
        self.type_static(definition, "enumeration", None, &members);
        self.typed(definition);
    }

    pub(crate) fn union_type(&mut self, definition: &Definition, union: &Union) {
        let mut members = Vec::new();
        for case in &union.cases {
            let name = quoted(&case.member.name);
            let ty = self.described_type(&case.member.ty);
            for label in &case.labels {
                let parts = [label_value(label), name.clone(), ty.clone()];
                members.push(self.described("case", &parts));
            }
            if case.is_default {
                members.push(self.described("otherwise", &[name, ty]));
            }
        }
        let discriminator = self.described_type(&union.discriminator);
        self.type_static(definition, "union", Some(&discriminator), &members);
        self.typed(definition);
    }

    pub(crate) fn alias_type(&mut self, definition: &Definition, alias: &Alias) {
        let original = self.described_type(&alias.ty);
        let name = self.plan.type_code(definition.id);
        self.text.blank();
        self.static_doc(definition);
        let parts = [
            quoted(&definition.repository_id),
            quoted(&definition.name),
            original,
        ];
        self.text.assign_call(
            &format!("pub static {name}: orb::Type"),
            "orb::Type::alias",
            &parts,
            ";",
        );
    }

    fn static_doc(&mut self, definition: &Definition) {
        let doc = format!("The type of IDL `{}`.", definition.path.join("::"));
        self.text.doc(&doc);
    }

    /// A static with id, name, perhaps a discriminator, and members.
    fn type_static(
        &mut self,
        definition: &Definition,
        constructor: &str,
        discriminator: Option<&str>,
        members: &[String],
    ) {
        let name = self.plan.type_code(definition.id);
        self.text.blank();
        self.static_doc(definition);
        let left = format!("pub static {name}: orb::Type");
        let head = format!("orb::Type::{constructor}");
        let mut parts = vec![quoted(&definition.repository_id), quoted(&definition.name)];
        if let Some(discriminator) = discriminator {
            parts.push(discriminator.to_owned());
        }
        let together = members.join(", ");
        if together.len() <= 60 {
            parts.push(format!("&[{together}]"));
            return self.text.assign_call(&left, &head, &parts, ";");
        }
        let levels = self.text.open_assigned(&left, &head);
        parts
            .iter()
            .for_each(|part| self.text.line(format!("{part},")));
        self.text.array(members);
        self.text.close_assigned(levels);
    }

    fn typed(&mut self, definition: &Definition) {
        let name = self.name(definition);
        let found = self.plan.type_code(definition.id);
        self.text.blank();
        let parts = [name, found.to_owned()];
        self.text.call("orb::typed!", &Argument::plain(&parts), ";");
    }

    fn described(&self, constructor: &str, parts: &[String]) -> String {
        format!("orb::Member::{constructor}({})", parts.join(", "))
    }

    /// An expression of type `&'static orb::Type`.
    fn described_type(&self, ty: &Type) -> String {
        let simple = |name: &str| format!("orb::Type::{name}");
        match ty {
            Type::Void => simple("VOID"),
            Type::Boolean => simple("BOOLEAN"),
            Type::Char => simple("CHAR"),
            Type::WChar => simple("WCHAR"),
            // CORBA has no type code for `int8`; it travels as an octet.
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
            Type::Object | Type::ValueBase => simple("OBJECT"),
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

/// The value of a label as TypeCodes count them.
fn label_value(label: &ConstValue) -> String {
    match label {
        // An `unsigned long long` keeps its bits.
        ConstValue::Integer(value) => crate::codec::integer(i128::from(*value as i64)),
        ConstValue::Char(octet) => octet.to_string(),
        ConstValue::WChar(unit) => unit.to_string(),
        ConstValue::Boolean(value) => u8::from(*value).to_string(),
        ConstValue::Enumerator { index, .. } => index.to_string(),
        _ => "0".to_owned(),
    }
}
