// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clients that cannot be connected to.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use orbium::{
    Config, Orb,
    config::{BidirectionalPolicy, ServerStrategy},
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, dead_port, reach};

/// A configuration for call-backs.
pub(crate) fn both() -> Config {
    Config {
        bidirectional: BidirectionalPolicy::Both,
        ..Config::default()
    }
}

/// The same with a server strategy.
pub(crate) fn with(strategy: ServerStrategy) -> Config {
    Config { strategy, ..both() }
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

/// A directory that no other test uses, removed with everything in it at the end.
pub(crate) struct Folder(PathBuf);

/// A number for each caller.
fn number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Folder {
    pub(crate) fn new() -> Self {
        let name = format!("orbium-bidir-{}-{}", std::process::id(), number());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// A path that begins so and was not given before.
    pub(crate) fn fresh(&self, name: &str) -> String {
        self.path(&format!("{name}-{}", number()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
