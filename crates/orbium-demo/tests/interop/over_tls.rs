// SPDX-License-Identifier: MIT OR Apache-2.0
//! orbium and the others over TLS alone, with certificates of both sides: each
//! as client and as server.

use std::fs;

use orbium::giop::codeset::NativeCharSet;
use orbium::{Config, Orb, config::ServerStrategy};
use orbium_demo::serve;
use orbium_tls::TlsVersion;

use crate::as_client::all_checks;
use crate::as_server::line;
use crate::credentials::{self, Credentials};
use crate::expected::Expected;
use crate::programs::{self, Server};
use crate::{Line, Tested, judge};

fn available(peer: &str, role: &str) -> bool {
    programs::available(&[&format!("{peer}-{role}")]) && credentials::available(peer)
}

/// orbium's checks against the server of a peer.
fn calling(peer: &str, newest: TlsVersion) -> Tested {
    if !available(peer, "server") {
        return Ok(());
    }
    let credentials = Credentials::new(newest)?;
    let options = credentials.options(peer)?;
    let options = options.iter().map(String::as_str);
    let arguments: Vec<_> = options.chain(["--ior-dir"]).collect();
    let server = Server::start(&format!("{peer}-server"), &arguments)?;
    let mut config = Config::default();
    credentials.secure(&mut config)?;
    let orb = Orb::new(config)?;
    let (_, lines) = all_checks(&orb, &server)?;

    let name = format!("orbium → {peer} over TLS {newest}");
    let expected = Expected::read("orbium", peer, "1.2")?;
    let judged = judge(&name, &lines, &expected, 100);
    orb.shutdown(true)?;
    judged?;
    server.ends_well()
}

/// The client of a peer against orbium's server.
fn serving(peer: &str, newest: TlsVersion, strategy: ServerStrategy) -> Tested {
    if !available(peer, "client") {
        return Ok(());
    }
    let credentials = Credentials::new(newest)?;
    let mut config = Config {
        strategy,
        // As the clients have it.
        native_char_code_set: NativeCharSet::Utf8,
        ..Config::default()
    };
    credentials.secure(&mut config)?;
    let orb = Orb::new(config)?;
    let served = serve(&orb)?;
    let mut arguments = vec!["--shutdown".to_owned()];
    for (name, reference) in [
        ("cube", orb.object_to_string(&served.cube)),
        ("receiver", orb.object_to_string(&served.receiver)),
        ("peer", orb.object_to_string(&served.peer)),
    ] {
        let file = credentials.path(&format!("{name}.ior"));
        fs::write(&file, reference)?;
        let file = file.to_str().ok_or("a strange directory")?;
        arguments.extend([format!("--{name}"), file.to_owned()]);
    }
    arguments.extend(credentials.options(peer)?);
    let (_, output) = programs::run(&format!("{peer}-client"), &arguments)?;

    let lines: Vec<Line> = output.lines().filter_map(line).collect();
    let name = format!("{peer} → orbium, {strategy}, over TLS {newest}");
    judge(&name, &lines, &Expected::read(peer, "orbium", "1.2")?, 100)?;
    // `Cube::shutdown` may have been faster, which is an exception here.
    let _ = orb.run();
    Ok(())
}

/// Conformance: references - TLS
#[test]
fn calling_omniorb() -> Tested {
    calling("omni", TlsVersion::V1_2)?;
    calling("omni", TlsVersion::V1_3)
}

/// Conformance: references - TLS
#[test]
fn calling_jacorb() -> Tested {
    calling("jacorb", TlsVersion::V1_2)?;
    calling("jacorb", TlsVersion::V1_3)
}

/// Conformance: references - TLS
#[test]
fn serving_omniorb() -> Tested {
    serving("omni", TlsVersion::V1_2, ServerStrategy::default())?;
    serving("omni", TlsVersion::V1_3, ServerStrategy::default())?;
    serving("omni", TlsVersion::V1_3, ServerStrategy::Reactive)
}

/// Conformance: references - TLS
#[test]
fn serving_jacorb() -> Tested {
    serving("jacorb", TlsVersion::V1_2, ServerStrategy::default())?;
    serving("jacorb", TlsVersion::V1_3, ServerStrategy::default())?;
    serving("jacorb", TlsVersion::V1_3, ServerStrategy::Reactive)
}
