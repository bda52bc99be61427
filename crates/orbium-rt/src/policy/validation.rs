// SPDX-License-Identifier: MIT OR Apache-2.0
//! Validation of the policies of an adapter.

use orbium_core::{Orb, Priority, SystemException};
use orbium_giop::real_time::{PriorityBand, PriorityModel};

use crate::pool::Threadpool;
use crate::priority::band::holds;
use crate::priority::host::Host;
use crate::{InvalidPolicy, PolicyType, ProtocolList, RtPoaError, RtPolicies, Why};

const fn invalid(policy: PolicyType, why: Why) -> InvalidPolicy {
    InvalidPolicy { policy, why }
}

/// Validates the policies of a new adapter; returns the server's priority of the priority model, 0
/// without one.
pub(crate) fn check(
    policies: &RtPolicies,
    pool: Option<&Threadpool>,
    host: &Host,
    orb: &Orb,
) -> Result<Priority, RtPoaError> {
    let server_priority = check_model(policies, pool, host)?;
    if let Some(bands) = &policies.bands {
        check_bands(bands, policies, pool)?;
    }
    if let Some(protocols) = &policies.server_protocols {
        check_endpoints(protocols, orb)?;
    }
    Ok(server_priority)
}

fn check_model(
    policies: &RtPolicies,
    pool: Option<&Threadpool>,
    host: &Host,
) -> Result<Priority, InvalidPolicy> {
    let with_lanes = pool.filter(|pool| pool.has_lanes);
    let Some(model) = policies.priority_model else {
        return match with_lanes {
            Some(_) => Err(invalid(PolicyType::Threadpool, Why::NoPriorityModel)),
            None => Ok(Priority::MIN),
        };
    };
    let of_model = |why| invalid(PolicyType::PriorityModel, why);
    let number = model.server_priority;
    let priority = Priority::new(number).ok_or_else(|| of_model(Why::NoPriority))?;
    host.to_native(priority)
        .map_err(|_| of_model(Why::NotMapped))?;
    let declared = model.priority_model == PriorityModel::ServerDeclared;
    if let Some(pool) = with_lanes
        && declared
        && !pool.priorities().any(|it| it == priority)
    {
        return Err(of_model(Why::NotALane));
    }
    Ok(priority)
}

/// Validates bands, independently of other policies.
pub(crate) fn check_bands_alone(bands: &[PriorityBand]) -> Result<(), Why> {
    if bands.is_empty() {
        return Err(Why::NoBands);
    }
    for band in bands {
        if band.low < 0 || band.high < 0 {
            return Err(Why::NoPriority);
        }
        if band.low > band.high {
            return Err(Why::UpsideDown);
        }
    }
    Ok(())
}

fn check_bands(
    bands: &[PriorityBand],
    policies: &RtPolicies,
    pool: Option<&Threadpool>,
) -> Result<(), InvalidPolicy> {
    let of_bands = |why| invalid(PolicyType::PriorityBandedConnection, why);
    let model = policies.priority_model;
    let model = model.ok_or_else(|| of_bands(Why::NoPriorityModel))?;
    check_bands_alone(bands).map_err(of_bands)?;
    let server_priority = Priority::new(model.server_priority);
    let in_a_band = |priority| bands.iter().any(|band| holds(band, priority));
    if model.priority_model == PriorityModel::ServerDeclared
        && !server_priority.is_some_and(in_a_band)
    {
        return Err(of_bands(Why::InNoBand));
    }
    if let Some(pool) = pool.filter(|pool| pool.has_lanes) {
        let has_lane = |band: &PriorityBand| pool.priorities().any(|it| holds(band, it));
        if !bands.iter().all(has_lane) {
            return Err(of_bands(Why::BandWithoutLane));
        }
    }
    Ok(())
}

fn check_endpoints(protocols: &ProtocolList, orb: &Orb) -> Result<(), RtPoaError> {
    let of_server = |why| invalid(PolicyType::ServerProtocol, why);
    let served = orb
        .channels()
        .map_err(|it: SystemException| RtPoaError::from(it))?;
    for protocol in &protocols.0 {
        if protocol.transport.is_some() {
            return Err(of_server(Why::PropertiesOfEndpoints).into());
        }
        let names = protocol.names();
        let mut served = served.iter();
        if !served.any(|channel| names.contains(&channel.protocol().as_str())) {
            return Err(of_server(Why::NoEndpoint).into());
        }
    }
    Ok(())
}
