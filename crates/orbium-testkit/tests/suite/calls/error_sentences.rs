// SPDX-License-Identifier: MIT OR Apache-2.0
//! `Debug` of every error type of the libraries is a sentence, since `main` prints it.

use std::fs;
use std::path::{Path, PathBuf};

use orbium::{
    ExceptionKind, Orb, OrbError, SystemException, poa::PoaError, reference::NarrowError,
};

/// Crates whose errors no user's `main` returns.
const NOT_PUBLIC: [&str; 3] = ["orbium-demo", "orbium-testkit", "orbium-cli"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
}

/// The types of a source that are errors.
fn errors(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let implemented = line.strip_prefix("impl std::error::Error for ");
        let implemented = implemented.or_else(|| line.strip_prefix("impl core::error::Error for "));
        let implemented = implemented.or_else(|| line.strip_prefix("impl Error for "));
        implemented?.split([' ', '<']).next()
    })
}

/// Whether `Debug` of a type gives what `Display` gives.
fn is_sentence(text: &str, name: &str) -> bool {
    let headers = [
        format!("impl fmt::Debug for {name} {{"),
        format!("impl std::fmt::Debug for {name} {{"),
        format!("impl core::fmt::Debug for {name} {{"),
    ];
    let at = headers.iter().find_map(|header| text.find(header));
    let body = at.and_then(|at| text[at..].split("\n}\n").next());
    body.is_some_and(|body| body.contains("fmt::Display::fmt(self, f)"))
}

/// `Error: Listen("iiop://…", Os { code: 98, kind: AddrInUse, … })` was what a user's first
/// server printed.
#[test]
fn debug_of_each_public_error_is_its_sentence() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut listed, mut wrong) = (0, Vec::new());
    for entry in fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        if NOT_PUBLIC.contains(&name.as_str()) || !folder.join("src").is_dir() {
            continue;
        }
        let mut paths = Vec::new();
        sources(&folder.join("src"), &mut paths);
        for path in paths {
            let text = fs::read_to_string(&path).unwrap();
            for error in errors(&text) {
                listed += 1;
                if !is_sentence(&text, error) {
                    wrong.push(format!("{} in {}", error, path.display()));
                }
            }
        }
    }
    assert!(listed > 40, "only {listed} errors were found");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn some_of_them_as_main_prints_them() {
    let exception = SystemException::from(ExceptionKind::NoImplement);
    assert_eq!(
        format!("{:?}", NarrowError::WrongType),
        "the object does not have that interface"
    );
    let narrowing = NarrowError::System(exception);
    assert_eq!(format!("{narrowing:?}"), narrowing.to_string());
    let poa = PoaError::from(exception);
    assert_eq!(format!("{poa:?}"), poa.to_string());
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("iiop://{}", taken.local_addr().unwrap());
    let refused = Orb::builder()
        .endpoint(&endpoint)
        .unwrap()
        .build()
        .unwrap_err();
    assert!(matches!(refused, OrbError::Listen(..)));
    let printed = format!("{refused:?}");
    assert!(
        printed.starts_with(&format!("cannot listen at {endpoint}: ")),
        "{printed}"
    );
}
