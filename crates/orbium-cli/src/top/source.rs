// SPDX-License-Identifier: MIT OR Apache-2.0
//! The watch object of a process.

use std::path::Path;
use std::time::{Duration, Instant};

use orbium::metrics::exposition::watch::{self, Watched};
use orbium::{Interface, Orb, SystemException};

use crate::failure::Failure;
use crate::object::reference;

/// How to turn it on, where there is nothing to show.
const WATCH_ADVICE: &str = "a process shows its ORB after orb.watch(), with watch = true in its configuration, \
                   or with the argument -ORBwatch true";

/// What an answer may take: the thread that gives it has nothing else to do.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was seen, and when.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    pub(crate) snapshot: watch::idl::Snapshot,
    pub(crate) at: Instant,
}

/// Where the looks come from.
pub(crate) struct Source {
    watch: watch::idl::Watch,
    name: String,
}

impl Source {
    /// What an argument means, or the only process there is.
    pub(crate) fn find(what: Option<&str>) -> Result<Self, Failure> {
        let url = match what {
            None => url_of(&only()?),
            Some(what) => match what.parse::<u32>() {
                Ok(pid) => url_of(&of_process(pid)?),
                Err(_) if is_socket(what) => Watched::url_of(Path::new(what)),
                Err(_) => reference::text(what)?,
            },
        };
        Self::at(&url)
    }

    fn at(url: &str) -> Result<Self, Failure> {
        let failed = |why: String| Failure::because(format!("`{url}`: {why}"));
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
    pub(crate) fn look(&self) -> Result<Look, Failure> {
        let snapshot = self.watch.look().map_err(|error| self.failed(error))?;
        Ok(Look {
            snapshot,
            at: Instant::now(),
        })
    }

    fn failed(&self, error: SystemException) -> Failure {
        Failure::because(format!(
            "`{}` does not answer: {error}; {WATCH_ADVICE}",
            self.name
        ))
    }
}

fn is_socket(what: &str) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(what).is_ok_and(|it| it.file_type().is_socket())
}

fn url_of(watched: &Watched) -> String {
    Watched::url_of(&watched.path)
}

/// The sockets with a listener.
fn alive() -> Result<Vec<Watched>, Failure> {
    let all = watch::watched().map_err(|error| {
        Failure::because(format!("the folder of the sockets cannot be used: {error}"))
    })?;
    let answers = |it: &Watched| std::os::unix::net::UnixStream::connect(&it.path).is_ok();
    Ok(all.into_iter().filter(answers).collect())
}

fn only() -> Result<Watched, Failure> {
    let mut all = alive()?;
    match all.len() {
        0 => Err(Failure::because(format!(
            "no process of this user shows its ORB: {WATCH_ADVICE}"
        ))),
        1 => Ok(all.remove(0)),
        _ => {
            let pids: Vec<_> = all.iter().map(|it| it.pid.to_string()).collect();
            let pids = pids.join(", ");
            let text = format!("several processes show their ORBs: name one of {pids}");
            Err(Failure::because(text))
        }
    }
}

fn of_process(pid: u32) -> Result<Watched, Failure> {
    let mut all = alive()?.into_iter();
    let found = all.find(|it| it.pid == pid);
    found.ok_or_else(|| {
        Failure::because(format!(
            "process {pid} does not show its ORB: {WATCH_ADVICE}"
        ))
    })
}
