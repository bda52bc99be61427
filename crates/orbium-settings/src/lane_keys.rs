// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lanes by name, and their keys.

use crate::lane_name::{LANE, name};
use crate::spelling::not_there;
use crate::value_syntax::{
    Read, flag, list, number, octets, optional, parsed, show_octets, show_optional, show_span, span,
};
use orbium_core::Endpoint;
use orbium_core::Priority;
use orbium_core::budget::Budget;
use orbium_core::{Scheduling, SchedulingClass};

use orbium_core::LaneConfig;

/// Maximum number of lanes of a configuration: each has threads.
const MAX_LANES: usize = 1024;

/// A key of a lane of a configuration: after `lane.`, the lane's name and a dot, or in its section
/// of a file.
#[derive(Clone, Copy, Debug)]
pub struct LaneKey {
    /// Its name.
    pub name: &'static str,
    /// The syntax of its value.
    pub value: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
    set: fn(&mut LaneConfig, &str) -> Read<()>,
    show: fn(&LaneConfig) -> String,
}

impl LaneKey {
    /// All keys, in the order of the documentation.
    pub const ALL: &'static [Self] = KEYS;

    /// The value in a lane's configuration, in the syntax of files.
    #[must_use]
    pub fn show(&self, lane: &LaneConfig) -> String {
        (self.show)(lane)
    }
}

fn words<T>(text: &str, read: impl Fn(&str) -> Read<T>) -> Read<Vec<T>> {
    let words = text.split([' ', ',']).filter(|word| !word.is_empty());
    words.map(read).collect()
}

fn priority(text: &str) -> Read<Priority> {
    number(text)
        .ok()
        .and_then(Priority::new)
        .ok_or_else(|| format!("`{text}` is no CORBA priority: write a number from 0 to 32767"))
}

/// `fifo:80`, `rr:20` or `other`.
fn scheduling(text: &str) -> Read<Scheduling> {
    let read = || {
        let (class, number) = match text.split_once(':') {
            Some((class, number)) => (class, Some(number.parse().ok()?)),
            None => (text, None),
        };
        match (class, number) {
            ("fifo", Some(native)) => Some(Scheduling::fifo(native)),
            ("rr", Some(native)) => Some(Scheduling::round_robin(native)),
            ("other", None) => Some(Scheduling::OTHER),
            _ => None,
        }
    };
    let known = read().ok_or_else(|| {
        format!("`{text}` is no scheduling: write fifo:80, rr:20 (native priorities) or other")
    })?;
    let range = known.class.range();
    if range.contains(&known.priority) {
        Ok(known)
    } else {
        Err(format!(
            "{} has priorities {} to {}",
            known.class.name(),
            range.start(),
            range.end()
        ))
    }
}

fn show_scheduling(scheduling: Scheduling) -> String {
    match scheduling.class {
        SchedulingClass::Fifo => format!("fifo:{}", scheduling.priority),
        SchedulingClass::RoundRobin => format!("rr:{}", scheduling.priority),
        SchedulingClass::Other => "other".to_owned(),
    }
}

/// `2 ms per 10 ms`, and ` at fifo:1` for another background than ordinary scheduling.
fn budget(text: &str) -> Read<Budget> {
    let (times, background) = match text.split_once(" at ") {
        Some((times, background)) => (times, scheduling(background.trim())?),
        None => (text, Scheduling::OTHER),
    };
    let Some((time, period)) = times.split_once(" per ") else {
        return Err(format!(
            "`{text}` is no budget: write 2 ms per 10 ms, or 2 ms per 10 ms at fifo:1"
        ));
    };
    Ok(Budget::new(span(time.trim())?, span(period.trim())?).background(background))
}

fn show_budget(budget: Budget) -> String {
    let (time, period) = (show_span(budget.time), show_span(budget.period));
    match budget.background {
        Scheduling::OTHER => format!("{time} per {period}"),
        other => format!("{time} per {period} at {}", show_scheduling(other)),
    }
}

fn processors(text: &str) -> Read<Vec<usize>> {
    let all = words(text, number)?;
    if all.is_empty() {
        Err("a lane runs on at least one processor: write their numbers, as in 2,3".into())
    } else {
        Ok(all)
    }
}

macro_rules! lane_keys {
    ($($name:literal $value:literal $meaning:literal
       |$lane:ident, $text:ident| $set:expr, |$shown:ident| $show:expr;)*) => {
        const KEYS: &[LaneKey] = &[$(LaneKey {
            name: $name,
            value: $value,
            meaning: $meaning,
            set: |$lane, $text| {
                $set;
                Ok(())
            },
            show: |$shown| $show,
        },)*];
    };
}

lane_keys! {
    "priority" "NUMBER" "the CORBA priority at which requests are served; the lane serves those up to the priority of the next one"
        |l, text| l.priority = Some(priority(text)?),
        |l| show_optional(l.priority, |it| it.to_string());
    "scheduling" "SCHEDULING or none" "class and native priority of its threads: fifo:80, rr:20 or other"
        |l, text| l.scheduling = optional(text, scheduling)?,
        |l| show_optional(l.scheduling, show_scheduling);
    "budget" "TIME per TIME or none" "processor time of its threads in each period, demoted beyond: 2 ms per 10 ms, or 2 ms per 10 ms at fifo:1"
        |l, text| l.budget = optional(text, budget)?,
        |l| show_optional(l.budget, show_budget);
    "busy_poll" "TIME" "time for which its reactor polls before the thread sleeps, with reactive and leader-followers"
        |l, text| l.busy_poll = span(text)?,
        |l| show_span(l.busy_poll);
    "processors" "NUMBERS or none" "where its threads run, as in 2,3; none for everywhere"
        |l, text| l.processors = optional(text, processors)?,
        |l| show_optional(l.processors.as_deref(), |it| list(it, ToString::to_string));
    "soft" "true or false" "whether it starts without scheduling and processors if the host refuses them"
        |l, text| l.soft = flag(text)?,
        |l| l.soft.to_string();
    "strategy" "STRATEGY" "how it serves, as server_strategy: worker-pool:2/16 has two threads and a queue of 16"
        |l, text| l.strategy = parsed(text)?,
        |l| l.strategy.to_string();
    "order" "ORDER" "how the requests that wait in its queue are ordered: fifo, priority, subpriority, edf, llf or muf; with worker pools"
        |l, text| l.order = parsed(text)?,
        |l| l.order.to_string();
    "endpoint" "URL" "where it listens; may be repeated, `none` removes those before"
        |l, text| match text {
            "none" => l.endpoints.clear(),
            text => l.endpoints.push(parsed::<Endpoint>(text)?),
        },
        |l| list(&l.endpoints, ToString::to_string);
    "dynamic_threads" "NUMBER" "threads that are started when all are busy"
        |l, text| l.dynamic_threads = number(text)?,
        |l| l.dynamic_threads.to_string();
    "idle_time" "TIME" "time without work after which they end"
        |l, text| l.idle_time = span(text)?,
        |l| show_span(l.idle_time);
    "stack_size" "OCTETS or none" "size of each thread's stack"
        |l, text| l.stack_size = optional(text, octets)?,
        |l| show_optional(l.stack_size, show_octets);
    "prefault_stack" "OCTETS" "octets of each stack that are touched before the first request"
        |l, text| l.prefault_stack = octets(text)?,
        |l| show_octets(l.prefault_stack);
    "replaces_waiting" "true or false" "whether another thread is started when all wait in nested calls"
        |l, text| l.replaces_waiting = flag(text)?,
        |l| l.replaces_waiting.to_string();
    "queue_octets" "OCTETS or none" "octets of all waiting requests; none for limits.message_size"
        |l, text| l.queue_octets = optional(text, octets)?,
        |l| show_optional(l.queue_octets, show_octets);
    "borrows_from" "NAMES or none" "lanes of lower priority from which it may borrow idle threads, the first first"
        |l, text| l.borrows_from_named = optional(text, |it| words(it, name))?.unwrap_or_default(),
        |l| list(&l.borrows_from_named, Clone::clone);
}

/// Selects the lanes with these names: existing ones, and new ones.
///
/// # Errors
/// An invalid name.
pub(crate) fn choose(lanes: &mut Vec<LaneConfig>, text: &str) -> Read<()> {
    let names = optional(text, |it| words(it, name))?.unwrap_or_default();
    if names.len() > MAX_LANES {
        return Err(too_many());
    }
    lanes.retain(|lane| names.contains(&lane.name));
    names.into_iter().try_for_each(|name| begin(lanes, name))
}

/// Adds a lane with that name, unless there is one.
///
/// # Errors
/// There are too many lanes.
pub(crate) fn begin(lanes: &mut Vec<LaneConfig>, name: String) -> Read<()> {
    if lanes.iter().any(|lane| lane.name == name) {
        return Ok(());
    }
    add(lanes, named(name))
}

fn add(lanes: &mut Vec<LaneConfig>, lane: LaneConfig) -> Read<()> {
    if lanes.len() == MAX_LANES {
        return Err(too_many());
    }
    lanes.push(lane);
    Ok(())
}

fn named(name: String) -> LaneConfig {
    LaneConfig {
        name,
        ..LaneConfig::default()
    }
}

fn too_many() -> String {
    format!("a configuration has at most {MAX_LANES} lanes")
}

/// The names of lanes.
#[must_use]
pub(crate) fn show(lanes: &[LaneConfig]) -> String {
    list(lanes, |lane| lane.name.clone())
}

/// Sets a key of a lane, which is created if necessary: `urgent.priority`.
///
/// # Errors
/// An invalid name, key or value; then nothing changes.
pub(crate) fn put(lanes: &mut Vec<LaneConfig>, path: &str, value: &str) -> Read<()> {
    let Some((lane, key)) = path.split_once('.') else {
        return Err(format!(
            "`{LANE}{path}` names no key of a lane: write {LANE}{path}.priority"
        ));
    };
    let lane = name(lane)?;
    let Some(key) = LaneKey::ALL.iter().find(|it| it.name == key) else {
        let all = LaneKey::ALL.iter().map(|it| it.name);
        return Err(not_there("key of a lane", key, all));
    };
    // A key changes nothing if its value is invalid.
    if let Some(present) = lanes.iter_mut().find(|it| it.name == lane) {
        return (key.set)(present, value);
    }
    let mut new = named(lane);
    (key.set)(&mut new, value)?;
    add(lanes, new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_a_lane_sets_something_and_is_read_as_it_is_shown() {
        for key in LaneKey::ALL {
            let (value, shown) = match key.value {
                "NUMBER" => ("7", "7"),
                "SCHEDULING or none" => ("rr:20", "rr:20"),
                "TIME per TIME or none" => ("2 ms per 10 ms at fifo:1", "2 ms per 10 ms at fifo:1"),
                "NUMBERS or none" => ("2,3", "2 3"),
                "true or false" => ("yes", "true"),
                "STRATEGY" => ("worker-pool:2/16", "worker-pool:2/16"),
                "ORDER" => ("edf", "edf"),
                "URL" => ("iiop://:5001", "iiop://:5001"),
                "TIME" => ("90 s", "90 s"),
                "OCTETS" | "OCTETS or none" => ("64 KiB", "64 KiB"),
                "NAMES or none" => ("low, lower", "low lower"),
                other => panic!("{other}"),
            };
            let value = match key.name {
                "replaces_waiting" => "false",
                _ => value,
            };
            let mut lanes = Vec::new();
            put(&mut lanes, &format!("a.{}", key.name), value).unwrap();
            let lane = lanes[0].clone();
            let expected = if value == "false" { value } else { shown };
            assert_eq!((key.show)(&lane), expected, "{}", key.name);
            let path = format!("a.{}", key.name);
            if key.name == "endpoint" {
                put(&mut lanes, &path, "none").unwrap();
            }
            put(&mut lanes, &path, expected).unwrap();
            assert_eq!(lanes, [lane], "{}", key.name);
            let before = lanes.clone();
            put(&mut lanes, &path, "?!").unwrap_err();
            assert_eq!(lanes, before);
        }
    }

    /// Regression: without a bound, a file with many lanes took minutes to read.
    #[test]
    fn the_number_of_lanes_is_bounded() {
        let mut lanes = Vec::new();
        for number in 0..MAX_LANES {
            put(&mut lanes, &format!("l{number}.priority"), "1").unwrap();
        }
        let refused = put(&mut lanes, "more.priority", "1").unwrap_err();
        assert!(refused.contains("at most 1024 lanes"), "{refused}");
        put(&mut lanes, "l0.priority", "2").unwrap();
        let names: Vec<_> = (0..=MAX_LANES).map(|number| format!("m{number}")).collect();
        let refused = choose(&mut lanes, &names.join(",")).unwrap_err();
        assert!(refused.contains("at most 1024 lanes"), "{refused}");
        assert_eq!(lanes.len(), MAX_LANES);
    }

    #[test]
    fn unknown_lanes_and_keys_are_reported() {
        let mut lanes = Vec::new();
        for (path, value, hint) in [
            ("urgent", "1", "write lane.urgent.priority"),
            ("urgent.prioritty", "1", "did you mean `priority`?"),
            ("a b.priority", "1", "is no name of a lane"),
            // Regression: metrics had every sample of such a lane twice.
            ("orb.priority", "1", "the ORB's own lane"),
            ("dedicated.priority", "1", "dedicated threads"),
            ("a.priority", "-1", "from 0 to 32767"),
            ("a.priority", "32768", "from 0 to 32767"),
            ("a.scheduling", "fifo", "write fifo:80"),
            (
                "a.scheduling",
                "fifo:100",
                "SCHED_FIFO has priorities 1 to 99",
            ),
            ("a.scheduling", "other:1", "write fifo:80"),
            ("a.budget", "2 ms", "write 2 ms per 10 ms"),
            ("a.budget", "2 per 10 ms", "no span of time"),
            ("a.budget", "2 ms per 10 ms at 3", "write fifo:80"),
            ("a.processors", "", "at least one processor"),
            ("a.strategy", "fast", "is not a server strategy"),
            (
                "a.order",
                "lifo",
                "write fifo, priority, subpriority, edf, llf or muf",
            ),
        ] {
            let error = put(&mut lanes, path, value).unwrap_err();
            assert!(error.contains(hint), "{path} = {value}: {error}");
        }
        assert!(lanes.is_empty());
    }
}
