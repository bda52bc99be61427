// SPDX-License-Identifier: MIT OR Apache-2.0
//! The value of a constraint for an event.

use std::borrow::Cow;

use super::operand::{Fail, Outcome, Value};
use super::place::{Place, Subject, Wanted};
use super::syntax::{Component, Node, NodeId, Tree};

/// A constraint and the subject of its evaluation.
pub(super) struct Evaluation<'a> {
    pub(super) tree: &'a Tree,
    pub(super) subject: Subject<'a>,
}

impl<'a> Evaluation<'a> {
    pub(super) fn value(&self, id: NodeId) -> Outcome<Value<'a>> {
        let bool = |value: bool| Ok(Value::Bool(value));
        match &self.tree.nodes[id] {
            Node::Bool(value) => bool(*value),
            Node::Int(value) => Ok(Value::Int(*value)),
            Node::Double(value) => Ok(Value::Double(*value)),
            Node::Text(text) => Ok(Value::Text(Cow::Borrowed(text))),
            Node::Name(name) => Ok(self.property(name).unwrap_or(Value::Name(name))),
            Node::Component(component) => self.component(component, Wanted::Value),
            Node::Exist(component) => bool(self.component(component, Wanted::Existence).is_ok()),
            Node::Default(component) => self.component(component, Wanted::DefaultBranch),
            Node::Not(operand) => bool(!self.value(*operand)?.to_bool()?),
            Node::Negate(operand) => self.value(*operand)?.negated(),
            Node::Plus(operand) => {
                let value = self.value(*operand)?;
                value.is_number().then_some(value).ok_or(Fail)
            }
            Node::And(operands) => bool(self.decides(operands, false)?),
            Node::Or(operands) => bool(self.decides(operands, true)?),
            Node::Arithmetic(first, others) => {
                let mut value = self.value(*first)?;
                for (operator, other) in others {
                    value = value.computed(*operator, &self.value(*other)?)?;
                }
                Ok(value)
            }
            Node::Compare(comparison, left, right) => {
                let (left, right) = (self.value(*left)?, self.value(*right)?);
                bool(left.compared(*comparison, &right)?)
            }
            Node::Substring(left, right) => {
                let (left, right) = (self.value(*left)?, self.value(*right)?);
                bool(right.text()?.contains(left.text()?))
            }
            Node::In(left, component) => {
                let left = self.value(*left)?;
                Ok(self
                    .component(component, Wanted::Element(&left))?
                    .into_owned())
            }
        }
    }

    /// The operands of `and` and `or` from left to right, as far as needed: whether one of them
    /// has the deciding value, which is the value of the whole then.
    fn decides(&self, operands: &[NodeId], deciding: bool) -> Outcome<bool> {
        for operand in operands {
            if self.value(*operand)?.to_bool()? == deciding {
                return Ok(deciding);
            }
        }
        Ok(!deciding)
    }

    fn property(&self, name: &str) -> Option<Value<'a>> {
        let list = match self.subject {
            Subject::Structured(event) => &event.filterable_data[..],
            Subject::Properties(list) => list,
            Subject::Any(_) => return None,
        };
        Place::List(list)
            .entry(name)
            .and_then(|it| it.follow(&[], Wanted::Value))
            .ok()
    }

    fn component(&self, component: &Component, wanted: Wanted<'_>) -> Outcome<Value<'a>> {
        let whole = Place::of(self.subject);
        match &component.variable {
            None => whole.follow(&component.steps, wanted),
            Some(name) => self.variable(name)?.follow(&component.steps, wanted),
        }
    }

    /// A run-time variable, or a field in any part: the fixed header, the variable header, the
    /// filterable data, the remainder.
    fn variable(&self, name: &str) -> Outcome<Place<'a>> {
        if name == "curtime" {
            return Ok(Place::Now);
        }
        let whole = Place::of(self.subject);
        match self.subject {
            Subject::Structured(event) => {
                let fixed = &event.header.fixed_header;
                match name {
                    "domain_name" => return Ok(Place::Text(&fixed.event_type.domain_name)),
                    "type_name" => return Ok(Place::Text(&fixed.event_type.type_name)),
                    "event_name" => return Ok(Place::Text(&fixed.event_name)),
                    _ => {}
                }
                let lists = [&event.header.variable_header, &event.filterable_data];
                let mut entries = lists.into_iter().flatten();
                let entry = entries.find(|it| it.name == name);
                match entry {
                    Some(entry) => Ok(Place::of(Subject::Any(&entry.value))),
                    None => Place::of(Subject::Any(&event.remainder_of_body)).field(name),
                }
            }
            // Such an event has that type for structured consumers.
            Subject::Any(_) if name == "type_name" => Ok(Place::Text("%ANY")),
            Subject::Any(_) if matches!(name, "domain_name" | "event_name") => Ok(Place::Text("")),
            Subject::Any(_) | Subject::Properties(_) => whole.field(name),
        }
    }
}
