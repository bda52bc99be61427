// SPDX-License-Identifier: MIT OR Apache-2.0
//! The transport.

use orbium_transport::{
    Acceptor, Connector, Endpoint, EndpointError, ListenError, ProtocolProperties, StreamTransport,
};

use crate::region::is_ring;
use crate::{ShmAcceptor, ShmConnector, ShmOptions};

/// Shared memory: endpoints `shmiop:///run/x.shm`, `shmiop://@name` for a name outside of the file
/// system, `shmiop://` for a generated path.
///
/// Parameters: `ring` and `spin` as in [`ShmOptions`] (`spin=none`, `spin=20`
/// for 20 µs each time, `spin=adaptive:20`); `mode` and `publish` as for Unix
/// sockets.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShmTransport {
    options: ShmOptions,
}

impl ShmTransport {
    /// With these options, unless an endpoint overrides them.
    #[must_use]
    pub fn new(options: ShmOptions) -> Self {
        Self { options }
    }

    fn options(&self, endpoint: &Endpoint) -> Result<ShmOptions, EndpointError> {
        let mut options = self.options;
        let bad = |name: &str, text: &str| EndpointError::BadParameter(format!("{name}={text}"));
        if let Some(text) = endpoint.parameter("ring") {
            options.ring = text.parse().map_err(|_| bad("ring", text))?;
        }
        if let Some(text) = endpoint.parameter("spin") {
            options.spin = text.parse().map_err(|_| bad("spin", text))?;
        }
        if is_ring(options.ring) {
            Ok(options)
        } else {
            Err(bad("ring", &options.ring.to_string()))
        }
    }
}

impl StreamTransport for ShmTransport {
    fn scheme(&self) -> &'static str {
        "shmiop"
    }

    fn listen(
        &self,
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Acceptor>, ListenError> {
        endpoint.check_parameters(&["ring", "spin", "mode", "publish"])?;
        let options = self.options(endpoint)?;
        Ok(Box::new(ShmAcceptor::listen(
            endpoint, properties, options,
        )?))
    }

    fn connector(
        &self,
        address: &str,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Connector>, EndpointError> {
        Ok(Box::new(ShmConnector::new(
            address,
            *properties,
            self.options.spin,
        )?))
    }
}
