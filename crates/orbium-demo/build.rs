// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the three interfaces that every peer serves.

use orbium_build::Config;

fn main() {
    // Values and abstract interfaces have no mapping yet, and `Kitchen::Values`
    // is not served: the warnings that say so would be shown in every build.
    // Echoes are sent from the request. The peers' compilers do not know `@borrow`.
    let compiled = Config::new()
        .asynchronous(true)
        .borrowed_results("Cubit::Cube::echo_*")
        .borrowed_results("Ttcp::Receiver::echo_*")
        .borrowed_results("Kitchen::Peer::echo_*")
        .try_compile(["idl/cubit.idl", "idl/ttcp.idl", "idl/kitchen.idl"]);
    let compiled = compiled.unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(1);
    });
    for file in compiled.read {
        println!("cargo:rerun-if-changed={}", file.display());
    }
}
