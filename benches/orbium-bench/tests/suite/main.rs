// SPDX-License-Identifier: MIT OR Apache-2.0
//! The harness as its users meet it, as one program.

mod experiments;
mod program;
mod protocols;
mod systems;
