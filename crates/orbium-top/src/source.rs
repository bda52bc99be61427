// SPDX-License-Identifier: MIT OR Apache-2.0
//! The watch object of a process.

use std::path::Path;
use std::time::{Duration, Instant};

use orbium::metrics::exposition::watch::{self, Watched};
use orbium::{Interface, Orb, SystemException};

use crate::error::TopError;

/// How to turn it on, where there is nothing to show.
const WATCH_ADVICE: &str = "a process shows its ORB after orb.watch(), with watch = true in its configuration, \
                   or with the argument -ORBwatch true";

/// What an answer may take: the thread that gives it has nothing else to do.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was seen, and when.
#[derive(Clone, Debug)]
pub struct Look {
    pub(crate) snapshot: watch::idl::Snapshot,
    pub(crate) at: Instant,
}

/// The watch object of an ORB, where the looks come from.
pub struct Source {
    watch: watch::idl::Watch,
    name: String,
}

impl Source {
    /// The only process of this user that shows its ORB.
    ///
    /// # Errors
    ///
    /// There is none, or several show theirs.
    pub fn only() -> Result<Self, TopError> {
        Self::at(&url_of(&only()?))
    }

    /// The process of that id, of this user.
    ///
    /// # Errors
    ///
    /// It does not show its ORB.
    pub fn of_process(pid: u32) -> Result<Self, TopError> {
        Self::at(&url_of(&of_process(pid)?))
    }

    /// The ORB that shows itself through a socket.
    ///
    /// # Errors
    ///
    /// No ORB can be made to call it.
    pub fn at_socket(socket: &Path) -> Result<Self, TopError> {
        Self::at(&Watched::url_of(socket))
    }

    /// The watch object of a reference.
    ///
    /// # Errors
    ///
    /// It is no reference, or leads to no object.
    pub fn at(url: &str) -> Result<Self, TopError> {
        let failed = |why: String| TopError::because(format!("`{url}`: {why}"));
        let built = Orb::builder().call_timeout(PATIENCE).build();
        let orb = built.map_err(|error| failed(error.to_string()))?;
        let object = orb.string_to_object(url);
        let object = object.map_err(|error| failed(error.to_string()))?;
        let object = object.ok_or_else(|| failed("the reference is nil".into()))?;
        Ok(Self {
            watch: watch::idl::Watch::from_object(object),
            name: url.to_owned(),
        })
    }

    /// Asks once.
    ///
    /// # Errors
    ///
    /// There is no answer.
    pub fn look(&self) -> Result<Look, TopError> {
        let snapshot = self.watch.look().map_err(|error| self.failed(error))?;
        Ok(Look {
            snapshot,
            at: Instant::now(),
        })
    }

    fn failed(&self, error: SystemException) -> TopError {
        TopError::because(format!(
            "`{}` does not answer: {error}; {WATCH_ADVICE}",
            self.name
        ))
    }
}

fn url_of(watched: &Watched) -> String {
    Watched::url_of(&watched.path)
}

/// The sockets with a listener.
fn alive() -> Result<Vec<Watched>, TopError> {
    let all = watch::watched().map_err(|error| {
        TopError::because(format!("the folder of the sockets cannot be used: {error}"))
    })?;
    let answers = |it: &Watched| std::os::unix::net::UnixStream::connect(&it.path).is_ok();
    Ok(all.into_iter().filter(answers).collect())
}

fn only() -> Result<Watched, TopError> {
    let mut all = alive()?;
    match all.len() {
        0 => Err(TopError::because(format!(
            "no process of this user shows its ORB: {WATCH_ADVICE}"
        ))),
        1 => Ok(all.remove(0)),
        _ => {
            let pids: Vec<_> = all.iter().map(|it| it.pid.to_string()).collect();
            let pids = pids.join(", ");
            let text = format!("several processes show their ORBs: name one of {pids}");
            Err(TopError::because(text))
        }
    }
}

fn of_process(pid: u32) -> Result<Watched, TopError> {
    let mut all = alive()?.into_iter();
    let found = all.find(|it| it.pid == pid);
    found.ok_or_else(|| {
        TopError::because(format!(
            "process {pid} does not show its ORB: {WATCH_ADVICE}"
        ))
    })
}
