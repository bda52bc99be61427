// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds of the measured programs.

use std::path::PathBuf;
use std::process::Command;

use crate::peer::contender::Peer;
use xtask::outcome::Outcome;
use xtask::shell;

/// The paths of the programs.
pub(crate) struct Programs {
    /// The `orbium` program.
    pub(crate) orbium: PathBuf,
    /// This program.
    pub(crate) harness: PathBuf,
    /// The server of many objects and operations.
    pub(crate) scale: PathBuf,
    /// The folder of omniORB's server and client, if omniORB is installed.
    pub(crate) omni: Option<PathBuf>,
    /// The folder for files of runs.
    pub(crate) scratch: PathBuf,
    /// The available peers, the raw socket first.
    pub(crate) peers: Vec<Peer>,
}

impl Programs {
    /// Builds for release; omniORB's programs only if omniORB is installed.
    pub(crate) fn build(with_scale: bool) -> Outcome<Self> {
        if !shell::has("taskset") {
            return Err("bench: taskset (package util-linux) is missing".to_owned());
        }
        let mut cargo = shell::cargo();
        cargo.args([
            "build",
            "--release",
            "-p",
            "orbium-cli",
            "-p",
            "orbium-bench",
        ]);
        if with_scale {
            cargo.args(["-p", "orbium-bench-scale"]);
        }
        shell::must(&mut cargo)?;
        let target = shell::target_directory();
        let omni = omni(&target.join("bench/omni"))?;
        let mut peers = vec![Peer::Raw, Peer::Orbium];
        if omni.is_some() {
            peers.push(Peer::Omni);
        }
        Ok(Self {
            orbium: target.join("release/orbium"),
            harness: target.join("release/orbium-bench"),
            scale: target.join("release/orbium-bench-scale"),
            omni,
            scratch: target.join("bench"),
            peers,
        })
    }

    /// The ORBs among the peers.
    pub(crate) fn orbs(&self) -> impl Iterator<Item = Peer> + '_ {
        self.peers.iter().copied().filter(|peer| *peer != Peer::Raw)
    }
}

fn omni(folder: &std::path::Path) -> Outcome<Option<PathBuf>> {
    let there = ["g++", "make", "omniidl"].into_iter().all(shell::has)
        && shell::succeeds("pkg-config", &["--exists", "omniORB4"]);
    if !there {
        eprintln!(
            "omniORB is left out: g++, make, pkg-config, omniidl or libomniorb4-dev is missing"
        );
        return Ok(None);
    }
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let source = shell::root().join("benches/omni");
    let mut make = Command::new("make");
    make.current_dir(folder)
        .arg("-s")
        .arg("-f")
        .arg(source.join("Makefile"))
        .arg(format!("SRC={}", source.display()))
        .arg(format!("IDL={}", shell::root().join("idl").display()));
    shell::must(&mut make)?;
    Ok(Some(folder.to_path_buf()))
}
