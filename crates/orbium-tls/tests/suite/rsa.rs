// SPDX-License-Identifier: MIT OR Apache-2.0
//! Certificates with RSA keys, which most authorities of companies give out,
//! in both versions. Made by the program `openssl`: without it there is nothing
//! to test with.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use orbium_tls::{ClientAuthentication, TlsConfig, TlsFailure};
use orbium_transport::{ByteStream, Peer};

use crate::realm::{Folder, attempt, each_version, failure, only, pair};

const EXTENSIONS: &str = "subjectAltName=DNS:localhost,IP:127.0.0.1\n\
    extendedKeyUsage=serverAuth,clientAuth\n";

/// Runs it in a folder; whether that went well.
fn openssl(folder: &Path, arguments: &str) -> bool {
    let status = Command::new("openssl")
        .args(arguments.split(' '))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// An authority and somebody called `peer`, with keys of so many bits; `None`
/// without the program.
fn made(bits: u32) -> Option<(Folder, TlsConfig)> {
    let folder = Folder::new();
    let at = folder.path("");
    if !openssl(&at, "version") {
        eprintln!("skipped: there is no program openssl");
        return None;
    }
    folder.write("extensions", EXTENSIONS);
    for arguments in [
        format!("req -x509 -newkey rsa:{bits} -nodes -days 30 -subj /CN=ca -keyout ca.key -out ca.pem"),
        format!("req -newkey rsa:{bits} -nodes -subj /CN=peer -keyout peer.key -out peer.csr"),
        "x509 -req -in peer.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile extensions -out peer.pem"
            .to_owned(),
    ] {
        assert!(openssl(&at, &arguments), "openssl {arguments}");
    }
    let config = TlsConfig {
        certificate: Some(folder.path("peer.pem")),
        key: Some(folder.path("peer.key")),
        authorities: Some(folder.path("ca.pem")),
        client_authentication: ClientAuthentication::Require,
        watch_files: false,
        ..TlsConfig::default()
    };
    Some((folder, config))
}

#[test]
fn both_may_have_keys_of_rsa() {
    for bits in [2048, 3072] {
        let Some((_folder, config)) = made(bits) else {
            return;
        };
        each_version(|version| {
            let (server, client) = pair(only(config.clone(), version), config.clone());
            for stream in [&server, &client] {
                let Peer::Authenticated { name, .. } = stream.peer() else {
                    panic!("nobody: {:?}", stream.peer());
                };
                assert_eq!(name.as_deref(), Some("peer"));
                assert_eq!(stream.session().unwrap().version, version);
            }
        });
    }
}

#[test]
fn keys_of_the_older_form_are_read() {
    let Some((folder, config)) = made(2048) else {
        return;
    };
    // As `openssl genrsa` wrote them for decades (PKCS #1). Older programs
    // write no other form, and do not know the option.
    let (at, command) = (folder.path(""), "rsa -in peer.key -out old.key");
    assert!(openssl(&at, &format!("{command} -traditional")) || openssl(&at, command));
    let old = folder.path("old.key");
    let text = fs::read_to_string(&old).unwrap();
    assert!(
        text.starts_with("-----BEGIN RSA PRIVATE KEY-----"),
        "{text:.40}"
    );
    let config = TlsConfig {
        key: Some(old),
        ..config
    };
    each_version(|version| drop(pair(only(config.clone(), version), config.clone())));
}

#[test]
fn keys_of_rsa_from_elsewhere_are_not_trusted() {
    let (Some((_here, config)), Some((_there, other))) = (made(2048), made(2048)) else {
        return;
    };
    each_version(|version| {
        let (_, client) = attempt(only(config.clone(), version), other.clone());
        let refused = failure(client);
        assert!(
            matches!(refused, TlsFailure::ServerCertificate(_)),
            "{refused}"
        );
    });
}
