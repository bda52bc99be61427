// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of reading and writing CDR.

use core::fmt;

/// Kind of a marshalling error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CdrErrorKind {
    /// The data ends before the value does.
    Truncated,
    /// A count exceeds the number of elements that the remaining octets could hold.
    CountTooLarge,
    /// A bounded sequence or string is longer than its bound.
    BoundExceeded,
    /// An enumeration value has no enumerator.
    BadEnumerator,
    /// A union discriminator selects no member where one is required.
    BadDiscriminator,
    /// A string has no terminating NUL, or one inside.
    BadString,
    /// An invalid decimal digit or sign of a `fixed`.
    BadFixed,
    /// An invalid TypeCode kind, parameter or indirection.
    BadTypeCode,
    /// A TypeCode to be written contains the placeholder of a recursive type outside of that type.
    IncompleteTypeCode,
    /// An invalid reference, profile or encapsulation.
    BadReference,
    /// Values are nested deeper than the reader allows.
    TooDeep,
    /// A character has no image in the transmission code set.
    CannotConvert,
    /// Wide data over GIOP 1.0, which cannot carry it.
    WideInGiop10,
    /// Wide data, but no wide code set was negotiated.
    WideNotNegotiated,
    /// A construct that this ORB cannot marshal (named in the documentation).
    NotSupported,
    /// A local object cannot be sent.
    LocalObject,
    /// The system has no memory for the value read.
    NoMemory,
    /// An invalid header, indirection or chunk of a value (of a `valuetype`), or a value of another
    /// type than expected.
    BadValue,
    /// No known type fits a value, or its factory is missing.
    UnknownValue,
    /// A custom value reads more of its state than its sender has written.
    BeyondState,
    /// A value of a `valuetype` in an any, in a program without the feature `values` of `orbium`.
    ValuesLeftOut,
}

impl CdrErrorKind {
    /// One sentence for people.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Truncated => "the data ends before the value does",
            Self::CountTooLarge => "a count exceeds what the remaining data could hold",
            Self::BoundExceeded => "a bounded sequence or string is longer than its bound",
            Self::BadEnumerator => "an enumeration value has no enumerator",
            Self::BadDiscriminator => "a union discriminator selects no member",
            Self::BadString => "a string is not terminated, or has a NUL inside",
            Self::BadFixed => "a fixed-point digit or sign is invalid",
            Self::BadTypeCode => "a TypeCode is malformed",
            Self::IncompleteTypeCode => "a TypeCode is incomplete",
            Self::BadReference => "an object reference is malformed",
            Self::TooDeep => "values are nested too deeply",
            Self::CannotConvert => "a character has no image in the transmission code set",
            Self::WideInGiop10 => "wide characters cannot be sent over GIOP 1.0",
            Self::WideNotNegotiated => "no wide-character code set was negotiated",
            Self::NotSupported => "this construct cannot be marshalled",
            Self::LocalObject => "a local object cannot be marshalled",
            Self::NoMemory => "there is no memory for the value",
            Self::BadValue => {
                "the header, an indirection, a chunk or the type of a value is invalid"
            }
            Self::UnknownValue => "a value has no type that is known here, or no factory",
            Self::BeyondState => "a custom value reads beyond the end of its state",
            Self::ValuesLeftOut => {
                "an any holds a value of a valuetype, and this program was built without orbium's feature `values`"
            }
        }
    }
}

/// A marshalling error: its kind, and the octet of the stream at which it occurred.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CdrError {
    /// The kind of error.
    pub kind: CdrErrorKind,
    /// Octets from the alignment origin (the start of the message or of the encapsulation) to the
    /// position of the error.
    pub offset: u32,
}

impl CdrError {
    /// An error noticed at `offset`.
    #[must_use]
    #[cold]
    pub const fn new(kind: CdrErrorKind, offset: usize) -> Self {
        Self {
            kind,
            offset: if offset > u32::MAX as usize {
                u32::MAX
            } else {
                offset as u32
            },
        }
    }
}

impl fmt::Display for CdrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (octet {})", self.kind.text(), self.offset)
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for CdrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for CdrError {}
