// SPDX-License-Identifier: MIT OR Apache-2.0
//! The members of values of valuetypes.

use orbium_cdr::{CdrWriter, Format, TypeCode};
use orbium_value::{Linked, ValueBase};

use super::{opened, write};
use crate::dyn_any::data::Data;
use crate::dyn_any::error::DynAnyError;
use crate::dyn_any::node::{Content, DynAny, Members};

impl Members {
    /// The members of a value.
    pub(crate) fn of(data: &Data, value: &ValueBase) -> Result<Self, DynAnyError> {
        let state = data.state_of(value)?.deeper()?;
        let code = state.type_code().clone();
        let Some(Content::Parts(parts)) = opened(code.as_ref(), &state)? else {
            return Err(DynAnyError::InvalidValue);
        };
        Ok(Self {
            origin: Some(data.clone()),
            code: value.type_code(),
            state: code,
            parts,
        })
    }

    /// Of a new value with initial members.
    pub(crate) fn initial(code: &TypeCode) -> Result<Self, DynAnyError> {
        let value = ValueBase::described(code.as_ref());
        let value = value.map_err(|_| DynAnyError::InconsistentTypeCode)?;
        let state = value.state_type().ok_or(DynAnyError::InvalidValue)?;
        let members = state.as_ref().members().map(|member| {
            let code = member.type_code().ok_or(DynAnyError::InvalidValue)?;
            DynAny::of_type(&code.to_type_code())
        });
        let parts = members.collect::<Result<_, _>>()?;
        Ok(Self {
            origin: None,
            code: value.type_code(),
            state,
            parts,
        })
    }

    /// The value with these members: the original one if none was changed, so that references to it
    /// remain valid.
    pub(crate) fn value(&self) -> Result<ValueBase, DynAnyError> {
        let mut writer = CdrWriter::new(Format::native());
        let mut values = vec![None];
        for part in &self.parts {
            write(part, &mut writer, &mut values)?;
        }
        let mut octets = writer.finish()?;
        let owner = self.parts.iter().find_map(DynAny::owner).cloned();
        let state = Linked::of_parts(self.state.clone(), &mut octets, values)?.with_owner(owner);
        if let Some(value) = self.origin.as_ref().and_then(Data::value)
            && value.state().is_some_and(|before| is_same(&before, &state))
        {
            return Ok(value.clone());
        }
        let value = ValueBase::described(self.code.as_ref())?;
        value.set_state(state)?;
        Ok(value)
    }
}

fn is_same(one: &Linked, other: &Linked) -> bool {
    one.octets() == other.octets() && one.values() == other.values()
}
