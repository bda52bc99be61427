// SPDX-License-Identifier: MIT OR Apache-2.0
//! The service context by which a distributable thread crosses processes.

use orbium::CdrError;
use orbium::cdr::CdrReader;
use orbium::giop::{decode_encapsulation, encode_encapsulation};

use crate::id::ThreadId;
use crate::parameter::SchedulingParameter;

/// The id of the service context, as TAO has it.
pub const SCHEDULING_INFO: u32 = 30;

/// The longest name that is read.
const MAX_NAME: usize = 256;

/// What the context says of a thread. On the wire an encapsulation: id, importance, criticality,
/// priority, deadline and execution time, as in TAO; then the discipline, the name of the segment, and
/// whether the thread has a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SchedulingInfo {
    pub(crate) id: ThreadId,
    pub(crate) name: String,
    pub(crate) parameter: Option<SchedulingParameter>,
}

/// All fields, of which a discipline uses some.
#[derive(Default)]
struct Fields {
    importance: i32,
    criticality: i32,
    priority: i16,
    deadline: u64,
    execution: u64,
}

impl Fields {
    fn of(parameter: SchedulingParameter) -> Self {
        let none = Self::default();
        match parameter {
            SchedulingParameter::FixedPriority { priority } => Self { priority, ..none },
            SchedulingParameter::EarliestDeadline {
                deadline,
                importance,
            } => Self {
                deadline,
                importance,
                ..none
            },
            SchedulingParameter::LeastLaxity {
                deadline,
                execution,
                importance,
            } => Self {
                deadline,
                execution,
                importance,
                ..none
            },
            SchedulingParameter::MaximumUrgency {
                deadline,
                execution,
                criticality,
            } => Self {
                deadline,
                execution,
                criticality,
                ..none
            },
        }
    }

    fn parameter(self, discipline: &str) -> Option<SchedulingParameter> {
        let Self {
            importance,
            criticality,
            priority,
            deadline,
            execution,
        } = self;
        Some(match discipline {
            "FP_Scheduling" => SchedulingParameter::FixedPriority { priority },
            "EDF_Scheduling" => SchedulingParameter::EarliestDeadline {
                deadline,
                importance,
            },
            "LLF_Scheduling" => SchedulingParameter::LeastLaxity {
                deadline,
                execution,
                importance,
            },
            "MUF_Scheduling" => SchedulingParameter::MaximumUrgency {
                deadline,
                execution,
                criticality,
            },
            _ => return None,
        })
    }
}

impl SchedulingInfo {
    /// The data of the context. A name that the peer would refuse is left out.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let fields = self.parameter.map(Fields::of).unwrap_or_default();
        let discipline = self.parameter.map_or("", |it| it.discipline());
        let is_sendable = self.name.len() <= MAX_NAME && !self.name.contains('\0');
        let name = if is_sendable { &self.name } else { "" };
        let data = encode_encapsulation(|writer| {
            writer.write_octets(self.id.as_bytes());
            writer.write_u32(fields.importance.cast_unsigned());
            writer.write_u32(fields.criticality.cast_unsigned());
            writer.write_u16(fields.priority.cast_unsigned());
            writer.write_u64(fields.deadline);
            writer.write_u64(fields.execution);
            writer.write_name(discipline);
            writer.write_name(name);
        });
        data.expect("neither name has a NUL")
    }

    /// What the data says; `None` for content of other ORBs: their requests are ordinary ones.
    pub(crate) fn decode(data: &[u8]) -> Option<Self> {
        decode_encapsulation(data, Self::read).ok().flatten()
    }

    fn read(reader: &mut CdrReader<'_>) -> Result<Option<Self>, CdrError> {
        let id = ThreadId::from_bytes(reader.read_octets()?);
        let fields = Fields {
            importance: reader.read_u32()?.cast_signed(),
            criticality: reader.read_u32()?.cast_signed(),
            priority: reader.read_u16()?.cast_signed(),
            deadline: reader.read_u64()?,
            execution: reader.read_u64()?,
        };
        let parameter = fields.parameter(reader.read_name()?);
        let name = reader.read_name()?;
        if name.len() > MAX_NAME {
            return Ok(None);
        }
        let name = name.to_owned();
        Ok(id.map(|id| Self {
            id,
            name,
            parameter,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(parameter: Option<SchedulingParameter>) -> SchedulingInfo {
        SchedulingInfo {
            id: ThreadId::unique(),
            name: "scan".to_owned(),
            parameter,
        }
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let (deadline, execution) = (u64::MAX, 7);
        let parameters = [
            None,
            Some(SchedulingParameter::FixedPriority { priority: -3 }),
            Some(SchedulingParameter::EarliestDeadline {
                deadline,
                importance: -1,
            }),
            Some(SchedulingParameter::LeastLaxity {
                deadline,
                execution,
                importance: 2,
            }),
            Some(SchedulingParameter::MaximumUrgency {
                deadline,
                execution,
                criticality: i32::MIN,
            }),
        ];
        for parameter in parameters {
            let info = info(parameter);
            assert_eq!(SchedulingInfo::decode(&info.encode()), Some(info));
        }
    }

    #[test]
    fn truncated_and_foreign_content_is_none() {
        let data = info(None).encode();
        for length in 0..data.len() {
            assert_eq!(SchedulingInfo::decode(&data[..length]), None, "{length}");
        }
        assert_eq!(SchedulingInfo::decode(&[0xff; 200]), None);
    }

    #[test]
    fn names_that_cannot_be_sent_are_left_out() {
        for name in ["x".repeat(MAX_NAME + 1), "a\0b".to_owned()] {
            let info = SchedulingInfo { name, ..info(None) };
            let read = SchedulingInfo::decode(&info.encode()).unwrap();
            assert_eq!((read.id, read.name.as_str()), (info.id, ""));
        }
    }
}
