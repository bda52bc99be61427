// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the three interfaces that every peer serves.

use orbium_build::Config;

fn main() {
    // Echoes are sent from the request. The peers' compilers do not know `@borrow`.
    Config::new()
        .asynchronous(true)
        .borrowed_results("Cubit::Cube::echo_*")
        .borrowed_results("Ttcp::Receiver::echo_*")
        .borrowed_results("Kitchen::Peer::echo_*")
        .compile(["idl/cubit.idl", "idl/ttcp.idl", "idl/kitchen.idl"]);
}
