// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processes of this program in other roles.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::Failure;
use crate::measured::Row;

/// A process that measures; it ends when its standard input does.
pub(crate) struct Process {
    pub(crate) name: &'static str,
    child: Child,
    output: BufReader<ChildStdout>,
    /// Lines that are not rows.
    printed: Vec<String>,
}

impl Process {
    /// Starts this program with these arguments.
    pub(crate) fn start(name: &'static str, arguments: &[&str]) -> Result<Self, Failure> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(arguments)
            .env_remove(orbium_scheduler::VARIABLE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().ok_or("no pipe")?;
        Ok(Self {
            name,
            child,
            output: BufReader::new(output),
            printed: Vec::new(),
        })
    }

    /// Asks for the measurements so far; none of a process that has ended.
    pub(crate) fn row(&mut self) -> Option<Row> {
        writeln!(self.child.stdin.as_mut()?).ok()?;
        self.next_row()
    }

    /// Ends the process; returns its rows, and prints its other lines.
    pub(crate) fn end(mut self) -> Result<Vec<Row>, Failure> {
        drop(self.child.stdin.take());
        let rows = std::iter::from_fn(|| self.next_row()).collect();
        let status = self.child.wait()?;
        for line in self.printed {
            println!("{line}");
        }
        if !status.success() {
            println!("{}: {status}", self.name);
        }
        Ok(rows)
    }

    /// Ends the process without notice.
    pub(crate) fn kill(&mut self) -> Result<(), Failure> {
        Ok(self.child.kill()?)
    }

    /// The next row, until the end of the output.
    fn next_row(&mut self) -> Option<Row> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).ok()? == 0 {
                return None;
            }
            match line.parse() {
                Ok(row) => return Some(row),
                Err(_) => self.printed.push(line.trim_end().to_owned()),
            }
        }
    }
}
