// SPDX-License-Identifier: MIT OR Apache-2.0
//! Effect of busy polling in a reactive lane: round trips of a client in this process.
//!
//! `busy_poll [CALLS]` prints the median and the 99th percentile for lanes that poll busily for 0 to 200 µs, with client and
//! lane on one processor and on two.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use orbium::stub::ServedBy;
use orbium::{Interface, Orb, Servant, config::ServerStrategy, lane::LaneConfig, poa::Policies};
use orbium_sys::bind_this_thread;
use orbium_testkit::probe::Target;
use orbium_testkit::{TargetState, client, reach};

fn main() -> Result<(), Box<dyn Error>> {
    let calls = std::env::args()
        .nth(1)
        .map_or(Ok(20_000), |it| it.parse())?;
    println!("processors  busy_poll  median     p99");
    for lane_on in [0, 1] {
        for busy_poll in [0, 50, 200].map(Duration::from_micros) {
            let [median, p99] = round_trips(lane_on, busy_poll, calls)?;
            let busy_poll = format!("{busy_poll:?}");
            let (median, p99) = (format!("{median:?}"), format!("{p99:?}"));
            println!("{:<10}  {busy_poll:<9}  {median:<9}  {p99}", lane_on + 1);
        }
    }
    Ok(())
}

/// Median and 99th percentile, with the client on the first processor.
fn round_trips(
    lane_on: usize,
    busy_poll: Duration,
    calls: usize,
) -> Result<[Duration; 2], Box<dyn Error>> {
    let orb = Orb::builder().build()?;
    let lane = orb.add_lane(&LaneConfig {
        name: "busy".to_owned(),
        strategy: ServerStrategy::Reactive,
        busy_poll,
        processors: Some(vec![lane_on]),
        endpoints: vec!["iiop://127.0.0.1:0".parse()?],
        ..LaneConfig::default()
    })?;
    let policies = Policies {
        lanes: vec![lane],
        ..Policies::default()
    };
    let root = orb.root_poa();
    let adapter = root.create_poa("busy", Some(root.manager()), policies)?;
    let servant: Arc<dyn Servant> = Arc::new(Target::skeleton(Arc::new(TargetState::default())));
    let object = Target::from_object(adapter.activate_servant(&servant)?);
    root.manager().activate()?;
    let caller = client();
    let target: Target = reach(&caller, &orb.object_to_string(&object));
    bind_this_thread(&[0])?;
    let mut times = Vec::with_capacity(calls);
    for number in 0..calls + calls / 10 {
        let begun = Instant::now();
        target.noop()?;
        // The first ones warm up.
        if number >= calls / 10 {
            times.push(begun.elapsed());
        }
    }
    times.sort_unstable();
    orb.shutdown(true)?;
    Ok([times[calls / 2], times[calls * 99 / 100]])
}
