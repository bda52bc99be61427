// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packages of the distribution.

use std::process::Command;

use crate::shell;

/// Installs packages of the distribution; returns the reason if that is not possible.
#[must_use]
pub fn install(packages: &[&str]) -> Option<String> {
    if !shell::has("apt-get") {
        return Some("there is no apt-get".to_owned());
    }
    if !shell::is_root() {
        return Some("only root may install packages".to_owned());
    }
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        // The package of tshark asks a question otherwise.
        command
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(arguments);
        shell::must(&mut command)
    };
    let mut arguments = vec!["install", "-y", "-qq", "--no-install-recommends"];
    arguments.extend(packages);
    // A fresh machine has no lists, an old one has outdated ones.
    if apt(&arguments).is_ok() {
        return None;
    }
    apt(&["update", "-qq"]).and_then(|()| apt(&arguments)).err()
}
