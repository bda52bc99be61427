// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unions: enums with data.
//!
//! A case with one label is a variant with its value. A case with several labels or `default`
//! carries the discriminator too, so that it is preserved. Discriminators without a case have a
//! separate variant.

use orbium_idl_model::{Case, ConstValue, DefId, Definition, DefinitionKind, Type, Union};

use crate::emit::Emitter;
use crate::names;
use crate::names::NameSet;
use crate::types::codec;
use crate::types::data::quoted;
use crate::types::rust_types::first_case;

/// Properties of a union that are determined before it is written.
struct Shape {
    /// Variant names of the cases.
    variants: Vec<String>,
    /// The variant for discriminators without a case.
    other: Option<String>,
    /// Rust type of the discriminator.
    discriminator: String,
    recursive: bool,
}

/// Whether a case carries its discriminator.
fn carries(case: &Case) -> bool {
    case.is_default || case.labels.len() != 1
}

impl Emitter<'_, '_> {
    pub(crate) fn union(&mut self, definition: &Definition, union: &Union) {
        let shape = self.shape(definition, union);
        let copy = self.plan.is_copy(&Type::Named(definition.id));
        let derives = if copy {
            "Clone, Copy, Debug, PartialEq"
        } else {
            "Clone, Debug, PartialEq"
        };
        self.begin(definition, "idl_union", "union");
        self.text.line(format!("#[derive({derives})]"));
        let switch = if self.follows(&union.discriminator, false) {
            shape.discriminator.clone()
        } else {
            let described = self.described_type(&union.discriminator);
            format!("{} = ({described})", shape.discriminator)
        };
        let recursive = if shape.recursive { ", recursive" } else { "" };
        let head = format!("pub enum {}", self.declared(definition));
        self.text
            .filled(&[format!("{head},"), format!("switch {switch}{recursive} {{")]);
        self.text.inwards();
        for (case, variant) in union.cases.iter().zip(&shape.variants) {
            self.comment(case.member.doc.as_deref());
            self.case(case, variant, &shape);
        }
        if let Some(other) = &shape.other {
            let discriminator = &shape.discriminator;
            self.text.line(format!(
                "else {other} {{ discriminator: {discriminator} }},"
            ));
        }
        if self.plan.has_default(&Type::Named(definition.id)) {
            let initial = self.initial(union, &shape);
            self.text.line(format!("default = {initial},"));
        }
        self.text.close("}");
        self.text.close("}");
    }

    /// `[1, 2] "name" => Name { discriminator: i32, value: String },`.
    fn case(&mut self, case: &Case, variant: &str, shape: &Shape) {
        let mut labels = Vec::new();
        for label in &case.labels {
            let shown = self.label(label);
            labels.push(match label {
                ConstValue::Char(octet) => format!("{shown}; {octet}"),
                ConstValue::WChar(unit) => format!("{shown}; {unit}"),
                _ => shown,
            });
        }
        let ty = self.member_type(&case.member.ty, shape.recursive);
        let value = if carries(case) {
            format!(
                "{variant} {{ discriminator: {}, value: {ty} }},",
                shape.discriminator
            )
        } else {
            format!("{variant}({ty}),")
        };
        let default = if case.is_default { "@otherwise " } else { "" };
        let mut chunks = Vec::new();
        for (i, label) in labels.iter().enumerate() {
            let start = if i == 0 {
                format!("{default}[")
            } else {
                String::new()
            };
            let end = if i + 1 == labels.len() { "]" } else { "," };
            chunks.push(format!("{start}{label}{end}"));
        }
        if labels.is_empty() {
            chunks.push(format!("{default}[]"));
        }
        chunks.push(format!("{} =>", quoted(&case.member.name)));
        chunks.push(value);
        self.text.filled(&chunks);
    }

    /// The first case, with the default of its value.
    fn initial(&self, union: &Union, shape: &Shape) -> String {
        let first = first_case(union);
        let (case, variant) = (&union.cases[first], &shape.variants[first]);
        let initial = self.plan.initial(&case.member.ty);
        if !carries(case) {
            return format!("Self::{variant}({initial})");
        }
        let label = case.labels.first().map(|label| self.label(label));
        // Without labels any discriminator selects the default case.
        let label = label.unwrap_or_else(|| "$Default::default()".to_owned());
        format!("Self::{variant} {{ discriminator: {label}, value: {initial} }}")
    }

    fn shape(&self, definition: &Definition, union: &Union) -> Shape {
        let mut taken = NameSet::new();
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
            recursive: self.plan.is_recursive(definition.id),
        }
    }

    /// The number of values of a small discriminator.
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

    /// A label as an expression.
    fn label(&self, label: &ConstValue) -> String {
        match label {
            ConstValue::Integer(value) => codec::integer(*value),
            ConstValue::Char(octet) => format!("orb::Char({octet})"),
            ConstValue::WChar(unit) => format!("orb::WChar({unit})"),
            ConstValue::Boolean(value) => value.to_string(),
            ConstValue::Enumerator { of, index } => self.enumerator(*of, *index),
            // No other type can be a discriminator.
            _ => "_".to_owned(),
        }
    }

    /// Path of an enumerator.
    pub(crate) fn enumerator(&self, of: DefId, index: u32) -> String {
        let path = self.plan.path_to(&self.module, of);
        format!("{path}::{}", self.plan.variant(of, index))
    }
}
