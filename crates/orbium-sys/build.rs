// SPDX-License-Identifier: MIT OR Apache-2.0
//! Notes which compiler this is, so that a shared library built with another is
//! told apart.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(compiler).arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let version = version.unwrap_or_else(|_| "rustc of unknown version".to_owned());
    println!("cargo::rustc-env=ORBIUM_COMPILER={version}");
}
