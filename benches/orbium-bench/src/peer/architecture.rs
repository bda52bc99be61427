// SPDX-License-Identifier: MIT OR Apache-2.0
//! The compared architectures: server strategies and client strategies.

use orbium::config::{ClientStrategy, ServerStrategy};

use super::programs::Peers;
use crate::stage::real_time::HIGH;

/// The ORB of an architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Sockets that move the same numbers of octets.
    Raw,
    Orbium,
    Omni,
    Jacorb,
}

/// A combination of server and client strategies.
#[derive(Clone, Debug)]
pub(crate) struct Architecture {
    pub(crate) kind: Kind,
    /// The name in tables.
    pub(crate) name: String,
    /// Whether each priority has a separate lane.
    pub(crate) lanes: bool,
    /// Options of the server.
    pub(crate) server: Vec<String>,
    /// Options of the client.
    pub(crate) client: Vec<String>,
}

/// All server strategies of orbium.
fn strategies() -> impl Iterator<Item = ServerStrategy> {
    [
        ServerStrategy::ThreadPerConnection,
        ServerStrategy::Reactive,
        ServerStrategy::leader_followers(),
        ServerStrategy::worker_pool(),
    ]
    .into_iter()
}

/// A name without its numbers.
fn short(strategy: ServerStrategy) -> String {
    let name = strategy.to_string();
    name.split(':').next().unwrap_or_default().to_owned()
}

/// Whether one lane serves requests of both priorities, or one lane each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lanes {
    One,
    Each,
}

/// orbium's architecture with these strategies.
fn of_orbium(strategy: ServerStrategy, lanes: Lanes, connections: ClientStrategy) -> Architecture {
    let mut name = format!("orbium: {}", short(strategy));
    let mut server = vec!["--strategy".to_owned(), strategy.to_string()];
    if lanes == Lanes::Each {
        name = format!("orbium: lanes, {}", short(strategy));
        server.extend(["--lanes".to_owned(), format!("high={HIGH},low=0")]);
    }
    if connections != ClientStrategy::default() {
        name = format!("{name}; {connections}");
    }
    Architecture {
        kind: Kind::Orbium,
        name,
        lanes: lanes == Lanes::Each,
        server,
        client: vec!["--connections".to_owned(), connections.to_string()],
    }
}

/// Every server strategy, with the usual client strategy.
pub(crate) fn ways_to_serve(lanes: Lanes) -> impl Iterator<Item = Architecture> {
    strategies().map(move |strategy| of_orbium(strategy, lanes, ClientStrategy::default()))
}

/// A reactor for each lane, with the usual client strategy.
pub(crate) fn reactive(lanes: Lanes) -> Architecture {
    of_orbium(ServerStrategy::Reactive, lanes, ClientStrategy::default())
}

/// Every other client strategy: with a reactor for each priority, which is TAO's architecture, and
/// with one lane, which is miniCOOL's (leader-followers on both sides) and CORBAplus's (a worker
/// pool, a thread that reads replies).
pub(crate) fn ways_to_connect() -> Vec<Architecture> {
    let usual = ClientStrategy::default();
    let others = ClientStrategy::ALL.iter().filter(|own| **own != usual);
    let both = |connections: &ClientStrategy| {
        let one = match connections {
            ClientStrategy::LeaderFollowers => ServerStrategy::leader_followers(),
            ClientStrategy::IoThread => ServerStrategy::worker_pool(),
            other => other.needs().unwrap_or_default(),
        };
        [
            of_orbium(ServerStrategy::Reactive, Lanes::Each, *connections),
            of_orbium(one, Lanes::One, *connections),
        ]
    };
    others.flat_map(both).collect()
}

/// omniORB's, if it is available: a thread per connection or a pool of threads, and connections for
/// each call or a single one for all.
fn of_omni() -> Vec<Architecture> {
    let option = |name: &str, value: &str| [format!("-ORB{name}"), value.to_owned()];
    let own = |name: &str, server: Vec<String>, client: Vec<String>| Architecture {
        kind: Kind::Omni,
        name: format!("omniORB: {name}"),
        lanes: false,
        server,
        client,
    };
    let many = option("maxGIOPConnectionPerServer", "64");
    let one = option("maxGIOPConnectionPerServer", "1");
    let shared = option("oneCallPerConnection", "0");
    let pool = option("threadPerConnectionPolicy", "0");
    vec![
        own("thread-per-connection", Vec::new(), many.to_vec()),
        own("thread pool", pool.to_vec(), many.to_vec()),
        own(
            "thread pool, one connection",
            pool.to_vec(),
            [one, shared].concat(),
        ),
    ]
}

/// All available architectures: orbium's first.
pub(crate) fn architectures(peers: &Peers) -> Vec<Architecture> {
    let mut all: Vec<_> = ways_to_serve(Lanes::Each).collect();
    all.extend(ways_to_serve(Lanes::One));
    all.extend(ways_to_connect());
    if peers.omni().is_some() {
        all.extend(of_omni());
    }
    if peers.jacorb().is_some() {
        all.push(Architecture {
            kind: Kind::Jacorb,
            name: "JacORB: thread pool, one connection".to_owned(),
            lanes: false,
            server: Vec::new(),
            client: Vec::new(),
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_is_there_with_and_without_lanes() {
        let peers = Peers::none();
        let all = architectures(&peers);
        let has = |name: &str| all.iter().any(|other| other.name == name);
        for own in ways_to_serve(Lanes::Each) {
            assert!(own.lanes && has(&own.name), "{own:?}");
            assert!(has(&own.name.replace("lanes, ", "")), "{own:?}");
        }
        for connections in ClientStrategy::ALL {
            let uses = |own: &Architecture| own.client.contains(&connections.to_string());
            assert!(all.iter().any(|own| own.lanes && uses(own)));
            assert!(all.iter().any(|own| !own.lanes && uses(own)));
        }
        assert!(has("orbium: leader-followers; leader-followers"), "{all:?}");
    }
}
