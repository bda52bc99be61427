// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium ior` as its users meet it.

use crate::program::{Folder, orbium, run, run_with};
use orbium::giop::codeset::{CodeSetComponentInfo, NativeCharSet};
use orbium::giop::profile::TaggedProfile;
use orbium::giop::{IiopProfile, Ior, TaggedComponent, Version};

/// A reference with something of every sort in it.
fn specimen() -> String {
    let profile = IiopProfile {
        version: Version::V1_2,
        host: "host.example".into(),
        port: 4711,
        object_key: b"Cube\0\xff".to_vec(),
        components: vec![
            TaggedComponent::orb_type(orbium::giop::component::ORB_TYPE_OMNIORB),
            TaggedComponent::code_sets(&CodeSetComponentInfo::orbium(NativeCharSet::Latin1)),
            TaggedComponent::alternate_address("::1", 4712),
            TaggedComponent {
                tag: 0xBEEF,
                data: vec![1, 2, 3],
            },
        ],
    };
    let mut ior = Ior::with_profile("IDL:Cubit/Cube:1.0", &profile);
    ior.profiles.push(TaggedProfile {
        tag: 0xCAFE,
        data: b"opaque".to_vec(),
    });
    ior.profiles.push(TaggedProfile {
        tag: 0,
        data: vec![0, 9],
    });
    ior.to_string()
}

/// Conformance: references - shown for people
#[test]
fn everything_in_a_reference_is_shown() {
    let ran = run(["ior", &specimen()]);
    ran.assert_done();
    for part in [
        "IDL:Cubit/Cube:1.0",
        "TAG_INTERNET_IOP",
        "IIOP 1.2",
        "host.example",
        "4711",
        "4375626500ff  \"Cube..\"",
        "TAG_ORB_TYPE",
        "omniORB",
        "TAG_CODE_SETS",
        "UTF-8",
        "UTF-16",
        "TAG_ALTERNATE_IIOP_ADDRESS",
        "[::1]:4712",
        "unknown component (0xbeef)",
        "010203",
        "unknown profile (0xcafe)",
        "\"opaque\"",
        "malformed",
    ] {
        assert!(
            ran.stdout.contains(part),
            "`{part}` is not in\n{}",
            ran.stdout
        );
    }
}

/// Conformance: references - shown for people
#[test]
fn json_has_the_same() {
    let json = run(["ior", "--json", &specimen()]).json();
    assert_eq!(json["scheme"], "IOR");
    assert_eq!(json["type_id"], "IDL:Cubit/Cube:1.0");
    let profile = &json["profiles"][0];
    assert_eq!(profile["name"], "TAG_INTERNET_IOP");
    assert_eq!(profile["version"], "1.2");
    assert_eq!(profile["host"], "host.example");
    assert_eq!(profile["port"], 4711);
    assert_eq!(profile["object_key"]["hex"], "4375626500ff");
    let components = &profile["components"];
    assert_eq!(components[0]["orb_type"]["name"], "omniORB");
    assert_eq!(components[1]["char"]["native"]["name"], "ISO 8859-1");
    assert_eq!(components[2]["port"], 4712);
    assert_eq!(components[3]["data"], "010203");
    assert!(components[3]["name"].is_null());
    assert_eq!(json["profiles"][1]["data"], "6f7061717565");
    assert!(json["profiles"][2]["error"].is_string());
}

#[test]
fn a_reference_is_read_from_a_file_or_standard_input() {
    let folder = Folder::new();
    let file = folder.file("cube.ior", format!("\n {} \n", specimen()));
    let direct = run(["ior", &specimen()]).stdout;
    assert_eq!(run(["ior", &file]).stdout, direct);
    assert_eq!(run(["ior", &format!("@{file}")]).stdout, direct);
    assert_eq!(run_with(["ior", "-"], &specimen()).stdout, direct);
}

/// Conformance: references - shown for people
#[test]
fn object_urls_are_shown_by_their_parts() {
    let ran = run(["ior", "corbaloc:iiop:1.2@[::1]:5000,:b/Dev%00"]);
    ran.assert_done();
    for part in [
        "iiop:1.2@[::1]:5000",
        "iiop:b:2809",
        "44657600  \"Dev.\"",
        "IIOP 1.2",
        "IIOP 1.0",
    ] {
        assert!(
            ran.stdout.contains(part),
            "`{part}` is not in\n{}",
            ran.stdout
        );
    }
    let ran = run(["ior", "corbaname::host:5000#a/b%20c"]);
    assert!(
        ran.stdout.contains("\"a/b c\"") && ran.stdout.contains("NameService"),
        "{ran:?}"
    );
    let json = run(["ior", "--json", "corbaloc:rir:/Trader"]).json();
    assert_eq!(json["initial_reference"], "Trader");
}

#[test]
fn a_nil_reference_is_called_nil() {
    let ran = run(["ior", &Ior::NIL.to_string()]);
    ran.assert_done();
    assert!(ran.stdout.contains("nil"), "{ran:?}");
    assert_eq!(
        run(["ior", "--json", &Ior::NIL.to_string()]).json()["nil"],
        true
    );
}

/// Every ORB takes `file:` where it takes a reference; the command line did not.
#[test]
fn a_reference_may_be_in_the_file_of_a_url() {
    let folder = Folder::new();
    let file = folder.file("nil.ior", format!("{}\n", Ior::NIL));
    for text in [format!("file://{file}"), format!("@{file}")] {
        assert_eq!(run(["ior", "--json", &text]).json()["nil"], true, "{text}");
    }
    run(["ior", "file:///no/such/file"]).assert_failed_saying("cannot read `/no/such/file`");
}

#[test]
fn bad_references_are_refused_with_the_reason() {
    run(["ior", "nonsense"]).assert_failed_saying("no object reference");
    run(["ior", "IOR:0"]).assert_failed_saying("the number of hexadecimal digits is odd");
    run(["ior", "IOR:0g"]).assert_failed_saying("not a hexadecimal digit at offset 5");
    run(["ior", "IOR:00"]).assert_failed_saying("malformed");
    run(["ior", "corbaloc::host:99999/x"]).assert_failed_saying("not a port number");
    run(["ior", "corbaloc::host/a b"]).assert_failed_saying("must be written as %hh");
    run(["ior", "@/no/such/file"]).assert_failed_saying("cannot read `/no/such/file`");
    run_with(["ior", "-"], "").assert_failed_saying("standard input is empty");
    run_with(["ior", "-"], "IOR:00\nIOR:00\n").assert_failed_saying("several lines");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = orbium(["ior", "-"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Closed before there is anything to write.
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, specimen().as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}
