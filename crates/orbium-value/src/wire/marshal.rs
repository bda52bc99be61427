// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ValueBase` in messages: a value of any type, or null.

use orbium_cdr::{CdrError, CdrReader, CdrWriter, DecodeNillable, EncodeNillable};

use crate::base::VALUE_BASE;
use crate::{ValueBase, read_value, write_value};

impl EncodeNillable for ValueBase {
    fn encode_nillable<'a>(value: Option<&'a Self>, writer: &mut CdrWriter<'a>) {
        write_value(value, &VALUE_BASE, writer);
    }
}

impl DecodeNillable for ValueBase {
    const MIN_SIZE: usize = 4;

    fn decode_nillable(reader: &mut CdrReader<'_>) -> Result<Option<Self>, CdrError> {
        read_value(&VALUE_BASE, reader)
    }
}
