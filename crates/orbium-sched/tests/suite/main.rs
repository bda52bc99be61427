// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scheduling analysis: against the paper, sets computed by hand, a simulator, and bad input.

mod bad_input;
mod book;
mod by_hand;
mod charts;
mod declared;
mod listings;
mod overheads;
mod paper;
mod properties;
mod strategies;
mod tables;
mod threads;
