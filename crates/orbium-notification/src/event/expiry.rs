// SPDX-License-Identifier: MIT OR Apache-2.0
//! The time at which an event expires and its priority, in its header.

use std::time::{Duration, SystemTime};

use orbium::giop::time::{UtcT, UtcTime};
use orbium::{Any, TypeCode};

use crate::idl::cos_notification::Property;

/// The priority in a header.
pub(super) fn priority_of(fields: &[Property]) -> Option<i16> {
    let field = fields.iter().find(|it| it.name == "Priority");
    field.and_then(|it| it.value.extract::<i16>().ok())
}

/// The time left until a `TimeBase::UtcT`; none at all if it has passed.
// The method by its name would be for one lifetime only.
#[allow(clippy::redundant_closure_for_method_calls)]
pub(super) fn until(utc: &Any) -> Option<Duration> {
    let units = utc.read_with(|reader| reader.read_u64()).ok()?;
    (utc.type_code().name() == "UtcT").then(|| {
        let left = units.saturating_sub(UtcTime::from(SystemTime::now()).0);
        Duration::from_nanos(left.saturating_mul(100))
    })
}

/// The time after so long, as a `TimeBase::UtcT`.
pub(super) fn utc_after(left: Duration) -> Any {
    let units = u64::try_from(left.as_nanos() / 100).unwrap_or(u64::MAX);
    let UtcTime(now) = UtcTime::from(SystemTime::now());
    let time = UtcTime(now.saturating_add(units));
    // A value of that type.
    Any::with_type(utc_type(), &UtcT::from(time)).unwrap_or_default()
}

/// With the aliases that the IDL has.
fn utc_type() -> TypeCode {
    let [long_long, long, ushort, short] = [
        Any::from(0u64),
        Any::from(0u32),
        Any::from(0u16),
        Any::from(0i16),
    ]
    .map(|it| it.type_code().clone());
    let time = TypeCode::alias("IDL:omg.org/TimeBase/TimeT:1.0", "TimeT", long_long);
    let zone = TypeCode::alias("IDL:omg.org/TimeBase/TdfT:1.0", "TdfT", short);
    let members = [
        ("time", time),
        ("inacclo", long),
        ("inacchi", ushort),
        ("tdf", zone),
    ];
    TypeCode::structure("IDL:omg.org/TimeBase/UtcT:1.0", "UtcT", members)
}
