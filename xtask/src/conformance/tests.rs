// SPDX-License-Identifier: MIT OR Apache-2.0
//! Marks, tables and their errors.

use super::*;

const FRAME: &str = "\
# Page

{{rows GIOP | what | clause | shown by}}

{{rows code sets | what | shown by}}

{{grid client of | | omniORB's server = omniORB | JacORB's server = JacORB}}

The end.
";

fn frame() -> Frame {
    Frame::read(FRAME).unwrap()
}

fn marks_of(text: &str) -> Result<Vec<Mark>, Vec<String>> {
    marks::of("crates/orbium-giop/tests/suite/a.rs", text, &frame())
}

/// The page of a file of tests and of remarks.
fn page_of(text: &str, remarks: &str) -> Outcome<String> {
    let remarks = match remarks {
        "" => Vec::new(),
        text => remarks::read(text)?,
    };
    made(
        &frame(),
        marks_of(text).map_err(|it| it.join("\n"))?,
        remarks,
    )
}

const CANCEL: &str = "/// Conformance: GIOP 2: 9.4.4 - cancel\n#[test]\nfn cancelled() {}\n";

#[test]
fn the_page_in_the_repository_is_what_the_marks_say() {
    let page = page().unwrap_or_else(|faults| panic!("{faults}"));
    check(&page).unwrap_or_else(|difference| panic!("{difference}"));
}

#[test]
fn a_mark_has_chapter_clause_behaviour_and_note() {
    let text = "mod inner {\n/// A story.\n///\n/// Conformance: GIOP 2: 9.4.4 - cancel,\n\
                /// anywhere - in a queue\n/// Conformance: code sets - chosen\n///\n/// More.\n\
                #[test]\n#[ignore]\nfn cancelled() {}\n}";
    let marks = marks_of(text).unwrap();
    let of = |it: &Mark| {
        let Mark {
            chapter,
            clause,
            behaviour,
            note,
            test,
            line,
            ..
        } = it.clone();
        (chapter, clause, behaviour, note, test, line)
    };
    let own = |it: [&str; 5]| {
        let [a, b, c, d, e] = it.map(str::to_owned);
        (a, b, c, d, e, 2)
    };
    assert_eq!(
        marks.iter().map(of).collect::<Vec<_>>(),
        [
            own([
                "GIOP",
                "2: 9.4.4",
                "cancel, anywhere",
                "in a queue",
                "cancelled"
            ]),
            own(["code sets", "", "chosen", "", "cancelled"]),
        ]
    );
}

#[test]
fn entries_of_macros_are_tests_too() {
    let text = "against! {\n/// Conformance: client of JacORB - GIOP 1.2\njacorb: Run { a: 1 };\n}";
    let marks = marks_of(text).unwrap();
    assert_eq!((&*marks[0].test, &*marks[0].clause), ("jacorb", "JacORB"));
}

#[test]
fn malformed_marks_are_named_with_their_place() {
    for (mark, what, fault) in [
        (
            "GIOP 2: 9.4.4 - cancel",
            "fn helper() {}",
            "stands on no test",
        ),
        ("GIOP 2: 9.4.4 - cancel", "struct It;", "stands on no test"),
        ("GIOP 2: 9.4.4", "#[test]\nfn it() {}", "has no behaviour"),
        (
            "GIOP 2: 9.4.4 - ",
            "#[test]\nfn it() {}",
            "has no behaviour",
        ),
        ("GIOPS - cancel", "#[test]\nfn it() {}", "names no chapter"),
        (
            "code sets 3 - chosen",
            "#[test]\nfn it() {}",
            "has no clauses",
        ),
        (
            "client of TAO - GIOP 1.2",
            "#[test]\nfn it() {}",
            "has no column \"TAO\"",
        ),
    ] {
        let faults = marks_of(&format!("\n/// Conformance: {mark}\n{what}")).unwrap_err();
        assert_eq!(faults.len(), 1);
        assert!(faults[0].contains(fault), "{faults:?}");
        assert!(faults[0].starts_with("crates/orbium-giop/tests/suite/a.rs:2: "));
    }
}

#[test]
fn behaviours_stand_by_clause_with_their_tests_by_file() {
    let text = "\
        /// Conformance: GIOP - beyond\n#[test]\nfn last() {}\n\
        /// Conformance: GIOP 2: 9.4.10 - late\n#[test]\nfn late() {}\n\
        /// Conformance: GIOP 2: 9.4.9 - early - over a pipe\n#[test]\nfn piped() {}\n\
        /// Conformance: GIOP 2: 9.4.9 - early\n#[test]\nfn early() {}\n";
    let page = page_of(text, "").unwrap();
    let file = "[giop: a](../crates/orbium-giop/tests/suite/a.rs)";
    let table = format!(
        "| what | clause | shown by |\n|---|---|---|\n\
         | early | 2: 9.4.9 | {file} `early`; over a pipe: {file} `piped` |\n\
         | late | 2: 9.4.10 | {file} `late` |\n\
         | beyond | | {file} `last` |\n"
    );
    assert!(page.contains(&table), "{page}");
    assert!(page.starts_with("# Page\n") && page.ends_with("\nThe end.\n"));
}

#[test]
fn behaviours_of_a_subject_stand_together() {
    let text = "\
        /// Conformance: code sets - chars: wide\n#[test]\nfn wide() {}\n\
        /// Conformance: code sets - chosen\n#[test]\nfn chosen() {}\n\
        /// Conformance: code sets - chars\n#[test]\nfn chars() {}\n";
    let page = page_of(text, "").unwrap();
    let rows: Vec<_> = page.lines().filter(|it| it.contains("giop: a")).collect();
    let begins = ["| chars |", "| chars: wide |", "| chosen |"];
    assert!(rows.len() == 3, "{page}");
    for (row, begin) in rows.iter().zip(begins) {
        assert!(row.starts_with(begin), "{row}");
    }
}

#[test]
fn a_grid_has_a_column_for_each_peer() {
    let text = "\
        /// Conformance: client of omniORB - GIOP 1.2\n#[test]\nfn omni() {}\n\
        /// Conformance: client of omniORB - fragments - tiny\n#[test]\nfn tiny() {}\n\
        /// Conformance: client of JacORB - GIOP 1.2\n#[test]\nfn jac() {}\n";
    let none = "[[of]]\nchapter = \"client of\"\nclause = \"JacORB\"\nbehaviour = \"fragments\"\n\
                reason = \"JacORB has none\"\n";
    let page = page_of(text, none).unwrap();
    let run = |test| format!("[`{test}`](../crates/orbium-giop/tests/suite/a.rs)");
    let table = format!(
        "| | omniORB's server | JacORB's server |\n|---|---|---|\n| GIOP 1.2 | {} | {} |\n\
         | fragments | tiny: {} | JacORB has none |\n",
        run("omni"),
        run("jac"),
        run("tiny")
    );
    assert!(page.contains(&table), "{page}");
}

#[test]
fn behaviours_that_no_test_proves_have_a_reason() {
    let of = "[[of]]\nchapter = \"GIOP\"\nclause = \"2: 9.4.4\"\n";
    let cancel = format!("{of}behaviour = \"cancel\"\n");
    let page = page_of("", &format!("{cancel}reason = \"not yet: later\"\n")).unwrap();
    assert!(
        page.contains("| cancel | 2: 9.4.4 | not yet: later |\n"),
        "{page}"
    );

    // A test was added since, so that the reason is obsolete.
    let fault = page_of(CANCEL, &format!("{cancel}reason = \"not yet: later\"\n")).unwrap_err();
    assert!(fault.contains("cancelled of crates/orbium-giop/tests/suite/a.rs proves it"));

    // The last test of a behaviour was removed, or its text changed.
    let remark = format!("{cancel}answer = \"at once\"\nremark = \"but for oneways\"\n");
    assert!(
        page_of("", &remark)
            .unwrap_err()
            .contains("no test has a mark for it")
    );
    let page = page_of(CANCEL, &remark).unwrap();
    assert!(
        page.contains("| at once: [giop: a](") && page.contains("`cancelled`; but for oneways |")
    );

    let unknown = "[[of]]\nchapter = \"DII\"\nbehaviour = \"send\"\nreason = \"not yet\"\n";
    assert!(
        page_of("", unknown)
            .unwrap_err()
            .contains("no chapter \"DII\"")
    );
    assert!(page_of("", &format!("{cancel}because = \"later\"\n")).is_err());
}

#[test]
fn a_test_says_a_behaviour_once() {
    let twice = CANCEL.replacen(
        '\n',
        "\n/// Conformance: GIOP 2: 9.4.4 - cancel - again\n",
        1,
    );
    assert!(page_of(&twice, "").unwrap_err().contains("says it twice"));
}

#[test]
fn frames_are_refused_that_are_written_wrongly() {
    for wrong in [
        "{{rows}}",
        "{{rows GIOP}}",
        "{{list GIOP | a | b}}",
        "{{grid a | | b}}",
    ] {
        assert!(Frame::read(wrong).is_err(), "{wrong}");
    }
    assert!(Frame::read("{{rows A | a | b}}\n{{rows A | a | b}}\n").is_err());
}
