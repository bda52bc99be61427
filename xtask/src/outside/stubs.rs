// SPDX-License-Identifier: MIT OR Apache-2.0
//! Machine code and build time that each stub adds to a program that calls it.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Instant;

use super::package::{Package, failed};
use crate::outcome::Outcome;

/// Numbers of stubs of the two compared programs.
const STUBS: (u32, u32) = (10, 40);

/// The additional size and build time of a client for a stub that it calls.
#[derive(Clone, Copy, Debug)]
pub struct Stub {
    /// Bytes of the stripped program.
    pub octets: f64,
    /// Seconds of its build.
    pub seconds: f64,
}

/// Builds a client of few stubs and one of many, in that folder.
///
/// # Errors
/// They cannot be written or built.
pub fn measure(scratch: &Path) -> Outcome<Stub> {
    let (few, many) = STUBS;
    let package = Package::with("stubs", scratch, &|folder| {
        fs::create_dir_all(folder).map_err(|error| failed(folder, &error))
    })?;
    let manifest = package.folder.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).map_err(|error| failed(&manifest, &error))?;
    write(
        &manifest,
        &format!("{text}\n[profile.release]\nstrip = true\n"),
    )?;
    // With the ORB.
    build(&package, few)?;
    let (few_octets, few_seconds) = build(&package, few)?;
    let (many_octets, many_seconds) = build(&package, many)?;
    let stubs = f64::from(many - few);
    Ok(Stub {
        octets: (many_octets - few_octets) / stubs,
        seconds: (many_seconds - few_seconds) / stubs,
    })
}

/// The bytes of a client with so many stubs, and the seconds of its build.
fn build(package: &Package, stubs: u32) -> Outcome<(f64, f64)> {
    fill(&package.folder, stubs)?;
    let begin = Instant::now();
    let program = package.build(&[])?;
    let seconds = begin.elapsed().as_secs_f64();
    let size = fs::metadata(&program).map_err(|error| failed(&program, &error))?;
    #[expect(
        clippy::cast_precision_loss,
        reason = "a program of less than 2^52 octets"
    )]
    Ok((size.len() as f64, seconds))
}

/// Writes the sources of a client with so many stubs.
fn fill(folder: &Path, stubs: u32) -> Outcome<()> {
    write(&folder.join("idl/stubs.idl"), &idl(stubs))?;
    write(&folder.join("src/main.rs"), &program(stubs))?;
    let build = "fn main() {\n    orbium_build::compile(\"idl/stubs.idl\");\n}\n";
    write(&folder.join("build.rs"), build)
}

fn write(path: &Path, text: &str) -> Outcome<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    fs::write(path, text).map_err(|error| failed(path, &error))
}

/// Operations with a struct, a string, an `out` parameter and an exception each, all of separate
/// types.
fn idl(stubs: u32) -> String {
    let mut types = String::new();
    let mut operations = String::new();
    for n in 0..stubs {
        // Writing to a String does not fail.
        let _ = writeln!(
            types,
            "    struct State{n} {{ long code; string name; sequence<double> values; }};\n    \
             exception Refused{n} {{ string why; }};"
        );
        let _ = writeln!(
            operations,
            "        State{n} exchange{n}(in State{n} state, in string note, out long count) raises (Refused{n});"
        );
    }
    format!("module Stubs {{\n{types}    interface Device {{\n{operations}    }};\n}};\n")
}

/// A client that calls each of them.
fn program(stubs: u32) -> String {
    let mut calls = String::new();
    for n in 0..stubs {
        let _ = writeln!(
            calls,
            "    count += device.exchange{n}(&State{n} {{ code: 1, name: String::new(), values: Vec::new() }}, \"\")?.count;"
        );
    }
    format!(
        "orbium::include_idl!(\"stubs\");\nuse stubs::*;\n\n\
         fn main() -> Result<(), Box<dyn std::error::Error>> {{\n    \
         let orb = orbium::Orb::builder().build()?;\n    \
         let device: Device = orb.resolve(\"corbaloc::localhost:5000/Device\")?;\n    \
         let mut count = 0;\n{calls}    println!(\"{{count}}\");\n    Ok(())\n}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_calls_each_operation_of_its_idl() {
        for stubs in [1, 3] {
            let (idl, program) = (idl(stubs), program(stubs));
            let count = |text: &str| text.matches("exchange").count();
            assert_eq!(count(&idl), count(&program));
            assert_eq!(count(&program), stubs as usize);
        }
    }
}
