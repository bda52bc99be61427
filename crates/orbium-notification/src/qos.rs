// SPDX-License-Identifier: MIT OR Apache-2.0
//! Properties of quality of service and of administration: names, types, ranges, levels.

use std::sync::Arc;
use std::time::Duration;

use orbium::lock::{Mutex, MutexGuard};
use orbium::{Any, TypeCode};

use crate::idl::cos_notification::{
    NamedPropertyRange, Property, PropertyError, PropertyRange, QoSErrorCode,
};

/// Bits of the levels at which a property can be set.
pub(crate) const MESSAGE: u8 = 1;
pub(crate) const PROXY: u8 = 2;
pub(crate) const ADMIN: u8 = 4;
pub(crate) const CHANNEL: u8 = 8;
const OBJECTS: u8 = PROXY | ADMIN | CHANNEL;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Short,
    Long,
    Bool,
    Time,
    /// `TimeBase::UtcT`, of which only the type is checked.
    Utc,
}

/// A property: its name and type, range, default, and levels.
pub(crate) struct Definition {
    name: &'static str,
    kind: Kind,
    range: (i64, i64),
    /// The maximum of the specification.
    most: i64,
    default: i64,
    levels: u8,
}

const fn define(
    name: &'static str,
    kind: Kind,
    range: (i64, i64),
    default: i64,
    levels: u8,
) -> Definition {
    Definition {
        name,
        kind,
        range,
        most: range.1,
        default,
        levels,
    }
}

const COUNT: (i64, i64) = (0, i32::MAX as i64);
const TIME: (i64, i64) = (0, i64::MAX);

/// Indices into a table of qualities.
pub(crate) const CONNECTION: usize = 1;
pub(crate) const PRIORITY: usize = 2;
pub(crate) const TIMEOUT: usize = 3;
pub(crate) const MAX_EVENTS: usize = 5;
pub(crate) const ORDER: usize = 6;
pub(crate) const DISCARD: usize = 7;
pub(crate) const BATCH: usize = 8;
pub(crate) const PACING: usize = 9;

/// The properties of quality of service, with the greatest and default reliability of events and of connections.
const fn quality(events: i64, connections: i64) -> [Definition; 12] {
    [
        Definition {
            most: 1,
            ..define(
                "EventReliability",
                Kind::Short,
                (0, events),
                events,
                MESSAGE | CHANNEL,
            )
        },
        Definition {
            most: 1,
            ..define(
                "ConnectionReliability",
                Kind::Short,
                (0, connections),
                connections,
                OBJECTS,
            )
        },
        define(
            "Priority",
            Kind::Short,
            (-32767, 32767),
            0,
            MESSAGE | OBJECTS,
        ),
        define("Timeout", Kind::Time, TIME, 0, MESSAGE | OBJECTS),
        define("StopTime", Kind::Utc, (0, 0), 0, MESSAGE),
        define("MaxEventsPerConsumer", Kind::Long, COUNT, 0, OBJECTS),
        define("OrderPolicy", Kind::Short, (0, 3), 2, OBJECTS),
        define("DiscardPolicy", Kind::Short, (0, 4), 0, OBJECTS),
        define(
            "MaximumBatchSize",
            Kind::Long,
            (1, i32::MAX as i64),
            1,
            OBJECTS,
        ),
        define("PacingInterval", Kind::Time, TIME, 0, OBJECTS),
        Definition {
            most: 1,
            ..define("StartTimeSupported", Kind::Bool, (0, 0), 0, OBJECTS)
        },
        define("StopTimeSupported", Kind::Bool, (0, 1), 1, OBJECTS),
    ]
}

/// For channels without and with a file of connections, that keep their events in memory, and that
/// store every event.
static QOS: [[[Definition; 12]; 2]; 2] = [
    [quality(0, 0), quality(0, 1)],
    [quality(1, 0), quality(1, 1)],
];

/// The properties of a channel.
pub(crate) const fn qualities(
    stores_events: bool,
    keeps_connections: bool,
) -> &'static [Definition] {
    &QOS[stores_events as usize][keeps_connections as usize]
}

/// Indices into [`ADMINISTRATION`].
pub(crate) const MAX_QUEUE: usize = 0;
pub(crate) const MAX_CONSUMERS: usize = 1;
pub(crate) const MAX_SUPPLIERS: usize = 2;
pub(crate) const REJECT: usize = 3;

pub(crate) static ADMINISTRATION: [Definition; 4] = [
    define("MaxQueueLength", Kind::Long, COUNT, 0, CHANNEL),
    define("MaxConsumers", Kind::Long, COUNT, 0, CHANNEL),
    define("MaxSuppliers", Kind::Long, COUNT, 0, CHANNEL),
    define("RejectNewEvents", Kind::Bool, (0, 1), 0, CHANNEL),
];

impl Definition {
    fn any(&self, value: i64) -> Any {
        match self.kind {
            Kind::Short => Any::from(i16::try_from(value).unwrap_or(i16::MAX)),
            Kind::Long => Any::from(i32::try_from(value).unwrap_or(i32::MAX)),
            Kind::Bool => Any::from(value != 0),
            Kind::Time | Kind::Utc => time(value.cast_unsigned()),
        }
    }

    fn value(&self, any: &Any) -> Option<i64> {
        match self.kind {
            Kind::Short => any.extract::<i16>().ok().map(i64::from),
            Kind::Long => any.extract::<i32>().ok().map(i64::from),
            Kind::Bool => any.extract::<bool>().ok().map(i64::from),
            Kind::Time => {
                let units = any.extract::<u64>().ok();
                units.map(|it| i64::try_from(it).unwrap_or(i64::MAX))
            }
            Kind::Utc => (any.type_code().name() == "UtcT").then_some(0),
        }
    }

    fn available(&self) -> PropertyRange {
        PropertyRange {
            low_val: self.any(self.range.0),
            high_val: self.any(self.range.1),
        }
    }

    /// Checks a value of this property.
    fn check(&self, any: &Any, level: u8) -> Result<i64, QoSErrorCode> {
        if self.levels & level == 0 {
            return Err(QoSErrorCode::BadProperty);
        }
        let value = self.value(any).ok_or(QoSErrorCode::BadType)?;
        match value {
            _ if (self.range.0..=self.range.1).contains(&value) => Ok(value),
            _ if (self.range.0..=self.most).contains(&value) => Err(QoSErrorCode::UnsupportedValue),
            _ => Err(QoSErrorCode::BadValue),
        }
    }
}

/// A `TimeBase::TimeT`: units of 100 ns.
fn time(units: u64) -> Any {
    let long = Any::from(units);
    let code = TypeCode::alias(
        "IDL:omg.org/TimeBase/TimeT:1.0",
        "TimeT",
        long.type_code().clone(),
    );
    Any::with_type(code, &units).unwrap_or(long)
}

/// A time of so many units of 100 ns.
pub(crate) fn duration(units: i64) -> Duration {
    Duration::from_nanos(units.cast_unsigned().saturating_mul(100))
}

/// Values of properties by their index.
pub(crate) type Checked = Vec<(usize, i64)>;

/// Checks all properties that would be set at a level.
///
/// # Errors
/// An entry for each that cannot be set.
pub(crate) fn check(
    table: &[Definition],
    level: u8,
    properties: &[Property],
) -> Result<Checked, Vec<PropertyError>> {
    let (mut checked, mut errors) = (Vec::new(), Vec::new());
    for property in properties {
        let index = table.iter().position(|it| it.name == property.name);
        let outcome = match index {
            Some(index) => table[index]
                .check(&property.value, level)
                .map(|value| (index, value)),
            None if property.name == "StartTime" => Err(QoSErrorCode::UnsupportedProperty),
            None => Err(QoSErrorCode::BadProperty),
        };
        match outcome {
            Ok(value) => checked.push(value),
            Err(code) => errors.push(PropertyError {
                code,
                name: property.name.clone(),
                available_range: index
                    .map_or_else(PropertyRange::default, |it| table[it].available()),
            }),
        }
    }
    if errors.is_empty() {
        Ok(checked)
    } else {
        Err(errors)
    }
}

/// The ranges of further properties at a level together with these properties.
pub(crate) fn ranges(table: &[Definition], level: u8, others: &Checked) -> Vec<NamedPropertyRange> {
    let further = table.iter().enumerate().filter(|(index, it)| {
        it.levels & level != 0
            && it.kind != Kind::Utc
            && others.iter().all(|(other, _)| other != index)
    });
    let named = further.map(|(_, it)| NamedPropertyRange {
        name: it.name.to_owned(),
        range: it.available(),
    });
    named.collect()
}

/// The properties of a channel, an admin or a proxy. Properties that are not set are inherited from
/// the object above.
pub(crate) struct Level {
    table: &'static [Definition],
    pub(crate) level: u8,
    set: Mutex<Vec<Option<i64>>>,
    above: Option<Arc<Level>>,
}

impl Level {
    pub(crate) fn new(table: &'static [Definition], level: u8, above: Option<Arc<Self>>) -> Self {
        Self {
            table,
            level,
            set: Mutex::new(vec![None; table.len()]),
            above,
        }
    }

    /// The level of an object below this one.
    pub(crate) fn below(self: &Arc<Self>, level: u8) -> Self {
        Self::new(self.table, level, Some(Arc::clone(self)))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Option<i64>>> {
        self.set.lock()
    }

    /// The effective value.
    pub(crate) fn get(&self, index: usize) -> i64 {
        let own = self.lock()[index];
        own.unwrap_or_else(|| match &self.above {
            Some(above) => above.get(index),
            None => self.table[index].default,
        })
    }

    /// Sets all of the properties, or none.
    ///
    /// # Errors
    /// An entry for each that cannot be set.
    pub(crate) fn set(&self, properties: &[Property]) -> Result<(), Vec<PropertyError>> {
        let checked = check(self.table, self.level, properties)?;
        let mut set = self.lock();
        for (index, value) in checked {
            set[index] = Some(value);
        }
        Ok(())
    }

    /// The properties that are set here.
    pub(crate) fn own_properties(&self) -> Vec<Property> {
        let own = self.lock().clone();
        let set = self.table.iter().zip(own);
        let named = set.filter_map(|(it, value)| {
            Some(Property {
                name: it.name.to_owned(),
                value: it.any(value?),
            })
        });
        named.collect()
    }

    /// All properties of this level with their effective values.
    pub(crate) fn properties(&self) -> Vec<Property> {
        let own = self
            .table
            .iter()
            .enumerate()
            .filter(|(_, it)| it.levels & self.level != 0);
        let named = own.map(|(index, it)| Property {
            name: it.name.to_owned(),
            value: it.any(self.get(index)),
        });
        named.collect()
    }

    /// Checks whether properties could be set, and returns the ranges of further ones together with
    /// them.
    ///
    /// # Errors
    /// An entry for each that cannot be set.
    pub(crate) fn validate(
        &self,
        level: u8,
        properties: &[Property],
    ) -> Result<Vec<NamedPropertyRange>, Vec<PropertyError>> {
        let checked = check(self.table, level, properties)?;
        Ok(ranges(self.table, level, &checked))
    }
}
