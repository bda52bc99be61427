// Written from RT_Infos by orbium-sched. Change those, then write it again.
//
// strategy rms, utilization 0.700, lowest queue that meets its deadlines: 3
//
// queue  priority  order   period  share  response  holds
// 0      99        static  50 ms   0.200  10 ms     guaranteed by the utilization bound
// 1      98        static  100 ms  0.200  30 ms     guaranteed by the utilization bound
// 2      97        static  200 ms  0.200  80 ms     guaranteed by response times
// 3      96        static  1 s     0.100  300 ms    guaranteed by response times
//
// thread          queue  period  worst case  typical  share  operations
// INS::update     0      50 ms   10 ms       10 ms    0.200  1
// ADC::update     1      100 ms  20 ms       20 ms    0.200  1
// GPS::update     2      200 ms  20 ms       20 ms    0.100  1
// AirFrame::push  2      200 ms  20 ms       20 ms    0.100  1
// BIT::run        3      1 s     100 ms      100 ms   0.100  1
//
// operation       dependency      on           times
// AirFrame::push  is supplied by  INS::update  1
// AirFrame::push  is supplied by  ADC::update  1
// AirFrame::push  is supplied by  GPS::update  1

/// `INS::update`
pub const INS_UPDATE: usize = 0;
/// `ADC::update`
pub const ADC_UPDATE: usize = 1;
/// `GPS::update`
pub const GPS_UPDATE: usize = 2;
/// `BIT::run`
pub const BIT_RUN: usize = 3;
/// `AirFrame::push`
pub const AIRFRAME_PUSH: usize = 4;

/// The operations.
#[rustfmt::skip]
pub const ENTRIES: [orbium_sched::Entry; 5] = [
    orbium_sched::Entry::new("INS::update", (0, 0, 99), 500000, 100000),
    orbium_sched::Entry::new("ADC::update", (1, 0, 98), 1000000, 200000),
    orbium_sched::Entry::new("GPS::update", (2, 0, 97), 2000000, 200000),
    orbium_sched::Entry::new("BIT::run", (3, 0, 96), 10000000, 1000000),
    orbium_sched::Entry::new("AirFrame::push", (2, 1, 97), 2000000, 200000),
];

/// The schedule.
#[rustfmt::skip]
pub static SCHEDULE: orbium_sched::Table = orbium_sched::Table {
    strategy: orbium_sched::Strategy::Rms,
    hash: 0x72d9f8df41bea25b,
    entries: &ENTRIES,
    queues: &[
        orbium_sched::Queue { priority: 99, dispatching: orbium_sched::Dispatching::Static },
        orbium_sched::Queue { priority: 98, dispatching: orbium_sched::Dispatching::Static },
        orbium_sched::Queue { priority: 97, dispatching: orbium_sched::Dispatching::Static },
        orbium_sched::Queue { priority: 96, dispatching: orbium_sched::Dispatching::Static },
    ],
};
