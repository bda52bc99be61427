// SPDX-License-Identifier: MIT OR Apache-2.0
//! The architectures that are compared: how requests are served, and how
//! connections are used.

use orbium::ServerStrategy;

use super::peers::Peers;
use super::real_time::HIGH;

/// Whose architecture it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Sockets that move the same numbers of octets.
    Raw,
    Orbium,
    Omni,
    Jacorb,
}

/// A way to serve and to call.
#[derive(Clone, Debug)]
pub(crate) struct Architecture {
    pub(crate) kind: Kind,
    /// What it is called in tables.
    pub(crate) name: String,
    /// Whether each priority has a lane of its own.
    pub(crate) lanes: bool,
    /// Options of the server.
    pub(crate) server: Vec<String>,
    /// Options of the client.
    pub(crate) client: Vec<String>,
}

/// Every way to serve that orbium has.
fn strategies() -> impl Iterator<Item = ServerStrategy> {
    let names = [
        "thread-per-connection",
        "reactive",
        "leader-followers",
        "worker-pool",
    ];
    names.into_iter().filter_map(|name| name.parse().ok())
}

/// A name without the numbers behind it.
fn short(strategy: ServerStrategy) -> String {
    let name = strategy.to_string();
    name.split(':').next().unwrap_or_default().to_owned()
}

/// orbium's, with one lane for all or with one for each priority.
pub(crate) fn of_orbium(lanes: bool) -> impl Iterator<Item = Architecture> {
    let named = move |strategy: ServerStrategy| {
        let name = short(strategy);
        if lanes {
            format!("lanes, {name}")
        } else {
            name
        }
    };
    strategies().map(move |strategy| {
        let mut server = vec!["--strategy".to_owned(), strategy.to_string()];
        if lanes {
            server.extend(["--lanes".to_owned(), format!("high={HIGH},low=0")]);
        }
        Architecture {
            kind: Kind::Orbium,
            name: format!("orbium: {}", named(strategy)),
            lanes,
            server,
            client: Vec::new(),
        }
    })
}

/// omniORB's, where it is: a thread per connection or a pool of threads, and
/// connections for each call or a single one for all.
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

/// All that can be had here: orbium's first.
pub(crate) fn architectures(peers: &Peers) -> Vec<Architecture> {
    let mut all: Vec<_> = of_orbium(true).chain(of_orbium(false)).collect();
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
        assert!(all.len() >= 4, "{all:?}");
        for own in &all {
            assert_eq!(own.lanes, own.name.contains("lanes"), "{own:?}");
            let twin = own.name.replace("lanes, ", "");
            assert!(all.iter().any(|other| other.name == twin), "{own:?}");
        }
    }
}
