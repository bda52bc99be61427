// SPDX-License-Identifier: MIT OR Apache-2.0
//! The builder of an ORB.

use std::sync::Arc;
use std::time::Duration;

use orbium_giop::messaging::Messaging;
use orbium_interceptor::Interceptors;
use orbium_transport::{EndpointError, Transport};

use super::{Orb, OrbError};
use crate::{ClientStrategy, Config, Limits, ProtocolPolicy, ServerStrategy};

/// Builds an ORB from single settings; see [`Config`] for each of them.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct OrbBuilder {
    config: Config,
}

impl OrbBuilder {
    /// Listens at an endpoint such as `iiop://host:port`; see
    /// [`Endpoint`](crate::Endpoint). May be repeated.
    ///
    /// # Errors
    /// The endpoint cannot be parsed.
    pub fn endpoint(mut self, endpoint: &str) -> Result<Self, EndpointError> {
        self.config.endpoints.push(endpoint.parse()?);
        Ok(self)
    }

    /// Adds a transport; it replaces one with the same scheme.
    #[inline]
    pub fn transport(mut self, transport: Transport) -> Self {
        self.config.protocols.register(transport);
        self
    }

    /// Adds a messaging protocol; it replaces one with the same name.
    pub fn messaging(mut self, layer: impl Messaging + 'static) -> Self {
        self.config.protocols.register_messaging(Arc::new(layer));
        self
    }

    /// Protocols of calls, best first; those not named are not used.
    #[inline]
    pub fn client_protocols(mut self, policy: ProtocolPolicy) -> Self {
        self.config.client_protocols = Some(policy);
        self
    }

    /// Registers the interceptors of every call, every request to a servant, and every
    /// reply.
    pub fn interceptors(mut self, interceptors: Interceptors) -> Self {
        self.config.interceptors = interceptors;
        self
    }

    /// Sets the strategy by which connections are served.
    #[inline]
    pub fn strategy(mut self, strategy: ServerStrategy) -> Self {
        self.config.strategy = strategy;
        self
    }

    /// Sets the strategy by which calls use connections and wait for their replies.
    #[inline]
    pub fn client_strategy(mut self, strategy: ClientStrategy) -> Self {
        self.config.client_strategy = strategy;
        self
    }

    /// Sets the limits of resources that peers can make the ORB use.
    #[inline]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config.limits = limits;
        self
    }

    /// Sets the time-out of each call.
    #[inline]
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.config.call_timeout = Some(timeout);
        self
    }

    /// Counts and measures calls and requests; see [`metrics`](crate::metrics).
    #[inline]
    pub fn metrics(mut self) -> Self {
        self.config.metrics = true;
        self
    }

    /// Shows the ORB to `orbium top`; see [`Orb::watch`].
    #[inline]
    pub fn watch(mut self) -> Self {
        self.config.watch = true;
        self
    }

    /// Sets the whole configuration.
    #[inline]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Builds the ORB, and listens if endpoints were given.
    ///
    /// # Errors
    /// [`OrbError`]: the configuration is invalid, or a thread, priority or endpoint was refused.
    pub fn build(self) -> Result<Orb, OrbError> {
        Orb::new(self.config)
    }
}
