// SPDX-License-Identifier: MIT OR Apache-2.0
//! Comparison of data of equivalent types: their TypeCodes may differ in names, and values of
//! valuetypes in their addresses.

use std::collections::HashMap;

use orbium_cdr::{CdrError, Decode, TCKind, TypeCode};
use orbium_value::ValueBase;

use super::components::opened;
use super::data::Data;
use super::error::DynAnyError;
use super::node::Content;

/// Whether data of equivalent types are equal. Graphs of values are equal if each value of one has
/// one counterpart in the other, with the same sharing and the same cycles.
pub(super) fn equal(one: &Data, other: &Data) -> Result<bool, DynAnyError> {
    let mut graphs = Graphs::default();
    if !graphs.equal(one, other)? {
        return Ok(false);
    }
    while let Some((one, other)) = graphs.pending.pop() {
        if !graphs.equal(&one, &other)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Two graphs that are compared.
#[derive(Default)]
struct Graphs {
    /// The counterparts of the values of either side, by identity.
    counterparts: [HashMap<usize, usize>; 2],
    /// States of counterparts that are still to be compared.
    pending: Vec<(Data, Data)>,
}

impl Graphs {
    fn equal(&mut self, one: &Data, other: &Data) -> Result<bool, DynAnyError> {
        let has_values = !one.values().is_empty() || !other.values().is_empty();
        if !has_values && one.octets() == other.octets() {
            return Ok(true);
        }
        let code = one.type_code().as_ref().unaliased();
        match code.kind() {
            TCKind::Any => {
                let (one, other) = (one.inner()?, other.inner()?);
                let is_one_type = one.type_code().equivalent(other.type_code());
                Ok(is_one_type && self.equal(&one, &other)?)
            }
            TCKind::TypeCode => Ok(type_code(one)?.equivalent(&type_code(other)?)),
            TCKind::Value | TCKind::ValueBox | TCKind::Event | TCKind::AbstractInterface => {
                match (one.values(), other.values()) {
                    ([one_value], [other_value]) => {
                        let values = (one_value.as_ref(), other_value.as_ref());
                        self.are_counterparts(values, one, other)
                    }
                    _ => Ok(false),
                }
            }
            _ => {
                let ones = opened(code, one)?;
                let others = opened(other.type_code().as_ref().unaliased(), other)?;
                self.equal_parts(ones, others)
            }
        }
    }

    fn equal_parts(
        &mut self,
        ones: Option<Content>,
        others: Option<Content>,
    ) -> Result<bool, DynAnyError> {
        let (ones, others) = (parts(ones), parts(others));
        if ones.is_empty() || ones.len() != others.len() {
            return Ok(false);
        }
        for (one, other) in ones.iter().zip(&others) {
            if !self.equal(one, other)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether two values may be counterparts; their states are compared later.
    fn are_counterparts(
        &mut self,
        values: (Option<&ValueBase>, Option<&ValueBase>),
        one: &Data,
        other: &Data,
    ) -> Result<bool, DynAnyError> {
        let (one_value, other_value) = match values {
            (Some(one), Some(other)) => (one, other),
            (None, None) => return Ok(true),
            _ => return Ok(false),
        };
        let identities = (one_value.identity(), other_value.identity());
        let [ones, others] = &mut self.counterparts;
        let known = (ones.get(&identities.0), others.get(&identities.1));
        if known != (None, None) {
            return Ok(known == (Some(&identities.1), Some(&identities.0)));
        }
        ones.insert(identities.0, identities.1);
        others.insert(identities.1, identities.0);
        if !one_value.type_code().equivalent(&other_value.type_code()) {
            return Ok(false);
        }
        let states = (one.state_of(one_value)?, other.state_of(other_value)?);
        self.pending.push(states);
        Ok(true)
    }
}

fn type_code(data: &Data) -> Result<TypeCode, CdrError> {
    data.read(TypeCode::decode)
}

fn parts(content: Option<Content>) -> Vec<Data> {
    let parts = match content {
        Some(Content::Parts(parts) | Content::Union { parts, .. }) => parts,
        _ => Vec::new(),
    };
    let parts = parts.into_iter().filter_map(|part| match part.content {
        Content::Whole(data) => Some(data),
        _ => None,
    });
    parts.collect()
}
