// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium explain`.

use crate::program::run;
use orbium::giop::minor::{ORBIUM_VMCID, TABLE};

fn explained(code: &str) -> String {
    let ran = run(["explain", code]);
    ran.assert_done();
    ran.stdout
}

#[test]
fn each_form_of_a_code_has_its_page() {
    for form in [
        "TRANSIENT:32",
        "transient:orbium:32",
        "orbium:32",
        "0x4F524020",
    ] {
        let page = explained(form);
        assert!(
            page.contains("TRANSIENT:orbium:32 (0x4f524020)"),
            "{form}: {page}"
        );
        assert!(
            page.contains("no process listens at that port"),
            "{form}: {page}"
        );
    }
    let kind = explained("TRANSIENT");
    for code in TABLE
        .iter()
        .filter(|code| code.minor == ORBIUM_VMCID | 0x20)
    {
        assert!(kind.contains(code.text), "{kind}");
    }
    // A number that several exceptions have: all of them.
    let several = explained("OMG:2");
    assert!(several.contains("BAD_OPERATION:OMG:2"), "{several}");
    assert!(several.contains("TRANSIENT:OMG:2"), "{several}");
}

#[test]
fn unknown_codes_are_reported() {
    run(["explain", "TRANSIENT:4000"]).assert_failed_saying("nothing is known");
    let ran = run(["explain", "NOTHING"]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("TRANSIENT:32"), "{ran:?}");
}
