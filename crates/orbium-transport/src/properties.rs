// SPDX-License-Identifier: MIT OR Apache-2.0
//! Protocol properties that an endpoint has for itself.

use crate::{Endpoint, EndpointError, ProtocolProperties};

impl Endpoint {
    /// The properties of this endpoint: those of `defaults`, overridden by its parameters with one
    /// of the `names`, as in `iiop://:5000?dscp=46&send_buffer=65536`. Other parameters are
    /// ignored; to refuse unknown ones pass the names to [`Endpoint::check_parameters`], too.
    ///
    /// # Errors
    /// [`EndpointError::BadParameter`].
    pub fn properties(
        &self,
        defaults: &ProtocolProperties,
        names: &[&str],
    ) -> Result<ProtocolProperties, EndpointError> {
        let mut properties = *defaults;
        for name in names {
            if let Some(value) = self.parameter(name)
                && properties.set(name, value).is_err()
            {
                return Err(EndpointError::BadParameter(format!("{name}={value}")));
            }
        }
        Ok(properties)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoint_overrides_what_is_asked_of_all() {
        let defaults = ProtocolProperties {
            dscp: Some(10),
            pacing_rate: Some(1000),
            ..ProtocolProperties::default()
        };
        let endpoint: Endpoint = "iiop://:1?dscp=46&no_delay=off&publish=x".parse().unwrap();
        let names = ProtocolProperties::TCP_NAMES;
        let properties = endpoint.properties(&defaults, names).unwrap();
        let expected = ProtocolProperties {
            dscp: Some(46),
            no_delay: false,
            ..defaults
        };
        assert_eq!(properties, expected);
        let endpoint: Endpoint = "iiop://:1?dscp=64".parse().unwrap();
        let error = endpoint.properties(&defaults, names).unwrap_err();
        assert_eq!(error, EndpointError::BadParameter("dscp=64".into()));
    }
}
