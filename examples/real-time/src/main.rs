// SPDX-License-Identifier: MIT OR Apache-2.0
//! A deadline, kept beside other work: `real-time [--soft] [SECONDS]`.
//!
//! A valve is moved fifty times a second, and each time has to be done within
//! five milliseconds, while four others have the server calibrate it, half a
//! millisecond each time. Exits with 1 if a deadline was missed; a soft ORB only tells.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use orbium::rt::{
    LinearMapping, LockedMemory, PriorityBand, PriorityModelPolicy, RtObject, RtOrb, RtOrbBuilder,
    RtPolicies, ThreadpoolConfig, ThreadpoolLane,
};
use orbium::{Call, Interface, Orb, SystemException, poa::Policies};

orbium::include_idl!("valve");

const PERIOD: Duration = Duration::from_millis(20);
const DEADLINE: Duration = Duration::from_millis(5);
const URGENT: i16 = 30_000;
const ORDINARY: i16 = 1_000;
const BANDS: [PriorityBand; 2] = [
    PriorityBand {
        low: 0,
        high: 9_999,
    },
    PriorityBand {
        low: 10_000,
        high: 32_767,
    },
];

#[derive(Default)]
struct Motor(AtomicI32);

impl ValveServant for Motor {
    fn set(&self, _: &Call<'_>, position: i32) -> Result<i32, SystemException> {
        Ok(self.0.swap(position, Ordering::Relaxed))
    }

    fn calibrate(&self, _: &Call<'_>, microseconds: u32) -> Result<(), SystemException> {
        let end = Instant::now() + Duration::from_micros(microseconds.into());
        while Instant::now() < end {
            std::hint::spin_loop();
        }
        Ok(())
    }
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// CORBA priorities on SCHED_FIFO 10 to 80; above stands the kernel.
fn real_time(soft: bool) -> RtOrbBuilder {
    let builder = RtOrb::builder()
        .mapping(LinearMapping::over(10..=80))
        .native_range(10..=80);
    if soft {
        return builder.soft();
    }
    builder
        .lock_memory(LockedMemory::Present)
        .prefault_heap(4 << 20)
}

/// A lane that listens for itself: what is urgent is read at its priority.
fn lane(lane: ThreadpoolLane) -> Result<ThreadpoolLane, Failure> {
    Ok(ThreadpoolLane {
        endpoints: vec!["iiop://127.0.0.1:0".parse()?],
        ..lane
    })
}

/// Has a lane for each sort of work.
fn serve(soft: bool) -> Result<(Orb, Valve), Failure> {
    let orb = Orb::builder().build()?;
    let rt = real_time(soft).install(&orb)?;
    let lanes = [
        lane(ThreadpoolLane::new(URGENT, 1, 0))?,
        lane(ThreadpoolLane::new(ORDINARY, 2, 2))?,
    ];
    let config = ThreadpoolConfig {
        stack_size: 512 << 10,
        prefault_stack: 128 << 10,
        allow_request_buffering: true,
        max_buffered_requests: 64,
        ..ThreadpoolConfig::default()
    };
    let policies = RtPolicies {
        priority_model: Some(PriorityModelPolicy::client_propagated(ORDINARY)),
        threadpool: Some(rt.create_threadpool_with_lanes(&lanes, config)?),
        ..RtPolicies::default()
    };
    let root = orb.root_poa();
    root.manager().activate()?;
    let manager = Some(root.manager());
    let poa = rt.create_poa(&root, "valves", manager, Policies::default(), &policies)?;
    let valve = poa.activate(Arc::new(Motor::default()))?;
    Ok((orb, valve))
}

/// Calls until told to stop; how often that was. With pauses: real-time threads
/// that leave nothing to others are stopped by the kernel, urgent ones too
/// (`orbium doctor --only rt-throttling`).
fn load(rt: &RtOrb, valve: &Valve, stop: &AtomicBool) -> Result<u32, SystemException> {
    rt.current().set_the_priority(ORDINARY)?;
    let mut calls = 0;
    while !stop.load(Ordering::Relaxed) {
        valve.calibrate(500)?;
        calls += 1;
        thread::sleep(Duration::from_millis(1));
    }
    Ok(calls)
}

/// Moves the valve periodically; how long each move took.
fn control(rt: &RtOrb, valve: &Valve, seconds: u32) -> Result<Vec<Duration>, Failure> {
    rt.current().set_the_priority(URGENT)?;
    valve.validate_connection()?;
    let moves = seconds * 50;
    let mut times = Vec::with_capacity(moves as usize);
    let start = Instant::now();
    for count in 0..moves {
        let due = start + PERIOD * count;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let begun = Instant::now();
        valve.set(count as i32)?;
        times.push(begun.elapsed());
    }
    Ok(times)
}

fn run(soft: bool, seconds: u32) -> Result<bool, Failure> {
    let (server, valve) = serve(soft)?;
    let orb = Orb::builder().build()?;
    let rt = real_time(soft).install(&orb)?;
    let url = server.object_to_string(&valve);
    let object = orb.string_to_object(&url)?.ok_or("nil")?;
    let valve = Valve::from_object(object).with_priority_bands(&BANDS)?;

    let stop = Arc::new(AtomicBool::new(false));
    let others: Vec<_> = (0..4)
        .map(|_| {
            let (rt, valve, stop) = (rt.clone(), valve.clone(), Arc::clone(&stop));
            thread::spawn(move || load(&rt, &valve, &stop))
        })
        .collect();
    let times = thread::spawn(move || control(&rt, &valve, seconds)).join();
    stop.store(true, Ordering::Relaxed);
    let mut calls = 0;
    for other in others {
        calls += other.join().map_err(|_| "a client panicked")??;
    }
    server.shutdown(true)?;

    let mut times = times.map_err(|_| "the control panicked")??;
    times.sort_unstable();
    let missed = times.iter().filter(|time| **time > DEADLINE).count();
    let at = |share: usize| times.get(times.len() * share / 100).copied();
    println!("beside {calls} calibrations of 0.5 ms each:");
    println!("moves {}, later than {DEADLINE:?}: {missed}", times.len());
    if let (Some(median), Some(high), Some(worst)) = (at(50), at(99), times.last()) {
        println!("median {median:?}, 99 in 100 within {high:?}, worst {worst:?}");
    }
    Ok(missed == 0)
}

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let soft = arguments.iter().any(|it| it == "--soft");
    arguments.retain(|it| it != "--soft");
    let seconds = arguments
        .first()
        .and_then(|it| it.parse().ok())
        .unwrap_or(5);
    match run(soft, seconds) {
        Ok(kept) if kept || soft => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("real-time: {error}");
            ExitCode::from(2)
        }
    }
}
