// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the interfaces of the Notification Service.

fn main() {
    orbium_build::compile("idl/CosNotification.idl");
}
