// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of operands, and the arithmetic on them.

use std::borrow::Cow;
use std::cmp::Ordering;

use orbium::TypeCode;

use super::syntax::{Comparison, Operator};

/// Evaluation failure: a missing component, a type that does not match, a division by zero, an
/// overflow. The event does not match; it is not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fail;

pub(super) type Outcome<T> = Result<T, Fail>;

/// A value of a simple type, borrowed from the event or the constraint.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Bool(bool),
    /// In the range of 64 bits, signed or not.
    Int(i128),
    Double(f64),
    Text(Cow<'a, str>),
    Enum(u32, TypeCode),
    /// A bare identifier that is not a property.
    Name(&'a str),
    /// A struct, a sequence or another value without arithmetic.
    Other,
}

impl<'a> Value<'a> {
    pub(super) fn into_owned<'b>(self) -> Value<'b> {
        match self {
            Self::Bool(value) => Value::Bool(value),
            Self::Int(value) => Value::Int(value),
            Self::Double(value) => Value::Double(value),
            Self::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Self::Enum(value, code) => Value::Enum(value, code),
            Self::Name(_) | Self::Other => Value::Other,
        }
    }

    pub(super) fn to_bool(&self) -> Outcome<bool> {
        match self {
            Self::Bool(value) => Ok(*value),
            _ => Err(Fail),
        }
    }

    pub(super) fn text(&self) -> Outcome<&str> {
        match self {
            Self::Text(text) => Ok(text),
            _ => Err(Fail),
        }
    }

    /// An integer in the range of 64 bits.
    pub(super) fn int(value: i128) -> Outcome<Self> {
        if value >= i64::MIN.into() && value <= u64::MAX.into() {
            Ok(Self::Int(value))
        } else {
            Err(Fail)
        }
    }

    pub(super) fn negated(self) -> Outcome<Self> {
        match self {
            Self::Int(value) => Self::int(-value),
            Self::Double(value) => Ok(Self::Double(-value)),
            _ => Err(Fail),
        }
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self, Self::Int(_) | Self::Double(_))
    }

    pub(super) fn computed(&self, operator: Operator, other: &Self) -> Outcome<Self> {
        match (self, other) {
            (Self::Int(left), Self::Int(right)) => {
                let value = match operator {
                    Operator::Add => left.checked_add(*right),
                    Operator::Subtract => left.checked_sub(*right),
                    Operator::Multiply => left.checked_mul(*right),
                    Operator::Divide => left.checked_div(*right),
                };
                Self::int(value.ok_or(Fail)?)
            }
            _ => {
                let (left, right) = (self.to_double()?, other.to_double()?);
                let value = match operator {
                    Operator::Add => left + right,
                    Operator::Subtract => left - right,
                    Operator::Multiply => left * right,
                    Operator::Divide if right == 0.0 => return Err(Fail),
                    Operator::Divide => left / right,
                };
                if value.is_finite() {
                    Ok(Self::Double(value))
                } else {
                    Err(Fail)
                }
            }
        }
    }

    fn to_double(&self) -> Outcome<f64> {
        match self {
            Self::Int(value) => Ok(*value as f64),
            Self::Double(value) => Ok(*value),
            _ => Err(Fail),
        }
    }

    pub(super) fn compared(&self, comparison: Comparison, other: &Self) -> Outcome<bool> {
        let is_equality = matches!(comparison, Comparison::Equal | Comparison::Unequal);
        if let (Self::Bool(_), Self::Bool(_)) = (self, other)
            && !is_equality
        {
            return Err(Fail);
        }
        let order = self.order(other)?;
        Ok(match comparison {
            Comparison::Equal => order.is_eq(),
            Comparison::Unequal => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::LessOrEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterOrEqual => order.is_ge(),
        })
    }

    fn order(&self, other: &Self) -> Outcome<Ordering> {
        match (self, other) {
            (Self::Bool(left), Self::Bool(right)) => Ok(left.cmp(right)),
            (Self::Int(left), Self::Int(right)) => Ok(left.cmp(right)),
            (Self::Text(left), Self::Text(right)) => Ok(left.as_bytes().cmp(right.as_bytes())),
            (Self::Enum(left, _), Self::Enum(right, _)) => Ok(left.cmp(right)),
            (Self::Enum(left, code), Self::Name(name)) => Ok(left.cmp(&ordinal(code, name)?)),
            (Self::Name(name), Self::Enum(right, code)) => Ok(ordinal(code, name)?.cmp(right)),
            (Self::Enum(left, _), Self::Int(right)) => Ok(i128::from(*left).cmp(right)),
            (Self::Int(left), Self::Enum(right, _)) => Ok(left.cmp(&i128::from(*right))),
            _ => {
                let (left, right) = (self.to_double()?, other.to_double()?);
                left.partial_cmp(&right).ok_or(Fail)
            }
        }
    }
}

/// The number of an enumerator.
fn ordinal(code: &TypeCode, name: &str) -> Outcome<u32> {
    let position = code.members().position(|it| it.name() == name);
    position.and_then(|it| u32::try_from(it).ok()).ok_or(Fail)
}
