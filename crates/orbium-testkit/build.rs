// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the test interface, and the interface with all types.

fn main() {
    let files = ["idl/probe.idl", "../../idl/kitchen.idl"];
    // The warnings are about value types, which kitchen.idl has on purpose.
    match orbium_build::Config::new().try_compile(&files) {
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
