// Written from RT_Infos by orbium-sched. Change those, then write it again.
//
// strategy rms, utilization 0.186, lowest queue that meets its deadlines: 2
//
// queue  priority  order   period  share  response  holds
// 0      99        static  50 ms   0.080  4020 us   guaranteed by the utilization bound
// 1      98        static  100 ms  0.076  14080 us  guaranteed by response times
// 2      97        static  200 ms  0.030  20120 us  guaranteed by response times
//
// thread                   queue  period  worst case  typical  share  operations
// INS::update              0      50 ms   1 ms        1 ms     0.020  1
// Display::show#dispatch   0      50 ms   3020 us     3020 us  0.060  2
// Alarm::sound#dispatch    1      100 ms  5020 us     5020 us  0.075  2
// Alarm::sound#dispatch-2  1      100 ms  20 us       20 us    0.000  1
// GPS::update              2      200 ms  2 ms        2 ms     0.010  1
// AirFrame::push#dispatch  2      200 ms  4020 us     4020 us  0.020  2
// Alarm::sound#dispatch-1  2      200 ms  20 us       20 us    0.000  1
//
// operation                dependency      on                       times
// Display::show#dispatch   is supplied by  INS::update              1
// Display::show#dispatch   calls           Display::show            1
// AirFrame::push#dispatch  is supplied by  INS::update              1
// AirFrame::push#dispatch  is supplied by  GPS::update              1
// AirFrame::push#dispatch  calls           AirFrame::push           1
// Alarm::sound#dispatch    is supplied by  Alarm::sound#dispatch-1  1
// Alarm::sound#dispatch    is supplied by  Alarm::sound#dispatch-2  1
// Alarm::sound#dispatch    calls           Alarm::sound             1
// Alarm::sound#dispatch-1  is supplied by  INS::update              1
// Alarm::sound#dispatch-1  is supplied by  GPS::update              1

/// `INS::update`
pub const INS_UPDATE: usize = 0;
/// `GPS::update`
pub const GPS_UPDATE: usize = 1;
/// `Display::show`
pub const DISPLAY_SHOW: usize = 2;
/// `AirFrame::push`
pub const AIRFRAME_PUSH: usize = 3;
/// `Alarm::sound`
pub const ALARM_SOUND: usize = 4;
/// `Display::show#dispatch`
pub const DISPLAY_SHOW_DISPATCH: usize = 5;
/// `AirFrame::push#dispatch`
pub const AIRFRAME_PUSH_DISPATCH: usize = 6;
/// `Alarm::sound#dispatch`
pub const ALARM_SOUND_DISPATCH: usize = 7;
/// `Alarm::sound#dispatch-1`
pub const ALARM_SOUND_DISPATCH_1: usize = 8;
/// `Alarm::sound#dispatch-2`
pub const ALARM_SOUND_DISPATCH_2: usize = 9;

/// The operations.
#[rustfmt::skip]
pub const ENTRIES: [orbium_sched::Entry; 10] = [
    orbium_sched::Entry::new("INS::update", (0, 0, 99), 500000, 10000),
    orbium_sched::Entry::new("GPS::update", (2, 0, 97), 2000000, 20000),
    orbium_sched::Entry::new("Display::show", (0, 1, 99), 0, 30000),
    orbium_sched::Entry::new("AirFrame::push", (2, 1, 97), 0, 40000),
    orbium_sched::Entry::new("Alarm::sound", (1, 0, 98), 0, 50000),
    orbium_sched::Entry::new("Display::show#dispatch", (0, 2, 99), 500000, 200).with_calls(30200),
    orbium_sched::Entry::new("AirFrame::push#dispatch", (2, 2, 97), 2000000, 200).with_calls(40200),
    orbium_sched::Entry::new("Alarm::sound#dispatch", (1, 2, 98), 1000000, 200).with_calls(50200),
    orbium_sched::Entry::new("Alarm::sound#dispatch-1", (2, 3, 97), 2000000, 200),
    orbium_sched::Entry::new("Alarm::sound#dispatch-2", (1, 1, 98), 1000000, 200),
];

/// The schedule.
#[rustfmt::skip]
pub static SCHEDULE: orbium_sched::Table = orbium_sched::Table {
    strategy: orbium_sched::Strategy::Rms,
    hash: 0x492a231b6c6679d4,
    entries: &ENTRIES,
    queues: &[
        orbium_sched::Queue { priority: 99, dispatching: orbium_sched::Dispatching::Static },
        orbium_sched::Queue { priority: 98, dispatching: orbium_sched::Dispatching::Static },
        orbium_sched::Queue { priority: 97, dispatching: orbium_sched::Dispatching::Static },
    ],
};
