// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of an ORB and of its server.

/// Names that a program assigns to its ORB, for interceptors and object reference templates; the
/// ORB itself uses neither.
///
/// ```
/// use orbium_core::{Config, Orb};
/// use orbium_interceptor::OrbIdentity;
///
/// let identity = OrbIdentity {
///     orb_id: "flight".to_owned(),
///     server_id: "avionics-1".to_owned(),
/// };
/// let orb = Orb::new(Config {
///     identity,
///     ..Config::default()
/// })?;
/// assert_eq!(orb.config().identity.server_id, "avionics-1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OrbIdentity {
    /// The `orb_identifier` of `ORB_init` (`-ORBId`). Default: empty.
    pub orb_id: String,
    /// The name of the server (`-ORBServerId`). Default: empty.
    pub server_id: String,
}
