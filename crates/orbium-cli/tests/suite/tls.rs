// SPDX-License-Identifier: MIT OR Apache-2.0
//! TLS as the users of the program meet it.

use crate::program::{Folder, Server, orbium, run};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
};

/// The files of an authority and of two that it vouches for.
struct Realm {
    folder: Folder,
}

impl Realm {
    fn new() -> Self {
        let folder = Folder::new();
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "realm");
        folder.file("ca.pem", params.self_signed(&key).unwrap().pem());
        let issuer = Issuer::new(params, key);
        for (name, host) in [("server", "127.0.0.1"), ("client", "client.example")] {
            let key = KeyPair::generate().unwrap();
            let mut params = CertificateParams::new([host.to_owned()]).unwrap();
            params.distinguished_name.push(DnType::CommonName, name);
            params.extended_key_usages = vec![
                ExtendedKeyUsagePurpose::ServerAuth,
                ExtendedKeyUsagePurpose::ClientAuth,
            ];
            let certificate = params.signed_by(&key, &issuer).unwrap().pem();
            folder.file(&format!("{name}.pem"), &certificate);
            folder.file(&format!("{name}.key"), key.serialize_pem());
            // As omniORB has it.
            folder.file(
                &format!("{name}-all.pem"),
                key.serialize_pem() + &certificate,
            );
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path(name)
    }

    /// Options for a client with a certificate, or without one.
    fn options(&self, name: Option<&str>) -> Vec<String> {
        let mut options = vec!["--tls-ca".to_owned(), self.path("ca.pem")];
        if let Some(name) = name {
            options.extend(["--tls-cert".into(), self.path(&format!("{name}.pem"))]);
            options.extend(["--tls-key".into(), self.path(&format!("{name}.key"))]);
        }
        options
    }
}

fn with<'a>(arguments: &[&'a str], options: &'a [String]) -> Vec<&'a str> {
    let options = options.iter().map(String::as_str);
    arguments.iter().copied().chain(options).collect()
}

/// A server that is reached over TLS alone.
fn serve(options: &[String], more: &[&str]) -> Server {
    let arguments = with(more, options);
    Server::start_at("ssliop://127.0.0.1:0", arguments)
}

/// Conformance: complaint 10 - TLS ports differ at each start and are not in a `corbaloc`
/// Conformance: complaint 11 - the ORB's own tools cannot speak TLS; a collocated call is refused
/// under TLS
#[test]
fn objects_are_called_over_tls() {
    let realm = Realm::new();
    for strategy in ["thread-per-connection", "reactive"] {
        for version in ["1.2", "1.3"] {
            let server = serve(
                &realm.options(Some("server")),
                &["--strategy", strategy, "--tls-max", version],
            );
            let options = realm.options(None);
            for reference in [server.ior("Cube"), server.corbaloc("Cube")] {
                let call = ["demo", "call", "--ref", reference, "--op", "echo_octets"];
                let call = [&call[..], &["--size", "100000", "--calls", "3"]].concat();
                run(with(&call, &options)).assert_done();
            }
            let ping = run(with(&["ping", server.ior("Cube")], &options));
            ping.assert_done();
            assert!(ping.stdout.contains("ssliop://127.0.0.1:"), "{ping:?}");
        }
    }
}

#[test]
fn the_environment_serves_as_well() {
    let realm = Realm::new();
    let server = Server::start_at(
        "ssliop://127.0.0.1:0",
        ["--tls-cert", &realm.path("server-all.pem")],
    );
    let mut command = orbium(["ping", server.ior("Cube")]);
    let status = command.env("ORBIUM_TLS_CA", realm.path("ca.pem")).output();
    assert!(status.unwrap().status.success());
}

#[test]
fn clients_without_a_certificate_are_refused_where_one_is_required() {
    let realm = Realm::new();
    let server = serve(
        &realm.options(Some("server")),
        &["--tls-client-auth", "require"],
    );
    let reference = server.ior("Cube");
    run(with(&["ping", reference], &realm.options(Some("client")))).assert_done();
    let refused = run(with(&["ping", reference], &realm.options(None)));
    assert_eq!(refused.status, Some(1), "{refused:?}");
}

/// Conformance: protocols - TLS: which peers are trusted and which are not
#[test]
fn each_obstacle_is_explained() {
    let realm = Realm::new();
    let server = serve(&realm.options(Some("server")), &["--tls-max", "1.2"]);
    let reference = server.ior("Cube");
    let none = run(["ping", reference]);
    none.assert_failed_saying("ssliop");
    let other = Realm::new();
    run(with(&["ping", reference], &other.options(None)))
        .assert_failed_saying("comes from no authority that is trusted");
    let new = [&["ping", reference][..], &["--tls-min", "1.3"]].concat();
    run(with(&new, &realm.options(None))).assert_failed_saying("no TLS version");
    run(["demo", "serve", "--endpoint", "ssliop://127.0.0.1:0"]).assert_failed_saying("--tls-cert");
    let (certificate, key) = (realm.path("server.pem"), realm.path("client.key"));
    let mixed = ["--tls-cert", &certificate, "--tls-key", &key];
    let mixed = [&["demo", "serve", "--endpoint", "ssliop://:0"][..], &mixed].concat();
    run(mixed).assert_failed_saying("is not that of the certificate");
}

/// `--tls-name` once took names that `tls.server_names` refuses, and a range of versions
/// without any.
#[test]
fn options_are_checked_as_the_keys_of_the_configuration_are() {
    let realm = Realm::new();
    let server = serve(&realm.options(Some("server")), &[]);
    let options = realm.options(None);
    for (given, message) in [
        (
            &["--tls-name", "no name"][..],
            "`no name` is neither host nor any",
        ),
        (
            &["--tls-min", "1.3", "--tls-max", "1.2"],
            "no TLS version is at least 1.3 and at most 1.2",
        ),
        // A name, not the keyword of the key that turns the check off.
        (&["--tls-name", "any"], "does not bear the name"),
    ] {
        let ping = [&["ping", server.ior("Cube")], given].concat();
        run(with(&ping, &options)).assert_failed_saying(message);
    }
}

#[test]
fn names_are_checked_unless_the_option_says_otherwise() {
    let realm = Realm::new();
    let server = serve(&realm.options(Some("client")), &[]);
    let options = realm.options(None);
    let ping = ["ping", server.ior("Cube")];
    run(with(&ping, &options)).assert_failed_saying("does not bear the name");
    for accepting in [
        &["--tls-no-name-check"][..],
        &["--tls-name", "client.example"],
    ] {
        run(with(&[&ping[..], accepting].concat(), &options)).assert_done();
    }
    let wrong = [
        &ping[..],
        &["--tls-name", "other.example", "--tls-no-name-check"],
    ]
    .concat();
    run(with(&wrong, &options)).assert_failed_saying("does not bear the name");
}
