// SPDX-License-Identifier: MIT OR Apache-2.0
//! The other ORBs and the tools that the tests use.

use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::{packages, shell};

/// The availability of peers and tools on this machine.
#[derive(Default)]
pub(super) struct Readiness {
    /// Their names.
    pub(super) ready: Vec<String>,
    /// Names with reasons.
    pub(super) skipped: Vec<String>,
    /// Peers that failed to build.
    pub(super) broken: Vec<String>,
}

impl Readiness {
    /// The user has excluded peers.
    pub(super) fn declined() -> Self {
        Self {
            skipped: vec!["the other ORBs: --no-peers was given".to_owned()],
            ..Self::default()
        }
    }

    /// Whether every test can run.
    pub(super) fn complete(&self) -> bool {
        self.skipped.is_empty() && self.broken.is_empty()
    }

    /// Adds the tests that were skipped, from their log.
    pub(super) fn skipped_by_tests(&mut self, log: &str) {
        let mut lines: Vec<_> = log
            .lines()
            .filter_map(|line| line.strip_prefix("SKIPPED: "))
            .map(str::to_owned)
            .collect();
        lines.sort_unstable();
        lines.dedup();
        self.skipped.append(&mut lines);
    }
}

/// The check of a requirement.
enum Probe {
    Program(&'static str),
    Folder(&'static str),
    Library(&'static str),
}

impl Probe {
    fn met(&self) -> bool {
        match self {
            Self::Program(name) => shell::has(name),
            Self::Folder(path) => Path::new(path).is_dir(),
            Self::Library(name) => shell::succeeds("pkg-config", &["--exists", name]),
        }
    }
}

/// A requirement of the tests, and the Debian package that contains it.
struct Need {
    probe: Probe,
    package: &'static str,
}

const fn program(name: &'static str, package: &'static str) -> Need {
    Need {
        probe: Probe::Program(name),
        package,
    }
}

const NEEDS: &[Need] = &[
    program("g++", "g++"),
    program("make", "make"),
    program("pkg-config", "pkg-config"),
    program("omniidl", "omniidl"),
    program("catior", "omniorb"),
    program("omniNames", "omniorb-nameserver"),
    Need {
        probe: Probe::Library("omniDynamic4"),
        package: "libomniorb4-dev",
    },
    Need {
        probe: Probe::Folder("/usr/share/idl/omniORB"),
        package: "omniorb-idl",
    },
    program("events", "omnievents"),
    program("nats-server", "nats-server"),
    program("ethtool", "ethtool"),
    program("tshark", "tshark"),
    program("valgrind", "valgrind"),
    program("mvn", "maven"),
    program("javac", "default-jdk-headless"),
];

/// The folder in which the peers are built.
pub(super) fn directory() -> PathBuf {
    shell::root().join("target/interop")
}

/// Installs, if permitted, and builds missing peers.
pub(super) fn prepare(may_install: bool) -> Readiness {
    let mut readiness = Readiness::default();
    let missing = missing();
    if !missing.is_empty() {
        let refusal = if may_install {
            packages::install(&missing)
        } else {
            Some("--no-install was given".to_owned())
        };
        if let Some(reason) = refusal {
            eprintln!("Not installed: {} ({reason})", missing.join(" "));
        }
    }
    for package in self::missing() {
        readiness
            .skipped
            .push(format!("package {package}: not installed"));
    }
    if shell::has("tshark") {
        readiness.ready.push("tshark".to_owned());
    }
    for peer in ["omni", "jacorb", "glassfish", "refragment"] {
        build(peer, &mut readiness);
    }
    readiness
}

fn missing() -> Vec<&'static str> {
    NEEDS
        .iter()
        .filter(|need| !need.probe.met())
        .map(|need| need.package)
        .collect()
}

fn build(peer: &str, readiness: &mut Readiness) {
    let mut command = Command::new("sh");
    command
        .current_dir(shell::root())
        .arg("interop/build.sh")
        .arg(peer)
        .arg(directory());
    match shell::exit_code(&mut command) {
        Ok(0) => readiness.ready.push(format!("{peer} (interop/)")),
        Ok(3) => readiness
            .skipped
            .push(format!("{peer}: not available here, see above")),
        Ok(code) => readiness
            .broken
            .push(format!("{peer}: interop/build.sh ended with {code}")),
        Err(reason) => readiness.broken.push(format!("{peer}: {reason}")),
    }
}
