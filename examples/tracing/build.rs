// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the IDL of the example.

fn main() {
    orbium_build::compile("idl/relay.idl");
}
