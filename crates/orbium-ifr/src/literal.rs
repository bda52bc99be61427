// SPDX-License-Identifier: MIT OR Apache-2.0
//! Labels of unions and values of constants, as anys and in the store.

use orbium::cdr::{ByteOrder, CdrReader, CdrWriter, Format};
use orbium::codegen::{Decode, Encode};
use orbium::{
    Any, Char, Completion, SystemException, TypeCode, WChar,
    cdr::{CdrError, TCKind},
};

use crate::fault::{self, Result};

/// The encoding of labels of one kind.
struct Label {
    kind: TCKind,
    write: fn(TypeCode, i64) -> Written<Any>,
    read: fn(&Any) -> Written<i64>,
}

type Written<T> = std::result::Result<T, CdrError>;

/// Labels that are numbers of a Rust type.
macro_rules! number {
    ($kind:ident $type:ty) => {
        Label {
            kind: TCKind::$kind,
            write: |code, label| Any::with_type(code, &(label as $type)),
            read: |any| any.decode_as::<$type>().map(|it| it as i64),
        }
    };
}

static LABELS: [Label; 11] = [
    number!(Short i16),
    number!(UShort u16),
    number!(Long i32),
    number!(ULong u32),
    number!(Enum u32),
    number!(LongLong i64),
    number!(ULongLong u64),
    number!(Octet u8),
    Label {
        kind: TCKind::Boolean,
        write: |code, label| Any::with_type(code, &(label != 0)),
        read: |any| any.decode_as::<bool>().map(i64::from),
    },
    Label {
        kind: TCKind::Char,
        write: |code, label| Any::with_type(code, &Char(label as u8)),
        read: |any| any.decode_as::<Char>().map(|it| i64::from(it.0)),
    },
    Label {
        kind: TCKind::WChar,
        write: |code, label| Any::with_type(code, &WChar(label as u16)),
        read: |any| any.decode_as::<WChar>().map(|it| i64::from(it.0)),
    },
];

fn labels_of(discriminator: &TypeCode) -> Result<&'static Label> {
    let kind = discriminator.unaliased().kind();
    let found = LABELS.iter().find(|it| it.kind == kind);
    found.ok_or(fault::BAD_DISCRIMINATOR)
}

fn failed(error: CdrError) -> SystemException {
    SystemException::from_cdr(error, Completion::No)
}

/// The any of a label for the repository's interfaces: the octet 0 for `default:`.
pub(crate) fn label(discriminator: &TypeCode, label: Option<i64>) -> Result<Any> {
    let Some(label) = label else {
        return Ok(Any::from(0u8));
    };
    // The label was checked against the type of the discriminator when it was set.
    let write = labels_of(discriminator)?.write;
    write(discriminator.clone(), label).map_err(failed)
}

/// The label of an any, by the type of the discriminator; none for `default:`.
pub(crate) fn label_value(discriminator: &TypeCode, label: &Any) -> Result<Option<i64>> {
    let of = labels_of(discriminator)?;
    if label.type_code().unaliased().kind() == TCKind::Octet && of.kind != TCKind::Octet {
        return match label.extract::<u8>() {
            Ok(0) => Ok(None),
            _ => Err(fault::BAD_LABEL),
        };
    }
    if !label.type_code().equivalent(discriminator) {
        return Err(fault::BAD_LABEL);
    }
    let value = (of.read)(label);
    value.map(Some).map_err(|_| fault::BAD_LABEL)
}

/// The encoding of constants in the store: the same on every machine.
fn format() -> Format {
    Format {
        order: ByteOrder::Little,
        ..Format::native()
    }
}

/// The value of a constant.
pub(crate) fn constant(stored: &[u8]) -> Result<Any> {
    let mut octets = stored.to_vec();
    Any::decode(&mut CdrReader::new(&mut octets, format())).map_err(failed)
}

/// The stored form of a constant.
pub(crate) fn stored(value: &Any) -> Result<Vec<u8>> {
    let mut writer = CdrWriter::new(format());
    value.encode(&mut writer);
    writer.finish().map_err(failed)
}

/// Kinds of types that are valid for constants.
const CONSTANTS: [TCKind; 17] = [
    TCKind::Short,
    TCKind::UShort,
    TCKind::Long,
    TCKind::ULong,
    TCKind::LongLong,
    TCKind::ULongLong,
    TCKind::Float,
    TCKind::Double,
    TCKind::LongDouble,
    TCKind::Boolean,
    TCKind::Char,
    TCKind::WChar,
    TCKind::Octet,
    TCKind::String,
    TCKind::WString,
    TCKind::Fixed,
    TCKind::Enum,
];

/// Whether a type is valid for constants.
pub(crate) fn is_constant_type(code: &TypeCode) -> bool {
    CONSTANTS.contains(&code.unaliased().kind())
}
