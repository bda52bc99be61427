// SPDX-License-Identifier: MIT OR Apache-2.0
//! ORBs for tests.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use orbium::giop::{IiopProfile, Ior, TaggedComponent, Version};
use orbium::{
    Config, Interface, Orb,
    config::{ClientStrategy, ServerStrategy},
};

use crate::probe::Target;
use crate::target::TargetState;
use crate::waiting::within;

/// Runs a test once for each server strategy.
///
/// # Panics
/// The test panics; the message names the strategy.
pub fn each_strategy(test: impl Fn(ServerStrategy)) {
    with_each_strategy(&test);
}

/// Not generic, as hundreds of tests call [`each_strategy`]: compiled once.
fn with_each_strategy(test: &dyn Fn(ServerStrategy)) {
    for strategy in [
        ServerStrategy::ThreadPerConnection,
        ServerStrategy::Reactive,
        ServerStrategy::LeaderFollowers { threads: 2 },
        ServerStrategy::WorkerPool {
            workers: 2,
            queue: 4096,
        },
    ] {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| test(strategy))) {
            eprintln!("with server strategy {strategy}");
            resume_unwind(panic);
        }
    }
}

/// The strategy with the least concurrency: requests of one connection are begun in order. Workers
/// may reorder them.
#[must_use]
pub fn in_order(strategy: ServerStrategy) -> ServerStrategy {
    match strategy {
        ServerStrategy::WorkerPool { queue, .. } => {
            ServerStrategy::WorkerPool { workers: 1, queue }
        }
        other => other,
    }
}

/// Runs a test once for each client strategy.
///
/// # Panics
/// The test panics; the message names the strategy.
pub fn each_client_strategy(test: impl Fn(ClientStrategy)) {
    with_each_client_strategy(&test);
}

/// As `with_each_strategy`.
fn with_each_client_strategy(test: &dyn Fn(ClientStrategy)) {
    for strategy in ClientStrategy::ALL {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| test(*strategy))) {
            eprintln!("with client strategy {strategy}");
            resume_unwind(panic);
        }
    }
}

/// Runs a test for each compatible pair of a server and a client strategy: an ORB can be built with
/// the given configuration.
///
/// # Panics
/// The test panics; the message names the strategies.
pub fn each_pair(test: impl Fn(Config)) {
    each_strategy(|strategy| {
        each_client_strategy(|client_strategy| {
            let config = Config {
                strategy,
                client_strategy,
                ..Config::default()
            };
            if Orb::new(config.clone()).is_ok() {
                test(config);
            }
        });
    });
}

/// The configuration of an ORB with a client strategy, and a compatible server strategy.
#[must_use]
pub fn calling_by(client_strategy: ClientStrategy) -> Config {
    Config {
        client_strategy,
        strategy: client_strategy.needs().unwrap_or_default(),
        ..Config::default()
    }
}

/// An ORB that serves the test interface on a free port of the loopback.
#[derive(Clone, Debug)]
pub struct Served {
    /// The ORB.
    pub orb: Orb,
    /// The servant.
    pub state: Arc<TargetState>,
    /// The object's reference in the server. Its plain key is `Target`.
    pub target: Target,
}

impl Served {
    /// With the defaults.
    #[must_use]
    pub fn new(strategy: ServerStrategy) -> Self {
        Self::with(Config {
            strategy,
            ..Config::default()
        })
    }

    /// With a configuration; an endpoint is added if it has none.
    ///
    /// # Panics
    /// The ORB cannot be built.
    #[must_use]
    pub fn with(mut config: Config) -> Self {
        if config.endpoints.is_empty() {
            config
                .endpoints
                .push("iiop://127.0.0.1:0".parse().expect("an endpoint"));
        }
        let orb = Orb::new(config).expect("an ORB");
        orb.root_poa().manager().activate().expect("a new manager");
        let state = Arc::new(TargetState::default());
        let target: Target = orb
            .root_poa()
            .activate(Arc::clone(&state))
            .expect("activation");
        orb.bind_key_in_place("Target", &target)
            .expect("own object");
        Self { orb, state, target }
    }

    /// The port at which the server listens.
    ///
    /// # Panics
    /// The ORB was shut down.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.orb.addresses().expect("a listening ORB")[0].port
    }

    /// The object's reference in `client`.
    #[must_use]
    pub fn seen_by(&self, client: &Orb) -> Target {
        reach(client, &self.orb.object_to_string(&self.target))
    }

    /// A new client, and the object's reference in it.
    #[must_use]
    pub fn client(&self) -> (Orb, Target) {
        let client = client();
        let target = self.seen_by(&client);
        (client, target)
    }

    /// Shuts the server down.
    ///
    /// # Panics
    /// It does not end.
    pub fn end(self) {
        let orb = self.orb.clone();
        drop(self);
        within("the server's shutdown", move || orb.shutdown(true)).expect("shutdown");
    }
}

/// An ORB without endpoints.
///
/// # Panics
/// It cannot be built.
#[must_use]
pub fn client() -> Orb {
    Orb::builder().build().expect("an ORB")
}

/// The object of a stringified reference, without a type check.
///
/// # Panics
/// The string is not a reference.
#[must_use]
pub fn reach(client: &Orb, text: &str) -> Target {
    let object = client.string_to_object(text).expect("an object string");
    Target::from_object(object.expect("not nil"))
}

/// A reference to an object with the key `key` at ports of the loopback: a
/// profile for each.
#[must_use]
pub fn reference(minor: u8, ports: &[u16], key: &[u8], components: &[TaggedComponent]) -> Ior {
    let profile = |port: &u16| {
        let profile = IiopProfile {
            version: Version { major: 1, minor },
            host: "127.0.0.1".to_owned(),
            port: *port,
            object_key: key.to_vec(),
            components: components.to_vec(),
        };
        profile.encode()
    };
    Ior {
        type_id: Target::REPOSITORY_ID.to_owned(),
        profiles: ports.iter().map(profile).collect(),
    }
}
