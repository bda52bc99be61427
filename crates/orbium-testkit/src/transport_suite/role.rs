// SPDX-License-Identifier: MIT OR Apache-2.0
//! The roles of the test binary as a child process.

use super::child::ROLE;
use super::{Subject, orbs, streams};

/// Acts in the role that the parent has set for this process, if any.
pub fn act(subject: &Subject) {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let (role, rest) = role.split_once(' ').unwrap_or((&role, ""));
    match role {
        "connect" => streams::connect_and_send_half(subject, rest),
        "listen" => streams::listen_and_send_half(subject),
        "exhaust" => streams::run_out_of_descriptors(subject),
        "serve" => orbs::serve_until_killed(subject, rest),
        "call" => orbs::call_for_ever(subject, rest),
        _ => panic!("what is `{role}`?"),
    }
}
