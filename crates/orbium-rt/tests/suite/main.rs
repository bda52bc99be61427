// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real-time CORBA, as one program: each test file is a module, so that all of them are
//! linked once.

mod asynchronous;
mod asynchronous_many;
mod binding_ends;
mod bindings;
mod common;
mod connections;
mod current;
mod dedication;
mod dispatch;
mod fair_share;
mod forwards;
mod hostile;
mod marks_on_the_wire;
mod models;
mod mutex;
mod policies;
mod pools;
mod priority_mutex;
mod renegotiation;
mod reserved_bindings;
mod rt_poa;
