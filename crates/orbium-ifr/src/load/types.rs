// SPDX-License-Identifier: MIT OR Apache-2.0
//! Labels and primitive types of a model.

use orbium_idl::model::{Case, ConstValue, Type};

use crate::corba::PrimitiveKind;

/// The labels of a case; that of `default:` is none.
pub(super) fn labels(case: &Case) -> Vec<Option<i64>> {
    let labels = case.labels.iter().map(|label| match label {
        // An `unsigned long long` as the number of the same bits.
        ConstValue::Integer(value) => *value as i64,
        ConstValue::Char(value) => i64::from(*value),
        ConstValue::WChar(value) => i64::from(*value),
        ConstValue::Boolean(value) => i64::from(*value),
        ConstValue::Enumerator { index, .. } => i64::from(*index),
        // The compiler lets no other value be a label.
        _ => 0,
    });
    let mut labels: Vec<_> = labels.map(Some).collect();
    if case.is_default {
        labels.push(None);
    }
    labels
}

/// The types that need no more than their keyword. An `int8` of IDL 4 travels as an octet.
const SIMPLE: [(Type, PrimitiveKind); 19] = [
    (Type::Void, PrimitiveKind::PkVoid),
    (Type::Boolean, PrimitiveKind::PkBoolean),
    (Type::Char, PrimitiveKind::PkChar),
    (Type::WChar, PrimitiveKind::PkWchar),
    (Type::Octet, PrimitiveKind::PkOctet),
    (Type::Int8, PrimitiveKind::PkOctet),
    (Type::Short, PrimitiveKind::PkShort),
    (Type::UShort, PrimitiveKind::PkUshort),
    (Type::Long, PrimitiveKind::PkLong),
    (Type::ULong, PrimitiveKind::PkUlong),
    (Type::LongLong, PrimitiveKind::PkLonglong),
    (Type::ULongLong, PrimitiveKind::PkUlonglong),
    (Type::Float, PrimitiveKind::PkFloat),
    (Type::Double, PrimitiveKind::PkDouble),
    (Type::LongDouble, PrimitiveKind::PkLongdouble),
    (Type::Any, PrimitiveKind::PkAny),
    (Type::TypeCode, PrimitiveKind::PkTypeCode),
    (Type::Object, PrimitiveKind::PkObjref),
    (Type::ValueBase, PrimitiveKind::PkValueBase),
];

/// The primitive type that a type without parts is.
pub(super) fn primitive(ty: &Type) -> PrimitiveKind {
    match ty {
        Type::String(_) => PrimitiveKind::PkString,
        Type::WString(_) => PrimitiveKind::PkWstring,
        simple => {
            let found = SIMPLE.iter().find(|(it, _)| it == simple);
            found.map_or(PrimitiveKind::PkNull, |(_, kind)| *kind)
        }
    }
}
