// SPDX-License-Identifier: MIT OR Apache-2.0
//! The peers' programs: found, started, waited for, ended.

use std::error::Error;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use orbium_testkit::skipped_peer;

/// Time a program has to be ready: a Java machine on a busy host.
const START: Duration = Duration::from_secs(60);

/// Time a client has for all its checks.
const RUN: Duration = Duration::from_secs(240);

/// Where `interop/build.sh` puts the programs.
fn directory() -> PathBuf {
    match env::var_os("ORBIUM_INTEROP_DIR") {
        Some(directory) => directory.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/interop"),
    }
}

/// Whether the programs are there. If not, says that the test is skipped.
///
/// # Panics
/// They are not, and have to be.
pub(crate) fn available(names: &[&str]) -> bool {
    let missing = |name: &&&str| !directory().join(name).exists();
    let Some(missing) = names.iter().find(missing) else {
        return true;
    };
    skipped_peer(&format!("{missing} is missing; interop/build.sh makes it"));
    false
}

/// Whether a program is on the path. If not, says that the test is skipped.
///
/// # Panics
/// It is not, and has to be.
pub(crate) fn tool_available(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    if env::split_paths(&path).any(|directory| directory.join(name).is_file()) {
        return true;
    }
    skipped_peer(&format!("{name} is not installed"));
    false
}

/// A program that publishes references in a directory of its own, until it is
/// dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) references: PathBuf,
}

impl Server {
    /// Starts a program whose last argument is the directory, and waits until
    /// it is ready.
    pub(crate) fn start(name: &str, arguments: &[&str]) -> Result<Self, Box<dyn Error>> {
        let references = scratch_directory()?;
        let mut child = Command::new(directory().join(name))
            .args(arguments)
            .arg(&references)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let output = child.stdout.take().ok_or("no standard output")?;
        let server = Self { child, references };
        let (send, ready) = mpsc::channel();
        // Reads on after that, or the program would be stopped by a full pipe.
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if line == "READY" {
                    let _ = send.send(());
                }
            }
        });
        let ready = ready.recv_timeout(START);
        ready.map_err(|_| format!("{name} {arguments:?} did not become ready"))?;
        Ok(server)
    }

    /// The reference of that name, such as `cube`.
    pub(crate) fn reference(&self, name: &str) -> Result<String, Box<dyn Error>> {
        Ok(fs::read_to_string(
            self.references.join(name).with_extension("ior"),
        )?)
    }

    /// Waits for the program to end by itself, and requires it to end well.
    pub(crate) fn ends_well(mut self) -> Result<(), Box<dyn Error>> {
        match wait(&mut self.child, START)? {
            Some(0) => Ok(()),
            other => Err(format!("the server ended with {other:?}").into()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended, and the directory is only clutter.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.references);
    }
}

/// Runs a program to its end: its exit code and what it wrote.
pub(crate) fn run(name: &str, arguments: &[String]) -> Result<(i32, String), Box<dyn Error>> {
    let mut child = Command::new(directory().join(name))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut output = child.stdout.take().ok_or("no standard output")?;
    let reader = thread::spawn(move || {
        let mut text = String::new();
        output.read_to_string(&mut text).map(|_| text)
    });
    let code = wait(&mut child, RUN)?;
    let text = reader.join().map_err(|_| "the reader panicked")??;
    match code {
        Some(code) => Ok((code, text)),
        None => Err(format!("{name} did not end; it wrote\n{text}").into()),
    }
}

/// The exit code; `None` if it had to be killed.
fn wait(child: &mut Child, most: Duration) -> Result<Option<i32>, Box<dyn Error>> {
    let end = Instant::now() + most;
    while Instant::now() < end {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// A directory of a test's own, until it is dropped.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new() -> Result<Self, Box<dyn Error>> {
        scratch_directory().map(Self)
    }

    /// The path of something in it, as text.
    pub(crate) fn path(&self, name: &str) -> Result<String, Box<dyn Error>> {
        let path = self.0.join(name);
        Ok(path.to_str().ok_or("a strange directory")?.to_owned())
    }

    /// Writes a file in it; its path, as text.
    pub(crate) fn write(&self, name: &str, text: String) -> Result<String, Box<dyn Error>> {
        let path = self.path(name)?;
        fs::write(&path, text)?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Only clutter.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A new directory that no other test uses.
pub(crate) fn scratch_directory() -> Result<PathBuf, Box<dyn Error>> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("orbium-interop-{}-{number}", std::process::id());
    let path = env::temp_dir().join(name);
    fs::create_dir_all(&path)?;
    Ok(path)
}
