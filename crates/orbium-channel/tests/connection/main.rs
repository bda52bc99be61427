// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pairs of connections without sockets, in virtual time: every rule of GIOP's clause 9.4
//! that a connection keeps.

mod cancelling;
mod closing;
mod code_sets;
mod hostile;
mod locating;
mod numbers;
mod pair;
mod rules;
