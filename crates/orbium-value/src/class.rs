// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kinds of value types.

/// Kind of a value type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// State that the ORB marshals.
    Plain,
    /// As plain; receivers may truncate it to its concrete base.
    Truncatable,
    /// A type that is not a valuetype, as a value.
    Boxed,
    /// As plain; the program marshals the state: [`CustomMarshal`](crate::CustomMarshal).
    Custom,
    /// No state: only derived types have values.
    Abstract,
}

impl Kind {
    /// The modifier in a TypeCode.
    #[doc(hidden)]
    #[must_use]
    pub const fn modifier(self) -> i16 {
        match self {
            Self::Plain | Self::Boxed => 0,
            Self::Custom => 1,
            Self::Abstract => 2,
            Self::Truncatable => 3,
        }
    }
}
