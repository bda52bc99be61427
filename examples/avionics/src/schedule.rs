// Written from RT_Infos by orbium-sched. Change those, then write it again.
//
// strategy rms, utilization 0.698, lowest queue that meets its deadlines: 3
//
// queue  priority  order   period  share  response   holds
// 0      99        static  50 ms   0.250  12520 us   guaranteed by the utilization bound
// 1      98        static  100 ms  0.175  30040 us   guaranteed by the utilization bound
// 2      97        static  200 ms  0.153  73080 us   guaranteed by response times
// 3      96        static  1 s     0.120  338760 us  guaranteed by response times
//
// thread                               queue  period  worst case  typical   share  operations
// Avionics::Sensors::ins               0      50 ms   500 us      500 us    0.010  1
// Avionics::Flight::steer#dispatch     0      50 ms   12020 us    12020 us  0.240  2
// Avionics::Sensors::adc               1      100 ms  500 us      500 us    0.005  1
// Avionics::HeadUp::hud                1      100 ms  9 ms        9 ms      0.090  1
// Avionics::Flight::airspeed#dispatch  1      100 ms  8020 us     8020 us   0.080  2
// Avionics::Sensors::gps               2      200 ms  500 us      500 us    0.003  1
// Avionics::Flight::navigate#dispatch  2      200 ms  30020 us    30020 us  0.150  2
// Avionics::BuiltInTest::bit           3      1 s     120 ms      120 ms    0.120  1
//
// operation                            dependency      on                          times
// Avionics::Flight::steer#dispatch     is supplied by  Avionics::Sensors::ins      1
// Avionics::Flight::steer#dispatch     calls           Avionics::Flight::steer     1
// Avionics::Flight::airspeed#dispatch  is supplied by  Avionics::Sensors::adc      1
// Avionics::Flight::airspeed#dispatch  calls           Avionics::Flight::airspeed  1
// Avionics::Flight::navigate#dispatch  is supplied by  Avionics::Sensors::ins      1
// Avionics::Flight::navigate#dispatch  is supplied by  Avionics::Sensors::adc      1
// Avionics::Flight::navigate#dispatch  is supplied by  Avionics::Sensors::gps      1
// Avionics::Flight::navigate#dispatch  calls           Avionics::Flight::navigate  1

/// `Avionics::Sensors::ins`
pub const AVIONICS_SENSORS_INS: usize = 0;
/// `Avionics::Sensors::adc`
pub const AVIONICS_SENSORS_ADC: usize = 1;
/// `Avionics::Sensors::gps`
pub const AVIONICS_SENSORS_GPS: usize = 2;
/// `Avionics::Flight::steer`
pub const AVIONICS_FLIGHT_STEER: usize = 3;
/// `Avionics::Flight::airspeed`
pub const AVIONICS_FLIGHT_AIRSPEED: usize = 4;
/// `Avionics::Flight::navigate`
pub const AVIONICS_FLIGHT_NAVIGATE: usize = 5;
/// `Avionics::HeadUp::hud`
pub const AVIONICS_HEADUP_HUD: usize = 6;
/// `Avionics::BuiltInTest::bit`
pub const AVIONICS_BUILTINTEST_BIT: usize = 7;
/// `Avionics::Flight::steer#dispatch`
pub const AVIONICS_FLIGHT_STEER_DISPATCH: usize = 8;
/// `Avionics::Flight::airspeed#dispatch`
pub const AVIONICS_FLIGHT_AIRSPEED_DISPATCH: usize = 9;
/// `Avionics::Flight::navigate#dispatch`
pub const AVIONICS_FLIGHT_NAVIGATE_DISPATCH: usize = 10;

/// The operations.
#[rustfmt::skip]
pub const ENTRIES: [orbium_sched::Entry; 11] = [
    orbium_sched::Entry::new("Avionics::Sensors::ins", (0, 0, 99), 500000, 5000),
    orbium_sched::Entry::new("Avionics::Sensors::adc", (1, 0, 98), 1000000, 5000),
    orbium_sched::Entry::new("Avionics::Sensors::gps", (2, 0, 97), 2000000, 5000),
    orbium_sched::Entry::new("Avionics::Flight::steer", (0, 1, 99), 0, 120000),
    orbium_sched::Entry::new("Avionics::Flight::airspeed", (1, 1, 98), 0, 80000),
    orbium_sched::Entry::new("Avionics::Flight::navigate", (2, 1, 97), 0, 300000),
    orbium_sched::Entry::new("Avionics::HeadUp::hud", (1, 2, 98), 1000000, 90000),
    orbium_sched::Entry::new("Avionics::BuiltInTest::bit", (3, 0, 96), 10000000, 1200000),
    orbium_sched::Entry::new("Avionics::Flight::steer#dispatch", (0, 2, 99), 500000, 200).with_calls(120200),
    orbium_sched::Entry::new("Avionics::Flight::airspeed#dispatch", (1, 3, 98), 1000000, 200).with_calls(80200),
    orbium_sched::Entry::new("Avionics::Flight::navigate#dispatch", (2, 2, 97), 2000000, 200).with_calls(300200),
];

/// The schedule.
#[rustfmt::skip]
pub static SCHEDULE: orbium_sched::Table = orbium_sched::Table {
    strategy: orbium_sched::Strategy::Rms,
    hash: 0x84bc92abebab4662,
    entries: &ENTRIES,
    queues: &[
        orbium_sched::Queue { priority: 99, dispatching: orbium_sched::Dispatching::Static },
        orbium_sched::Queue { priority: 98, dispatching: orbium_sched::Dispatching::Static },
        orbium_sched::Queue { priority: 97, dispatching: orbium_sched::Dispatching::Static },
        orbium_sched::Queue { priority: 96, dispatching: orbium_sched::Dispatching::Static },
    ],
};
