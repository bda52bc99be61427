// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transports, as one program: each test file is a module, so that all of them are
//! linked once.

mod conformance;
mod datagrams;
mod descriptors;
mod in_process;
mod multicast;
mod namespaces;
mod properties;
mod tcp;
mod unix;
