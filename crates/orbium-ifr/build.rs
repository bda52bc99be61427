// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the interfaces of the Interface Repository.

fn main() {
    orbium_build::compile("idl/InterfaceRepository.idl");
}
