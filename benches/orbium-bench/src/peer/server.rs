// SPDX-License-Identifier: MIT OR Apache-2.0
//! A server process: its start, readiness and end.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use xtask::outcome::Outcome;
use xtask::shell;

/// The environment of a program.
#[derive(Clone, Debug)]
pub(crate) enum Under {
    /// One processor, shared by client and server, at a better priority if that is permitted.
    OneProcessor,
    /// One half of the processors, the upper one or the other; all of them if a half would be a
    /// single one. There a waiting side may spin: a program with a single processor does not.
    /// sees a single processor does not.
    Half {
        /// Whether it is the upper half.
        upper: bool,
    },
    /// callgrind, which writes to this file.
    Callgrind(PathBuf),
    /// strace, which counts into this file.
    Strace(PathBuf),
}

impl Under {
    /// The command line that runs the program in this environment.
    pub(crate) fn command(&self, program: &Path) -> Command {
        match self {
            Self::OneProcessor => {
                let last = processors().last().copied().unwrap_or(0);
                pinned(program, &[last])
            }
            Self::Half { upper } => pinned(program, &half(*upper)),
            Self::Callgrind(file) => {
                let mut command = Command::new("valgrind");
                let mut option = std::ffi::OsString::from("--callgrind-out-file=");
                option.push(file);
                command
                    .args(["--quiet", "--tool=callgrind"])
                    .arg(option)
                    .arg(program);
                command
            }
            Self::Strace(file) => {
                let mut command = Command::new("strace");
                command.args(["-c", "-f", "-o"]).arg(file).arg(program);
                command
            }
        }
    }
}

fn pinned(program: &Path, processors: &[u32]) -> Command {
    let mut command = if shell::is_root() {
        let mut nice = Command::new("nice");
        nice.args(["-n", "-10", "taskset"]);
        nice
    } else {
        Command::new("taskset")
    };
    let list: Vec<_> = processors.iter().map(u32::to_string).collect();
    command.args(["-c", &list.join(",")]).arg(program);
    command
}

fn half(upper: bool) -> Vec<u32> {
    let all = processors();
    match all.split_at(all.len() / 2) {
        (lower, _) if lower.len() < 2 => all,
        (lower, _) if !upper => lower.to_vec(),
        (_, upper) => upper.to_vec(),
    }
}

/// The processors that this process may run on. The last ones are used: the first ones serve more
/// interrupts.
pub(crate) fn processors() -> Vec<u32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let allowed = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .unwrap_or("0");
    let ranges = allowed.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    ranges.flatten().collect()
}

/// A running server; dropping this ends it.
pub(crate) struct Server {
    child: Child,
}

/// Time-out of the start or end of a server, under valgrind too.
const PATIENCE: Duration = Duration::from_secs(120);

impl Server {
    /// Starts a server, which is ready when `file` exists.
    pub(crate) fn ready_by_file(command: &mut Command, file: &Path) -> Outcome<Self> {
        // A file of an earlier run would be mistaken for that of this one.
        let _ = std::fs::remove_file(file);
        let mut server = Self::start(command, Stdio::null())?;
        let begin = Instant::now();
        while !file.exists() {
            server.still_runs()?;
            if begin.elapsed() > PATIENCE {
                return Err(format!("{} was not written in time", file.display()));
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(server)
    }

    /// Starts a server that prints a line, and `READY` when it is ready; returns the first line.
    pub(crate) fn ready_by_output(command: &mut Command) -> Outcome<(Self, String)> {
        let mut server = Self::start(command, Stdio::piped())?;
        let stdout = server.child.stdout.take().ok_or("no standard output")?;
        let lines: Vec<String> = BufReader::new(stdout.take(4096))
            .lines()
            .map_while(Result::ok)
            .take_while(|line| line != "READY")
            .collect();
        server.still_runs()?;
        let first = lines.into_iter().next();
        Ok((
            server,
            first.ok_or("a server did not say where it listens")?,
        ))
    }

    fn start(command: &mut Command, stdout: Stdio) -> Outcome<Self> {
        let child = command
            .stdin(Stdio::null())
            .stdout(stdout)
            .spawn()
            .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
        Ok(Self { child })
    }

    fn still_runs(&mut self) -> Outcome<()> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(format!("a server ended at once: {status}")),
            Err(error) => Err(format!("a server cannot be waited for: {error}")),
        }
    }

    /// Requests the end of the server, and waits for it, so that the tool under which it runs has
    /// written its file.
    pub(crate) fn end(mut self) -> Outcome<()> {
        let tool = self.child.id();
        // strace does not forward signals, so its child gets it.
        let pid = only_child(tool).unwrap_or(tool);
        if !shell::succeeds("kill", &["-TERM", &pid.to_string()]) {
            return Err(format!("process {pid} cannot be ended"));
        }
        let begin = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if begin.elapsed() > PATIENCE {
                return Err(format!("process {pid} does not end"));
            }
            thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = only_child(self.child.id()) {
            shell::succeeds("kill", &["-KILL", &child.to_string()]);
        }
        // Both fail only for a process that has ended, as intended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The first child of a process, if it has any.
fn only_child(pid: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}
