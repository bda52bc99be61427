// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reconfiguration of running ORBs with calls in progress.

mod client_side;
mod collocated;
mod endpoints;
mod lane_sizes;
mod lanes_end;
mod lanes_replaced;
mod load;
#[cfg(unix)]
mod protocols;
mod refused;
#[cfg(unix)]
mod signal;

use orbium::{Config, Orb, config::Configure as _};
use orbium_configurator::Configurator;
use orbium_testkit::Served;

/// A server at a free loopback port, and its configurator.
fn served(mut config: Config) -> (Served, Configurator) {
    let free = "iiop://127.0.0.1:0".parse().unwrap();
    config.endpoints.push(free);
    let served = Served::with(config.clone());
    let configurator = Configurator::new(&served.orb, config);
    (served, configurator)
}

/// The configuration of `configurator` with these keys set.
fn with(configurator: &Configurator, keys: &[(&str, &str)]) -> Config {
    let mut config = configurator.config();
    for (key, value) in keys {
        config.set(key, value).unwrap();
    }
    config
}

/// The number of TCP ports in references of that ORB.
fn ports(orb: &Orb) -> Vec<u16> {
    let addresses = orb.addresses().unwrap();
    addresses.iter().map(|at| at.port).collect()
}

/// Threads of this process with the name of a lane.
fn threads_called(name: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|it| std::fs::read_to_string(it.ok()?.path().join("comm")).ok());
    names.filter(|it| it.trim() == name).count()
}
