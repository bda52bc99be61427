// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the interfaces of the Naming Service.

fn main() {
    orbium_build::compile("idl/CosNaming.idl");
}
