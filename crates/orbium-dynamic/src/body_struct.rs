// SPDX-License-Identifier: MIT OR Apache-2.0
//! The values of a message body as the members of one struct, which has the same encoding.
//!
//! An any is a separate graph: a value of a valuetype that occurs in two anys becomes two values.
//! In one struct it remains one, as in the message.

use orbium_cdr::{Any, CdrError, CdrReader, CdrWriter, Encode, TCKind, TypeCode, TypeRef};

use crate::value_content::holds_values;

/// The members of a body, each with its name.
pub(crate) type Members<'m> = Vec<(&'m str, TypeCode)>;

/// The values of a body.
pub(crate) struct BodyValues {
    pub(crate) each: Vec<Any>,
    /// All of them as a struct, if they may share values.
    pub(crate) shared: Option<Any>,
}

impl BodyValues {
    /// Reads the values of a body.
    pub(crate) fn read(members: Members<'_>, reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        let mut holders = members
            .iter()
            .filter(|(_, code)| holds_values(code.as_ref()));
        let may_share = holders.next().and(holders.next()).is_some();
        if !may_share {
            let each = members.into_iter();
            return Ok(Self {
                each: each
                    .map(|(_, code)| Any::read_value(code, reader))
                    .collect::<Result<_, _>>()?,
                shared: None,
            });
        }
        let all = Any::read_value(TypeCode::structure("", "", members), reader)?;
        Ok(Self {
            each: split(&all)?,
            shared: Some(all),
        })
    }
}

/// Whether a value is of a struct type equivalent to an unnamed one with members of these types.
pub(crate) fn is_of<'t>(all: &Any, mut types: impl Iterator<Item = TypeRef<'t>>) -> bool {
    let mut members = member_types(all.type_code().as_ref());
    let is_struct = all.type_code().as_ref().unaliased().kind() == TCKind::Struct;
    is_struct
        && types.all(|code| members.next().is_some_and(|it| it.equivalent(code)))
        && members.next().is_none()
}

/// The members of a struct, each as a separate any.
pub(crate) fn split(all: &Any) -> Result<Vec<Any>, CdrError> {
    all.read_with(|reader| {
        let members = member_types(all.type_code().as_ref());
        members
            .map(|code| Any::read_value(code.to_type_code(), reader))
            .collect()
    })
}

/// A struct of these values.
pub(crate) fn join<'a>(
    members: impl Iterator<Item = (&'a str, &'a Any)> + Clone,
) -> Result<Any, CdrError> {
    let codes = members
        .clone()
        .map(|(name, value)| (name, value.type_code().clone()));
    let code = TypeCode::structure("", "", codes);
    let values: Vec<_> = members.map(|(_, value)| value).collect();
    Any::with_type(code, &Joined(&values))
}

/// The types of a struct's members.
pub(crate) fn member_types(code: TypeRef<'_>) -> impl Iterator<Item = TypeRef<'_>> {
    let members = code.unaliased().members();
    members.filter_map(orbium_cdr::MemberRef::type_code)
}

/// Values in sequence.
struct Joined<'j>(&'j [&'j Any]);

impl Encode for Joined<'_> {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        self.0.iter().for_each(|value| value.write_value(writer));
    }
}
