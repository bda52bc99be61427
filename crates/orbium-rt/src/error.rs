// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of Real-time CORBA.

use std::fmt;

use orbium_core::{Completion, ExceptionKind, PoaError, SystemException};
use orbium_giop::{minor, real_time};
use orbium_sys::RealTimeError;

/// Error of setting up Real-time CORBA for an ORB.
#[non_exhaustive]
pub enum RtError {
    /// Real-time CORBA is installed already.
    AlreadyInstalled,
    /// The host does not permit the native priorities, or locked memory: change its configuration,
    /// or make the ORB soft.
    Host(RealTimeError),
    /// A system exception: INITIALIZE 1 for a range of native priorities that is too narrow,
    /// BAD_PARAM for one that the platform does not support.
    System(SystemException),
}

impl fmt::Display for RtError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlreadyInstalled => f.write_str("the ORB has Real-time CORBA already"),
            Self::Host(error) => write!(f, "the host is not ready for real time: {error}"),
            Self::System(exception) => exception.fmt(f),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for RtError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for RtError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Host(error) => Some(error),
            _ => None,
        }
    }
}

impl From<RealTimeError> for RtError {
    fn from(error: RealTimeError) -> Self {
        Self::Host(error)
    }
}

impl From<SystemException> for RtError {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

/// A policy of Real-time CORBA, by its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum PolicyType {
    /// PriorityModelPolicy.
    PriorityModel = real_time::PRIORITY_MODEL_POLICY,
    /// ThreadpoolPolicy.
    Threadpool = real_time::THREADPOOL_POLICY,
    /// ServerProtocolPolicy.
    ServerProtocol = real_time::SERVER_PROTOCOL_POLICY,
    /// ClientProtocolPolicy.
    ClientProtocol = real_time::CLIENT_PROTOCOL_POLICY,
    /// PrivateConnectionPolicy.
    PrivateConnection = real_time::PRIVATE_CONNECTION_POLICY,
    /// PriorityBandedConnectionPolicy.
    PriorityBandedConnection = real_time::PRIORITY_BANDED_CONNECTION_POLICY,
}

impl PolicyType {
    /// The policy's interface.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PriorityModel => "PriorityModelPolicy",
            Self::Threadpool => "ThreadpoolPolicy",
            Self::ServerProtocol => "ServerProtocolPolicy",
            Self::ClientProtocol => "ClientProtocolPolicy",
            Self::PrivateConnection => "PrivateConnectionPolicy",
            Self::PriorityBandedConnection => "PriorityBandedConnectionPolicy",
        }
    }
}

impl fmt::Display for PolicyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Error in the policies of an adapter (`POA::InvalidPolicy`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct InvalidPolicy {
    /// The policy at fault.
    pub policy: PolicyType,
    /// The reason.
    pub why: Why,
}

/// Kind of an error in a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// There is no thread pool with that id.
    NoSuchThreadpool,
    /// Lanes and bands require a PriorityModelPolicy.
    NoPriorityModel,
    /// The priority is not from 0 to 32767.
    NoPriority,
    /// The server's priority is not that of a lane.
    NotALane,
    /// The list of bands is empty.
    NoBands,
    /// The low end of a band is above the high end.
    UpsideDown,
    /// The server's priority is in no band.
    InNoBand,
    /// No lane has a priority in one of the bands.
    BandWithoutLane,
    /// A protocol has no endpoint.
    NoEndpoint,
    /// Transport properties of a server belong to its endpoints.
    PropertiesOfEndpoints,
    /// The priority has no native one.
    NotMapped,
}

impl Why {
    const fn text(self) -> &'static str {
        match self {
            Self::NoSuchThreadpool => "there is no thread pool of that id",
            Self::NoPriorityModel => "lanes and bands take a PriorityModelPolicy",
            Self::NoPriority => "a priority is not from 0 to 32767",
            Self::NotALane => "the server's priority is not that of a lane",
            Self::NoBands => "there are no bands",
            Self::UpsideDown => "the low end of a band is above its high end",
            Self::InNoBand => "the server's priority is in no band",
            Self::BandWithoutLane => "no lane has a priority in one of the bands",
            Self::NoEndpoint => "the ORB does not listen with one of the protocols",
            Self::PropertiesOfEndpoints => {
                "transport properties of a server are parameters of its endpoints"
            }
            Self::NotMapped => "the server's priority has no native priority",
        }
    }
}

impl fmt::Display for InvalidPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.policy, self.why.text())
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for InvalidPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for InvalidPolicy {}

/// Error of a real-time adapter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RtPoaError {
    /// The policies are inconsistent.
    InvalidPolicy(InvalidPolicy),
    /// An error of any adapter.
    Poa(PoaError),
}

impl fmt::Display for RtPoaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidPolicy(error) => error.fmt(f),
            Self::Poa(error) => error.fmt(f),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for RtPoaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for RtPoaError {}

impl From<InvalidPolicy> for RtPoaError {
    fn from(error: InvalidPolicy) -> Self {
        Self::InvalidPolicy(error)
    }
}

impl From<PoaError> for RtPoaError {
    fn from(error: PoaError) -> Self {
        Self::Poa(error)
    }
}

impl From<SystemException> for RtPoaError {
    fn from(exception: SystemException) -> Self {
        Self::Poa(exception.into())
    }
}

/// A priority that could not be mapped.
pub(crate) fn not_mapped() -> SystemException {
    SystemException::omg(ExceptionKind::DataConversion, 2, Completion::No)
}

/// The system exception for a refusal by the host, per the specification.
pub(crate) fn refused(error: &RealTimeError) -> SystemException {
    tracing::warn!(target: "orbium::lane", %error, "the host refuses");
    match error {
        RealTimeError::NoSuchPriority(_) => not_mapped(),
        RealTimeError::PriorityNotPermitted(_) => SystemException::orbium(
            ExceptionKind::NoPermission,
            minor::NOT_ALLOWED,
            Completion::No,
        ),
        RealTimeError::NoSuchReservation(_)
        | RealTimeError::NoBandwidth(_)
        | RealTimeError::ReservationNotPermitted(_) => SystemException::orbium(
            ExceptionKind::NoResources,
            minor::NOT_RESERVED,
            Completion::No,
        ),
        _ => SystemException::new(ExceptionKind::NoResources, 0, Completion::No),
    }
}

/// A parameter out of its range.
pub(crate) fn bad_param() -> SystemException {
    SystemException::new(ExceptionKind::BadParam, 0, Completion::No)
}

/// The priority of an active object cannot be changed.
pub(crate) fn priority_is_settled() -> SystemException {
    SystemException::omg(ExceptionKind::BadInvOrder, 18, Completion::No)
}
