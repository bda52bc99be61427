// Written from RT_Infos by orbium-sched. Change those, then write it again.
//
// strategy rms, utilization 0.150, lowest queue that meets its deadlines: 3
//
// queue  priority  order   period  share  response  holds
// 0      99        static  50 ms   0.040  2 ms      guaranteed by the utilization bound
// 1      98        static  100 ms  0.070  9 ms      guaranteed by the utilization bound
// 2      97        static  200 ms  0.020  13 ms     guaranteed by the utilization bound
// 3      96        static  1 s     0.020  33 ms     guaranteed by the utilization bound
//
// thread                   queue  period  worst case  typical  share  operations
// Avionics::AirFrame::ins  0      50 ms   2 ms        2 ms     0.040  1
// Avionics::AirFrame::adc  1      100 ms  4 ms        4 ms     0.040  1
// Avionics::AirFrame::hud  1      100 ms  3 ms        3 ms     0.030  1
// Avionics::AirFrame::gps  2      200 ms  4 ms        4 ms     0.020  1
// Avionics::AirFrame::bit  3      1 s     20 ms       20 ms    0.020  1

/// `Avionics::AirFrame::ins`
pub const AVIONICS_AIRFRAME_INS: usize = 0;
/// `Avionics::AirFrame::adc`
pub const AVIONICS_AIRFRAME_ADC: usize = 1;
/// `Avionics::AirFrame::gps`
pub const AVIONICS_AIRFRAME_GPS: usize = 2;
/// `Avionics::AirFrame::hud`
pub const AVIONICS_AIRFRAME_HUD: usize = 3;
/// `Avionics::AirFrame::bit`
pub const AVIONICS_AIRFRAME_BIT: usize = 4;

/// The operations.
#[rustfmt::skip]
pub const ENTRIES: [orbium_sched::Entry; 5] = [
    orbium_sched::Entry::new("Avionics::AirFrame::ins", (0, 0, 99), 500000, 20000),
    orbium_sched::Entry::new("Avionics::AirFrame::adc", (1, 0, 98), 1000000, 40000),
    orbium_sched::Entry::new("Avionics::AirFrame::gps", (2, 0, 97), 2000000, 40000),
    orbium_sched::Entry::new("Avionics::AirFrame::hud", (1, 1, 98), 1000000, 30000),
    orbium_sched::Entry::new("Avionics::AirFrame::bit", (3, 0, 96), 10000000, 200000),
];

/// The schedule.
#[rustfmt::skip]
pub static SCHEDULE: orbium_sched::Table = orbium_sched::Table {
    strategy: orbium_sched::Strategy::Rms,
    hash: 0xf40c5b183acce0fc,
    entries: &ENTRIES,
    queues: &[
        orbium_sched::Queue { priority: 99, dispatching: orbium_sched::Dispatching::Static },
        orbium_sched::Queue { priority: 98, dispatching: orbium_sched::Dispatching::Static },
        orbium_sched::Queue { priority: 97, dispatching: orbium_sched::Dispatching::Static },
        orbium_sched::Queue { priority: 96, dispatching: orbium_sched::Dispatching::Static },
    ],
};
