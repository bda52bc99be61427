// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scheduling analysis: against the paper, published examples, a simulator, and bad input.

mod bad_input;
mod book;
mod paper;
mod properties;
mod published;
mod strategies;
mod tables;
mod threads;
