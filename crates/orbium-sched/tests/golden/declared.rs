/// The index of `INS::update`.
pub const INS_UPDATE: usize = 0;
/// The index of `ADC::update`.
pub const ADC_UPDATE: usize = 1;
/// The index of `GPS::update`.
pub const GPS_UPDATE: usize = 2;
/// The index of `BIT::run`.
pub const BIT_RUN: usize = 3;
/// The index of `AirFrame::push`.
pub const AIRFRAME_PUSH: usize = 4;
/// The index of `odd "name"`.
pub const ODD_NAME: usize = 5;

/// The needs of the operations, and their dependencies.
#[rustfmt::skip]
pub static OPERATIONS: [orbium_sched::Declaration; 6] = [
    orbium_sched::Declaration {
        name: "INS::update",
        timing: orbium_sched::Timing {
            worst_case_execution_time: orbium_sched::Time::from_ticks(100000),
            typical_execution_time: orbium_sched::Time::from_ticks(0),
            cached_execution_time: orbium_sched::Time::from_ticks(0),
            period: orbium_sched::Time::from_ticks(500000),
            quantum: orbium_sched::Time::from_ticks(0),
            criticality: orbium_sched::Criticality::Medium,
            importance: orbium_sched::Importance::Medium,
            threads: 0,
            kind: orbium_sched::InfoKind::Operation,
        },
        state: orbium_sched::EnableState::Enabled,
        depends_on: &[
        ],
    },
    orbium_sched::Declaration {
        name: "ADC::update",
        timing: orbium_sched::Timing {
            worst_case_execution_time: orbium_sched::Time::from_ticks(200000),
            typical_execution_time: orbium_sched::Time::from_ticks(0),
            cached_execution_time: orbium_sched::Time::from_ticks(0),
            period: orbium_sched::Time::from_ticks(1000000),
            quantum: orbium_sched::Time::from_ticks(0),
            criticality: orbium_sched::Criticality::Medium,
            importance: orbium_sched::Importance::Medium,
            threads: 0,
            kind: orbium_sched::InfoKind::Operation,
        },
        state: orbium_sched::EnableState::Enabled,
        depends_on: &[
        ],
    },
    orbium_sched::Declaration {
        name: "GPS::update",
        timing: orbium_sched::Timing {
            worst_case_execution_time: orbium_sched::Time::from_ticks(200000),
            typical_execution_time: orbium_sched::Time::from_ticks(0),
            cached_execution_time: orbium_sched::Time::from_ticks(0),
            period: orbium_sched::Time::from_ticks(2000000),
            quantum: orbium_sched::Time::from_ticks(0),
            criticality: orbium_sched::Criticality::Medium,
            importance: orbium_sched::Importance::Medium,
            threads: 0,
            kind: orbium_sched::InfoKind::Operation,
        },
        state: orbium_sched::EnableState::Enabled,
        depends_on: &[
        ],
    },
    orbium_sched::Declaration {
        name: "BIT::run",
        timing: orbium_sched::Timing {
            worst_case_execution_time: orbium_sched::Time::from_ticks(1000000),
            typical_execution_time: orbium_sched::Time::from_ticks(0),
            cached_execution_time: orbium_sched::Time::from_ticks(0),
            period: orbium_sched::Time::from_ticks(10000000),
            quantum: orbium_sched::Time::from_ticks(0),
            criticality: orbium_sched::Criticality::Medium,
            importance: orbium_sched::Importance::Medium,
            threads: 0,
            kind: orbium_sched::InfoKind::Operation,
        },
        state: orbium_sched::EnableState::Enabled,
        depends_on: &[
        ],
    },
    orbium_sched::Declaration {
        name: "AirFrame::push",
        timing: orbium_sched::Timing {
            worst_case_execution_time: orbium_sched::Time::from_ticks(200000),
            typical_execution_time: orbium_sched::Time::from_ticks(0),
            cached_execution_time: orbium_sched::Time::from_ticks(0),
            period: orbium_sched::Time::from_ticks(0),
            quantum: orbium_sched::Time::from_ticks(0),
            criticality: orbium_sched::Criticality::Medium,
            importance: orbium_sched::Importance::Medium,
            threads: 0,
            kind: orbium_sched::InfoKind::Conjunction,
        },
        state: orbium_sched::EnableState::Enabled,
        depends_on: &[
            orbium_sched::DeclaredDependency { on: "INS::update", calls: 1, kind: orbium_sched::DependencyKind::OneWayCall },
            orbium_sched::DeclaredDependency { on: "ADC::update", calls: 1, kind: orbium_sched::DependencyKind::OneWayCall },
            orbium_sched::DeclaredDependency { on: "GPS::update", calls: 1, kind: orbium_sched::DependencyKind::OneWayCall },
            orbium_sched::DeclaredDependency { on: "odd \"name\"\n", calls: 7, kind: orbium_sched::DependencyKind::TwoWayCall },
        ],
    },
    orbium_sched::Declaration {
        name: "odd \"name\"\n",
        timing: orbium_sched::Timing {
            worst_case_execution_time: orbium_sched::Time::from_ticks(50000),
            typical_execution_time: orbium_sched::Time::from_ticks(40000),
            cached_execution_time: orbium_sched::Time::from_ticks(30000),
            period: orbium_sched::Time::from_ticks(20000),
            quantum: orbium_sched::Time::from_ticks(10000),
            criticality: orbium_sched::Criticality::VeryHigh,
            importance: orbium_sched::Importance::Low,
            threads: 6,
            kind: orbium_sched::InfoKind::Disjunction,
        },
        state: orbium_sched::EnableState::Enabled,
        depends_on: &[
        ],
    },
];
