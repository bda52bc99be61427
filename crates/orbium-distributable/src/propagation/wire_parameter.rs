// SPDX-License-Identifier: MIT OR Apache-2.0
//! Encoded scheduling parameters: all members, of which a discipline uses some.

use crate::scheduling::parameter::SchedulingParameter;
use crate::thread_control::Parameter;

/// The encoded parameter; none is the discipline without a name.
pub(crate) fn to_wire(parameter: Option<SchedulingParameter>) -> Parameter {
    let mut wire = Parameter {
        importance: 0,
        criticality: 0,
        priority: 0,
        deadline: 0,
        execution: 0,
        discipline: parameter.map_or("", |it| it.discipline()).to_owned(),
    };
    match parameter {
        None => {}
        Some(SchedulingParameter::FixedPriority { priority }) => wire.priority = priority,
        Some(SchedulingParameter::MostImportantFirst { importance }) => {
            wire.importance = importance;
        }
        Some(SchedulingParameter::EarliestDeadline {
            deadline,
            importance,
        }) => {
            (wire.deadline, wire.importance) = (deadline, importance);
        }
        Some(
            SchedulingParameter::LeastLaxity {
                deadline,
                execution,
                importance,
            }
            | SchedulingParameter::MaximumUtility {
                deadline,
                execution,
                importance,
            },
        ) => {
            (wire.deadline, wire.execution) = (deadline, execution);
            wire.importance = importance;
        }
        Some(SchedulingParameter::MaximumUrgency {
            deadline,
            execution,
            criticality,
        }) => {
            (wire.deadline, wire.execution) = (deadline, execution);
            wire.criticality = criticality;
        }
    }
    wire
}

/// The parameter; none for an unknown discipline.
pub(crate) fn from_wire(wire: &Parameter) -> Option<SchedulingParameter> {
    let Parameter {
        importance,
        criticality,
        priority,
        deadline,
        execution,
        ref discipline,
    } = *wire;
    Some(match discipline.as_str() {
        "FP_Scheduling" => SchedulingParameter::FixedPriority { priority },
        "MIF_Scheduling" => SchedulingParameter::MostImportantFirst { importance },
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
        "Max_Utility_Scheduling" => SchedulingParameter::MaximumUtility {
            deadline,
            execution,
            importance,
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_discipline_that_is_not_known_is_no_parameter() {
        let known = to_wire(Some(SchedulingParameter::FixedPriority { priority: 7 }));
        assert!(from_wire(&known).is_some());
        for discipline in ["", "FIFO_Scheduling", "FP_Scheduling "] {
            let discipline = discipline.to_owned();
            let foreign = Parameter {
                discipline,
                ..known.clone()
            };
            assert_eq!(from_wire(&foreign), None);
        }
    }
}
