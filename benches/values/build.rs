// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the interface that echoes values, and the structs that anys hold.

fn main() {
    orbium_build::compile(["../../idl/values.idl", "../../idl/ttcp.idl"]);
}
