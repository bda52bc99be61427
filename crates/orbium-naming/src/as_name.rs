// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conversion of arguments into names.

use crate::cos_naming;
use crate::{Name, NameComponent, NameSyntaxError};

/// Argument for the name in methods of a naming context: a [`Name`], a [`NameComponent`], or
/// text such as `"plant/pump.v2"`, which is parsed.
pub trait AsName {
    /// The name.
    ///
    /// # Errors
    /// The text is not a valid name.
    fn as_name(&self) -> Result<Name, NameSyntaxError>;
}

impl AsName for Name {
    fn as_name(&self) -> Result<Name, NameSyntaxError> {
        Ok(self.clone())
    }
}

impl AsName for NameComponent {
    fn as_name(&self) -> Result<Name, NameSyntaxError> {
        Ok(self.clone().into())
    }
}

impl AsName for str {
    fn as_name(&self) -> Result<Name, NameSyntaxError> {
        self.parse()
    }
}

impl AsName for String {
    fn as_name(&self) -> Result<Name, NameSyntaxError> {
        self.parse()
    }
}

impl<N: AsName + ?Sized> AsName for &N {
    fn as_name(&self) -> Result<Name, NameSyntaxError> {
        (**self).as_name()
    }
}

/// The IDL form of the name.
pub(crate) fn to_idl(name: impl AsName) -> Result<cos_naming::Name, NameSyntaxError> {
    let components = name.as_name()?.into_components().into_iter();
    Ok(components
        .map(|NameComponent { id, kind }| cos_naming::NameComponent { id, kind })
        .collect())
}

/// The name of an IDL form.
pub(crate) fn from_idl(name: cos_naming::Name) -> Name {
    let components = name.into_iter();
    components
        .map(|it| NameComponent::with_kind(it.id, it.kind))
        .collect::<Vec<_>>()
        .into()
}
