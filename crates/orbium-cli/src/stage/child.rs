// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processes of this program, and of others that behave like it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::Failure;

/// Time without a line from a process, or until its end, after which it counts as failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// A process of this program that reports in lines of text. Dropping it ends the process.
#[derive(Debug)]
pub struct Process {
    what: &'static str,
    child: Child,
    // The process ends at the end of its input, and so with this process, however that ends.
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Process {
    /// Starts this program with other arguments.
    pub fn start(what: &'static str, arguments: &[String]) -> Result<Self, Failure> {
        let program = std::env::current_exe().map_err(|error| unstarted(what, &error))?;
        let mut command = Command::new(program);
        command.args(arguments);
        Self::spawn(what, &mut command)
    }

    /// Starts a program that ends at the end of its input.
    pub fn spawn(what: &'static str, command: &mut Command) -> Result<Self, Failure> {
        let failed = |error| unstarted(what, &error);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let input = child.stdin.take();
        let (sender, lines) = channel();
        let reader = child.stdout.take().map(|output| {
            let mut all = BufReader::new(output).lines().map_while(Result::ok);
            // Ends with the process's output, or when the receiver is gone.
            let read = move || while all.next().is_some_and(|line| sender.send(line).is_ok()) {};
            thread::Builder::new().spawn(read)
        });
        let process = Self {
            what,
            child,
            input,
            lines,
        };
        reader.transpose().map_err(failed)?;
        Ok(process)
    }

    /// The next line of its output; `None` at the end.
    pub fn line(&mut self) -> Result<Option<String>, Failure> {
        self.line_within(PATIENCE)
    }

    /// Writes a line to its input and returns the line of its answer, for which it waits for
    /// `patience`.
    pub fn ask(&mut self, question: &str, patience: Duration) -> Result<String, Failure> {
        let what = self.what;
        let gone =
            |why: &str| Failure::because(format!("the {what} process {why} at `{question}`"));
        let input = self.input.as_mut();
        let written = input.map(|input| writeln!(input, "{question}"));
        if !matches!(written, Some(Ok(()))) {
            return Err(gone("does not listen"));
        }
        match self.line_within(patience + PATIENCE)? {
            Some(line) => Ok(line),
            None => Err(gone("ended")),
        }
    }

    fn line_within(&mut self, patience: Duration) -> Result<Option<String>, Failure> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => Err(Failure::because(format!(
                "the {} process has given no sign of life for {} s",
                self.what,
                patience.as_secs()
            ))),
        }
    }

    /// The lines up to the one that says `READY`.
    pub fn lines_until_ready(&mut self) -> Result<Vec<String>, Failure> {
        let mut lines = Vec::new();
        while let Some(line) = self.line()? {
            if line == "READY" {
                return Ok(lines);
            }
            lines.push(line);
        }
        Err(Failure::because(format!(
            "the {} process ended before it was ready",
            self.what
        )))
    }

    /// Requests the end of the process, waits for it, and fails unless its exit status is success.
    pub fn end(mut self) -> Result<(), Failure> {
        self.input = None;
        self.join()
    }

    /// Waits until the process ends, and fails unless its exit status is success.
    pub fn join(mut self) -> Result<(), Failure> {
        let status = self.wait()?;
        if status.success() {
            return Ok(());
        }
        Err(Failure::because(format!(
            "the {} process ended badly: {status}",
            self.what
        )))
    }

    fn wait(&mut self) -> Result<ExitStatus, Failure> {
        let failed =
            |what, error| Failure::because(format!("cannot wait for the {what} process: {error}"));
        // Its output ends with it: polling is not needed until then.
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return self.child.wait().map_err(|error| failed(self.what, error));
                }
                Err(RecvTimeoutError::Timeout) => {
                    return Err(Failure::because(format!(
                        "the {} process does not end",
                        self.what
                    )));
                }
            }
        }
    }
}

fn unstarted(what: &str, error: &std::io::Error) -> Failure {
    Failure::because(format!("cannot start the {what} process: {error}"))
}

impl Drop for Process {
    fn drop(&mut self) {
        // Neither matters to a process that has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
