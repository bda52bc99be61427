// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `orbium` program.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    orbium_cli::main()
}
