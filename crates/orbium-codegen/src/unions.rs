// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unions: enums with data.
//!
//! A case with one label is a variant with its value. A case with several
//! labels or `default` carries the discriminator too, so that nothing is lost
//! on the way. Discriminators that no case covers are a variant of their own.

mod marshalling;

use orbium_idl::model::{
    Case, ConstValue, DefId, Definition, DefinitionKind, NameSet, Type, Union,
};

use crate::emit::Emitter;
use crate::types::first_case;
use crate::{codec, docs, names};

/// What is known of a union before it is written.
struct Shape {
    /// Variant names of the cases.
    variants: Vec<String>,
    /// The variant for discriminators without a case.
    other: Option<String>,
    /// Rust type of the discriminator.
    discriminator: String,
    /// It is a `wchar`, which has no fixed size.
    wide: bool,
    recursive: bool,
}

/// Whether a case carries its discriminator.
fn carries(case: &Case) -> bool {
    case.is_default || case.labels.len() != 1
}

impl Emitter<'_, '_> {
    pub(crate) fn union(&mut self, definition: &Definition, union: &Union) {
        let name = self.name(definition);
        let shape = self.shape(definition, union);
        let copy = self.plan.is_copy(&Type::Named(definition.id));
        self.text.blank();
        self.doc(&docs::of(definition, "union"));
        let derives = if copy {
            "Clone, Copy, Debug, PartialEq"
        } else {
            "Clone, Debug, PartialEq"
        };
        self.text.line(format!("#[derive({derives})]"));
        let mut sizes = Vec::new();
        for case in &union.cases {
            sizes.push(self.plan.memory(&case.member.ty));
        }
        if shape.other.is_some() {
            sizes.push(0);
        }
        self.note_sizes(&sizes);
        self.text.open(format!("pub enum {name} {{"));
        for (case, variant) in union.cases.iter().zip(&shape.variants) {
            self.doc(&docs::member(&case.member));
            let ty = self.rust(&case.member.ty);
            if carries(case) {
                self.text.open(format!("{variant} {{"));
                self.text.raw("/// Which of the labels was meant.");
                self.text
                    .line(format!("discriminator: {},", shape.discriminator));
                self.text.raw("/// The value.");
                self.text.line(format!("value: {ty},"));
                self.text.close("},");
            } else {
                self.text.line(format!("{variant}({ty}),"));
            }
        }
        if let Some(other) = &shape.other {
            self.text
                .raw("/// A discriminator that no case covers: there is no value.");
            self.text.open(format!("{other} {{"));
            self.text.raw("/// The discriminator.");
            self.text
                .line(format!("discriminator: {},", shape.discriminator));
            self.text.close("},");
        }
        self.text.close("}");
        self.union_default(&name, definition, union, &shape);
        self.union_encode(&name, union, &shape);
        self.union_decode(&name, definition.id, union, &shape);
        self.union_type(definition, union);
    }

    /// The first case, with the default of its value.
    fn union_default(&mut self, name: &str, of: &Definition, union: &Union, shape: &Shape) {
        if !self.plan.has_default(&Type::Named(of.id)) {
            return;
        }
        let first = first_case(union);
        let (case, variant) = (&union.cases[first], &shape.variants[first]);
        self.text.blank();
        self.text.open(format!("impl $Default for {name} {{"));
        self.text.open("fn default() -> Self {");
        if carries(case) {
            let label = case.labels.first().map(|label| self.label(label));
            // Without labels any discriminator is one of the default case.
            let label = label.unwrap_or_else(|| "$Default::default()".to_owned());
            self.text.open(format!("Self::{variant} {{"));
            self.text.line(format!("discriminator: {label},"));
            self.text.line("value: $Default::default(),");
            self.text.close("}");
        } else {
            self.text
                .line(format!("Self::{variant}($Default::default())"));
        }
        self.text.close("}");
        self.text.close("}");
    }

    /// The variants of an enum may differ much in size: that is for IDL to say.
    pub(crate) fn note_sizes(&mut self, sizes: &[u64]) {
        let (mut largest, mut next) = (0, 0);
        for size in sizes {
            if *size > largest {
                (largest, next) = (*size, largest);
            } else {
                next = next.max(*size);
            }
        }
        if sizes.len() > 1 && largest - next > 150 {
            self.allows.insert("clippy::large_enum_variant");
        }
    }

    fn shape(&self, definition: &Definition, union: &Union) -> Shape {
        let mut taken = NameSet::default();
        let mut labels = 0;
        let variants = union
            .cases
            .iter()
            .map(|case| {
                labels += case.labels.len();
                names::fresh(&names::ty(&case.member.name), &mut taken)
            })
            .collect::<Vec<_>>();
        let covered = union.default_case().is_some()
            || self
                .values_of(&union.discriminator)
                .is_some_and(|all| labels >= all);
        Shape {
            variants,
            other: (!covered).then(|| names::fresh("Other", &mut taken)),
            discriminator: self.rust(&union.discriminator),
            wide: *self.plan.model.resolve_alias(&union.discriminator) == Type::WChar,
            recursive: self.plan.is_recursive(definition.id),
        }
    }

    /// How many values a small discriminator has.
    fn values_of(&self, ty: &Type) -> Option<usize> {
        match self.plan.model.resolve_alias(ty) {
            Type::Boolean => Some(2),
            Type::Char | Type::Octet | Type::Int8 => Some(256),
            Type::Short | Type::UShort | Type::WChar => Some(65536),
            Type::Named(id) => match &self.plan.model[*id].kind {
                DefinitionKind::Enum(e) => Some(e.enumerators.len()),
                _ => None,
            },
            _ => None,
        }
    }

    /// A label as an expression and as a pattern.
    fn label(&self, label: &ConstValue) -> String {
        match label {
            ConstValue::Integer(value) => codec::integer(*value),
            ConstValue::Char(octet) => format!("orb::Char({octet})"),
            ConstValue::WChar(unit) => format!("orb::WChar({unit})"),
            ConstValue::Boolean(value) => value.to_string(),
            ConstValue::Enumerator { of, index } => self.enumerator(*of, *index),
            // Nothing else discriminates.
            _ => "_".to_owned(),
        }
    }

    /// Path of an enumerator.
    pub(crate) fn enumerator(&self, of: DefId, index: u32) -> String {
        let path = self.plan.path_to(&self.module, of);
        format!("{path}::{}", self.plan.variant(of, index))
    }
}
