// SPDX-License-Identifier: MIT OR Apache-2.0
//! The first octet of a short header.

use orbium_cdr::{ByteOrder, Format};

pub(crate) const REPLY: u8 = 1;
pub(crate) const LITTLE_ENDIAN: u8 = 2;
pub(crate) const NATIVE: u8 = 4;
pub(crate) const RESPONSE_SHIFT: u8 = 3;
pub(crate) const NUMBERED: u8 = 0x20;
pub(crate) const DEFINES: u8 = 0x40;
/// The highest bit of every form.
pub(crate) const MARK: u8 = 0x80;

/// The bits of a form but the response flags.
pub(crate) const FORM_MASK: u8 = !(3 << RESPONSE_SHIFT);

pub(crate) const fn order_bit(order: ByteOrder) -> u8 {
    match order {
        ByteOrder::Big => 0,
        ByteOrder::Little => LITTLE_ENDIAN,
    }
}

/// [`NATIVE`] for the minor version of the [natural](Format::NATURAL) format, 0 for one of GIOP.
pub(crate) const fn natural_bit(minor: u8) -> u8 {
    const SHIFT: u32 = Format::NATURAL.ilog2() - NATIVE.ilog2();
    minor >> SHIFT & NATIVE
}

/// The form of a request.
pub(crate) const fn request_form(order: ByteOrder, response: u8, native: bool) -> u8 {
    let native = if native { NATIVE } else { 0 };
    MARK | order_bit(order) | native | response << RESPONSE_SHIFT
}

pub(crate) const fn order_of(form: u8) -> ByteOrder {
    if form & LITTLE_ENDIAN == 0 {
        ByteOrder::Big
    } else {
        ByteOrder::Little
    }
}

/// An unsigned short in the given order.
pub(crate) const fn u16_octets(value: u16, order: ByteOrder) -> [u8; 2] {
    match order {
        ByteOrder::Big => value.to_be_bytes(),
        ByteOrder::Little => value.to_le_bytes(),
    }
}
