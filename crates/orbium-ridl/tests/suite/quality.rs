// SPDX-License-Identifier: MIT OR Apache-2.0
//! `@qos` in generated code.

use std::fs;
use std::path::{Path, PathBuf};

use orbium_build::{Config, Error};
use orbium_ridl::{QosConstants, RtInfos};

/// Compiles `idl` in a folder of the test's own.
fn compiled(test: &str, idl: &str, extension: QosConstants) -> Result<String, Error> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("quality-{test}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let file: PathBuf = folder.join("rudder.idl");
    fs::write(&file, idl).unwrap();
    let config = Config::new().out_dir(&folder);
    let config = config.extend(RtInfos::checked()).extend(extension);
    let compiled = config.try_compile(&file)?;
    Ok(fs::read_to_string(&compiled.written[0]).unwrap())
}

/// Conformance: RT - one QoS value: annotations of operations
#[test]
fn annotations_become_constants_with_what_rt_says() {
    let idl = "interface Rudder {
        @rt(period=\"50 ms\", wcet=\"10 ms\", criticality=HIGH)
        @qos(class=MESSAGE, priority=20000, deadline=\"20 ms\", bandwidth=4096)
        void steer();
        void stop();
    };";
    let without = compiled("checked", idl, QosConstants::checked()).unwrap();
    let with = compiled("constants", idl, QosConstants::module("quality")).unwrap();
    let added = with.strip_prefix(&without).unwrap();
    // Compiled, and used, by the tests of `orbium-qos`.
    let expected = include_str!("../../../orbium-qos/tests/suite/annotated.rs");
    let (_, expected) = expected.split_once("\n\n").unwrap();
    assert_eq!(added.trim_start(), expected);
    assert!(!added.contains("STOP"));
}

/// Conformance: RT - one QoS value: annotations of operations
#[test]
fn mistakes_have_their_place() {
    for (annotation, message) in [
        ("@qos(class=EXPRESS)", "the class is none of ISOCHRONOUS"),
        (
            "@qos(priority=40000)",
            "`priority` is no number of its range",
        ),
        ("@qos(priority=-1)", "priorities go from 0 to 32767"),
        ("@qos(deadline=\"0 ms\")", "a deadline is above zero"),
        ("@qos(deadline=\"soon\")", "soon"),
        ("@qos(copies=256)", "`copies` is no number of its range"),
        ("@qos(colour=RED)", "`colour` is none of class, priority"),
        ("@qos(copies=1, copies=2)", "`copies` is set twice"),
        (
            "@qos(copies=1) @qos(copies=1)",
            "an operation has one `@qos`",
        ),
    ] {
        let idl = format!("interface Rudder {{ {annotation} void steer(); }};");
        let refused = compiled("mistakes", &idl, QosConstants::module("quality"));
        let Err(Error::Idl { diagnostics, .. }) = &refused else {
            panic!("{annotation}: {refused:?}");
        };
        assert!(diagnostics.contains("rudder.idl:1:"), "{diagnostics}");
        assert!(diagnostics.contains(message), "{diagnostics}");
    }
    let idl = "@qos(copies=1) interface Rudder { void steer(); };";
    let refused = compiled("misplaced", idl, QosConstants::checked());
    let Err(Error::Idl { diagnostics, .. }) = &refused else {
        panic!("{refused:?}");
    };
    assert!(
        diagnostics.contains("belongs to an operation"),
        "{diagnostics}"
    );
    let refused = compiled(
        "module",
        "interface Rudder { };",
        QosConstants::module("2nd"),
    );
    assert!(matches!(refused, Err(Error::Extension(_))), "{refused:?}");
}
