// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads and descriptors of lanes that ended. A separate program, as the test counts those of its
//! process.

use std::fs;

use orbium::{Config, Orb, config::Configure as _};
use orbium_configurator::Configurator;
use orbium_testkit::eventually;

fn entries(path: &str) -> usize {
    fs::read_dir(path).unwrap().count()
}

/// Conformance: ORB - a running ORB is reconfigured: lanes that it was built with end, lanes join
#[test]
fn lanes_that_end_give_threads_and_descriptors_back() {
    let strategies = [
        "thread-per-connection",
        "reactive",
        "leader-followers:3",
        "worker-pool:3/8",
    ];
    for strategy in strategies {
        let mut none = Config::default();
        none.set("endpoint", "iiop://127.0.0.1:0").unwrap();
        let mut config = none.clone();
        for (key, value) in [
            ("priority", "1"),
            ("strategy", strategy),
            ("endpoint", "iiop://127.0.0.1:0"),
            ("scheduling", "fifo:10"),
            ("budget", "5 ms per 10 ms"),
            ("soft", "true"),
        ] {
            config.set(&format!("lane.back.{key}"), value).unwrap();
        }
        let orb = Orb::new(config.clone()).unwrap();
        let configurator = Configurator::new(&orb, config.clone());
        configurator.reconfigure(none.clone()).unwrap();
        let threads = || entries("/proc/self/task");
        let named = |part: &str| {
            let tasks = fs::read_dir("/proc/self/task").unwrap();
            let names =
                tasks.filter_map(|it| fs::read_to_string(it.ok()?.path().join("comm")).ok());
            names.filter(|it| it.contains(part)).count()
        };
        eventually("its threads end", || named("back") == 0);
        let before = (threads(), entries("/proc/self/fd"));
        for _ in 0..20 {
            configurator.reconfigure(config.clone()).unwrap();
            // One serves, and one watches the budget.
            eventually("it has threads", || named("back") > 1);
            configurator.reconfigure(none.clone()).unwrap();
            eventually("its threads end", || named("back") == 0);
        }
        let now = || (threads(), entries("/proc/self/fd"));
        eventually("nothing is left", || now() == before);
        orb.shutdown(true).unwrap();
    }
}
