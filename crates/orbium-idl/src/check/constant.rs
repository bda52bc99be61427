// SPDX-License-Identifier: MIT OR Apache-2.0
//! Constants and the evaluation of constant expressions.

use super::scope::Entity;
use super::types::Usage;
use super::{Checker, Surroundings, arithmetic, decimal};
use crate::diagnostic::article::with_article;
use crate::diagnostic::point_at;
use crate::model::{ConstValue, Constant, DefId, DefinitionKind, Fixed, Type};
use crate::source::Span;
use crate::syntax::ast::{Expr, Ident, ScopedName, Step, TypeKind, TypeSpec};
use crate::syntax::literal::Number;

impl Checker<'_> {
    pub(super) fn constant(
        &mut self,
        spec: &TypeSpec,
        name: &Ident,
        value: &Expr,
        around: Surroundings<'_>,
    ) {
        let ty = self
            .type_of(spec, Usage::Other)
            .filter(|ty| self.check_constant_type(ty, spec.span));
        let evaluated = match (&ty, &spec.kind) {
            (Some(_), TypeKind::Fixed(None)) => self.fixed_constant(value),
            (Some(ty), _) => self.evaluate(value, ty).map(|value| (ty.clone(), value)),
            (None, _) => None,
        };
        match evaluated {
            Some((ty, value)) => {
                self.define(
                    name,
                    DefinitionKind::Constant(Constant { ty, value }),
                    around,
                );
            }
            None => self.define_broken(name, around),
        }
    }

    /// Declares a constant without a value, so that its uses are not reported too.
    fn define_broken(&mut self, name: &Ident, around: Surroundings<'_>) {
        let constant = Constant {
            ty: Type::Void,
            value: ConstValue::Integer(0),
        };
        self.define(name, DefinitionKind::Constant(constant), around);
    }

    fn check_constant_type(&mut self, ty: &Type, span: Span) -> bool {
        let resolved = self.model.resolve_alias(ty);
        let good = match resolved {
            Type::Named(id) => matches!(self.model[*id].kind, DefinitionKind::Enum(_)),
            Type::Boolean
            | Type::Char
            | Type::WChar
            | Type::String(_)
            | Type::WString(_)
            | Type::Fixed { .. } => true,
            other => other.integer_range().is_some() || other.is_floating(),
        };
        if !good {
            let message = format!("illegal constant type `{}`", self.model.type_name(ty));
            self.report
                .error("constant-type", span, message)
                .help("a constant is of an integer, floating, fixed, character, string, boolean, octet or enum type");
        }
        good
    }

    /// `const fixed`: the type is derived from the value.
    fn fixed_constant(&mut self, expr: &Expr) -> Option<(Type, ConstValue)> {
        match self.evaluate_freely(expr)? {
            ConstValue::Fixed(value) => {
                let value = decimal::normalised(value);
                let ty = Type::Fixed {
                    digits: value.digits(),
                    scale: value.scale,
                };
                Some((ty, ConstValue::Fixed(value)))
            }
            other => {
                self.mismatch(&other, "a fixed point value", expr.span);
                None
            }
        }
    }

    /// The value without a target type.
    pub(super) fn evaluate_freely(&mut self, expr: &Expr) -> Option<ConstValue> {
        self.run(expr, None)
    }

    /// The value of an expression as a value of the given type.
    pub(super) fn evaluate(&mut self, expr: &Expr, target: &Type) -> Option<ConstValue> {
        let resolved = self.model.resolve_alias(target).clone();
        let value = self.run(expr, Some(&resolved))?;
        self.convert(value, &resolved, target, expr.span)
    }

    /// Runs the steps on a stack. A step without a value has been reported.
    fn run(&mut self, expr: &Expr, target: Option<&Type>) -> Option<ConstValue> {
        let unsigned_bits = match target {
            Some(Type::Octet | Type::UShort | Type::ULong) => Some(32),
            Some(Type::ULongLong) => Some(64),
            _ => None,
        };
        let mut stack: Vec<Option<ConstValue>> = Vec::new();
        for (step, span) in &expr.steps {
            let value = match step {
                Step::Unary(operator) => {
                    let operand = stack.pop().flatten();
                    let result = operand.map(|v| arithmetic::unary(*operator, &v, unsigned_bits));
                    self.checked(result, *span)
                }
                Step::Binary(operator) => {
                    let right = stack.pop().flatten();
                    let left = stack.pop().flatten();
                    self.warn_remainder(operator, left.as_ref(), right.as_ref(), *span);
                    let both = left.zip(right);
                    let result =
                        both.map(|(left, right)| arithmetic::binary(operator, &left, &right));
                    self.checked(result, *span)
                }
                Step::Name(name) => self.named_value(name),
                literal if matches!(target, Some(Type::Fixed { .. })) => {
                    self.fixed_literal(literal, *span)
                }
                literal => Self::literal(literal),
            };
            stack.push(value);
        }
        stack.pop().flatten()
    }

    fn checked(
        &mut self,
        result: Option<Result<ConstValue, arithmetic::Wrong>>,
        span: Span,
    ) -> Option<ConstValue> {
        match result? {
            Ok(value) => Some(value),
            Err(wrong) => {
                self.report.error(wrong.code, span, wrong.message);
                None
            }
        }
    }

    fn warn_remainder(
        &mut self,
        operator: &str,
        left: Option<&ConstValue>,
        right: Option<&ConstValue>,
        span: Span,
    ) {
        let negative = |v: Option<&ConstValue>| matches!(v, Some(ConstValue::Integer(v)) if *v < 0);
        if operator == "%" && (negative(left) || negative(right)) {
            let message = "the result of `%` with a negative operand depends on the compiler";
            self.report.warning("negative-remainder", span, message);
        }
    }

    fn literal(step: &Step) -> Option<ConstValue> {
        Some(match step {
            Step::Number(Number::Integer(value)) => ConstValue::Integer(i128::from(*value)),
            Step::Number(Number::Float(value, _)) => ConstValue::Float(*value),
            Step::Number(Number::Fixed(value)) => ConstValue::Fixed(*value),
            Step::Char(unit) => ConstValue::Char(u8::try_from(*unit).ok()?),
            Step::WideChar(unit) => ConstValue::WChar(*unit),
            Step::Text(units) => ConstValue::String(String::from_utf16_lossy(units)),
            Step::WideText(units) => ConstValue::WString(units.clone()),
            Step::Boolean(value) => ConstValue::Boolean(*value),
            _ => return None,
        })
    }

    /// A literal of a constant of a named fixed-point type: it may lack its suffix.
    fn fixed_literal(&mut self, step: &Step, span: Span) -> Option<ConstValue> {
        let value = match step {
            Step::Number(Number::Float(_, Some(value))) => *value,
            Step::Number(Number::Integer(value)) => Fixed {
                unscaled: i128::from(*value),
                scale: 0,
            },
            other => return Self::literal(other),
        };
        let message = format!("the fixed point literal `{value}` is read as `{value}d`");
        self.report.warning("fixed-literal", span, message);
        Some(ConstValue::Fixed(value))
    }

    fn named_value(&mut self, name: &ScopedName) -> Option<ConstValue> {
        let entity = self.resolve(name)?;
        match entity {
            Entity::Enumerator { of, index } => return Some(ConstValue::Enumerator { of, index }),
            Entity::Def(id) => {
                if let DefinitionKind::Constant(constant) = &self.model[id].kind {
                    // An invalid constant has the type void, and has been reported.
                    let value = Some(constant.value.clone());
                    let value = value.filter(|_| constant.ty != Type::Void)?;
                    return self.can_copy(octets(&value), name.span).then_some(value);
                }
            }
            _ => {}
        }
        let message = format!(
            "`{}` is not a constant but {}",
            name.text(),
            with_article(self.entity_noun(entity))
        );
        let place = self.entity_span(entity);
        let draft = self.report.error("not-a-constant", name.span, message);
        point_at(draft, place);
        None
    }

    fn mismatch(&mut self, value: &ConstValue, wanted: &str, span: Span) {
        let message = format!(
            "type mismatch: {wanted} is needed here, but this is {}",
            arithmetic::noun(value)
        );
        let draft = self.report.error("constant-mismatch", span, message);
        match value {
            ConstValue::Integer(v) if wanted == "a floating point value" => {
                draft.help(format!("write `{v}.0`"));
            }
            ConstValue::String(_) if wanted == "a wide string" => {
                draft.help("write `L\"…\"`");
            }
            ConstValue::Char(_) if wanted == "a wide character" => {
                draft.help("write `L'…'`");
            }
            ConstValue::WString(_) | ConstValue::WChar(_) => {
                draft.help("remove the `L` before the literal");
            }
            _ => {}
        }
    }

    fn convert(
        &mut self,
        value: ConstValue,
        resolved: &Type,
        target: &Type,
        span: Span,
    ) -> Option<ConstValue> {
        let wanted = match (resolved, value) {
            (ty, ConstValue::Integer(v)) if ty.integer_range().is_some() => {
                return self.in_range(v, ty, span);
            }
            (Type::Float, ConstValue::Float(v)) => return self.single(v, span),
            (Type::Double | Type::LongDouble, value @ ConstValue::Float(_)) => return Some(value),
            (Type::Fixed { digits, scale }, ConstValue::Fixed(v)) => {
                return self.fitted(v, *digits, *scale, span);
            }
            (Type::Char, value @ ConstValue::Char(_))
            | (Type::WChar, value @ ConstValue::WChar(_))
            | (Type::Boolean, value @ ConstValue::Boolean(_)) => return Some(value),
            (Type::String(bound), ConstValue::String(text)) => {
                let length = text.chars().count();
                return self
                    .within(length, *bound, span)
                    .then_some(ConstValue::String(text));
            }
            (Type::WString(bound), ConstValue::WString(units)) => {
                return self
                    .within(units.len(), *bound, span)
                    .then_some(ConstValue::WString(units));
            }
            (Type::Named(id), ConstValue::Enumerator { of, index }) => {
                return self.of_enum(*id, of, index, span);
            }
            (_, value) => value,
        };
        let noun = match resolved {
            Type::Float | Type::Double | Type::LongDouble => "a floating point value".to_owned(),
            Type::Fixed { .. } => "a fixed point value".to_owned(),
            Type::Char => "a character".to_owned(),
            Type::WChar => "a wide character".to_owned(),
            Type::Boolean => "a boolean".to_owned(),
            Type::String(_) => "a string".to_owned(),
            Type::WString(_) => "a wide string".to_owned(),
            Type::Named(_) => format!("an enumerator of `{}`", self.model.type_name(target)),
            _ => "an integer".to_owned(),
        };
        self.mismatch(&wanted, &noun, span);
        None
    }

    fn in_range(&mut self, value: i128, ty: &Type, span: Span) -> Option<ConstValue> {
        let (least, most) = ty.integer_range()?;
        if (least..=most).contains(&value) {
            return Some(ConstValue::Integer(value));
        }
        let size = if value > most { "large" } else { "small" };
        let name = self.model.type_name(ty);
        let message = format!("out of range: the value {value} is too {size} for `{name}`");
        self.report
            .error("out-of-range", span, message)
            .help(format!("`{name}` goes from {least} to {most}"));
        None
    }

    /// Rounds to the precision of `float`.
    fn single(&mut self, value: f64, span: Span) -> Option<ConstValue> {
        let single = value as f32;
        if single.is_infinite() {
            let message = format!("out of range: the value {value} is too large for `float`");
            self.report
                .error("out-of-range", span, message)
                .help("use `double`");
            return None;
        }
        Some(ConstValue::Float(f64::from(single)))
    }

    fn within(&mut self, length: usize, bound: Option<u32>, span: Span) -> bool {
        let Some(bound) = bound.filter(|bound| length > *bound as usize) else {
            return true;
        };
        let message =
            format!("this string has {length} characters, which is longer than its bound {bound}");
        self.report.error("string-too-long", span, message);
        false
    }

    fn of_enum(&mut self, wanted: DefId, of: DefId, index: u32, span: Span) -> Option<ConstValue> {
        if wanted == of {
            return Some(ConstValue::Enumerator { of, index });
        }
        let message = format!(
            "this is an enumerator of another enum: of `{}`, not of `{}`",
            self.model[of].name, self.model[wanted].name
        );
        self.report.error("other-enum", span, message);
        None
    }

    /// Truncates the fraction to the scale of the type.
    fn fitted(&mut self, value: Fixed, digits: u8, scale: u8, span: Span) -> Option<ConstValue> {
        let mut fitted = decimal::normalised(value);
        if fitted.scale > scale {
            let message =
                format!("the fixed point value {fitted} is cut to fit `fixed<{digits}, {scale}>`");
            self.report.warning("truncated-fixed", span, message);
        }
        while fitted.scale > scale {
            fitted.unscaled /= 10;
            fitted.scale -= 1;
        }
        let whole = fitted.unscaled.unsigned_abs() / 10u128.pow(u32::from(fitted.scale));
        if whole >= 10u128.pow(u32::from(digits - scale)) {
            let message = format!(
                "out of range: {fitted} has too many digits for `fixed<{digits}, {scale}>`"
            );
            self.report.error("out-of-range", span, message);
            return None;
        }
        Some(ConstValue::Fixed(decimal::normalised(fitted)))
    }
}

/// The octets of text in a value.
pub(super) fn octets(value: &ConstValue) -> usize {
    match value {
        ConstValue::String(text) => text.len(),
        ConstValue::WString(units) => size_of_val(units.as_slice()),
        _ => 0,
    }
}
