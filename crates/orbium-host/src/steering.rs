// SPDX-License-Identifier: MIT OR Apache-2.0
//! Filters that choose the receive queue by port, set by `ethtool`.
//!
//! Filters belong to the interface, and only its driver knows them. `ethtool` uses netlink and the
//! older ioctl with every driver.

use std::process::Command;

use super::step::Filter;

/// The protocols with ports.
const PROTOCOLS: [&str; 2] = ["tcp4", "udp4"];

/// The messages of ethtool for a number without a filter: it is free, beyond the maximum, or the
/// interface has another driver now.
const NO_RULE: [&str; 3] = [
    "No such file or directory",
    "Invalid argument",
    "Operation not supported",
];

fn ethtool(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("ethtool")
        .args(arguments)
        .env("LC_ALL", "C")
        .output()
        .map_err(|error| format!("ethtool, of the package ethtool: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let reason = String::from_utf8_lossy(&output.stderr);
    let first = reason.lines().next().unwrap_or("no reason is given");
    Err(format!("ethtool {}: {first}", arguments.join(" ")))
}

/// Whether the filters of an interface are off and can be switched on.
pub(crate) fn must_be_enabled(interface: &str) -> Result<bool, String> {
    let features = ethtool(&["-k", interface])?;
    let state = features
        .lines()
        .find_map(|line| line.trim().strip_prefix("ntuple-filters:"));
    match state.map(str::trim) {
        Some("on" | "on [fixed]") => Ok(false),
        Some("off" | "off [requested on]") => Ok(true),
        _ => Err(format!(
            "{interface} has no filters by port (ntuple-filters); lanes can still choose where \
             they are served: `incoming_cpu` and the processors of the lane"
        )),
    }
}

/// Sets the filters of a port; returns the numbers of those that were set, also if another was
/// refused.
pub(crate) fn add(filter: &Filter) -> (Vec<u32>, Result<(), String>) {
    let mut rules = Vec::new();
    if filter.enable
        && let Err(reason) = ethtool(&["-K", &filter.interface, "ntuple", "on"])
    {
        return (rules, Err(reason));
    }
    for protocol in PROTOCOLS {
        match add_rule(filter, protocol) {
            Ok(rule) => rules.push(rule),
            Err(reason) => return (rules, Err(reason)),
        }
    }
    (rules, Ok(()))
}

/// Whether a filter still has that number: a restart of the host removes all filters, and its
/// number may belong to another one then.
fn is_there(filter: &Filter, rule: u32) -> Result<bool, String> {
    match ethtool(&["-n", &filter.interface, "rule", &rule.to_string()]) {
        Ok(said) => {
            let is_said = |field: &str, number: u32| {
                let mut lines = said.lines().map(str::trim);
                lines.any(|line| {
                    let rest = line.strip_prefix(field);
                    let word = rest.and_then(|rest| rest.split_whitespace().next());
                    word == Some(&*number.to_string())
                })
            };
            let (port, queue) = (u32::from(filter.port), filter.queue);
            Ok(is_said("Dest port:", port) && is_said("Action: Direct to queue", queue))
        }
        Err(reason) if NO_RULE.iter().any(|why| reason.ends_with(why)) => Ok(false),
        Err(reason) => Err(reason),
    }
}

fn add_rule(filter: &Filter, protocol: &str) -> Result<u32, String> {
    let (port, queue) = (filter.port.to_string(), filter.queue.to_string());
    let interface = filter.interface.as_str();
    let said = ethtool(&[
        "-N",
        interface,
        "flow-type",
        protocol,
        "dst-port",
        &port,
        "action",
        &queue,
    ])?;
    // "Added rule with ID 1023"
    let rule = said.split_whitespace().last().unwrap_or_default();
    rule.parse()
        .map_err(|_| format!("ethtool does not say which rule it added: {said:?}"))
}

/// Removes the filters that still exist, and switches filtering off again if it was.
pub(crate) fn remove(filter: &Filter) -> Result<(), String> {
    for rule in &filter.rules {
        if is_there(filter, *rule)? {
            ethtool(&["-N", &filter.interface, "delete", &rule.to_string()])?;
        }
    }
    if filter.enable {
        ethtool(&["-K", &filter.interface, "ntuple", "off"])?;
    }
    Ok(())
}
