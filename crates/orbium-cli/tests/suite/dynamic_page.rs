// SPDX-License-Identifier: MIT OR Apache-2.0
//! The section of the guide that calls servers of other ORBs: its lines do what it says.

use std::env;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use orbium_testkit::skipped_peer;

use crate::program::Folder;

const PAGE: &str = include_str!("../../../../docs/guide/dynamic.md");

const SECTION: &str = "## Against servers of omniORB and JacORB\n";

/// The servers, by the folders of their references.
const SERVERS: [&str; 2] = ["omni", "jacorb"];

/// A fenced block: its language and its lines.
type Block<'p> = (&'p str, Vec<&'p str>);

/// The blocks of the section.
fn blocks() -> Vec<Block<'static>> {
    let (_, section) = PAGE.split_once(SECTION).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let fenced = section.split("```").skip(1).step_by(2);
    let block = |text: &'static str| {
        let mut lines = text.lines();
        (lines.next().unwrap(), lines.collect())
    };
    fenced.map(block).collect()
}

/// Where `interop/build.sh` puts the servers, if they are there.
fn servers() -> Option<PathBuf> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/interop");
    let folder = env::var_os("ORBIUM_INTEROP_DIR").map_or(built, PathBuf::from);
    let missing = |name: &&&str| !folder.join(format!("{name}-server")).exists();
    let Some(missing) = SERVERS.iter().find(missing) else {
        return Some(folder);
    };
    skipped_peer(&format!(
        "{missing}-server is missing; interop/build.sh makes it"
    ));
    None
}

/// A shell in a folder of its own, with the programs on its path.
struct Shell {
    folder: Folder,
    path: OsString,
    servers: Vec<Child>,
}

impl Shell {
    fn new(servers: PathBuf) -> Self {
        let folder = Folder::new();
        let idl = format!("{}/../../idl", env!("CARGO_MANIFEST_DIR"));
        std::os::unix::fs::symlink(idl, folder.path("idl")).unwrap();
        for name in SERVERS {
            std::fs::create_dir(folder.path(name)).unwrap();
        }
        let program = Path::new(env!("CARGO_BIN_EXE_orbium")).parent().unwrap();
        let inherited = env::var_os("PATH").unwrap_or_default();
        let before = [program.to_owned(), servers];
        let path = before.into_iter().chain(env::split_paths(&inherited));
        Self {
            folder,
            path: env::join_paths(path).unwrap(),
            servers: Vec::new(),
        }
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", line])
            .current_dir(self.folder.path("."));
        command.env("PATH", &self.path).stdin(Stdio::null());
        command
    }

    /// Starts a server, and waits until it is ready.
    fn start(&mut self, line: &str) {
        let mut command = self.command(&format!("exec {line}"));
        let mut server = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
        self.servers.push(server);
        let ready = lines.any(|line| line.is_ok_and(|it| it == "READY"));
        assert!(ready, "{line}");
        // Reads on, or the server would be stopped by a full pipe.
        std::thread::spawn(move || lines.count());
    }

    /// Runs a line to its end: what it has written, or its error.
    fn run(&self, line: &str) -> String {
        let ran = self.command(line).output().unwrap();
        let (written, error) = (String::from_utf8(ran.stdout), String::from_utf8(ran.stderr));
        let (written, error) = (written.unwrap(), error.unwrap());
        assert_eq!(ran.status.success(), error.is_empty(), "{line}: {error}");
        written + &error
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        for server in &mut self.servers {
            // It may have ended.
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

/// Conformance: dynamic - requests: `orbium call`, `describe` and `shell` against omniORB and JacORB
#[test]
fn the_lines_of_the_page_do_what_it_says_against_both_orbs() {
    let Some(servers) = servers() else { return };
    let mut shell = Shell::new(servers);
    let blocks = blocks();
    let mut compared = 0;
    for pair in blocks.chunks(2) {
        let [("sh", lines), (_, expected)] = pair else {
            panic!("a block of lines, and one of what they write: {pair:?}");
        };
        let expected: String = expected.iter().map(|it| format!("{it}\n")).collect();
        for line in lines {
            if let Some(server) = line.strip_suffix(" &") {
                shell.start(server);
            }
        }
        let line = lines.last().unwrap();
        for line in lines[..lines.len() - 1]
            .iter()
            .filter(|it| !it.ends_with('&'))
        {
            shell.run(line);
        }
        for server in SERVERS {
            let line = SERVERS.iter().fold((*line).to_owned(), |line, it| {
                line.replace(&format!(" {it}/"), &format!(" {server}/"))
            });
            assert_eq!(shell.run(&line), expected, "{line}");
            compared += 1;
        }
    }
    assert_eq!(compared, 10);
}
