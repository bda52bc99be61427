// SPDX-License-Identifier: MIT OR Apache-2.0
//! How unions are written and read: a match over the discriminator's labels.

use orbium_idl::model::{Case, ConstValue, DefId, DefinitionKind, Type, Union};

use super::{Shape, carries};
use crate::codec;
use crate::emit::Emitter;

/// The cases that are not the default.
fn labelled(union: &Union) -> Vec<&Case> {
    let mut labelled = Vec::new();
    for case in &union.cases {
        if !case.is_default {
            labelled.push(case);
        }
    }
    labelled
}

impl Emitter<'_, '_> {
    /// The labels of some cases as patterns; three numbers in a row or more
    /// become a range.
    fn labels(&self, cases: &[&Case]) -> Vec<String> {
        let mut numbers = Vec::new();
        let mut others = Vec::new();
        // All labels are of the discriminator's type.
        let mut wrapper = None;
        for case in cases {
            for label in &case.labels {
                match label {
                    ConstValue::Integer(value) => numbers.push(*value),
                    ConstValue::Char(octet) => {
                        wrapper = Some("orb::Char");
                        numbers.push(i128::from(*octet));
                    }
                    ConstValue::WChar(unit) => {
                        wrapper = Some("orb::WChar");
                        numbers.push(i128::from(*unit));
                    }
                    other => others.push(self.label(other)),
                }
            }
        }
        match wrapper {
            Some(wrapper) => vec![format!("{wrapper}({})", runs(numbers).join(" | "))],
            None if others.is_empty() => runs(numbers),
            None => others,
        }
    }

    /// What is left of the discriminator's values: all enumerators without a
    /// case, or else a wildcard.
    fn remaining(&self, union: &Union) -> Vec<String> {
        let Type::Named(id) = self.plan.model.resolve_alias(&union.discriminator) else {
            return vec!["_".to_owned()];
        };
        let DefinitionKind::Enum(e) = &self.plan.model[*id].kind else {
            return vec!["_".to_owned()];
        };
        let mut covered = vec![false; e.enumerators.len()];
        for case in &labelled(union) {
            for label in &case.labels {
                if let ConstValue::Enumerator { index, .. } = label
                    && let Some(covered) = covered.get_mut(*index as usize)
                {
                    *covered = true;
                }
            }
        }
        let mut left = Vec::new();
        for (index, covered) in covered.iter().enumerate() {
            if !covered {
                left.push(self.enumerator(*id, index as u32));
            }
        }
        left
    }

    pub(super) fn union_encode(&mut self, name: &str, union: &Union, shape: &Shape) {
        self.text.blank();
        self.text.open(format!("impl orb::Encode for {name} {{"));
        self.text
            .open("fn encode<'a>(&'a self, writer: &mut orb::CdrWriter<'a>) {");
        self.text.open("match self {");
        for (case, variant) in union.cases.iter().zip(&shape.variants) {
            let value = self
                .functions
                .encode(self.plan, &case.member.ty, "value", "writer");
            if carries(case) {
                let head = format!("Self::{variant} {{");
                self.pattern(&head, &["discriminator", "value"]);
                let wrong = if case.is_default {
                    self.labels(&labelled(union))
                } else {
                    self.labels(&[case])
                };
                if !wrong.is_empty() {
                    self.check_discriminator(&wrong, !case.is_default);
                }
                self.write_discriminator("discriminator", shape);
            } else {
                self.text.open(format!("Self::{variant}(value) => {{"));
                let label = self.label(&case.labels[0]);
                if let ConstValue::Integer(_) = case.labels[0] {
                    // The type of a number must be stated, or it is i32.
                    self.write_discriminator(
                        &format!("&{label}_{}", self.bare_integer(union)),
                        shape,
                    );
                } else {
                    self.write_discriminator(&format!("&{label}"), shape);
                }
            }
            self.text.statement(&format!("{value};"));
            self.text.close("}");
        }
        if let Some(other) = &shape.other {
            self.pattern(&format!("Self::{other} {{"), &["discriminator"]);
            // Nor is there a default.
            let labels = self.labels(&labelled(union));
            self.check_discriminator(&labels, false);
            self.write_discriminator("discriminator", shape);
            self.text.close("}");
        }
        self.text.close("}");
        self.text.close("}");
        self.text.close("}");
    }

    /// `Self::V { a, b } => {`, as rustfmt has it for short and long names.
    fn pattern(&mut self, head: &str, fields: &[&str]) {
        let inside = fields
            .iter()
            .map(|field| (*field).to_owned())
            .collect::<Vec<_>>()
            .join(", ");
        if inside.len() <= 18 {
            return self.text.open(format!("{head} {inside} }} => {{"));
        }
        self.text.open(head);
        fields
            .iter()
            .for_each(|field| self.text.line(format!("{field},")));
        self.text.middle("} => {");
    }

    /// The integer type of a discriminator, aliases resolved.
    fn bare_integer(&self, union: &Union) -> String {
        self.rust(self.plan.model.resolve_alias(&union.discriminator))
    }

    fn check_discriminator(&mut self, patterns: &[String], must_match: bool) {
        let not = if must_match { "!" } else { "" };
        let labels = patterns.join(" | ");
        let condition = match labels.as_str() {
            "true" | "false" => {
                // A pattern would do, but for a boolean it reads oddly.
                let matches = (labels == "true") == must_match;
                format!("{}*discriminator", if matches { "!" } else { "" })
            }
            "true | false" | "false | true" if must_match => return,
            _ => format!("{not}$matches!(*discriminator, {labels})"),
        };
        let one = self.text.resolve(&format!("if {condition} {{"));
        if labels.len() + 16 > 60 || one.len() + 20 > 100 {
            // Too long a list of labels for the outer match: a match of its own.
            self.text.open("let listed = match *discriminator {");
            self.arm(patterns, "true,");
            self.text.line("_ => false,");
            self.text.close("};");
            self.allows.insert("clippy::match_like_matches_macro");
            self.text.open(format!("if {not}listed {{"));
        } else {
            self.text.open(one);
        }
        self.text
            .line("writer.fail(orb::CdrErrorKind::BadDiscriminator);");
        self.text.close("}");
    }

    /// A match arm with alternatives: on one line, or one a line.
    fn arm(&mut self, labels: &[String], body: &str) {
        let one = format!("{} => {body}", labels.join(" | "));
        if self.text.fits(&one) {
            return self.text.line(one);
        }
        for (i, label) in labels.iter().enumerate() {
            let bar = if i == 0 { "" } else { "| " };
            let end = if i + 1 == labels.len() {
                format!(" => {body}")
            } else {
                String::new()
            };
            self.text.line(format!("{bar}{label}{end}"));
        }
    }

    fn write_discriminator(&mut self, reference: &str, shape: &Shape) {
        if shape.wide {
            let value = reference
                .strip_prefix('&')
                .map_or(format!("*{reference}"), str::to_owned);
            self.text.line(format!("writer.write_wchar({value});"));
        } else {
            self.text
                .statement(&format!("writer.write_fixed({reference});"));
        }
    }

    pub(super) fn union_decode(&mut self, name: &str, id: DefId, union: &Union, shape: &Shape) {
        self.text.blank();
        self.text.open(format!("impl orb::Decode for {name} {{"));
        let least = self.plan.min_size(&Type::Named(id));
        self.text
            .line(format!("const MIN_SIZE: usize = {};", codec::number(least)));
        self.text.blank();
        let parameters = ["reader: &mut orb::CdrReader<'_>".to_owned()];
        self.text.signature(
            "fn decode",
            &parameters,
            " -> $Result<Self, orb::CdrError> {",
        );
        if shape.wide {
            self.text.line("let discriminator = reader.read_wchar()?;");
        } else {
            self.text.assign(
                &format!("let discriminator: {}", shape.discriminator),
                "reader.read_fixed()?",
            );
        }
        if shape.recursive {
            self.text.open("reader.nested(|reader| {");
        }
        if shape.discriminator == "bool"
            || *self.plan.model.resolve_alias(&union.discriminator) == Type::Boolean
        {
            self.decode_boolean_cases(union, shape);
        } else {
            self.decode_cases(union, shape);
        }
        if shape.recursive {
            self.text.close("})");
        }
        self.text.close("}");
        self.text.close("}");
    }

    fn decode_cases(&mut self, union: &Union, shape: &Shape) {
        self.text.open("$Ok(match discriminator {");
        let mut last = None;
        for (case, variant) in union.cases.iter().zip(&shape.variants) {
            if case.is_default {
                last = Some((case, variant));
                continue;
            }
            let labels = self.labels(&[case]);
            self.decode_case(&labels, case, variant);
        }
        let remaining = self.remaining(union);
        if let Some((case, variant)) = last.filter(|_| !remaining.is_empty()) {
            self.decode_case(&remaining, case, variant);
        }
        if let Some(other) = &shape.other {
            self.arm(&remaining, &format!("Self::{other} {{ discriminator }},"));
        }
        self.text.close("})");
    }

    fn decode_case(&mut self, labels: &[String], case: &Case, variant: &str) {
        let call = self.functions.decode(self.plan, &case.member.ty, "reader");
        if carries(case) {
            self.arm(labels, &format!("Self::{variant} {{"));
            self.text.inwards();
            self.text.line("discriminator,");
            self.text.line(format!("value: {call}?,"));
            self.text.close("},");
        } else {
            self.arm(labels, &format!("Self::{variant}({call}?),"));
        }
    }

    fn decode_boolean_cases(&mut self, union: &Union, shape: &Shape) {
        let branch = |value: bool| {
            for (i, case) in union.cases.iter().enumerate() {
                if case.labels.contains(&ConstValue::Boolean(value)) {
                    return Some(i);
                }
            }
            union.default_case()
        };
        for (value, head) in [(true, "if discriminator {"), (false, "} else {")] {
            if value {
                self.text.open(format!("$Ok({head}"));
            } else {
                self.text.middle(head);
            }
            match branch(value) {
                Some(i) => {
                    let case = &union.cases[i];
                    let call = self.functions.decode(self.plan, &case.member.ty, "reader");
                    if carries(case) {
                        self.text.open(format!("Self::{} {{", shape.variants[i]));
                        self.text.line("discriminator,");
                        self.text.line(format!("value: {call}?,"));
                        self.text.close("}");
                    } else {
                        self.text
                            .line(format!("Self::{}({call}?)", shape.variants[i]));
                    }
                }
                None => {
                    let other = shape.other.as_deref().unwrap_or("Other");
                    self.text.line(format!("Self::{other} {{ discriminator }}"));
                }
            }
        }
        self.text.close("})");
    }
}

/// Numbers as patterns, three in a row or more as a range.
fn runs(mut numbers: Vec<i128>) -> Vec<String> {
    numbers.sort_unstable();
    let mut patterns = Vec::new();
    let mut rest = numbers.as_slice();
    while let Some(first) = rest.first() {
        let mut run = 1;
        while rest.get(run) == Some(&(first + run as i128)) {
            run += 1;
        }
        let (together, others) = rest.split_at(run);
        match together {
            [first, _, .., last] => {
                patterns.push(format!(
                    "{}..={}",
                    codec::integer(*first),
                    codec::integer(*last)
                ));
            }
            few => patterns.extend(
                few.iter()
                    .map(|value| codec::integer(*value))
                    .collect::<Vec<_>>(),
            ),
        }
        rest = others;
    }
    patterns
}

#[cfg(test)]
mod tests {
    use super::runs;

    #[test]
    fn numbers_in_a_row_become_a_range() {
        assert_eq!(runs(vec![3, 1, 2, 7, 8, -1]), ["-1", "1..=3", "7", "8"]);
        assert!(runs(Vec::new()).is_empty());
    }
}
