// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clients that cannot be connected to.

use orbium::{BidirectionalPolicy, Config, Orb};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, dead_port, reach};

/// A configuration for call-backs.
pub(crate) fn both() -> Config {
    Config {
        bidirectional: BidirectionalPolicy::Both,
        ..Config::default()
    }
}

/// A client with an object for call-backs. Its references name an address at which nothing
/// answers.
pub(crate) fn unreachable(mut config: Config) -> Served {
    let url = format!("iiop://127.0.0.1:0?publish=127.0.0.1:{}", dead_port());
    config.endpoints = vec![url.parse().unwrap()];
    Served::with(config)
}

/// An object of the client, as the server sees it.
pub(crate) fn seen_by(server: &Orb, client: &Served) -> Target {
    reach(server, &client.orb.object_to_string(&client.target))
}
