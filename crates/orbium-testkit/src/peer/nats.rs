// SPDX-License-Identifier: MIT OR Apache-2.0
//! A NATS server with JetStream, which tests kill and restart.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::{env, fs};

use orbium::lock::Mutex;

use crate::skipping::skipped_peer;
use crate::transport_suite::loopback;
use crate::waiting::eventually;

/// The server, with the same address and data after being killed. When it is dropped it ends, and
/// its data are deleted.
#[derive(Debug)]
pub struct NatsServer {
    program: PathBuf,
    folder: PathBuf,
    host: String,
    port: u16,
    arguments: Vec<String>,
    child: Mutex<Option<Child>>,
}

impl NatsServer {
    /// Starts a server without data in a separate folder below `folder`. `None`, with a line of
    /// output, if there is no `nats-server`, unless `ORBIUM_REQUIRE_PEERS=1`.
    ///
    /// # Panics
    /// It does not start, or is missing and required.
    #[must_use]
    pub fn start(folder: &Path) -> Option<Self> {
        let program = program()?;
        Some(Self::with(program, folder, next_host("nats"), &[]))
    }

    /// Starts a server at an address of its own, with further arguments.
    pub(crate) fn with(
        program: PathBuf,
        folder: &Path,
        (host, number): (String, u8),
        arguments: &[&str],
    ) -> Self {
        let server = Self {
            program,
            folder: folder.join(format!("nats-{}-{number}", std::process::id())),
            port: free_port(&host),
            host,
            arguments: arguments.iter().map(|it| (*it).to_owned()).collect(),
            child: Mutex::default(),
        };
        server.start_again();
        server
    }

    /// The address of the server.
    #[must_use]
    pub fn url(&self) -> String {
        format!("nats://{}:{}", self.host, self.port)
    }

    /// Kills it, as `kill -9` does.
    ///
    /// # Panics
    /// It cannot be killed.
    pub fn kill(&self) {
        let mut child = self.child.lock();
        if let Some(mut child) = child.take() {
            child.kill().expect("the server can be killed");
            child.wait().expect("the server has ended");
        }
    }

    /// Starts it with its previous data, and waits until it listens.
    ///
    /// # Panics
    /// It does not start.
    pub fn start_again(&self) {
        fs::create_dir_all(&self.folder).expect("a folder for data");
        let child = Command::new(&self.program)
            .args(["-js", "-a", &self.host, "-p", &self.port.to_string(), "-sd"])
            .arg(&self.folder)
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nats-server starts");
        *self.child.lock() = Some(child);
        eventually("the NATS server listens", || {
            TcpStream::connect((self.host.as_str(), self.port)).is_ok()
        });
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// An address of the loopback for one server, and the number of the server.
pub(crate) fn next_host(kind: &str) -> (String, u8) {
    static LAST: AtomicU8 = AtomicU8::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    let host = loopback(&format!("{kind} {} {number}", std::process::id()));
    (host.to_string(), number)
}

/// A port that is free, and again when the server is started anew.
pub(crate) fn free_port(host: &str) -> u16 {
    let listener = TcpListener::bind((host, 0)).expect("a port of the loopback");
    listener.local_addr().expect("an address").port()
}

/// The path of the server program.
pub(crate) fn program() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let found = folders
        .map(|it| it.join("nats-server"))
        .find(|it| it.is_file());
    if found.is_none() {
        skipped_peer("nats-server is missing");
    }
    found
}
