// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the interface by which cancellation travels.

fn main() {
    orbium_build::compile("idl/ThreadControl.idl");
}
