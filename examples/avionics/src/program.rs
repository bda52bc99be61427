// SPDX-License-Identifier: MIT OR Apache-2.0
//! The process that serves the air frame and starts the others.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use orbium::{Config, Orb, Policies};
use orbium_sched::gantt::Chart;
use orbium_scheduler::{Outcome, ScheduledLanes, Scheduler};

use crate::air_frame::AirFrame as Servant;
use crate::arguments::{Arguments, SENSORS};
use crate::avionics::AirFrame;
use crate::schedule::SCHEDULE;
use crate::{Failure, operations, sensor};

/// Schedules; then runs all processes for a while and prints what they measured, in microseconds.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut scheduler = Scheduler::from_environment(&SCHEDULE)?;
    scheduler.declare(&operations::OPERATIONS)?;
    if let Outcome::Configured { path, schedule } = scheduler.schedule()? {
        print!(
            "{}",
            orbium_sched::summary(scheduler.repository(), &schedule)
        );
        println!("{} is written", path.display());
        return Ok(());
    }
    if let Some(path) = &arguments.svg {
        let schedule = scheduler
            .repository_mut()
            .compute_scheduling(&Default::default())?;
        let chart = Chart::new(scheduler.repository(), &schedule, Chart::MAX_STEPS);
        std::fs::write(path, chart.to_svg())?;
    }
    let orb = Orb::new(Config {
        endpoints: vec!["iiop://127.0.0.1:0".parse()?],
        ..Config::default()
    })?;
    let (servant, air_frame) = serve(&orb)?;
    let reference = orb.object_to_string(&air_frame);
    let mut children = Vec::new();
    for (name, _) in SENSORS {
        children.push((name, start(&["sensor", name, &reference])?));
    }
    if arguments.load {
        children.push(("load", start(&["load", &reference])?));
    }
    let half = Duration::from_secs(arguments.seconds) / 2;
    std::thread::sleep(half);
    if arguments.fault
        && let Some((_, gps)) = children.iter_mut().find(|(name, _)| *name == "GPS")
    {
        gps.kill()?;
    }
    std::thread::sleep(half);
    println!("{}", sensor::heading());
    for (name, child) in children {
        report(name, child)?;
    }
    println!("{} frames", servant.frames());
    orb.shutdown(true)?;
    Ok(())
}

/// The air frame, a lane for each rate group.
fn serve(orb: &Orb) -> Result<(Arc<Servant>, AirFrame), Failure> {
    let lanes = ScheduledLanes::new(&SCHEDULE).soft(true).start(orb)?;
    for lane in &lanes {
        match lane.scheduling() {
            Some(scheduling) => println!("{}: {scheduling}", lane.name()),
            None => println!("{}: the host refuses a native priority", lane.name()),
        }
    }
    let policies = Policies {
        lanes,
        ..Policies::default()
    };
    let root = orb.root_poa();
    root.manager().activate()?;
    let adapter = root.create_poa("avionics", Some(root.manager()), policies)?;
    let servant = Arc::new(Servant::new()?);
    let air_frame: AirFrame = adapter.activate(Arc::clone(&servant))?;
    Ok((servant, air_frame))
}

/// Starts this program in another role; it ends when its standard input does.
fn start(arguments: &[&str]) -> Result<Child, Failure> {
    let child = Command::new(std::env::current_exe()?)
        .args(arguments)
        .env_remove(orbium_scheduler::VARIABLE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    Ok(child)
}

/// Ends a process and prints what it measured.
fn report(name: &str, mut child: Child) -> Result<(), Failure> {
    drop(child.stdin.take());
    let output = child.wait_with_output()?;
    print!("{}", String::from_utf8_lossy(&output.stdout));
    if !output.status.success() {
        println!("{name:<6} {}", output.status);
    }
    Ok(())
}
