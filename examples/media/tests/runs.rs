// SPDX-License-Identifier: MIT OR Apache-2.0
//! The example does what it says, and ends.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

const MEDIA: &str = env!("CARGO_BIN_EXE_media");

/// Frames that a report says were received, and missed.
fn counted(report: &str) -> (u32, u32) {
    let before = |words: &str| {
        let end = report
            .find(words)
            .unwrap_or_else(|| panic!("no `{words}` in\n{report}"));
        let number = report[..end].rsplit([' ', '\n']).next();
        number
            .and_then(|number| number.parse().ok())
            .expect("a number")
    };
    (before(" frames of"), before(" missed"))
}

/// Whatever a busy host has lost, each picture came or was missed; what was lost
/// last is not known if the end was lost too.
fn assert_accounted(sum: u32, sent: u32, report: &str) {
    if report.contains("the end:") {
        assert_eq!(sum, sent, "{report}");
    } else {
        assert!(sum <= sent, "{report}");
    }
}

#[test]
fn both_in_one_process() {
    let output = Command::new(MEDIA).output().expect("it runs");
    let report = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{report}");
    let (frames, missed) = counted(&report);
    assert_accounted(frames + missed, 250, &report);
    assert!(report.contains(" 0 damaged"), "{report}");
}

#[test]
fn a_sender_finds_its_receiver_by_reference() {
    let mut receiver = Command::new(MEDIA)
        .arg("receive")
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut output = BufReader::new(receiver.stdout.take().expect("a pipe"));
    let mut reference = String::new();
    output.read_line(&mut reference).expect("a reference");
    let sent = Command::new(MEDIA)
        .args(["send", reference.trim(), "20"])
        .status();
    assert!(sent.expect("it runs").success());
    let mut report = String::new();
    output.read_to_string(&mut report).expect("a report");
    assert!(receiver.wait().expect("it ends").success());
    let (frames, missed) = counted(&report);
    assert_accounted(frames + missed, 20, &report);
}
