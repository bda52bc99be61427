// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the interfaces that the peers serve.

use orbium_build::Config;

fn main() {
    // Echoes are sent from the request. The peers' compilers do not know `@borrow`.
    Config::new()
        .asynchronous(true)
        .borrowed_results("Cubit::Cube::echo_*")
        .borrowed_results("Ttcp::Receiver::echo_*")
        .borrowed_results("Kitchen::Peer::echo_*")
        .compile(["idl/cubit.idl", "idl/ttcp.idl", "idl/kitchen.idl"]);
    Config::new().compile("idl/values.idl");
    Config::new().handlers(true).compile("idl/handlers.idl");
    Config::new().asynchronous(true).compile("idl/contexts.idl");
    Config::new()
        .define("WITH_EVENTS", "1")
        .compile("idl/alarms.idl");
    // Apart from their bases: where a Point is expected, nothing is known of these.
    Config::new()
        .external_file("values.idl", "crate")
        .compile(["idl/further.idl", "idl/packed.idl"]);
}
