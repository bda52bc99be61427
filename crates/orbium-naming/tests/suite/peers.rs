// SPDX-License-Identifier: MIT OR Apache-2.0
//! The client against the name servers of other ORBs.
//!
//! `interop/build.sh` builds those of JacORB and GlassFish; omniNames is a package. Without
//! them these tests say that they were skipped, unless `ORBIUM_REQUIRE_PEERS=1` makes that a
//! failure.

use std::error::Error;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Sender};
use std::{env, fs, thread};

use orbium::{Config, Orb, config::Configure as _};
use orbium_naming::{NamingContext, NotFoundReason};
use orbium_testkit::PATIENCE;

use crate::Tested;
use crate::journey::{Quirks, everything};

/// A name server, until it is dropped.
struct NameServer {
    child: Child,
    /// Of the root context.
    reference: String,
    scratch: Option<PathBuf>,
}

impl NameServer {
    /// Starts a program that writes the reference into a line of its output.
    fn start(command: &mut Command, scratch: Option<PathBuf>) -> Result<Self, Box<dyn Error>> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (send, received) = mpsc::channel();
        let output = child.stdout.take().ok_or("no standard output")?;
        let errors = child.stderr.take().ok_or("no standard error")?;
        let mut server = Self {
            child,
            reference: String::new(),
            scratch,
        };
        follow(output, send.clone());
        follow(errors, send);
        let waited = received.recv_timeout(PATIENCE);
        server.reference = waited.map_err(|_| format!("{command:?} printed no reference"))?;
        Ok(server)
    }

    fn client(&self) -> Result<NamingContext, Box<dyn Error>> {
        let mut config = Config::default();
        config.set(
            "initial_reference",
            &format!("NameService={}", self.reference),
        )?;
        Ok(NamingContext::root(&Orb::new(config)?)?)
    }
}

/// Reads to the end, or the program would be stopped by a full pipe.
fn follow(output: impl Read + Send + 'static, reference: Sender<String>) {
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if let Some(at) = line.find("IOR:") {
                let text = line[at..].split_whitespace().next().unwrap_or_default();
                let _ = reference.send(text.trim_end_matches('.').to_owned());
            }
        }
    });
}

impl Drop for NameServer {
    fn drop(&mut self) {
        // It may have ended, and the folder is only clutter.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(scratch) = &self.scratch {
            let _ = fs::remove_dir_all(scratch);
        }
    }
}

/// The path of a program, unless it is missing and may be.
fn program(name: &str, folders: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    let mut paths = folders.into_iter().map(|folder| folder.join(name));
    let found = paths.find(|path| path.is_file());
    if found.is_none() {
        orbium_testkit::skipped_peer(&format!("{name} is missing"));
    }
    found
}

/// The name server of a peer that `interop/build.sh` builds.
fn built(name: &str) -> Result<Option<NameServer>, Box<dyn Error>> {
    let folder = match env::var_os("ORBIUM_INTEROP_DIR") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/interop"),
    };
    program(name, [folder])
        .map(|path| NameServer::start(&mut Command::new(path), None))
        .transpose()
}

fn omni_names(test: &str) -> Result<Option<NameServer>, Box<dyn Error>> {
    let path = env::var_os("PATH").unwrap_or_default();
    let Some(path) = program("omniNames", env::split_paths(&path)) else {
        return Ok(None);
    };
    let data = env::temp_dir().join(format!("orbium-names-{}-{test}", std::process::id()));
    fs::create_dir_all(&data)?;
    let mut command = Command::new(path);
    command.args(["-start", "-ORBendPoint", "giop:tcp:127.0.0.1:0", "-datadir"]);
    NameServer::start(command.arg(&data), Some(data)).map(Some)
}

/// Conformance: names - naming client: every operation and exception - omniNames
#[test]
fn everything_with_omni_names() -> Tested {
    let Some(server) = omni_names("everything")? else {
        return Ok(());
    };
    everything(
        &server.client()?,
        Quirks {
            rebinds_either: true,
            ..Quirks::NONE
        },
    )
}

/// Conformance: names - naming client: every operation and exception - JacORB's name server
#[test]
fn everything_with_jacorb() -> Tested {
    let Some(server) = built("jacorb-names")? else {
        return Ok(());
    };
    everything(
        &server.client()?,
        Quirks {
            unbind_of_nothing: NotFoundReason::NotContext,
            through_an_object: NotFoundReason::MissingNode,
            makes_no_urls: true,
            ..Quirks::NONE
        },
    )
}

/// Conformance: names - naming client: every operation and exception - GlassFish's, which descends
/// from the JDK's
#[test]
fn everything_with_glassfish() -> Tested {
    let Some(server) = built("glassfish-names")? else {
        return Ok(());
    };
    everything(
        &server.client()?,
        Quirks {
            refuses_empty_components: true,
            prints_other_text: true,
            makes_no_urls: true,
            ..Quirks::NONE
        },
    )
}
