// SPDX-License-Identifier: MIT OR Apache-2.0
//! The primitive types of a model.

use orbium_idl::model::Type;

use crate::corba::PrimitiveKind;

/// The types that consist of a keyword. An `int8` of IDL 4 is marshalled as an octet.
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

/// The primitive type of a type without parts.
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
