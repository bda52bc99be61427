// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the interfaces of the Scheduling Service.

fn main() {
    orbium_build::compile("idl/RTScheduler.idl");
    orbium_build::compile("idl/RtecScheduler.idl");
}
