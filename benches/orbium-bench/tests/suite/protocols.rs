// SPDX-License-Identifier: MIT OR Apache-2.0
//! The experiments on protocols, each with a minimum of work.

use crate::program::{Folder, is_drawing, run};

#[test]
fn every_protocol_is_called_with_every_type_of_data() {
    let folder = Folder::new();
    let (svg, json) = (folder.path("chart.svg"), folder.path("all.json"));
    let ran = run(["protocols", "--quick", "--svg", &svg, "--json", &json]);
    ran.assert_done();
    assert_eq!(ran.stderr, "");

    let found: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    let places = found["places"].as_array().unwrap();
    assert_eq!(places.len(), if cfg!(target_os = "linux") { 2 } else { 1 });
    for place in places {
        let protocols = place["protocols"].as_array().unwrap();
        let mut expected = vec!["IIOP", "IIOP/giop-lite"];
        if cfg!(unix) {
            expected.extend(["UIOP", "UIOP/giop-lite"]);
        }
        if cfg!(target_os = "linux") {
            expected.push("SHMIOP futex");
            // A spinning side would keep the other from its only processor.
            if place["pinned_to_cpu"].is_null() {
                expected.push("SHMIOP spin");
            }
        }
        expected.extend(["TLS", "IIOP/fixed", "IIOP/ziop", "IIOP/native"]);
        if cfg!(unix) {
            expected.extend(["UIOP/native", "UIOP/fixed"]);
        }
        let name = |protocol: &serde_json::Value| protocol["protocol"].as_str().map(str::to_owned);
        let names: Vec<_> = protocols.iter().filter_map(name).collect();
        assert_eq!(names, expected);
        for protocol in protocols {
            let data = protocol["data"].as_array().unwrap();
            assert_eq!(data.len(), 10, "{protocol}");
            for of in data {
                assert!(of["calls_per_second"].as_f64().unwrap() > 0.0, "{of}");
            }
        }
    }
    for name in ["IIOP/giop-lite", "TLS"] {
        let rows = ran.stdout.lines().filter(|line| line.starts_with(name));
        assert_eq!(rows.count(), 5 * places.len(), "{ran:?}");
    }
    let drawing = std::fs::read_to_string(&svg).unwrap();
    assert!(is_drawing(&drawing), "{drawing}");
    for text in ["IIOP/ziop", "1024 longs", "all processes free"] {
        assert!(drawing.contains(text), "no {text}: {drawing}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn some_protocols_are_compared_on_one_processor() {
    let folder = Folder::new();
    let (svg, json) = (folder.path("chart.svg"), folder.path("all.json"));
    let only = "--only=IIOP,UIOP,UIOP/fixed";
    let words = ["protocols", "--quick", "--pinned", "--rounds", "2", only];
    let files = ["--svg", &svg, "--json", &json];
    let all: Vec<_> = words.into_iter().chain(files).collect();
    let ran = run(all);
    ran.assert_done();
    let found: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    let places = found["places"].as_array().unwrap();
    assert_eq!(places.len(), 1);
    assert!(places[0]["pinned_to_cpu"].is_number());
    let protocols = places[0]["protocols"].as_array().unwrap();
    let names: Vec<_> = protocols.iter().map(|it| &it["protocol"]).collect();
    assert_eq!(names, ["IIOP", "UIOP", "UIOP/fixed"]);
    let refused = run(["protocols", "--only", "IIOP/gopi"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.stderr.contains("known are IIOP, "), "{refused:?}");
}

/// Without probes the steps of a call are not visible.
#[cfg(not(feature = "probes"))]
#[test]
fn without_probes_the_error_names_the_feature() {
    run(["whitebox"]).assert_failed_saying("--features probes");
}

#[cfg(feature = "probes")]
#[test]
fn every_step_of_a_call_is_timed() {
    let folder = Folder::new();
    let (svg, json) = (folder.path("figures.svg"), folder.path("all.json"));
    let ran = run(["whitebox", "--quick", "--svg", &svg, "--json", &json]);
    ran.assert_done();
    for line in ["operation demux", "parameter marshal", "2048"] {
        assert!(
            ran.stdout.lines().any(|row| row.starts_with(line)),
            "{ran:?}"
        );
    }
    let found: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    let by_protocol = found["by_protocol"].as_array().unwrap();
    assert!(by_protocol.len() >= 5, "{found}");
    assert_eq!(found["by_size"].as_array().unwrap().len(), 10);
    for of in by_protocol {
        for (side, step) in [
            ("client", "ObjectReference"),
            ("client", "MessagingSend"),
            ("client", "IoReceive"),
            ("server", "IoReceive"),
            ("server", "MessagingSend"),
        ] {
            let taken = of[side]["nanoseconds"][step].as_f64().unwrap();
            assert!(taken > 0.0, "{side} {step}: {of}");
        }
        assert!(of["client"]["calls"].as_u64().unwrap() >= 500, "{of}");
        assert!(of["os_and_io"].as_f64().unwrap() > 0.0, "{of}");
    }
    let drawing = std::fs::read_to_string(&svg).unwrap();
    assert!(is_drawing(&drawing), "{drawing}");
}
