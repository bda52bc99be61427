// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium sched calibrate`: the overheads of ORB and host that the analysis adds.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use orbium::{Config, Orb, SystemException};
use orbium_demo::cubit::Cube;
use orbium_scheduler::{Calibration, CalibrationError, Cost, MeasuredOverhead};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::object::ping::nanoseconds;
use crate::object::reference;
use crate::output;
use crate::sched::check::write;
use crate::serving::because;
use crate::stage::pin;
use crate::stage::timing::latency;

/// Calls before the first measured one, so that connections exist and memory is mapped.
const WARM_UP_CALLS: u32 = 100;

/// Collocated calls of a run: one of them takes less than reading the clock.
const COLLOCATED_CALLS: u32 = 10;

/// The names of the costs, and the options of `orbium sched check` for them.
const COST_NAMES: [(&str, &str); 3] = [
    ("call over TCP", "--call"),
    ("collocated call", "--call"),
    ("context switch", "--context-switch"),
];

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// Write the times to use to this file, for `orbium sched check --overhead FILE`
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the cost of a collocated call in place of one over TCP, for programs that call within
    /// their process alone
    #[arg(long, requires = "output")]
    collocated: bool,
    /// The processor to measure on [default: the last one that this program may use]
    #[arg(long, value_name = "NUMBER")]
    processor: Option<usize>,
    /// Runs of a round
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    runs: u32,
    /// Rounds after which times that are not stable are an error
    #[arg(long, value_name = "NUMBER", default_value_t = 100,
          value_parser = clap::value_parser!(u32).range(2..=10_000))]
    rounds: u32,
    /// The share by which the last round may change worst time and median
    #[arg(long, value_name = "SHARE", default_value = "0.05", value_parser = |it: &str| at_least(0.0, it))]
    tolerance: f64,
    /// The factor of the worst time
    #[arg(long, value_name = "FACTOR", default_value = "1.2", value_parser = |it: &str| at_least(1.0, it))]
    margin: f64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &CalibrateArgs) -> Result<(), Failure> {
    let unknown = || Failure::because("the processors of this program cannot be read");
    let processor = args.processor.or_else(pin::choose).ok_or_else(unknown)?;
    // Threads that are started later inherit it.
    pin::thread_to(processor)?;
    let calibration = Calibration {
        runs: args.runs,
        rounds: args.rounds,
        tolerance: args.tolerance,
        margin: args.margin,
        ..Calibration::default()
    };
    let [remote, collocated] = calls(&calibration)?;
    let context_switch = Cost::of_context_switch(&calibration).map_err(unstable(2))?;
    let head = format!("processor {processor}, margin {}", args.margin);
    if let Some(path) = &args.output {
        let call = if args.collocated { collocated } else { remote };
        let measured = MeasuredOverhead {
            call,
            context_switch,
        };
        write(
            path,
            &format!("# orbium sched calibrate: {head}\n{measured}"),
        )?;
    }
    let costs = [remote, collocated, context_switch];
    if args.json {
        let costs: Vec<_> = COST_NAMES.iter().zip(&costs).map(json_of).collect();
        let margin = args.margin;
        output::print_json(&json!({"processor": processor, "margin": margin, "costs": costs}))
    } else {
        let table = table(&costs);
        output::print(&format!(
            "{head}\n\n{table}\n--blocking is not measured: state it yourself.\n"
        ))
    }
}

/// The costs of an empty twoway operation of another ORB of this process, over TCP, and of the same ORB.
fn calls(calibration: &Calibration) -> Result<[Cost; 2], Failure> {
    let server = Orb::builder().endpoint("iiop://127.0.0.1:0");
    let server = server.map_err(because)?.build().map_err(because)?;
    let served = orbium_demo::serve(&server).map_err(because)?;
    let client = Orb::new(Config {
        protocols: reference::protocols(),
        ..Config::default()
    });
    let client = client.map_err(because)?;
    let reference = server.object_to_string(&served.cube);
    let cube: Cube = client.resolve(&reference).map_err(because)?;
    let remote = cost_of_call(0, &cube, 1, calibration)?;
    let collocated = cost_of_call(1, &served.cube, COLLOCATED_CALLS, calibration)?;
    for orb in [client, server] {
        orb.shutdown(true).map_err(because)?;
    }
    Ok([remote, collocated])
}

/// Measures runs of so many calls each.
fn cost_of_call(
    name: usize,
    cube: &Cube,
    times: u32,
    calibration: &Calibration,
) -> Result<Cost, Failure> {
    let failed = |exception: SystemException| {
        Failure::because(format!("a {} failed: {exception}", COST_NAMES[name].0))
    };
    for _ in 0..WARM_UP_CALLS {
        cube.noop().map_err(failed)?;
    }
    let mut outcome = Ok(());
    let cost = Cost::measure(calibration, times, || {
        for _ in 0..times {
            if outcome.is_ok() {
                outcome = cube.noop();
            }
        }
    });
    outcome.map_err(failed)?;
    cost.map_err(unstable(name))
}

fn unstable(name: usize) -> impl Fn(CalibrationError) -> Failure {
    move |error| Failure::because(format!("{}: {error}", COST_NAMES[name].0))
}

fn table(costs: &[Cost; 3]) -> String {
    let mut text = format!(
        "{:15}  {:16}  {:>9}  {:>9}  {:>9}  {:>9}  use\n",
        "cost", "option", "minimum", "median", "99 %", "worst"
    );
    for ((name, option), it) in COST_NAMES.iter().zip(costs) {
        let _ = write!(text, "{name:15}  {option:16}");
        for time in [it.minimum, it.median, it.p99, it.worst] {
            let _ = write!(text, "  {:>9}", latency(nanoseconds(time)));
        }
        let _ = writeln!(text, "  {}", it.value);
    }
    text
}

fn json_of(((name, option), it): (&(&str, &str), &Cost)) -> Value {
    json!({
        "cost": name,
        "option": option,
        "runs": it.runs,
        "times_per_run": it.times,
        "minimum_ns": nanoseconds(it.minimum),
        "median_ns": nanoseconds(it.median),
        "p99_ns": nanoseconds(it.p99),
        "worst_ns": nanoseconds(it.worst),
        "use": it.value.to_string(),
        "use_ns": nanoseconds(it.value.as_duration()),
    })
}

fn at_least(least: f64, text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if number.is_finite() && number >= least {
        Ok(number)
    } else {
        Err(format!("expected a number of at least {least}"))
    }
}
