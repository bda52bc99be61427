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
/// The test panics; the strategy is named.
pub fn each_strategy(test: impl Fn(ServerStrategy)) {
    with_each_strategy(&test);
}

/// Hundreds of tests call [`each_strategy`]: this is compiled once.
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

/// The strategy with as little at once as it can: requests of one connection are
/// begun in order. Workers are free to do otherwise.
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
/// The test panics; the strategy is named.
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

/// Runs a test for each pair of a server and a client strategy that go
/// together: an ORB of the configuration that it is given can be built.
///
/// # Panics
/// The test panics; the strategies are named.
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

/// The configuration of an ORB that calls by a strategy, and serves by one that it
/// goes together with.
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
    /// The object, as the server itself sees it. Its plain key is `Target`.
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

    /// The port that the server listens at.
    ///
    /// # Panics
    /// The ORB was shut down.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.orb.addresses().expect("a listening ORB")[0].port
    }

    /// The object, as `client` sees it.
    #[must_use]
    pub fn seen_by(&self, client: &Orb) -> Target {
        reach(client, &self.orb.object_to_string(&self.target))
    }

    /// A client of its own, and the object as that client sees it.
    #[must_use]
    pub fn client(&self) -> (Orb, Target) {
        let client = client();
        let target = self.seen_by(&client);
        (client, target)
    }

    /// Ends the server.
    ///
    /// # Panics
    /// It does not end.
    pub fn end(self) {
        let orb = self.orb.clone();
        drop(self);
        within("the server's shutdown", move || orb.shutdown(true)).expect("shutdown");
    }
}

/// An ORB that only calls.
///
/// # Panics
/// It cannot be built.
#[must_use]
pub fn client() -> Orb {
    Orb::builder().build().expect("an ORB")
}

/// The object that a string names, unchecked.
///
/// # Panics
/// The string names none.
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
