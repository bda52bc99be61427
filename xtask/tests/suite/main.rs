// SPDX-License-Identifier: MIT OR Apache-2.0
//! Properties of the documents and the tests of the whole workspace.

mod links;
mod migration;
mod test_files;
mod test_programs;
