// SPDX-License-Identifier: MIT OR Apache-2.0
//! Encapsulations in an octet sequence: profile bodies,
//! component data, service-context data (CORBA 3.3 Part 2, clause 9.3.3).

use orbium_cdr::{ByteOrder, CdrError, CdrErrorKind, CdrReader, CdrWriter, Decode, Format};

/// Reads an encapsulation, given as the octets of its sequence without the count. Strings inside
/// are ISO 8859-1 without wide text, as in GIOP 1.0. Octets that `read` leaves unread are ignored,
/// as later versions may add members.
///
/// # Errors
/// The errors of `read`; [`CdrErrorKind::Truncated`](orbium_cdr::CdrErrorKind) for an empty
/// sequence.
pub fn decode_encapsulation<T>(
    data: &[u8],
    read: impl FnOnce(&mut CdrReader<'_>) -> Result<T, CdrError>,
) -> Result<T, CdrError> {
    let mut copy = Vec::new();
    match open(data, &mut copy) {
        Ok(mut reader) => read(&mut reader),
        Err(error) => Err(error),
    }
}

/// Behind the byte order.
fn open<'a>(data: &[u8], copy: &'a mut Vec<u8>) -> Result<CdrReader<'a>, CdrError> {
    let reserved = copy.try_reserve_exact(data.len());
    reserved.map_err(|_| CdrError::new(CdrErrorKind::NoMemory, 0))?;
    copy.extend_from_slice(data);
    let mut reader = CdrReader::new(copy, Format::plain(ByteOrder::NATIVE, 0));
    let order = ByteOrder::from_flag(reader.read_u8()?);
    reader.set_format(Format::plain(order, 0));
    Ok(reader)
}

/// A string of an encapsulation, as an owned value.
pub(crate) fn read_text(reader: &mut CdrReader<'_>) -> Result<String, CdrError> {
    reader.read_owned_name()
}

/// A sequence of octets, as an owned value.
pub(crate) fn read_octets(reader: &mut CdrReader<'_>) -> Result<Vec<u8>, CdrError> {
    Vec::decode(reader)
}

/// The octets of an encapsulation in native order, without the count.
///
/// # Errors
/// Errors of the writer, for example for a string that contains a NUL.
pub fn encode_encapsulation(write: impl FnOnce(&mut CdrWriter<'_>)) -> Result<Vec<u8>, CdrError> {
    let mut writer = begin();
    write(&mut writer);
    writer.finish()
}

fn begin() -> CdrWriter<'static> {
    let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, 0));
    writer.write_u8(ByteOrder::NATIVE.flag());
    writer
}

/// As [`encode_encapsulation`], for values that cannot fail to encode.
pub(crate) fn encapsulate(write: impl FnOnce(&mut CdrWriter<'_>)) -> Vec<u8> {
    // The only failures of names and octets are counts beyond 32 bits, which no received or
    // configured reference has.
    encode_encapsulation(write).unwrap_or_default()
}

pub(crate) fn write_octets(writer: &mut CdrWriter<'_>, octets: &[u8]) {
    writer.write_count(octets.len());
    writer.write_raw(octets);
}

/// A sequence with elements of at least `least` octets each.
pub(crate) fn read_list<T>(
    reader: &mut CdrReader<'_>,
    least: usize,
    read: impl Fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
) -> Result<Vec<T>, CdrError> {
    let count = reader.read_count(least)?;
    let mut list = Vec::new();
    for _ in 0..count {
        list.push(read(reader)?);
    }
    Ok(list)
}
