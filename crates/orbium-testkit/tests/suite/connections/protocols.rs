// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many protocols in one ORB, and how one is chosen.

use orbium::giop::{Ior, TaggedProfile};
use orbium::{Config, ExceptionKind, Interface, Orb, protocol::ProtocolPolicy, transport::Peer};
use orbium_testkit::{Served, client, each_strategy, reach, within};

/// A server at these endpoints; the one given as `uiop` has a name of its own.
fn served(strategy: orbium::config::ServerStrategy, endpoints: &[&str]) -> Served {
    Served::with(Config {
        strategy,
        endpoints: endpoints.iter().map(|at| at.parse().unwrap()).collect(),
        ..Config::default()
    })
}

/// A name that no other test has: of an abstract socket, or in this process.
fn own_name() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("@orbium-protocols-{}-{next}", std::process::id())
}

fn policy(names: &str) -> ProtocolPolicy {
    names.parse().unwrap()
}

/// What the object is called over, best first, and then what it is not.
fn protocols(object: &impl Interface) -> (Vec<String>, Vec<String>) {
    let offered = object.as_object().protocols();
    let (usable, not): (Vec<_>, Vec<_>) = offered.iter().partition(|one| one.refusal.is_none());
    let name = |one: &&orbium::protocol::OfferedProtocol| one.channel.as_ref().unwrap().protocol();
    (
        usable.iter().map(name).collect(),
        not.iter().map(ToString::to_string).collect(),
    )
}

/// Makes a call and says whether the server saw it come over the network.
fn over_the_network(served: &Served, target: &orbium_testkit::probe::Target) -> bool {
    use std::sync::atomic::{AtomicBool, Ordering};
    let seen = std::sync::Arc::new(AtomicBool::new(false));
    let note = std::sync::Arc::clone(&seen);
    served.state.on_act(move |call, v| {
        let internet = matches!(call.peer(), Some(Peer::Internet(_)));
        note.store(internet, Ordering::SeqCst);
        Ok(v)
    });
    assert_eq!(target.act(7), Ok(7));
    seen.load(Ordering::SeqCst)
}

/// Conformance: ORB - policies of references and threads, `validate_connection` - of protocols
/// Conformance: RT 5.4 - these policies for a thread - ClientProtocolPolicy
/// Conformance: protocols - the nearest protocol; ClientProtocolPolicy of ORB and reference
#[test]
fn the_nearest_protocol_is_used_unless_a_policy_says_otherwise() {
    each_strategy(|strategy| {
        let served = served(strategy, &["iiop://127.0.0.1:0", "uiop://"]);
        let (client, target) = served.client();
        assert_eq!(protocols(&target).0, ["uiop", "iiop"]);
        assert!(!over_the_network(&served, &target));

        // Of the object, for one call or for many.
        let internet = target.with_protocols(policy("iiop"));
        assert_eq!(protocols(&internet).0, ["iiop"]);
        assert!(over_the_network(&served, &internet));

        // Of the thread; the object's own comes first.
        client.set_thread_protocols(Some(policy("iiop,uiop")));
        assert!(over_the_network(&served, &target));
        assert!(!over_the_network(
            &served,
            &target.with_protocols(policy("uiop"))
        ));
        let elsewhere = target.clone();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| over_the_network(&served, &elsewhere));
            assert!(!other.join().unwrap());
        });
        client.set_thread_protocols(None);
        assert!(!over_the_network(&served, &target));

        // Of the ORB.
        let strict = Orb::builder()
            .client_protocols(policy("iiop"))
            .build()
            .unwrap();
        assert!(over_the_network(&served, &served.seen_by(&strict)));
        served.end();
    });
}

/// Conformance: protocols - nothing fits: INV_POLICY, and why
#[test]
fn when_nothing_fits_the_reference_says_why() {
    let served = served(
        orbium::config::ServerStrategy::default(),
        &["iiop://127.0.0.1:0", "uiop://?messaging=giop-lite"],
    );
    let mut ior = served.target.as_object().ior().clone();
    ior.profiles.push(TaggedProfile {
        tag: 0x1234_5678,
        data: vec![1, 2, 3],
    });
    let mut config = Config {
        client_protocols: Some(policy("uiop/giop-lite,uiop,ssliop")),
        ..Config::default()
    };
    config.protocols = orbium::protocol::Protocols::none();
    let client = Orb::new(config).unwrap();
    let target = reach(&client, &ior.to_string());
    let exception = target.echo_long(1).unwrap_err();
    assert_eq!(exception.kind, ExceptionKind::InvPolicy);
    let (usable, not) = {
        let offered = target.as_object().protocols();
        assert!(offered.iter().all(|one| one.refusal.is_some()));
        let texts: Vec<_> = offered.iter().map(ToString::to_string).collect();
        (offered.len(), texts.join("\n"))
    };
    assert_eq!(usable, 3, "{not}");
    assert!(
        not.contains("uiop://") && not.contains("giop-lite"),
        "{not}"
    );
    assert!(not.contains("the policy does not name it"), "{not}");
    assert!(not.contains("profile 0x12345678: not understood"), "{not}");
    // And so does what the caller of the failed call can ask for.
    let failure = orbium::diagnostics::last_failure().unwrap();
    assert_eq!(failure.exception, exception);
    assert_eq!(failure.offered, target.as_object().protocols());
    assert!(failure.to_string().starts_with("INV_POLICY"), "{failure}");
    for reason in not.lines() {
        assert!(failure.to_string().contains(reason), "{failure}");
    }
    served.end();
}

/// Conformance: complaint 33 - shared memory endpoints: "no usable transport protocol", no hint why
#[test]
fn a_call_without_a_reachable_address_is_explained() {
    // Each test has a thread of its own.
    assert_eq!(orbium::diagnostics::last_failure(), None);
    let client = client();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = closed.local_addr().unwrap();
    drop(closed);
    let url = format!("corbaloc:diop:1.2@{at},iiop:1.2@{at}/Probe");
    let target: orbium_testkit::probe::Target = reach(&client, &url);
    let exception = target.echo_long(1).unwrap_err();
    assert_eq!(exception.kind, ExceptionKind::Transient);
    let failure = orbium::diagnostics::last_failure().unwrap();
    assert_eq!(failure.exception, exception);
    let of = |scheme: &str| {
        let mut offered = failure.offered.iter();
        let found = offered.find(|one| one.channel.as_ref().unwrap().scheme == scheme);
        found.unwrap().refusal.clone().unwrap()
    };
    assert!(of("iiop").contains("refused"), "{failure}");
    assert!(of("diop").contains("no way back"), "{failure}");

    // What succeeds, and what others do, changes nothing.
    let served = served(
        orbium::config::ServerStrategy::default(),
        &["iiop://127.0.0.1:0"],
    );
    assert_eq!(served.seen_by(&client).echo_long(3), Ok(3));
    assert_eq!(orbium::diagnostics::last_failure(), Some(failure));
    let others = orbium_testkit::spawn(orbium::diagnostics::last_failure);
    assert_eq!(others.join().unwrap(), None);
    served.end();
}

/// Conformance: protocols - messaging protocols: every message through every stack, over every
/// stream
#[test]
fn every_messaging_protocol_over_every_stream() {
    each_strategy(|strategy| {
        for scheme in ["iiop://127.0.0.1:0", "uiop://", "inproc://", "shmiop://"] {
            for layer in orbium::protocol::Protocols::default().messaging() {
                let at = match scheme {
                    "inproc://" => own_name().replace("@", ""),
                    "shmiop://" => own_name(),
                    _ => String::new(),
                };
                let endpoint = format!("{scheme}{at}?messaging={layer}");
                let served = served(strategy, &[&endpoint]);
                let (_client, target) = served.client();
                for v in 0..20 {
                    assert_eq!(target.echo_long(v), Ok(v), "{endpoint}");
                }
                let other = target.clone();
                within("many calls at once", move || {
                    std::thread::scope(|scope| {
                        for _ in 0..4 {
                            scope.spawn(|| (0..50).all(|v| other.echo_long(v) == Ok(v)));
                        }
                    });
                });
                served.end();
            }
        }
    });
}

/// Conformance: protocols - ServerProtocolPolicy of an adapter
#[test]
fn an_adapter_says_which_protocols_its_references_offer() {
    each_strategy(|strategy| {
        let shm = format!("shmiop://{}", own_name());
        let served = served(strategy, &["iiop://127.0.0.1:0", "uiop://", &shm]);
        let all: Vec<_> = served
            .orb
            .channels()
            .unwrap()
            .iter()
            .map(orbium::protocol::Channel::protocol)
            .collect();
        assert_eq!(all, ["iiop", "uiop", "shmiop"]);
        let client = client();
        assert_eq!(
            protocols(&served.seen_by(&client)).0,
            ["shmiop", "uiop", "iiop"]
        );
        let root = served.orb.root_poa();
        let adapter = |name: &str, protocols: &str| {
            let policies = orbium::poa::Policies {
                protocols: Some(policy(protocols)),
                ..orbium::poa::Policies::default()
            };
            root.create_poa(name, Some(root.manager()), policies)
        };
        let inside = adapter("inside", "uiop,shmiop").unwrap();
        let state = std::sync::Arc::clone(&served.state);
        let target: orbium_testkit::probe::Target = inside.activate(state).unwrap();
        let seen = reach(&client, &served.orb.object_to_string(&target));
        assert_eq!(protocols(&seen).0, ["shmiop", "uiop"]);
        assert_eq!(seen.echo_long(3), Ok(3));
        // Nothing to offer.
        let nowhere = adapter("nowhere", "ssliop").unwrap();
        let state = std::sync::Arc::clone(&served.state);
        assert!(
            nowhere
                .activate::<orbium_testkit::probe::Target, _>(state)
                .is_err()
        );
        served.end();
    });
}

/// Conformance: protocols - Unix sockets: files, modes, credentials of the peer
#[test]
fn processes_of_this_host_are_known_to_the_servant() {
    each_strategy(|strategy| {
        for endpoint in ["uiop://".to_owned(), format!("shmiop://{}", own_name())] {
            let served = served(strategy, &[&endpoint]);
            served.state.on_act(|call, _| match call.peer() {
                Some(Peer::Process { pid, .. }) if *pid == Some(std::process::id()) => Ok(1),
                _ => Ok(0),
            });
            let (_client, target) = served.client();
            assert_eq!(target.act(0), Ok(1), "{endpoint}");
            served.end();
        }
    });
}

/// Conformance: protocols - profiles that are not understood travel on
#[test]
fn strange_profiles_travel_unharmed() {
    let strange = TaggedProfile {
        tag: 0x7777_0001,
        data: (0..=255).collect(),
    };
    let ior = Ior {
        type_id: "IDL:x:1.0".into(),
        profiles: vec![strange],
    };
    let client = client();
    let object = client.string_to_object(&ior.to_string()).unwrap().unwrap();
    assert_eq!(client.object_to_string(&object), ior.to_string());
}

/// Conformance: protocols - endpoints that make no sense
/// Conformance: complaint 14 - containers: bind to all interfaces, publish another name; a broken
/// localhost fails the start with a cryptic code
#[test]
fn endpoints_that_cannot_be_are_refused_with_a_sentence() {
    let error = |endpoint: &str| {
        let built = Orb::builder().endpoint(endpoint).unwrap().build();
        built.unwrap_err().to_string()
    };
    assert!(error("xiop://h").contains("there is no transport `xiop` here, only iiop"));
    assert!(error("iiop://127.0.0.1:0?messaging=x").contains("there is no messaging `x`"));
    assert!(error("iiop://127.0.0.1:0?colour=red").contains("unknown endpoint parameter `colour`"));
    assert!(error("iiop://127.0.0.1:70000").contains("is not a port"));
}

/// Conformance: protocols - messaging protocols: hostile frames
#[test]
fn half_a_frame_is_not_waited_for_longer_than_half_a_message() {
    use std::io::{Read, Write};
    each_strategy(|strategy| {
        let served = Served::with(Config {
            strategy,
            endpoints: vec!["iiop://127.0.0.1:0?messaging=giop-lite".parse().unwrap()],
            limits: orbium::config::Limits {
                message_time: std::time::Duration::from_millis(100),
                ..orbium::config::Limits::default()
            },
            ..Config::default()
        });
        let at = served.orb.channels().unwrap()[0].address.clone();
        let mut stream = std::net::TcpStream::connect(at).unwrap();
        stream.write_all(&[0x11, 0, 0]).unwrap();
        let mut answer = Vec::new();
        within("the connection ends", move || {
            let _ = stream.read_to_end(&mut answer);
        });
        // An idle one is left alone.
        let (_client, target) = served.client();
        assert_eq!(target.echo_long(1), Ok(1));
        std::thread::sleep(std::time::Duration::from_millis(250));
        assert_eq!(target.echo_long(2), Ok(2));
        served.end();
    });
}

#[test]
fn plain_giop_to_another_messaging_protocol_is_answered() {
    each_strategy(|strategy| {
        for layer in orbium::protocol::Protocols::default().messaging() {
            let served = served(
                strategy,
                &[&format!("iiop://127.0.0.1:0?messaging={layer}")],
            );
            let at = served.orb.channels().unwrap()[0].address.clone();
            let client = client();
            let target = reach(&client, &format!("corbaloc:iiop:1.2@{at}/Target"));
            let called = within("the answer to plain GIOP", move || target.echo_long(1));
            // ZIOP takes what it does not compress, and with short headers GIOP's are read too.
            match called {
                Ok(answer) => {
                    assert!(
                        matches!(layer, "ziop" | "giop-lite" | "native" | "fixed") && answer == 1
                    );
                }
                Err(exception) => assert_eq!(exception.kind, ExceptionKind::CommFailure, "{layer}"),
            }
            served.end();
        }
    });
}
