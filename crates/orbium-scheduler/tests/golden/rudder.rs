// Written from RT_Infos by orbium-sched. Change those, then write it again.
//
// strategy rms, utilization 0.580, lowest queue that meets its deadlines: 1
//
// queue  priority  order   period  share  response  holds
// 0      99        static  50 ms   0.280  14 ms     guaranteed by the utilization bound
// 1      98        static  100 ms  0.300  44 ms     guaranteed by the utilization bound
//
// thread         queue  period  worst case  typical  share  operations
// Rudder::steer  0      50 ms   14 ms       14 ms    0.280  2
// Log::write     1      100 ms  30 ms       30 ms    0.300  1
//
// operation      dependency  on          times
// Rudder::steer  calls       Gyro::read  2

/// `Rudder::steer`
pub const RUDDER_STEER: usize = 0;
/// `Log::write`
pub const LOG_WRITE: usize = 1;
/// `Gyro::read`
pub const GYRO_READ: usize = 2;

/// The operations.
#[rustfmt::skip]
pub const ENTRIES: [orbium_sched::Entry; 3] = [
    orbium_sched::Entry::new("Rudder::steer", (0, 1, 99), 500000, 100000).with_calls(140000),
    orbium_sched::Entry::new("Log::write", (1, 0, 98), 1000000, 300000),
    orbium_sched::Entry::new("Gyro::read", (0, 0, 99), 0, 20000),
];

/// The schedule.
#[rustfmt::skip]
pub static SCHEDULE: orbium_sched::Table = orbium_sched::Table {
    strategy: orbium_sched::Strategy::Rms,
    hash: 0xbaf0c14facfaeb60,
    entries: &ENTRIES,
    queues: &[
        orbium_sched::Queue { priority: 99, dispatching: orbium_sched::Dispatching::Static },
        orbium_sched::Queue { priority: 98, dispatching: orbium_sched::Dispatching::Static },
    ],
};
