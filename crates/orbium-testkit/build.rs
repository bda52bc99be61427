// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the test interface, the interface with all types, and a file of
//! names that are hard on generated code.

use std::path::{Path, PathBuf};
use std::{env, fs};

use orbium_build::Config;

#[path = "build/names.rs"]
mod names;

fn main() {
    println!("cargo:rerun-if-changed=build/names.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("run by Cargo"));
    let names = out.join("names.idl");
    fs::write(&names, names::idl()).expect("a file in OUT_DIR");
    compile(Path::new("idl/probe.idl"));
    compile(Path::new("../../idl/kitchen.idl"));
    compile(&names);
}

/// The warnings are about value types, which kitchen.idl has on purpose.
fn compile(file: &Path) {
    match Config::new().try_compile(file) {
        Ok(compiled) => {
            for file in &compiled.read {
                println!("cargo:rerun-if-changed={}", file.display());
            }
        }
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}
