// SPDX-License-Identifier: MIT OR Apache-2.0
//! What reads the requests of a lane that has endpoints of its own: a lane of
//! the ORB, at the same priority.

use std::sync::Arc;

use orbium_core::{
    Completion, ExceptionKind, LaneConfig, Orb, OrbError, Priority, ServerStrategy, SystemException,
};

use super::{Reader, ThreadpoolId, ThreadpoolLane};
use crate::error::bad_param;
use crate::host::Host;

/// Starts a reader for each lane with endpoints; none is left if one cannot be.
pub(super) fn start(
    id: ThreadpoolId,
    host: &Arc<Host>,
    orb: &Orb,
    lanes: &[ThreadpoolLane],
) -> Result<Vec<Reader>, SystemException> {
    let mut readers: Vec<Reader> = Vec::new();
    for lane in lanes.iter().filter(|it| !it.endpoints.is_empty()) {
        match reader(id, host, orb, lane) {
            Ok(reader) => readers.push(reader),
            Err(exception) => {
                stop(&readers);
                return Err(exception);
            }
        }
    }
    Ok(readers)
}

fn reader(
    id: ThreadpoolId,
    host: &Arc<Host>,
    orb: &Orb,
    lane: &ThreadpoolLane,
) -> Result<Reader, SystemException> {
    let priority = Priority::new(lane.lane_priority).ok_or_else(bad_param)?;
    let config = LaneConfig {
        name: format!("rt-{}-io-{priority}", id.0),
        scheduling: host.scheduling(priority)?,
        processors: (!lane.processors.is_empty()).then(|| lane.processors.clone()),
        strategy: ServerStrategy::ThreadPerConnection,
        endpoints: lane.endpoints.clone(),
        ..LaneConfig::default()
    };
    let lane = orb.add_lane(&config).map_err(|error| {
        tracing::error!(%error, "a lane of a thread pool cannot listen");
        let kind = match error {
            OrbError::Listen(..) => ExceptionKind::Initialize,
            _ => ExceptionKind::NoResources,
        };
        SystemException::new(kind, 0, Completion::No)
    })?;
    Ok(Reader { priority, lane })
}

/// Ends the readers of a pool.
pub(super) fn stop(readers: &[Reader]) {
    for reader in readers {
        // Refused within a request: they end with the ORB then.
        if let Err(exception) = reader.lane.stop() {
            tracing::debug!(%exception, "a lane is still read");
        }
    }
}
