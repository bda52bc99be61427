// SPDX-License-Identifier: MIT OR Apache-2.0
//! The service context that propagates a distributable thread between processes.

use orbium::cdr::CdrError;
use orbium::cdr::{CdrReader, CdrWriter, Decode};
use orbium::giop::{decode_encapsulation, encode_encapsulation};

use crate::propagation::notice::Inherited;
use crate::propagation::wire_parameter::{from_wire, to_wire};
use crate::scheduling::parameter::SchedulingParameter;
use crate::thread::id::ThreadId;
use crate::thread_control::Parameter;

/// The id of the service context, the same as TAO's.
pub const SCHEDULING_INFO: u32 = 30;

/// Maximum length of a name that is read.
const MAX_NAME: usize = 256;

/// The content of the service context. An encapsulation: id, importance, criticality, priority,
/// deadline and execution time, as in TAO; then the discipline and the name of the segment; then
/// the inheritance of the call: its number, that of the notice, and a parameter as the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SchedulingInfo {
    pub(crate) id: ThreadId,
    pub(crate) name: String,
    pub(crate) parameter: Option<SchedulingParameter>,
    pub(crate) inherited: Inherited,
}

impl SchedulingInfo {
    /// The data of the context. A name that the peer would refuse is omitted.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let is_sendable = self.name.len() <= MAX_NAME && !self.name.contains('\0');
        let name = if is_sendable { &self.name } else { "" };
        let data = encode_encapsulation(|writer| {
            writer.write_octets(self.id.as_bytes());
            write_parameter(self.parameter, writer);
            writer.write_name(name);
            writer.write_u64(self.inherited.call);
            writer.write_u64(self.inherited.sequence);
            write_parameter(self.inherited.parameter, writer);
        });
        data.expect("neither name has a NUL")
    }

    /// The content of the data; `None` for other ORBs' content: their requests are ordinary ones.
    pub(crate) fn decode(data: &[u8]) -> Option<Self> {
        decode_encapsulation(data, Self::read).ok().flatten()
    }

    fn read(reader: &mut CdrReader<'_>) -> Result<Option<Self>, CdrError> {
        let id = ThreadId::from_bytes(reader.read_octets()?);
        let parameter = from_wire(&Parameter::decode(reader)?);
        let name = reader.read_name()?;
        if name.len() > MAX_NAME {
            return Ok(None);
        }
        let name = name.to_owned();
        let inherited = Inherited {
            call: reader.read_u64()?,
            sequence: reader.read_u64()?,
            parameter: from_wire(&Parameter::decode(reader)?),
        };
        Ok(id.map(|id| Self {
            id,
            name,
            parameter,
            inherited,
        }))
    }
}

/// Writes the struct of the IDL.
fn write_parameter(parameter: Option<SchedulingParameter>, writer: &mut CdrWriter<'_>) {
    let wire = to_wire(parameter);
    writer.write_u32(wire.importance.cast_unsigned());
    writer.write_u32(wire.criticality.cast_unsigned());
    writer.write_u16(wire.priority.cast_unsigned());
    writer.write_u64(wire.deadline);
    writer.write_u64(wire.execution);
    writer.write_name(&wire.discipline);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(parameter: Option<SchedulingParameter>) -> SchedulingInfo {
        SchedulingInfo {
            id: ThreadId::unique(),
            name: "scan".to_owned(),
            parameter,
            inherited: Inherited {
                call: u64::MAX,
                sequence: 3,
                parameter,
            },
        }
    }

    #[test]
    fn written_contexts_are_read_back() {
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
            Some(SchedulingParameter::MaximumUtility {
                deadline,
                execution,
                importance: i32::MAX,
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
