// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operators of constant expressions (CORBA 3.3 Part 1, 7.12.2).

use super::decimal;
use crate::model::{ConstValue, Fixed};

/// An invalid operation: the rule and a sentence.
pub(super) struct Wrong {
    pub(super) code: &'static str,
    pub(super) message: String,
}

fn wrong<T>(code: &'static str, message: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong {
        code,
        message: message.into(),
    })
}

/// Words for the kind of a value, such as `an integer`.
pub(super) fn noun(value: &ConstValue) -> &'static str {
    match value {
        ConstValue::Integer(_) => "an integer",
        ConstValue::Float(_) => "a floating point value",
        ConstValue::Fixed(_) => "a fixed point value",
        ConstValue::Char(_) => "a character",
        ConstValue::WChar(_) => "a wide character",
        ConstValue::Boolean(_) => "a boolean",
        ConstValue::String(_) => "a string",
        ConstValue::WString(_) => "a wide string",
        ConstValue::Enumerator { .. } => "an enumerator",
    }
}

pub(super) fn binary(
    operator: &str,
    left: &ConstValue,
    right: &ConstValue,
) -> Result<ConstValue, Wrong> {
    match (left, right) {
        (ConstValue::Integer(a), ConstValue::Integer(b)) => {
            integer(operator, *a, *b).map(ConstValue::Integer)
        }
        (ConstValue::Float(a), ConstValue::Float(b)) => {
            float(operator, *a, *b).map(ConstValue::Float)
        }
        (ConstValue::Fixed(a), ConstValue::Fixed(b)) => {
            fixed(operator, *a, *b).map(ConstValue::Fixed)
        }
        _ => {
            let odd = [left, right].into_iter().find(|v| !is_number(v));
            match odd {
                Some(odd) => wrong(
                    "operator",
                    format!("the operator `{operator}` is not defined for {}", noun(odd)),
                ),
                None => wrong(
                    "mixed-operands",
                    format!(
                        "{} and {} cannot be mixed in one expression",
                        noun(left),
                        noun(right)
                    ),
                ),
            }
        }
    }
}

fn is_number(value: &ConstValue) -> bool {
    matches!(
        value,
        ConstValue::Integer(_) | ConstValue::Float(_) | ConstValue::Fixed(_)
    )
}

fn integer(operator: &str, a: i128, b: i128) -> Result<i128, Wrong> {
    let result = match operator {
        "|" => Some(a | b),
        "^" => Some(a ^ b),
        "&" => Some(a & b),
        "<<" | ">>" => {
            let Some(count) = u32::try_from(b).ok().filter(|count| *count < 64) else {
                return wrong(
                    "shift-count",
                    format!("the shift count {b} is out of range: it must be 0 to 63"),
                );
            };
            match operator {
                ">>" => Some(a >> count),
                _ => a.checked_mul(1i128 << count),
            }
        }
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        _ if b == 0 => return wrong("division-by-zero", "division by zero"),
        "/" => a.checked_div(b),
        _ => a.checked_rem(b),
    };
    match result {
        Some(value) => Ok(value),
        None => wrong(
            "overflow",
            format!("the result of `{operator}` is too large"),
        ),
    }
}

fn float(operator: &str, a: f64, b: f64) -> Result<f64, Wrong> {
    let value = match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" if b == 0.0 => return wrong("division-by-zero", "division by zero"),
        "/" => a / b,
        _ => {
            let message =
                format!("the operator `{operator}` is not defined for floating point values");
            return wrong("operator", message);
        }
    };
    if value.is_finite() {
        Ok(value)
    } else {
        wrong(
            "overflow",
            format!("the result of `{operator}` is too large"),
        )
    }
}

fn fixed(operator: &str, a: Fixed, b: Fixed) -> Result<Fixed, Wrong> {
    let value = match operator {
        "+" => decimal::add(a, b),
        "-" => decimal::subtract(a, b),
        "*" => decimal::multiply(a, b),
        "/" if b.unscaled == 0 => return wrong("division-by-zero", "division by zero"),
        "/" => decimal::divide(a, b),
        _ => {
            let message =
                format!("the operator `{operator}` is not defined for fixed point values");
            return wrong("operator", message);
        }
    };
    match value {
        Some(value) => Ok(value),
        None => wrong(
            "overflow",
            format!("the result of `{operator}` has more than 31 digits"),
        ),
    }
}

/// `+`, `-` and `~`. The complement depends on the target type: `unsigned_bits` is its width if it
/// is unsigned.
pub(super) fn unary(
    operator: char,
    value: &ConstValue,
    unsigned_bits: Option<u32>,
) -> Result<ConstValue, Wrong> {
    let result = match (operator, value) {
        ('+', value) if is_number(value) => value.clone(),
        ('-', ConstValue::Integer(v)) => match v.checked_neg() {
            Some(v) => ConstValue::Integer(v),
            None => return wrong("overflow", "the result of `-` is too large"),
        },
        ('-', ConstValue::Float(v)) => ConstValue::Float(-v),
        ('-', ConstValue::Fixed(v)) => ConstValue::Fixed(Fixed {
            unscaled: -v.unscaled,
            ..*v
        }),
        ('~', ConstValue::Integer(v)) => match unsigned_bits {
            None => ConstValue::Integer(!v),
            Some(bits) => {
                let ones = (1i128 << bits) - 1;
                if !(0..=ones).contains(v) {
                    return wrong(
                        "out-of-range",
                        format!("{v} has no complement in {bits} unsigned bits"),
                    );
                }
                ConstValue::Integer(ones - v)
            }
        },
        (operator, value) => {
            return wrong(
                "operator",
                format!(
                    "the operator `{operator}` is not defined for {}",
                    noun(value)
                ),
            );
        }
    };
    Ok(result)
}
