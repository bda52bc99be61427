// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface of build scripts, as one program: each test file is a module, so that all of them are
//! linked once.

mod build;
mod extension;
mod projects;
