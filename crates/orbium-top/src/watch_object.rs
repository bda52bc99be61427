// SPDX-License-Identifier: MIT OR Apache-2.0
//! The watch object of an ORB.

use std::time::Duration;

use orbium::metrics::exposition::watch::idl::{Snapshot, Watch};
use orbium::{Interface, Orb};

use crate::error::TopError;

/// Maximum number of entries of a list: as many as the IDL permits.
const MAX_ENTRIES: usize = 1000;

/// The watch object of a URL, with a time-out for each reply.
pub(crate) fn at(url: &str, patience: Duration) -> Result<Watch, TopError> {
    let failed = |why: String| TopError::because(format!("`{url}`: {why}"));
    let built = Orb::builder().call_timeout(patience).build();
    let orb = built.map_err(|error| failed(error.to_string()))?;
    let object = orb.string_to_object(url);
    let object = object.map_err(|error| failed(error.to_string()))?;
    let object = object.ok_or_else(|| failed("the reference is nil".into()))?;
    Ok(Watch::from_object(object))
}

/// The name of the ORB; empty if it has none, as in a process of an earlier version.
pub(crate) fn orb_id(watch: &Watch) -> String {
    printable(&watch.orb_id().unwrap_or_default())
}

/// Text of a process, without control characters, which could steer a terminal.
pub(crate) fn printable(text: &str) -> String {
    let visible = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().map(visible).collect()
}

/// A snapshot of a process with printable text, and lists of bounded length.
pub(crate) fn bounded(mut snapshot: Snapshot) -> Snapshot {
    let it = &mut snapshot;
    it.operations.truncate(MAX_ENTRIES);
    it.lanes.truncate(MAX_ENTRIES);
    it.connections.truncate(MAX_ENTRIES);
    it.adapters.truncate(MAX_ENTRIES);
    it.events.truncate(MAX_ENTRIES);
    it.budgets.truncate(MAX_ENTRIES);
    let mut texts = vec![&mut it.version, &mut it.program];
    for operation in &mut it.operations {
        texts.extend([&mut operation.name, &mut operation.lane]);
    }
    for lane in &mut it.lanes {
        lane.endpoints.truncate(MAX_ENTRIES);
        texts.extend([&mut lane.name, &mut lane.strategy, &mut lane.host]);
        texts.extend(&mut lane.endpoints);
    }
    for connection in &mut it.connections {
        texts.extend([
            &mut connection.transport,
            &mut connection.peer,
            &mut connection.lane,
            &mut connection.quality,
            &mut connection.in_force,
        ]);
    }
    for adapter in &mut it.adapters {
        texts.extend([&mut adapter.path, &mut adapter.state]);
    }
    for tallies in [
        &mut it.raised,
        &mut it.received,
        &mut it.refused,
        &mut it.retries,
    ] {
        tallies.truncate(MAX_ENTRIES);
        texts.extend(tallies.iter_mut().map(|tally| &mut tally.name));
    }
    for event in &mut it.events {
        texts.extend([&mut event.level, &mut event.text]);
    }
    texts.extend(it.budgets.iter_mut().map(|budget| &mut budget.operation));
    for text in texts {
        *text = printable(text);
    }
    snapshot
}
