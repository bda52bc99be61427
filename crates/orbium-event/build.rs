// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the interfaces of the event channels.

fn main() {
    orbium_build::compile("idl/RtecEventChannel.idl");
    orbium_build::compile("idl/CosEvent.idl");
}
