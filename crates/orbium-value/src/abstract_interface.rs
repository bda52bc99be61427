// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of abstract interfaces: an object or a value.

use orbium_cdr::{CdrError, CdrReader, CdrWriter, DecodeNillable, EncodeNillable, Type, Typed};

use crate::base::VALUE_BASE;
use crate::wire::in_any::copy_abstract;
use crate::{ValueBase, ValueType, read_value, write_value};

/// An object or a value: the type of an `abstract interface` of IDL, of which `R` is the reference.
///
/// ```
/// use orbium_value::{Abstract, ValueBase};
///
/// fn describe<R>(item: &Abstract<R>, call: impl Fn(&R) -> String) -> String {
///     match item {
///         Abstract::Object(object) => call(object),
///         Abstract::Value(value) => value.repository_id().to_owned(),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Abstract<R> {
    /// An object: a call passes its reference.
    Object(R),
    /// A value that supports the interface: a call copies it.
    Value(ValueBase),
}

impl<R> Abstract<R> {
    /// A value, of any type that supports the interface.
    pub fn of_value(value: &impl ValueType) -> Self {
        Self::Value(value.as_value().clone())
    }

    /// The object, if it is one.
    pub fn object(&self) -> Option<&R> {
        match self {
            Self::Object(object) => Some(object),
            Self::Value(_) => None,
        }
    }

    /// The value, if it is of type `V`.
    pub fn value<V: ValueType>(&self) -> Option<V> {
        match self {
            Self::Object(_) => None,
            Self::Value(value) => value.downcast(),
        }
    }
}

impl<R: EncodeNillable> EncodeNillable for Abstract<R> {
    fn encode_nillable<'a>(item: Option<&'a Self>, writer: &mut CdrWriter<'a>) {
        writer.write_bool(matches!(item, Some(Self::Object(_))));
        match item {
            Some(Self::Object(object)) => R::encode_nillable(Some(object), writer),
            Some(Self::Value(value)) => write_value(Some(value), &VALUE_BASE, writer),
            None => writer.write_u32(0),
        }
    }
}

impl<R: DecodeNillable> DecodeNillable for Abstract<R> {
    const MIN_SIZE: usize = 5;

    /// TAO sends nil as a reference; others as a value.
    fn decode_nillable(reader: &mut CdrReader<'_>) -> Result<Option<Self>, CdrError> {
        if reader.read_bool()? {
            Ok(R::decode_nillable(reader)?.map(Self::Object))
        } else {
            Ok(read_value(&VALUE_BASE, reader)?.map(Self::Value))
        }
    }
}

impl<R: Typed> Typed for Abstract<R> {
    const TYPE: &'static Type = &R::TYPE.as_abstract().copied_by(copy_abstract);
}
