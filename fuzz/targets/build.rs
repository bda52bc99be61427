// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the IDL whose types drive the target `cdr`.

fn main() {
    orbium_build::Config::new().compile([
        "../../idl/cubit.idl",
        "../../idl/kitchen.idl",
        "../../idl/ttcp.idl",
        "idl/shapes.idl",
        "idl/signals.idl",
    ]);
}
