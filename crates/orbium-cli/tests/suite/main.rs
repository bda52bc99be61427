// SPDX-License-Identifier: MIT OR Apache-2.0
//! The commands of the program, as one program: each test file is a module, so that all of them are
//! linked once.

mod bench;
mod bridge;
mod call;
mod call_any;
mod call_values;
mod command_tables;
mod demo;
mod described;
mod doctor;
mod dynamic_page;
mod events;
mod events_arrived;
mod events_connections;
mod events_gateway;
mod events_killed;
mod events_notification;
mod events_omniorb;
mod events_options;
mod events_persistent;
mod events_pulled;
mod events_random_kills;
mod events_replayed;
mod events_spooled;
mod explain;
mod full_disk;
mod host;
mod idl;
mod ifr;
mod ior;
mod load;
mod name;
mod new;
mod notify;
mod ping;
mod program;
mod prompt;
mod protocols_page;
mod reload;
mod sched;
mod sched_calibrate;
mod serve;
mod shell;
mod tls;
mod top;
