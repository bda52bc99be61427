// SPDX-License-Identifier: MIT OR Apache-2.0
//! Commands with a verdict, and output that no program reads.

use std::process::Stdio;

use crate::program::{Folder, Server, orbium};

/// The exit status of the program with an output that is closed already.
fn status_unread<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Option<i32> {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = orbium(arguments);
    let status = command.stdout(writer).stderr(Stdio::null()).status();
    status.unwrap().code()
}

/// Regression: the status was that of success, whatever had been found.
#[test]
fn a_verdict_does_not_depend_on_the_reader_of_the_output() {
    let folder = Folder::new();
    let late = "interface A { @rt(period=\"5 ms\", wcet=\"10 ms\") void f(); };";
    let late = folder.file("late.idl", late);
    assert_eq!(status_unread(["sched", "check", &late]), Some(1));
    let wrong = folder.file("wrong.idl", "interface {");
    assert_eq!(status_unread(["idl", "check", "--json", &wrong]), Some(1));
    std::fs::create_dir_all(folder.path("proc/sys/kernel")).unwrap();
    folder.file("proc/sys/kernel/version", "#1 SMP\n");
    let root = folder.path("");
    assert_eq!(status_unread(["doctor", "--root", &root]), Some(3));
    assert_eq!(
        status_unread(["doctor", "--root", &root, "--json"]),
        Some(3)
    );
    let server = Server::start([]);
    let unknown = server.corbaloc("Cube").replace("/Cube", "/Unknown");
    assert_eq!(status_unread(["ping", "-c", "1", &unknown]), Some(1));
    assert_eq!(
        status_unread(["ping", "-c", "1", server.corbaloc("Cube")]),
        Some(0)
    );
}
