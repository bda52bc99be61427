// SPDX-License-Identifier: MIT OR Apache-2.0
//! Running the built program.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use orbium_testkit::{NatsServer, skipped, skipped_peer};

/// The program with arguments.
pub(crate) fn orbium<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orbium"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Sends a process a signal by name.
#[track_caller]
pub(crate) fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-s", name, &pid]).status();
    assert!(sent.unwrap().success());
}

/// What a run of the program gave.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Its standard output as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e} in {self:?}"))
    }

    /// Asserts that it failed with one sentence.
    #[track_caller]
    pub(crate) fn assert_failed_saying(&self, sentence: &str) {
        assert_eq!(self.status, Some(1), "{self:?}");
        assert!(self.stderr.starts_with("error: "), "{self:?}");
        assert!(self.stderr.contains(sentence), "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
    }

    /// Asserts that it did what it was asked for.
    #[track_caller]
    pub(crate) fn assert_done(&self) {
        assert_eq!(self.status, Some(0), "{self:?}");
    }
}

/// Runs the program to its end.
pub(crate) fn run<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Ran {
    run_with(arguments, "")
}

/// Runs the program to its end, with something on its standard input.
pub(crate) fn run_with<'a>(arguments: impl IntoIterator<Item = &'a str>, stdin: &str) -> Ran {
    let mut child = orbium(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may end without reading.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let output = child.wait_with_output().unwrap();
    Ran {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Starts the program, and waits until it is ready; with the lines that it wrote before. Its input stays
/// open, for commands that serve until that ends.
#[track_caller]
pub(crate) fn serving<'a>(arguments: impl IntoIterator<Item = &'a str>) -> (Child, Vec<String>) {
    let mut child = orbium(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut written = Vec::new();
    while let Some(Ok(line)) = lines.next() {
        if line == "READY" {
            return (child, written);
        }
        written.push(line);
    }
    let status = child.wait().unwrap();
    panic!("it ended before it was ready: {status}");
}

/// A command that serves until its input ends, ended with the test.
pub(crate) struct Served {
    child: Child,
    /// What it printed before it was ready.
    pub(crate) lines: Vec<String>,
    is_killed: bool,
}

impl Served {
    /// Starts `command serve`, and waits until it is ready.
    #[track_caller]
    pub(crate) fn new<'a>(command: &'a str, more: impl IntoIterator<Item = &'a str>) -> Self {
        let start = [command, "serve", "--until-input-ends"];
        let (child, lines) = serving(start.into_iter().chain(more));
        Self {
            child,
            lines,
            is_killed: false,
        }
    }

    /// The reference of what it serves.
    pub(crate) fn reference(&self) -> &str {
        &self.lines[0]
    }

    /// Its threads of that name.
    pub(crate) fn threads(&self, name: &str) -> usize {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let named = |task: &std::fs::DirEntry| {
            let comm = std::fs::read_to_string(task.path().join("comm"));
            comm.is_ok_and(|it| it.trim_end() == name)
        };
        tasks.map_while(Result::ok).filter(named).count()
    }

    /// The consumers of a channel that it serves.
    pub(crate) fn consumers(&self) -> usize {
        let stat = run(["events", "stat", "--json", self.reference()]);
        stat.json()["consumers"].as_array().unwrap().len()
    }

    /// Pushes an event of type 16 with that text to a channel that it serves.
    #[track_caller]
    pub(crate) fn push(&self, text: &str) {
        let push = ["events", "push", self.reference(), "--type", "16"];
        run(push.into_iter().chain(["--text", text])).assert_done();
    }

    /// Kills it without notice.
    pub(crate) fn kill(&mut self) {
        self.is_killed = true;
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let ended = self.child.wait();
        let is_excused = self.is_killed || std::thread::panicking();
        assert!(is_excused || ended.unwrap().success());
    }
}

/// A program of another ORB; `None`, and a line that says so, where it was not built.
pub(crate) fn peer(name: &str) -> Option<PathBuf> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/interop");
    let folder = env::var_os("ORBIUM_INTEROP_DIR").map_or(built, PathBuf::from);
    let program = folder.join(name);
    if !program.exists() {
        skipped_peer(&format!("{name} is missing; interop/build.sh makes it"));
        return None;
    }
    Some(program)
}

/// A server for channels that store their events. `None`, and a line that says so, where there is no `nats-server`, or the program
/// was built without its client.
pub(crate) fn nats() -> Option<NatsServer> {
    if !cfg!(feature = "jetstream") {
        skipped("built without the feature `jetstream` of orbium-cli");
        return None;
    }
    NatsServer::start(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

/// A folder of one test, removed in the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "orbium-cli-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// The path of a file in it, as text.
    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file in it and gives its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        // It may be a key.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        self.path(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A file of the project's own IDL.
pub(crate) fn project_idl(name: &str) -> String {
    format!("{}/../../idl/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A running `demo serve` on a free port of 127.0.0.1, ended with the test.
pub(crate) struct Server {
    child: Child,
    lines: Vec<String>,
}

impl Server {
    /// Starts it and waits until it is ready.
    pub(crate) fn start<'a>(more: impl IntoIterator<Item = &'a str>) -> Self {
        Self::start_at("iiop://127.0.0.1:0", more)
    }

    /// The same at another endpoint.
    pub(crate) fn start_at<'a>(endpoint: &'a str, more: impl IntoIterator<Item = &'a str>) -> Self {
        let arguments = ["demo", "serve", "--endpoint", endpoint];
        let child = orbium(arguments.into_iter().chain(more))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = Vec::new();
        let mut server = Self { child, lines };
        let output = BufReader::new(server.child.stdout.take().unwrap());
        let lines = output.lines().map(Result::unwrap);
        server.lines = lines.take_while(|line| line != "READY").collect();
        assert!(!server.lines.is_empty(), "it ended before it was ready");
        server
    }

    /// A reference that it printed: the IOR of `Cube`, `Receiver` or `Peer`.
    pub(crate) fn ior(&self, key: &str) -> &str {
        self.printed(&format!("{key} IOR:"))
            .split_once(' ')
            .unwrap()
            .1
    }

    /// The same as a `corbaloc:`.
    pub(crate) fn corbaloc(&self, key: &str) -> &str {
        let line = self.printed(&format!("{key} corbaloc:"));
        line.split_once(' ').unwrap().1
    }

    /// A line that it printed.
    pub(crate) fn announced(&self, start: &str) -> &str {
        self.printed(start)
    }

    fn printed(&self, start: &str) -> &str {
        let line = self.lines.iter().find(|line| line.starts_with(start));
        line.unwrap_or_else(|| panic!("no `{start}` in {:?}", self.lines))
    }

    /// The number of its process.
    #[allow(dead_code, reason = "not every test asks")]
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        signal(&self.child, name);
    }

    /// Waits until it has ended.
    pub(crate) fn status(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Neither matters to one that has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
