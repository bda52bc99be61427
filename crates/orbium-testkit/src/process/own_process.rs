// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests in a separate process.
//!
//! A test that counts the threads, descriptors or allocations of its process, or lowers a limit of
//! it, is affected by other tests: the harness may start the thread of the next test at any time. A
//! lock between tests does not help, because a thread that waits for the lock is counted as well.

use std::io::{self, Read};
use std::process::Command;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// The variable with the name of the test for a separate process.
const TEST: &str = "ORBIUM_OWN_PROCESS";

/// Far beyond the duration of the longest of these tests on a loaded machine.
const DEADLINE: Duration = Duration::from_secs(900);

/// Runs the body of the enclosing test as the only test of a process:
///
/// ```text
/// #[test]
/// fn orbs_leave_no_thread() {
///     in_own_process!(|| {
///         let before = threads();
///         …
///     });
/// }
/// ```
///
/// `in_own_process!([("NAME", "value")], || …)` adds variables to the environment of that process.
#[macro_export]
macro_rules! in_own_process {
    ($body:expr) => {
        $crate::in_own_process!([], $body)
    };
    ($variables:expr, $body:expr) => {{
        fn here() {}
        $crate::run_in_own_process(::std::any::type_name_of_val(&here), &$variables, $body)
    }};
}

/// For [`in_own_process!`](crate::in_own_process): `here` is the path of a function within the
/// test; `variables` are added to the environment of its process.
///
/// # Panics
/// The test fails in its process, does not run there, or does not end.
#[doc(hidden)]
#[track_caller]
pub fn run_in_own_process(here: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    let test = name_of(here);
    if std::env::var(TEST).is_ok_and(|name| name == test) {
        return body();
    }
    run_elsewhere(test, variables);
}

#[track_caller]
fn run_elsewhere(test: &str, variables: &[(&str, &str)]) {
    let (output, succeeded) = run_test(test, variables);
    let ran = output
        .lines()
        .any(|line| line.starts_with("test result: ok. 1 passed"));
    if !succeeded || !ran {
        // Indented, so that its summary is not mistaken for that of this process.
        for line in output.lines() {
            println!("  | {line}");
        }
        panic!("{test} failed in its own process");
    }
}

/// The name of a test in the harness, from the path of a function within it.
fn name_of(here: &str) -> &str {
    let (_crate, path) = here.split_once("::").expect("a path within a crate");
    path.strip_suffix("::here")
        .expect("the path of a function `here`")
}

/// Runs one test of this binary in a new process; returns its output and whether it succeeded.
#[track_caller]
fn run_test(test: &str, variables: &[(&str, &str)]) -> (String, bool) {
    let (mut reader, writer) = io::pipe().expect("a pipe");
    let mut child = Command::new(std::env::current_exe().expect("this binary"))
        .arg(test)
        .args(["--exact", "--include-ignored"])
        .args(["--nocapture", "--test-threads=1"])
        .env(TEST, test)
        .envs(variables.iter().copied())
        .stdout(writer.try_clone().expect("a descriptor"))
        .stderr(writer)
        .spawn()
        .expect("a process for the test");
    // The command, and with it the writing ends here, is dropped: the pipe ends with the child.
    let (done, ended) = channel();
    let reading = thread::spawn(move || {
        let mut output = Vec::new();
        let _ = reader.read_to_end(&mut output);
        let _ = done.send(());
        output
    });
    if ended.recv_timeout(DEADLINE).is_err() {
        let _ = child.kill();
    }
    let status = child.wait().expect("the child's status");
    let output = reading.join().expect("a thread that reads");
    (
        String::from_utf8_lossy(&output).into_owned(),
        status.success(),
    )
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::name_of;

    #[test]
    fn the_name_is_what_the_harness_calls_the_test() {
        assert_eq!(name_of("shutdown::leaves_nothing::here"), "leaves_nothing");
        assert_eq!(
            name_of("suite::uiop::leaves_nothing::here"),
            "uiop::leaves_nothing"
        );
    }

    #[test]
    fn the_body_runs_in_another_process() {
        let mut ran_here = false;
        in_own_process!(|| ran_here = true);
        // True in the separate process, false in the one that waits.
        assert_eq!(ran_here, std::env::var_os(super::TEST).is_some());
    }

    #[test]
    fn a_failure_there_is_a_failure_here() {
        if std::env::var_os(super::TEST).is_some() {
            in_own_process!(|| panic!("on purpose"));
            return;
        }
        assert!(catch_unwind(|| in_own_process!(|| panic!("on purpose"))).is_err());
    }

    #[test]
    fn a_name_that_no_test_has_is_a_failure() {
        let missing = || super::run_in_own_process("x::no_such_test::here", &[], || {});
        assert!(catch_unwind(missing).is_err());
    }
}
