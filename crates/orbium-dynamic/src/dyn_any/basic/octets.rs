// SPDX-License-Identifier: MIT OR Apache-2.0
//! The octets of an any.

use orbium_cdr::{Any, CdrError, CdrReader, Format, TypeCode};

/// Reads the octets of an any, with the repository id of an exception.
pub(crate) fn read<T>(
    any: &Any,
    read: impl FnOnce(&mut CdrReader<'_>) -> Result<T, CdrError>,
) -> Result<T, CdrError> {
    let mut octets = any.value_octets().to_vec();
    let mut reader = CdrReader::new(&mut octets, Format::native()).with_owner(any.owner());
    read(&mut reader)
}

/// The value, converted to an equivalent type.
pub(crate) fn retyped(any: &Any, code: &TypeCode) -> Result<Any, CdrError> {
    if any.type_code().equal(code) {
        Ok(any.clone())
    } else {
        read(any, |reader| Any::read_value(code.clone(), reader))
    }
}
