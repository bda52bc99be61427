// SPDX-License-Identifier: MIT OR Apache-2.0
//! Call-backs over every transport with streams.

use std::sync::Arc;

use orbium::stub::Operation;
use orbium::{Config, Interface, asynchronous::Asynchronous, config::ServerStrategy};
use orbium_cdr::{Decode, Encode};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, dead_port, each_strategy, within};

use crate::common::{Folder, seen_by, with};
use crate::realm::Realm;

/// A transport between a server and a client that nothing connects to.
enum Medium {
    Tcp,
    Tls(Arc<Realm>),
    /// Sockets and shared memory by this scheme, at paths in the folder.
    Files(&'static str, Folder),
}

impl Medium {
    fn each(test: impl Fn(&Self)) {
        let realm = Arc::new(Realm::new());
        for medium in [
            Self::Tcp,
            Self::Tls(realm),
            Self::Files("uiop", Folder::new()),
            Self::Files("shmiop", Folder::new()),
        ] {
            eprintln!("over {}", medium.scheme());
            test(&medium);
        }
    }

    fn scheme(&self) -> &'static str {
        match self {
            Self::Tcp => "iiop",
            Self::Tls(_) => "ssliop",
            Self::Files(scheme, _) => scheme,
        }
    }

    /// An ORB at that endpoint of the transport.
    fn orb(&self, config: Config, address: &str) -> Served {
        let endpoint = format!("{}://{address}", self.scheme());
        let mut config = Config {
            endpoints: vec![endpoint.parse().unwrap()],
            ..config
        };
        if let Self::Tls(realm) = self {
            realm.secure(&mut config);
        }
        Served::with(config)
    }

    fn server(&self, config: Config) -> Served {
        match self {
            Self::Files(_, folder) => self.orb(config, &folder.fresh("server")),
            _ => self.orb(config, "127.0.0.1:0"),
        }
    }

    /// Its references lead to addresses at which nothing answers.
    fn client(&self, config: Config) -> Served {
        let Self::Files(_, folder) = self else {
            let address = format!("127.0.0.1:0?publish=127.0.0.1:{}", dead_port());
            return self.orb(config, &address);
        };
        let path = folder.fresh("client");
        let client = self.orb(config, &path);
        // The owner of the file remains that of the socket.
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "").unwrap();
        client
    }

    fn pair(&self, strategy: ServerStrategy) -> (Served, Served) {
        let config = with(strategy);
        (self.server(config.clone()), self.client(config))
    }
}

/// Conformance: connections - bidirectional GIOP: over TCP, TLS, Unix sockets and shared memory
#[test]
fn calls_nest_over_every_transport() {
    Medium::each(|medium| {
        each_strategy(|strategy| {
            let (server, client) = medium.pair(strategy);
            let (target, own) = (server.seen_by(&client.orb), client.target.clone());
            let nested = within("a chain", move || target.nest(Some(&own), 10));
            assert_eq!(nested, Ok(10));
            let back = seen_by(&server.orb, &client);
            assert_eq!(within("a call-back", move || back.echo_long(7)), Ok(7));
            assert_eq!(server.state.calls() + client.state.calls(), 12);
            client.end();
            server.end();
        });
    });
}

/// Sends octets of all sizes and expects them back.
fn echo_all_sizes(target: &Target, first: usize) {
    for size in [0, 100, 5000, 70_000, 1_000_000] {
        let octets = vec![size as u8; first + size];
        let echo = target.echo_octets(&octets).unwrap();
        assert!(echo == octets, "{size} octets");
    }
}

/// More than any buffer holds, on threads of both sides at once.
///
/// Conformance: connections - bidirectional GIOP: much in both directions at once
#[test]
fn much_goes_both_ways_over_every_transport() {
    Medium::each(|medium| {
        each_strategy(|strategy| {
            let (server, client) = medium.pair(strategy);
            let target = server.seen_by(&client.orb);
            within("the first call", {
                let target = target.clone();
                move || target.noop()
            })
            .unwrap();
            let back = seen_by(&server.orb, &client);
            within("calls of both sides", move || {
                std::thread::scope(|scope| {
                    for caller in 0..3 {
                        let (target, back) = (&target, &back);
                        scope.spawn(move || echo_all_sizes(target, caller));
                        scope.spawn(move || echo_all_sizes(back, caller));
                    }
                });
            });
            client.end();
            server.end();
        });
    });
}

static ECHO_OCTETS: Operation = Operation::new("echo_octets");

fn echo_octets(target: &Target, octets: Vec<u8>) -> Asynchronous<Vec<u8>> {
    let object = target.as_object();
    object.call_async(&ECHO_OCTETS, octets, Encode::encode, Vec::decode)
}

/// The requests are longer than what the transport takes at once.
///
/// Conformance: connections - bidirectional GIOP: asynchronous calls in both directions
#[test]
fn large_asynchronous_calls_go_both_ways_over_every_transport() {
    Medium::each(|medium| {
        each_strategy(|strategy| {
            let (server, client) = medium.pair(strategy);
            let target = server.seen_by(&client.orb);
            within("the first call", {
                let target = target.clone();
                move || target.noop()
            })
            .unwrap();
            let back = seen_by(&server.orb, &client);
            let calls: Vec<_> = (0..8_u8)
                .map(|octet| {
                    let object = if octet % 2 == 0 { &target } else { &back };
                    (octet, echo_octets(object, vec![octet; 2_000_000]))
                })
                .collect();
            for (octet, call) in calls {
                let echo = within("an asynchronous call", move || call.wait()).unwrap();
                assert!(echo == vec![octet; 2_000_000], "{octet}");
            }
            client.end();
            server.end();
        });
    });
}
