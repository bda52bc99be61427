// SPDX-License-Identifier: MIT OR Apache-2.0
//! TLS within the ORB: exceptions, and identities for servants.

use orbium::{
    Config, ExceptionKind, Interface, Orb,
    config::Configure as _,
    protocol::ProtocolPolicy,
    transport::{Peer, Transport},
};
use orbium_testkit::{Recorder, Served, each_strategy, in_own_process, reach};
use orbium_tls::{ClientAuthentication, Tls, TlsConfig, TlsVersion};
use tracing::level_filters::LevelFilter;

use crate::realm::{About, Realm, each_version, only};

fn config(tls: TlsConfig, version: TlsVersion) -> Config {
    let mut config = Config::default();
    let tls = Tls::new(only(tls, version)).unwrap();
    config.protocols.register(Transport::stream(tls));
    config
}

/// A server that asks every client for its certificate.
fn server(realm: &Realm, version: TlsVersion, endpoints: &[&str]) -> Config {
    let tls = TlsConfig {
        authorities: Some(realm.ca()),
        client_authentication: ClientAuthentication::Require,
        ..realm.config(&About::named("server"))
    };
    Config {
        endpoints: endpoints.iter().map(|at| at.parse().unwrap()).collect(),
        ..config(tls, version)
    }
}

/// Each call to such a server once cost a line of the log.
#[test]
fn untrusted_servers_are_logged_at_a_limited_rate() {
    in_own_process!(|| {
        let log = Recorder::install(LevelFilter::WARN);
        let version = TlsVersion::V1_3;
        let realm = Realm::new("Authority");
        let served = Served::with(server(&realm, version, &["ssliop://127.0.0.1:0"]));
        let other = Realm::new("Other");
        let client = Orb::new(config(other.trusting(), version)).unwrap();
        let target = served.seen_by(&client);
        for _ in 0..10 {
            let kind = target.noop().unwrap_err().kind;
            assert_eq!(kind, ExceptionKind::NoPermission);
        }
        let events = log.events("the peer is not trusted");
        // Several only if the ten calls took more than ten seconds.
        assert!(!events.is_empty() && events.len() < 10, "{events:#?}");
        assert_eq!(events[0].get("suppressed"), "0");
        served.end();
    });
}

#[test]
fn a_servant_sees_the_certificate_of_its_client() {
    let realm = Realm::new("Authority");
    each_version(|version| {
        each_strategy(|strategy| {
            let served = Served::with(Config {
                strategy,
                ..server(&realm, version, &["ssliop://127.0.0.1:0"])
            });
            served.state.on_act(|call, v| match call.peer() {
                Some(Peer::Authenticated {
                    certificates,
                    name: Some(name),
                    ..
                }) if !certificates.is_empty() && name == "alice" => Ok(v + 1),
                _ => Ok(0),
            });
            let alice = TlsConfig {
                authorities: Some(realm.ca()),
                ..realm.config(&About::named("alice"))
            };
            let client = Orb::new(config(alice, version)).unwrap();
            let target = served.seen_by(&client);
            assert_eq!(target.act(41), Ok(42));
            served.end();
        });
    });
}

/// The peer that a handshake waited for, and how long, was nowhere to be read.
#[test]
fn a_failed_handshake_is_reported_as_such() {
    let realm = Realm::new("Authority");
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let time = std::time::Duration::from_millis(300);
    let client = Orb::new(Config {
        call_timeout: Some(time),
        ..config(realm.trusting(), TlsVersion::V1_3)
    });
    let target = reach(
        &client.unwrap(),
        &format!("corbaloc:ssliop:127.0.0.1:{port}/Key"),
    );
    let exception = target.echo_long(1).unwrap_err();
    assert_eq!(exception.kind, ExceptionKind::Timeout);
    let failure = orbium::diagnostics::explain(&exception).failure.unwrap();
    assert_eq!(
        failure.phase(),
        orbium::diagnostics::Phase::Tls,
        "{failure:#}"
    );
    assert_eq!(
        failure.steps[0].phase,
        orbium::diagnostics::Phase::Connect,
        "{failure:#}"
    );
    assert!(failure.elapsed >= time / 2, "{failure:#}");
}

#[test]
fn nothing_is_served_without_trust() {
    let (realm, stranger) = (Realm::new("Authority"), Realm::new("Another"));
    each_version(|version| {
        each_strategy(|strategy| {
            let served = Served::with(Config {
                strategy,
                ..server(&realm, version, &["ssliop://127.0.0.1:0"])
            });
            // Shows nothing; shows what another authority says; trusts another.
            let mallory = TlsConfig {
                authorities: Some(realm.ca()),
                ..stranger.config(&About::named("mallory"))
            };
            for tls in [realm.trusting(), mallory, stranger.trusting()] {
                let client = Orb::new(config(tls, version)).unwrap();
                let target = served.seen_by(&client);
                let exception = target.echo_long(1).unwrap_err();
                assert_eq!(exception.kind, ExceptionKind::NoPermission, "{version:?}");
                let exception = target.as_object().locate().unwrap_err();
                assert_eq!(exception.kind, ExceptionKind::NoPermission, "{version:?}");
            }
            assert_eq!(served.state.calls(), 0);
            served.end();
        });
    });
}

/// Conformance: complaint 11 - the ORB's own tools cannot speak TLS; a collocated call is refused
/// under TLS - a collocated call uses no transport
#[test]
fn a_listener_of_tls_alone_has_no_plain_address() {
    let realm = Realm::new("Authority");
    let version = TlsVersion::V1_3;
    let served = Served::with(server(&realm, version, &["ssliop://127.0.0.1:0"]));
    for profile in served.target.as_object().ior().iiop_profiles() {
        assert_eq!(profile.port, 0);
        assert_eq!(profile.addresses().count(), 0);
    }
    // Nor is plain GIOP answered at its port.
    let at = served.orb.channels().unwrap()[0].address.clone();
    let client = Orb::builder().build().unwrap();
    let target = reach(&client, &format!("corbaloc:iiop:1.2@{at}/Target"));
    assert!(target.echo_long(1).is_err());
    assert_eq!(served.state.calls(), 0);
    served.end();
}

#[test]
fn missing_trust_is_not_got_round_by_another_protocol() {
    let (realm, stranger) = (Realm::new("Authority"), Realm::new("Another"));
    let version = TlsVersion::V1_3;
    let both = ["iiop://127.0.0.1:0", "ssliop://127.0.0.1:0"];
    let served = Served::with(server(&realm, version, &both));
    let client = Orb::new(Config {
        client_protocols: Some("ssliop,iiop".parse::<ProtocolPolicy>().unwrap()),
        ..config(stranger.trusting(), version)
    })
    .unwrap();
    let exception = served.seen_by(&client).echo_long(1).unwrap_err();
    assert_eq!(exception.kind, ExceptionKind::NoPermission);
    assert_eq!(served.state.calls(), 0);
    served.end();
}

/// What carried a call to the server, asked of the peer that it sees.
fn serve_on_both(realm: &Realm) -> Served {
    let both = ["iiop://127.0.0.1:0", "ssliop://127.0.0.1:0"];
    let served = Served::with(server(realm, TlsVersion::V1_3, &both));
    served.state.on_act(|call, v| match call.peer() {
        Some(Peer::Authenticated { .. }) => Ok(v + 1),
        _ => Ok(0),
    });
    served
}

/// With authorities configured, a reference with IIOP and TLS was called over plain
/// IIOP, silently.
///
/// Conformance: robustness - TLS: preferred where a reference offers it, required by choice
#[test]
fn a_client_with_authorities_calls_over_tls_where_a_reference_offers_it() {
    let realm = Realm::new("Authority");
    let served = serve_on_both(&realm);
    let alice = TlsConfig {
        authorities: Some(realm.ca()),
        ..realm.config(&About::named("alice"))
    };
    let client = Orb::new(config(alice.clone(), TlsVersion::V1_3)).unwrap();
    let target = served.seen_by(&client);
    assert_eq!(target.act(1), Ok(2));
    let offered = target.as_object().protocols();
    let plain = offered
        .iter()
        .find(|it| it.to_string().starts_with("iiop:"));
    let refusal = plain.unwrap().refusal.as_deref().unwrap();
    assert!(refusal.contains("the reference offers TLS"), "{refusal}");
    // The client's policy decides which of both is used.
    for (protocols, result) in [("iiop,ssliop", 0), ("ssliop,iiop", 2)] {
        let client = Orb::new(Config {
            client_protocols: Some(protocols.parse::<ProtocolPolicy>().unwrap()),
            ..config(alice.clone(), TlsVersion::V1_3)
        })
        .unwrap();
        assert_eq!(served.seen_by(&client).act(1), Ok(result), "{protocols}");
    }
    // A certificate without authorities trusts no peer: the client calls as before.
    let trusting_none = TlsConfig {
        authorities: None,
        ..alice
    };
    let client = Orb::new(config(trusting_none, TlsVersion::V1_3)).unwrap();
    assert_eq!(served.seen_by(&client).act(1), Ok(0));
    served.end();
}

/// Nor does a TLS port without a listener lead to plain IIOP.
///
/// Conformance: robustness - TLS: preferred where a reference offers it, required by choice
#[test]
fn blocking_the_tls_port_leads_to_no_plain_connection() {
    let realm = Realm::new("Authority");
    let served = serve_on_both(&realm);
    let mut ior = served.target.as_object().ior().clone();
    let dead = orbium_testkit::dead_port();
    let channels = served.orb.channels().unwrap();
    let tls = channels.iter().find(|it| it.scheme == "ssliop").unwrap();
    let port: u16 = tls.address.rsplit_once(':').unwrap().1.parse().unwrap();
    let mut changed = 0;
    for profile in &mut ior.profiles {
        for at in 0..profile.data.len().saturating_sub(1) {
            if profile.data[at..at + 2] == port.to_ne_bytes() {
                profile.data[at..at + 2].copy_from_slice(&dead.to_ne_bytes());
                changed += 1;
            }
        }
    }
    assert_eq!(changed, 1);
    let client = Orb::new(config(realm.trusting(), TlsVersion::V1_3)).unwrap();
    let target = reach(&client, &ior.to_string());
    assert!(target.act(1).is_err());
    assert_eq!(served.state.calls(), 0);
    served.end();
}

/// Conformance: robustness - TLS: preferred where a reference offers it, required by choice
#[test]
fn where_tls_is_required_nothing_else_leaves_the_host() {
    let realm = Realm::new("Authority");
    let requiring = |realm: &Realm, name| TlsConfig {
        authorities: Some(realm.ca()),
        require: true,
        ..realm.config(&About::named(name))
    };
    // A reference without TLS is refused, and the reason can be had.
    let plain = Served::with(Config::default());
    let client = Orb::new(config(requiring(&realm, "alice"), TlsVersion::V1_3)).unwrap();
    let exception = plain.seen_by(&client).echo_long(1).unwrap_err();
    assert_eq!(exception.kind, ExceptionKind::InvPolicy);
    let failure = orbium::diagnostics::last_failure().unwrap().to_string();
    assert!(
        failure.contains("TLS is required (tls.require)"),
        "{failure}"
    );
    // Whatever the policy says.
    let client = Orb::new(Config {
        client_protocols: Some("iiop".parse::<ProtocolPolicy>().unwrap()),
        ..config(requiring(&realm, "alice"), TlsVersion::V1_3)
    })
    .unwrap();
    assert!(plain.seen_by(&client).echo_long(1).is_err());
    assert_eq!(plain.state.calls(), 0);
    plain.end();
    // No endpoint listens without TLS.
    let error = Orb::new(Config {
        endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
        ..config(requiring(&realm, "server"), TlsVersion::V1_3)
    })
    .unwrap_err();
    assert!(error.to_string().contains("TLS is required"), "{error}");
    let endpoints = ["ssliop://127.0.0.1:0", "uiop://"].map(|it| it.parse().unwrap());
    let served = Served::with(Config {
        endpoints: endpoints.to_vec(),
        ..config(requiring(&realm, "server"), TlsVersion::V1_3)
    });
    let client = Orb::new(config(requiring(&realm, "alice"), TlsVersion::V1_3)).unwrap();
    assert_eq!(served.seen_by(&client).echo_long(1), Ok(1));
    served.end();
}

/// A program needs no code for TLS: arguments and files say it all.
///
/// Conformance: robustness - TLS by configuration alone
#[test]
fn a_configuration_is_all_that_tls_needs() {
    let realm = Realm::new("Authority");
    let own = realm.config(&About::named("alice"));
    let path = |path: &Option<std::path::PathBuf>| path.as_ref().unwrap().display().to_string();
    let (certificate, key, ca) = (
        path(&own.certificate),
        path(&own.key),
        path(&own.authorities),
    );
    let file = format!(
        "protocols = ['iiop', 'ssliop']\nendpoint = 'ssliop://127.0.0.1:0'\n\n[tls]\n\
         certificate = '{certificate}'\nkey = '{key}'\nauthorities = '{ca}'\n\
         client_certificates = 'require'\nversions = 1.3\n"
    );
    let file = realm.folder.write("server.toml", &file);
    each_strategy(|strategy| {
        let served = Served::with(Config {
            strategy,
            ..Config::from_file(&file).unwrap()
        });
        served.state.on_act(|call, v| match call.peer() {
            Some(Peer::Authenticated { .. }) => Ok(v + 1),
            _ => Ok(0),
        });
        let from = |words: &[&str]| {
            let mut words: Vec<String> = words.iter().map(ToString::to_string).collect();
            Config::from_args(&mut words).map(|config| Orb::new(config).unwrap())
        };
        let arguments = ["-ORBTlsCertificate", &certificate, "-ORBTlsKey", &key];
        let arguments = [
            &arguments[..],
            &["-ORBTlsAuthorities", &ca, "-ORBTlsRequire", "1"],
        ];
        let client = from(&arguments.concat()).unwrap();
        assert_eq!(served.seen_by(&client).act(1), Ok(2));
        // No version in common; no certificate.
        let old = [&arguments.concat()[..], &["-ORBTlsVersions", "1.2"]].concat();
        let no_certificate = vec!["-ORBsslCAFile", &ca];
        for words in [old, no_certificate] {
            let client = from(&words).unwrap();
            let exception = served.seen_by(&client).act(1).unwrap_err();
            assert_eq!(exception.kind, ExceptionKind::NoPermission, "{words:?}");
        }
        served.end();
    });
    // What is wrong with a file is said when the ORB is built.
    let mut config = Config::default();
    config
        .set("tls.certificate", "/nowhere/at/all.pem")
        .unwrap();
    let error = Orb::new(config).unwrap_err().to_string();
    assert!(
        error.contains("cannot read `/nowhere/at/all.pem`"),
        "{error}"
    );
}

/// omniORB keeps certificate and key in one file.
///
/// Conformance: robustness - TLS by configuration alone
#[test]
fn the_arguments_of_omniorb_are_understood() {
    let words = "-ORBsslCAFile ca.pem -ORBsslKeyFile all.pem -ORBsslVerifyMode peer,fail";
    let mut words: Vec<_> = words.split(' ').map(str::to_owned).collect();
    let config = Config::from_args(&mut words).unwrap();
    let expected = TlsConfig {
        authorities: Some("ca.pem".into()),
        certificate: Some("all.pem".into()),
        client_authentication: ClientAuthentication::Require,
        ..TlsConfig::default()
    };
    assert_eq!(config.tls, expected);
}
