// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the interfaces of the Notification Service, and the records of its file.

fn main() {
    orbium_build::compile("idl/CosNotification.idl");
    orbium_build::Config::new()
        .external_file("idl/CosNotification.idl", "crate::idl")
        .compile("idl/Records.idl");
}
