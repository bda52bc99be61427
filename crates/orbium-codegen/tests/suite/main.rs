// SPDX-License-Identifier: MIT OR Apache-2.0
//! Generated code, tested as one program: each test file is a module, so that all of them are
//! linked once.

mod ami;
mod async_servants;
mod asynchronous;
mod borrowed;
mod by_value;
mod calls;
mod components;
mod contexts;
mod deferred;
mod events;
mod generated;
mod golden;
mod handlers;
mod installed;
mod long_arrays;
mod long_files;
mod orbs;
mod pair;
mod pollers;
mod value_names;
mod values;
mod valuetypes;
mod views;
