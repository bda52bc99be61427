// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plan of a reconfiguration: the difference between two configurations.

use std::fmt;

use orbium_core::{Config, Endpoint, LaneConfig, LaneSizes};
use orbium_settings::{ConfigKey, LaneKey};

use crate::ReconfigureError;
use crate::live::{is_live, is_live_of_a_lane};

/// A changed setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its key: `limits.connections`, `lane.urgent.endpoint`.
    pub key: String,
    /// The previous value, in the syntax of files.
    pub before: String,
    /// The present value.
    pub after: String,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, before, after } = self;
        write!(f, "{key}: {before} → {after}")
    }
}

/// Endpoints of one lane to open, and to close.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Listening {
    /// The lane's name; `None` for the ORB's own.
    pub(crate) lane: Option<String>,
    pub(crate) open: Vec<Endpoint>,
    pub(crate) close: Vec<Endpoint>,
}

/// A lane with changed threads, or another queue.
#[derive(Debug)]
pub(crate) struct Resizing {
    /// The lane's name; `None` for the ORB's own.
    pub(crate) lane: Option<String>,
    pub(crate) before: LaneSizes,
    pub(crate) after: LaneSizes,
}

impl Resizing {
    /// Whether threads are started: the system may refuse them.
    pub(crate) fn grows(&self) -> bool {
        self.after.threads().0 > self.before.threads().0
    }
}

/// The steps of a reconfiguration.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) changes: Vec<Change>,
    pub(crate) listening: Vec<Listening>,
    pub(crate) resizing: Vec<Resizing>,
    pub(crate) add_lanes: Vec<LaneConfig>,
    pub(crate) stop_lanes: Vec<String>,
    /// Lanes to be replaced by others with the same names and endpoints.
    pub(crate) replace_lanes: Vec<LaneConfig>,
    fixed: Vec<String>,
}

impl Plan {
    /// The steps that lead from `before` to `after`.
    pub(crate) fn new(before: &Config, after: &Config) -> Result<Self, ReconfigureError> {
        let mut plan = Self::default();
        for key in ConfigKey::ALL {
            let live = match key.name {
                "server_strategy" => can_resize_own_lane(before, after),
                name if name.starts_with("tls.") => turns_tls_on(before, after),
                name => is_live(name),
            };
            plan.compare(key.name, key.show(before), key.show(after), live);
        }
        let of = |config: &Config| format!("{:?}", config.properties);
        plan.compare("properties", of(before), of(after), true);
        plan.compare_code(before, after);
        let lost = after.protocols.lost_since(&before.protocols);
        let lost = lost
            .iter()
            .map(|name| format!("protocols (without {name})"));
        plan.fixed.extend(lost);
        plan.cannot_be_unset(before, after);
        plan.endpoints(None, &before.endpoints, &after.endpoints);
        let of_orb = |config: &Config| LaneConfig::of_orb(config.strategy).sizes();
        plan.resize(None, of_orb(before), of_orb(after));
        if before.endpoints.is_empty() != after.endpoints.is_empty() {
            // Without any endpoint the ORB listens at a free port of its own choice.
            plan.fixed.push("endpoint".into());
        }
        plan.lanes(before, after);
        if plan.fixed.is_empty() {
            Ok(plan)
        } else {
            Err(ReconfigureError::Fixed(plan.fixed))
        }
    }

    /// Whether any lane joins the serving ones.
    pub(crate) fn has_joining_lanes(&self) -> bool {
        !(self.add_lanes.is_empty() && self.replace_lanes.is_empty())
    }

    /// Whether lanes join or end.
    pub(crate) fn changes_lanes(&self) -> bool {
        self.has_joining_lanes() || !self.stop_lanes.is_empty()
    }

    fn compare(&mut self, key: &str, before: String, after: String, live: bool) {
        if before == after {
            return;
        }
        if !live {
            self.fixed.push(key.to_owned());
        }
        let key = key.to_owned();
        self.changes.push(Change { key, before, after });
    }

    /// Compares settings that are not in files.
    fn compare_code(&mut self, before: &Config, after: &Config) {
        if before.interceptors != after.interceptors {
            self.fixed.push("interceptors".into());
        }
        if before.dispatch != after.dispatch {
            self.fixed.push("dispatch".into());
        }
    }

    /// Refuses to unset values with which the ORB was built.
    fn cannot_be_unset(&mut self, before: &Config, after: &Config) {
        let unset = [
            (
                "call_timeout",
                before.call_timeout.is_some() && after.call_timeout.is_none(),
            ),
            (
                "request_timeout",
                before.request_timeout.is_some() && after.request_timeout.is_none(),
            ),
            (
                "client_protocols",
                before.client_protocols.is_some() && after.client_protocols.is_none(),
            ),
        ];
        let unset = unset.into_iter().filter(|(_, is_unset)| *is_unset);
        self.fixed
            .extend(unset.map(|(key, _)| format!("{key} (to none)")));
        if announces(before) && before.endpoints != after.endpoints {
            self.fixed
                .push("endpoint (with connections that go both ways)".into());
        }
    }

    fn endpoints(&mut self, lane: Option<&str>, before: &[Endpoint], after: &[Endpoint]) {
        let without = |all: &[Endpoint], others: &[Endpoint]| -> Vec<Endpoint> {
            let left = all.iter().filter(|it| !others.contains(it));
            left.cloned().collect()
        };
        let listening = Listening {
            lane: lane.map(str::to_owned),
            open: without(after, before),
            close: without(before, after),
        };
        if !(listening.open.is_empty() && listening.close.is_empty()) {
            self.listening.push(listening);
        }
    }

    fn lanes(&mut self, before: &Config, after: &Config) {
        for lane in &before.lanes {
            match after.lanes.iter().find(|it| it.name == lane.name) {
                Some(now) => self.lane(lane, now, !announces(before)),
                // Connections announce its endpoints, and stay open.
                None if announces(before) => {
                    self.fixed.push(format!(
                        "lane.{} (to end, with connections that go both ways)",
                        lane.name
                    ));
                }
                None => self.stop_lanes.push(lane.name.clone()),
            }
        }
        for lane in &after.lanes {
            if !before.lanes.iter().any(|it| it.name == lane.name) {
                self.add_lanes.push(lane.clone());
            }
            let lenders = self.replace_lanes.iter().map(|it| &it.name);
            let lender = lenders.filter(|it| lane.borrows_from_named.contains(it));
            let refused = lender.map(|it| {
                let name = &lane.name;
                format!("lane.{it} (to be replaced: lane.{name} borrows its threads)")
            });
            self.fixed.extend(refused);
        }
    }

    fn resize(&mut self, lane: Option<String>, before: LaneSizes, after: LaneSizes) {
        if before != after {
            self.resizing.push(Resizing {
                lane,
                before,
                after,
            });
        }
    }

    /// Plans the changes of a lane: endpoints, threads and queue can be changed while it serves.
    /// For another kind of strategy and other threads it is replaced, if it may be. Its priority
    /// cannot be changed, since references contain it.
    fn lane(&mut self, before: &LaneConfig, after: &LaneConfig, may_be_replaced: bool) {
        let mut is_replaced = false;
        for key in LaneKey::ALL {
            let path = format!("lane.{}.{}", before.name, key.name);
            let (then, now) = (key.show(before), key.show(after));
            let serves_on = match key.name {
                "strategy" => before.strategy.is_kind_of(after.strategy),
                name => is_live_of_a_lane(name),
            };
            let takes_another = !serves_on && may_be_replaced && key.name != "priority";
            is_replaced |= takes_another && then != now;
            self.compare(&path, then, now, serves_on || takes_another);
        }
        self.compare_lane_code(before, after);
        self.endpoints(Some(&before.name), &before.endpoints, &after.endpoints);
        if is_replaced {
            self.replace_lanes.push(after.clone());
        } else {
            self.resize(Some(before.name.clone()), before.sizes(), after.sizes());
        }
    }

    /// Compares settings of a lane that are not in files.
    fn compare_lane_code(&mut self, before: &LaneConfig, after: &LaneConfig) {
        let differ = [
            ("reservation", before.reservation != after.reservation),
            ("queue_bounds", before.queue_bounds != after.queue_bounds),
            ("borrows_from", before.borrows_from != after.borrows_from),
            (
                "served_by_callers",
                before.served_by_callers != after.served_by_callers,
            ),
        ];
        let differ = differ.into_iter().filter(|(_, differs)| *differs);
        let path = |(key, _): (&str, bool)| format!("lane.{}.{key}", before.name);
        self.fixed.extend(differ.map(path));
    }
}

/// Whether connections announce the endpoints of the ORB.
fn announces(config: &Config) -> bool {
    config.bidirectional.is_both() || config.bidirectional_overrides
}

/// Whether TLS is turned on. After that, its settings cannot be changed.
pub(crate) fn turns_tls_on(before: &Config, after: &Config) -> bool {
    let none = Config::default().tls;
    before.tls == none && after.tls != none
}

/// Whether the ORB's own lane serves, with the same kind of strategy.
fn can_resize_own_lane(before: &Config, after: &Config) -> bool {
    !before.endpoints.is_empty() && before.strategy.is_kind_of(after.strategy)
}

#[cfg(test)]
mod tests {
    use orbium_settings::Configure as _;

    use super::*;

    fn config(keys: &[(&str, &str)]) -> Config {
        let mut config = Config::default();
        for (key, value) in keys {
            config.set(key, value).unwrap();
        }
        config
    }

    /// The keys that are refused between two configurations.
    fn refused(before: &[(&str, &str)], after: &[(&str, &str)]) -> Vec<String> {
        match Plan::new(&config(before), &config(after)) {
            Err(ReconfigureError::Fixed(keys)) => keys,
            Err(other) => panic!("{other}"),
            Ok(_) => Vec::new(),
        }
    }

    #[test]
    fn every_key_that_cannot_change_is_named() {
        for key in ConfigKey::ALL {
            let value = match key.value {
                "NUMBER" => "77",
                "TIME" | "TIME or none" => "77 ms",
                "OCTETS" | "OCTETS or none" => "77 KiB",
                _ => continue,
            };
            let is_live = is_live(key.name) || key.name.starts_with("tls.");
            let expected: &[&str] = if is_live { &[] } else { &[key.name] };
            assert_eq!(refused(&[], &[(key.name, value)]), expected, "{}", key.name);
        }
        let strategies = [("server_strategy", "reactive"), ("collocation", "direct")];
        assert_eq!(
            refused(&[], &strategies),
            ["server_strategy", "collocation"]
        );
    }

    #[test]
    fn keys_that_mean_the_choice_at_the_beginning_cannot_be_unset() {
        let timed = [("call_timeout", "1 s"), ("client_protocols", "iiop")];
        let keys = ["call_timeout (to none)", "client_protocols (to none)"];
        assert_eq!(refused(&timed, &[]), keys);
        assert_eq!(refused(&[], &timed), Vec::<String>::new());
    }

    #[test]
    fn protocols_come_and_none_goes_and_tls_is_turned_on_once() {
        let (few, more) = (("protocols", "iiop"), ("protocols", "iiop,uiop"));
        let plan = Plan::new(&config(&[few]), &config(&[more])).unwrap();
        assert_eq!(plan.changes[0].to_string(), "protocols: iiop → iiop,uiop");
        let keys = ["protocols (without uiop)"];
        assert_eq!(refused(&[more], &[few]), keys);
        let (on, otherwise) = (("tls.watch_files", "false"), ("tls.require", "true"));
        assert_eq!(refused(&[], &[on]), Vec::<String>::new());
        assert_eq!(refused(&[on], &[on, otherwise]), ["tls.require"]);
        assert_eq!(refused(&[on], &[]), ["tls.watch_files"]);
    }

    #[test]
    fn threads_and_queues_change_and_another_kind_of_strategy_takes_another_lane() {
        let listens = ("endpoint", "iiop://127.0.0.1:0");
        let pool = |numbers| [listens, ("server_strategy", numbers)];
        let (two, four) = (pool("worker-pool:2/8"), pool("worker-pool:4/8"));
        let plan = Plan::new(&config(&two), &config(&four)).unwrap();
        assert!(plan.resizing[0].grows());
        assert!(plan.resizing[0].lane.is_none());
        let plan = Plan::new(&config(&four), &config(&two)).unwrap();
        assert!(!plan.resizing[0].grows());
        let other = pool("leader-followers:2");
        assert_eq!(refused(&two, &other), ["server_strategy"]);
        // No lane serves yet.
        assert_eq!(refused(&two[1..], &four[1..]), ["server_strategy"]);
        let lane = |strategy| [("lane.a.priority", "1"), ("lane.a.strategy", strategy)];
        let (some, more) = (lane("leader-followers:1"), lane("leader-followers:3"));
        let plan = Plan::new(&config(&some), &config(&more)).unwrap();
        assert_eq!(plan.resizing[0].lane.as_deref(), Some("a"));
        let plan = Plan::new(&config(&some), &config(&lane("reactive"))).unwrap();
        assert!(plan.resizing.is_empty() && plan.has_joining_lanes());
        assert_eq!(plan.replace_lanes[0].name, "a");
        assert_eq!(plan.changes[0].key, "lane.a.strategy");
        // Connections announce its endpoints, and stay open.
        let both_ways = |strategy| [&lane(strategy)[..], &[("bidirectional", "both")]].concat();
        let (some, other) = (both_ways("leader-followers:1"), both_ways("reactive"));
        assert_eq!(refused(&some, &other), ["lane.a.strategy"]);
    }

    #[test]
    fn changes_of_a_lane_beyond_its_keys_are_refused_by_name() {
        let before = config(&[("lane.a.priority", "1")]);
        let mut after = before.clone();
        after.lanes[0].queue_bounds = Some(orbium_core::QueueBounds::new(1, 1));
        after.lanes[0].served_by_callers = true;
        let refused = Plan::new(&before, &after).unwrap_err();
        let sentence =
            "cannot change while the ORB runs: lane.a.queue_bounds, lane.a.served_by_callers";
        assert_eq!(refused.to_string(), sentence);
    }

    #[test]
    fn lanes_come_and_go_and_keep_their_priorities() {
        let two = [("lane.a.priority", "1"), ("lane.b.priority", "2")];
        let plan = Plan::new(&config(&two[..1]), &config(&two)).unwrap();
        assert_eq!(plan.add_lanes.len(), 1);
        let plan = Plan::new(&config(&two), &config(&two[..1])).unwrap();
        assert_eq!(plan.stop_lanes, ["b"]);
        let both_ways = ("bidirectional", "both");
        let (with, without) = ([two[0], both_ways], [both_ways]);
        let keys = ["lane.a (to end, with connections that go both ways)"];
        assert_eq!(refused(&with, &without), keys);
        let other = [("lane.a.priority", "3"), ("lane.b.priority", "2")];
        assert_eq!(refused(&two, &other), ["lane.a.priority"]);
        let listening = [two[0], two[1], ("lane.a.endpoint", "iiop://127.0.0.1:0")];
        let plan = Plan::new(&config(&two), &config(&listening)).unwrap();
        assert_eq!(plan.listening[0].lane.as_deref(), Some("a"));
        assert_eq!(plan.changes[0].key, "lane.a.endpoint");
    }
}
