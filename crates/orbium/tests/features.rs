// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was left out says with which feature it comes. Run for this package
//! alone nothing is there but what always is; with the workspace all of it.

use orbium::{ObjectError, Orb, OrbError, Protocols};

/// What comes with features, and whether it is there.
const PARTS: [(&str, &str, bool); 7] = [
    ("inproc", "in-process", cfg!(feature = "in-process")),
    ("shmiop", "shm", cfg!(feature = "shm")),
    (
        "diop",
        "datagrams",
        cfg!(any(feature = "datagrams", feature = "media")),
    ),
    (
        "miop",
        "datagrams",
        cfg!(any(feature = "datagrams", feature = "media")),
    ),
    ("giop-lite", "messaging", MESSAGING),
    ("fixed", "messaging", MESSAGING),
    ("ziop", "ziop", cfg!(feature = "ziop")),
];

const MESSAGING: bool = cfg!(any(
    feature = "messaging",
    feature = "datagrams",
    feature = "media",
    feature = "ziop"
));

fn is_transport(name: &str) -> bool {
    name == "inproc" || name.ends_with("iop") && name != "ziop"
}

fn listen(endpoint: &str) -> Result<Orb, OrbError> {
    Orb::builder().endpoint(endpoint)?.build()
}

#[test]
fn what_always_is_there_is_there() {
    let protocols = Protocols::default();
    let schemes: Vec<_> = protocols.schemes().collect();
    assert!(schemes.starts_with(&["iiop", "uiop"]), "{schemes:?}");
    listen("iiop://127.0.0.1:0").unwrap();
}

#[test]
fn an_endpoint_left_out_names_the_feature() {
    for (name, feature, is_there) in PARTS {
        if is_there {
            continue;
        }
        let endpoint = match is_transport(name) {
            true => format!("{name}://127.0.0.1:0"),
            false => format!("iiop://127.0.0.1:0?messaging={name}"),
        };
        match listen(&endpoint).map(drop) {
            Err(OrbError::Feature(at, missing)) => {
                assert_eq!((at, missing), (endpoint, feature));
            }
            other => panic!("{endpoint}: {other:?}"),
        }
    }
}

#[test]
fn a_list_of_protocols_names_the_feature() {
    for (name, feature, is_there) in PARTS {
        match Protocols::default().only([name]) {
            Ok(_) => assert!(is_there, "{name}"),
            Err(error) => {
                assert!(!is_there, "{name}");
                let hint = format!("feature `{feature}`");
                assert!(error.to_string().ends_with(&hint), "{error}");
            }
        }
    }
}

#[test]
fn a_call_over_what_was_left_out_names_the_feature() -> Result<(), ObjectError> {
    let orb = Orb::builder().build().unwrap();
    for (url, feature, is_there) in [
        ("corbaloc:shmiop:nowhere/Key", "shm", cfg!(feature = "shm")),
        (
            "corbaloc:diop:127.0.0.1:9/Key",
            "datagrams",
            cfg!(any(feature = "datagrams", feature = "media")),
        ),
    ] {
        let object = orb.string_to_object(url)?.expect("no nil");
        object.is_a("IDL:Nothing:1.0").unwrap_err();
        let failure = orbium::last_failure().expect("why it failed").to_string();
        let hint = format!("feature `{feature}`");
        assert_eq!(failure.contains(&hint), !is_there, "{failure}");
    }
    Ok(())
}
