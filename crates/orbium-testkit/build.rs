// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the test interface, the interface with all types, what large systems' IDL is made of, and a
//! file of names that are hard on generated code; writes servants to be filled in, and
//! compiles servants with default bodies.

use std::path::{Path, PathBuf};
use std::{env, fs};

use orbium_build::{Config, IdlFiles};

#[path = "build/names.rs"]
mod names;

fn main() {
    println!("cargo:rerun-if-changed=build/names.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("run by Cargo"));
    let names = out.join("names.idl");
    fs::write(&names, names::idl()).expect("a file in OUT_DIR");
    compile(Path::new("idl/probe.idl"));
    compile(Path::new("idl/field.idl"));
    compile_with(
        &Config::new().async_servants("Later::Clerk"),
        Path::new("idl/later.idl"),
    );
    compile(Path::new("../../idl/kitchen.idl"));
    compile(&names);
    // Several files as one project, with the modules Cubit and TTCP.
    let cubit = [
        Path::new("../../idl/cubit.idl"),
        Path::new("../../idl/ttcp.idl"),
    ];
    compile(cubit.as_slice());
    stub("kitchen", &[Path::new("../../idl/kitchen.idl")], &out);
    stub("names", &[&names], &out);
    stub("cubit", &cubit, &out);
    let many = out.join("many.idl");
    fs::write(&many, names::many(45)).expect("a file in OUT_DIR");
    default_bodies("many", &many);
    default_bodies("kitchen_unserved", Path::new("../../idl/kitchen.idl"));
}

/// Servants to be filled in, in `NAME_stub.rs`, for `tests/suite/calls/stubs.rs`.
fn stub(name: &str, files: &[&Path], out: &Path) {
    let around = format!("crate::calls::stubs::{name}");
    let stub = Config::new().try_stub(files, &around).expect("good IDL");
    fs::write(out.join(format!("{name}_stub.rs")), stub.code).expect("a file in OUT_DIR");
}

/// Servants that raise NO_IMPLEMENT, for `tests/suite/calls/default_bodies.rs`.
fn default_bodies(name: &str, file: &Path) {
    let config = Config::new()
        .default_bodies(true)
        .borrowed_results("Kitchen::Peer::echo_*")
        .name(name);
    config.try_compile(file).expect("good IDL");
}

/// The warnings are about value types, which kitchen.idl has on purpose.
fn compile(files: impl IdlFiles) {
    compile_with(&Config::new(), files);
}

fn compile_with(config: &Config, files: impl IdlFiles) {
    match config.try_compile(files) {
        Ok(compiled) => {
            // What this program writes itself is always newer than its last run: with it
            // every build would be another one.
            let out = env::var_os("OUT_DIR").expect("run by Cargo");
            let written = |file: &&PathBuf| file.starts_with(&out);
            for file in compiled.read.iter().filter(|it| !written(it)) {
                println!("cargo:rerun-if-changed={}", file.display());
            }
        }
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}
