// SPDX-License-Identifier: MIT OR Apache-2.0
//! The process of the air frame, which starts the others.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use orbium::{Orb, lane::LaneConfig, poa::Policies};
use orbium_sched::gantt::Chart;
use orbium_scheduler::{Outcome, Scheduler};

use crate::air_frame::{BuiltInTest, HeadUp, Maintenance};
use crate::arguments::{Arguments, Load, Settings};
use crate::flight::{Flight, FlightEvents};
use crate::measured::Row;
use crate::picture::{self, Compared};
use crate::process::Process;
use crate::rate_groups::{Rate, RateGroups};
use crate::schedule::SCHEDULE;
use crate::work::{OPERATIONS, Work};
use crate::{Failure, avionics, operations, view};

/// The processes with operations of the air frame that their calls end.
const CALLERS: [&str; 2] = ["HUD", "BIT"];

/// Schedules; then runs all processes for a while and prints what they measured.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let settings = &arguments.settings;
    let others = other_processor(settings.processor)?;
    orbium_sys::bind_this_thread(&[settings.processor])?;
    let mut scheduler = Scheduler::from_environment(&SCHEDULE)?;
    scheduler.declare(&operations::OPERATIONS)?;
    let flight = Arc::new(Flight::new());
    let work = Work::of(settings.utilization);
    let mut events = FlightEvents::connect(scheduler.mode(), &flight, work)?;
    events
        .channel
        .register_operations(scheduler.repository_mut())?;
    if let Outcome::Configured { path, schedule } = scheduler.schedule()? {
        let summary = orbium_sched::summary(scheduler.repository(), &schedule);
        print!("{summary}");
        println!("{} is written", path.display());
        return Ok(());
    }
    events.scheduled();
    if let Some(path) = &arguments.gantt {
        let repository = scheduler.repository_mut();
        let schedule = repository.compute_scheduling(&Default::default())?;
        let chart = Chart::new(repository, &schedule, Chart::MAX_STEPS);
        std::fs::write(path, chart.to_svg())?;
    }
    let bare = start_bare(settings, others)?;
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
    let groups = RateGroups::start(&orb, &SCHEDULE, arguments.ports, settings.processor)?;
    let processes = Processes::start(&orb, &groups, &events, (&flight, work), settings)?;
    let rows = processes.fly(arguments, &flight)?;
    let of_threads = bare.map(Process::end).transpose()?;
    for line in groups.summary() {
        println!("{line}");
    }
    let all = flight.rows().into_iter().chain(rows).collect();
    report(arguments, all, of_threads.unwrap_or_default())?;
    let (frames, positions) = (flight.frames(), flight.positions());
    println!("{frames} frames of {positions} positions");
    Ok(orb.shutdown(true)?)
}

/// A processor of the host that the air frame does not run on.
fn other_processor(processor: usize) -> Result<Option<usize>, Failure> {
    let processors = orbium_sys::processors_of_this_thread()?;
    Ok(processors.into_iter().rev().find(|it| *it != processor))
}

/// Threads without an ORB on another processor, if the host has one.
fn start_bare(settings: &Settings, processor: Option<usize>) -> Result<Option<Process>, Failure> {
    let Some(processor) = processor else {
        println!("one processor: without threads that have no ORB");
        return Ok(None);
    };
    let mut words = vec!["bare".to_owned()];
    for (name, value) in [
        ("--seconds", settings.seconds.to_string()),
        ("--utilization", settings.utilization.to_string()),
        ("--processor", processor.to_string()),
    ] {
        words.extend([name.to_owned(), value]);
    }
    if let Some(load) = settings.load {
        words.push(format!("--load={}", load.word()));
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Ok(Some(Process::start("bare", &words)?))
}

/// The processes that push to the air frame and call it.
struct Processes(Vec<Process>);

impl Processes {
    fn start(
        orb: &Orb,
        groups: &RateGroups,
        events: &FlightEvents,
        (flight, work): (&Arc<Flight>, Work),
        settings: &Settings,
    ) -> Result<Self, Failure> {
        let mut processes = Vec::new();
        for (name, sensor, rate) in [
            ("INS", "ins", Rate::Twenty),
            ("ADC", "adc", Rate::Ten),
            ("GPS", "gps", Rate::Five),
        ] {
            let policies = groups.policies(rate);
            let key = format!("EventService/{}", rate.hertz());
            let channel = events.channel.serve_under(orb, &key, policies)?;
            let channel = orb.object_to_string(&channel);
            processes.push(Process::start(name, &["push", sensor, &channel])?);
        }
        let root = orb.root_poa();
        let adapter = |rate: Rate| {
            let name = format!("{} Hz", rate.hertz());
            root.create_poa(&name, Some(root.manager()), groups.policies(rate))
        };
        let head_up = HeadUp {
            flight: Arc::clone(flight),
            work,
        };
        let head_up: avionics::HeadUp = adapter(Rate::Ten)?.activate(head_up)?;
        let hud = ["call", "hud", &orb.object_to_string(&head_up)];
        processes.push(Process::start("HUD", &hud)?);
        let test: avionics::BuiltInTest = adapter(Rate::One)?.activate(BuiltInTest::new(work)?)?;
        let bit = ["call", "bit", &orb.object_to_string(&test)];
        processes.push(Process::start("BIT", &bit)?);
        if let Some(load) = settings.load {
            let maintenance = serve_load(orb, load, settings.processor)?;
            let load = ["load", &load.word(), &orb.object_to_string(&maintenance)];
            processes.push(Process::start("load", &load)?);
        }
        Ok(Self(processes))
    }

    /// Lets them run for the time of the run, and returns what they measured.
    fn fly(mut self, arguments: &Arguments, flight: &Flight) -> Result<Vec<Row>, Failure> {
        let whole = Duration::from_secs(arguments.settings.seconds);
        let begin = Instant::now();
        if arguments.fault {
            self.await_end(arguments, flight, begin + whole / 2)?;
            self.fail("GPS")?;
        }
        self.await_end(arguments, flight, begin + whole)?;
        let mut rows = Vec::new();
        for process in self.0 {
            rows.extend(process.end()?);
        }
        Ok(rows)
    }

    fn fail(&mut self, name: &str) -> Result<(), Failure> {
        let mut processes = self.0.iter_mut();
        processes
            .find(|it| it.name == name)
            .map_or(Ok(()), Process::kill)
    }

    /// Waits, and shows what happens if it is to be shown.
    fn await_end(
        &mut self,
        arguments: &Arguments,
        flight: &Flight,
        end: Instant,
    ) -> Result<(), Failure> {
        if arguments.view {
            let callers = self.0.iter_mut().filter(|it| CALLERS.contains(&it.name));
            view::show(flight, callers.collect(), end)
        } else {
            thread::sleep(end.saturating_duration_since(Instant::now()));
            Ok(())
        }
    }
}

/// An object for calls without pause, served by a lane below those of all rate groups.
fn serve_load(orb: &Orb, load: Load, processor: usize) -> Result<avionics::Maintenance, Failure> {
    let lane = orb.add_lane(&LaneConfig {
        name: "load".to_owned(),
        scheduling: load.scheduling(),
        processors: Some(vec![processor]),
        soft: true,
        endpoints: vec!["iiop://127.0.0.1:0".parse()?],
        ..LaneConfig::default()
    })?;
    let policies = Policies {
        lanes: vec![lane],
        ..Policies::default()
    };
    let root = orb.root_poa();
    let adapter = root.create_poa("load", Some(root.manager()), policies)?;
    Ok(adapter.activate(Maintenance)?)
}

/// Prints the tables, and draws them.
fn report(arguments: &Arguments, orb: Vec<Row>, bare: Vec<Row>) -> Result<(), Failure> {
    println!("{}", Row::heading());
    for row in &orb {
        println!("{row}");
    }
    if !bare.is_empty() {
        println!("without an ORB, on another processor at the same time");
        for row in &bare {
            println!("{row}");
        }
    }
    let Some(path) = &arguments.svg else {
        return Ok(());
    };
    let named = |rows: &'_ [Row], name: &str| rows.iter().position(|it| it.name == name);
    let compared = OPERATIONS.iter().filter_map(|it| {
        Some(Compared {
            period: it.period,
            orb: &orb[named(&orb, it.name)?],
            bare: named(&bare, it.name).map(|it| &bare[it]),
        })
    });
    picture::write(path, &compared.collect::<Vec<_>>())
}
