// SPDX-License-Identifier: MIT OR Apache-2.0
//! Protocols registered with a running ORB, including TLS.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier};
use std::thread;

use orbium::{
    Config, ExceptionKind, Interface as _, Orb, config::Configure as _, protocol::Protocols,
};
use orbium_configurator::Configurator;
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, TargetState, eventually, reach};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustix::process::{Signal, getpid, kill_process};

use crate::load::Load;
use crate::{ports, served, with};

/// The protocols with these names.
fn of(names: &[&str]) -> Protocols {
    let all = Protocols::default();
    all.only(names.iter().copied()).unwrap()
}

fn speaking(names: &[&str]) -> Config {
    Config {
        protocols: of(names),
        ..Config::default()
    }
}

/// A new object: its reference has all present endpoints.
fn object(served: &Served) -> String {
    let servant = Arc::new(TargetState::default());
    let object: Target = served.orb.root_poa().activate(servant).unwrap();
    served.orb.object_to_string(&object)
}

/// A client, its configurator, and its reference to the object.
fn client(config: Config, object: &str) -> (Orb, Configurator, Target) {
    let orb = Orb::new(config.clone()).unwrap();
    let target = reach(&orb, object);
    (orb.clone(), Configurator::new(&orb, config), target)
}

/// The scheme of the connection of the last call.
fn scheme(target: &Target) -> String {
    target.as_object().channel().unwrap().scheme
}

/// A transport and a messaging protocol, on both sides.
///
/// Conformance: ORB - a running ORB is reconfigured: protocols registered later
#[test]
fn protocols_that_are_registered_later_are_served_and_called_over() {
    let (served, configurator) = served(speaking(&["iiop"]));
    let first = served.orb.object_to_string(&served.target);
    let (_loading, _, loaded) = client(speaking(&["iiop"]), &first);
    let load = Load::on(&loaded, 2);
    for endpoint in ["uiop://", "iiop://127.0.0.1:0?messaging=giop-lite"] {
        let more = with(&configurator, &[("endpoint", endpoint)]);
        let refused = configurator.reconfigure(more).unwrap_err();
        assert!(refused.to_string().contains(endpoint), "{refused}");
    }
    let changes = configurator.register(of(&["uiop", "giop-lite"])).unwrap();
    let change = "protocols: iiop → iiop,uiop,giop-lite";
    assert_eq!(changes[0].to_string(), change);
    assert!(served.orb.protocols().transport("uiop").is_some());
    for (endpoint, expected) in [
        ("uiop://", "uiop"),
        ("iiop://127.0.0.1:0?messaging=giop-lite", "iiop"),
    ] {
        let only = with(
            &configurator,
            &[("endpoint", "none"), ("endpoint", endpoint)],
        );
        configurator.reconfigure(only).unwrap();
        load.goes_on();
        // The client has the reference before it has the protocol.
        let (_orb, later, target) = client(speaking(&["iiop"]), &object(&served));
        let refused = target.noop().unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::InvPolicy, "{endpoint}");
        later.register(of(&["uiop", "giop-lite"])).unwrap();
        assert_eq!(target.echo_long(7), Ok(7), "{endpoint}");
        assert_eq!(scheme(&target), expected);
    }
    load.end();
    served.end();
}

/// Regression: the second was refused, as it would have removed the protocols registered by the
/// first in between.
///
/// Conformance: ORB - a running ORB is reconfigured: protocols registered later
#[test]
fn protocols_are_registered_at_the_same_time() {
    for _ in 0..20 {
        let config = speaking(&["iiop"]);
        let orb = Orb::new(config.clone()).unwrap();
        let configurator = Configurator::new(&orb, config);
        let names = ["uiop", "giop-lite", "diop"];
        let together = Barrier::new(names.len());
        thread::scope(|scope| {
            for name in names {
                let protocols = of(&[name]);
                scope.spawn(|| {
                    together.wait();
                    configurator.register(protocols).unwrap();
                });
            }
        });
        let registered = orb.protocols().only(names);
        assert!(registered.is_ok(), "{registered:?}");
        orb.shutdown(true).unwrap();
    }
}

/// Regression: the configuration was refused, as it would have removed the protocols registered in
/// between.
///
/// Conformance: ORB - a running ORB is reconfigured: protocols registered later
#[test]
fn protocols_are_registered_while_a_configuration_is_read_again() {
    for _ in 0..20 {
        let config = speaking(&["iiop"]);
        let orb = Orb::new(config.clone()).unwrap();
        let configurator = Configurator::new(&orb, config.clone());
        let names = ["uiop", "giop-lite", "diop"];
        thread::scope(|scope| {
            let registering = scope.spawn(|| {
                for name in names {
                    configurator.register(of(&[name])).unwrap();
                }
            });
            for connections in (64..128).cycle() {
                let mut read = config.clone();
                let connections = format!("{connections}");
                read.set("limits.connections", &connections).unwrap();
                let changed = configurator.reconfigure_read(read, &config.protocols);
                changed.unwrap();
                if registering.is_finished() {
                    break;
                }
            }
        });
        let registered = orb.protocols().only(names);
        assert!(registered.is_ok(), "{registered:?}");
        orb.shutdown(true).unwrap();
    }
}

/// Conformance: ORB - a running ORB is reconfigured: protocols registered later
#[test]
fn lanes_that_are_added_listen_by_new_protocols() {
    let (served, configurator) = served(speaking(&["iiop"]));
    let mut config = with(
        &configurator,
        &[("lane.new.priority", "7"), ("lane.new.endpoint", "uiop://")],
    );
    let refused = configurator.reconfigure(config.clone()).unwrap_err();
    assert!(refused.to_string().contains("uiop"), "{refused}");
    assert!(served.orb.lane("new").is_none());
    config.protocols.add(of(&["uiop"]));
    configurator.reconfigure(config).unwrap();
    let lane = served.orb.lane("new").unwrap();
    assert_eq!(lane.channels()[0].scheme, "uiop");
    served.end();
}

/// Conformance: ORB - a running ORB is reconfigured: protocols registered later
#[test]
fn protocols_are_neither_taken_away_nor_replaced() {
    let (served, configurator) = served(speaking(&["iiop", "uiop"]));
    let before = configurator.config();
    let mut fewer = before.clone();
    fewer.protocols = of(&["iiop"]);
    let refused = configurator.reconfigure(fewer).unwrap_err();
    let sentence = "cannot change while the ORB runs: protocols, protocols (without uiop)";
    assert!(sentence.ends_with(&refused.to_string()[34..]), "{refused}");
    let tcp = orbium::transport::Transport::stream(orbium::transport::Tcp);
    let mut another = Protocols::none();
    another.register(tcp);
    let refused = configurator.register(another).unwrap_err();
    let sentence = "cannot change while the ORB runs: protocols (without iiop)";
    assert_eq!(refused.to_string(), sentence);
    assert_eq!(configurator.config(), before);
    assert_eq!(served.target.echo_long(1), Ok(1));
    served.end();
}

/// Conformance: ORB - a running ORB is reconfigured: protocols registered later
#[test]
fn a_file_that_names_more_protocols_registers_them_at_sighup() {
    let path = std::env::temp_dir().join(format!("orbium-later-{}.toml", std::process::id()));
    let file = |protocols: &str, endpoints: &str| {
        let text = format!("protocols = '{protocols}'\nendpoint = {endpoints}\n");
        fs::write(&path, text).unwrap();
    };
    let tcp = "'iiop://127.0.0.1:0'";
    file("iiop", &format!("[{tcp}]"));
    let config = Config::from_file(&path).unwrap();
    let served = Served::with(config.clone());
    let configurator = Configurator::new(&served.orb, config);
    let reloads = configurator.on_hangup(&path).unwrap();
    let (_client, target) = served.client();
    let load = Load::on(&target, 2);
    file("iiop,uiop", &format!("[{tcp}, 'uiop://']"));
    kill_process(getpid(), Signal::HUP).unwrap();
    eventually("it is read", || served.orb.channels().unwrap().len() == 2);
    let (_orb, _, there) = client(speaking(&["uiop"]), &object(&served));
    assert_eq!(there.echo_long(3), Ok(3));
    load.goes_on();
    drop(reloads);
    load.end();
    served.end();
    fs::remove_file(&path).unwrap();
}

/// An authority with the certificates that it has issued: files in a folder of one test.
struct Realm(PathBuf);

impl Realm {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("orbium-live-tls-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let key = KeyPair::generate().unwrap();
        let mut authority = CertificateParams::new([]).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let name = &mut authority.distinguished_name;
        name.push(DnType::CommonName, "authority");
        let certificate = authority.self_signed(&key).unwrap();
        fs::write(folder.join("ca.pem"), certificate.pem()).unwrap();
        let issuer = Issuer::new(authority, key);
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &issuer).unwrap();
        let peer = folder.join("peer.pem");
        fs::write(&peer, key.serialize_pem() + &certificate.pem()).unwrap();
        fs::set_permissions(&peer, fs::Permissions::from_mode(0o600)).unwrap();
        Self(folder)
    }

    fn file(&self, name: &str) -> String {
        Path::join(&self.0, name).display().to_string()
    }
}

impl Drop for Realm {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Conformance: ORB - a running ORB is reconfigured: protocols registered later
#[test]
fn tls_is_turned_on_under_load() {
    let realm = Realm::new();
    let (served, configurator) = served(Config::default());
    let port = served.port();
    let (_client, target) = served.client();
    let load = Load::on(&target, 2);
    let (peer, authorities) = (realm.file("peer.pem"), realm.file("ca.pem"));
    let secure = [
        ("endpoint", "ssliop://127.0.0.1:0"),
        ("tls.certificate", &peer),
    ];
    // Existing endpoints stay unprotected: refused if protection is required.
    let required = [secure.as_slice(), &[("tls.require", "true")]].concat();
    let refused = configurator.reconfigure(with(&configurator, &required));
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("TLS is required"), "{refused}");
    let missing = [("tls.certificate", "/no/such.pem")];
    let refused = configurator.reconfigure(with(&configurator, &missing));
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("/no/such.pem"), "{refused}");
    assert!(served.orb.protocols().transport("ssliop").is_none());

    configurator
        .reconfigure(with(&configurator, &secure))
        .unwrap();
    assert_eq!(ports(&served.orb), [port]);
    load.goes_on();
    let (_orb, later, target) = client(Config::default(), &object(&served));
    assert_eq!(
        (target.echo_long(1), scheme(&target).as_str()),
        (Ok(1), "iiop")
    );
    let trusts = with(&later, &[("tls.authorities", &authorities)]);
    later.reconfigure(trusts).unwrap();
    assert_eq!(
        (target.echo_long(2), scheme(&target).as_str()),
        (Ok(2), "ssliop")
    );
    // It can be turned on once.
    let off = Config {
        tls: Config::default().tls,
        ..later.config()
    };
    let refused = later.reconfigure(off).unwrap_err().to_string();
    assert_eq!(refused, "cannot change while the ORB runs: tls.authorities");
    load.end();
    served.end();
}
