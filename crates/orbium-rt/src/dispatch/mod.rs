// SPDX-License-Identifier: MIT OR Apache-2.0
//! Strategies based on dispatch hooks: chains of hooks, a thread for each request, a thread for
//! each servant (TAO's papers, 003, 5.2.3).

mod chain;
mod per_request;
mod per_servant;

pub use chain::HookChain;
pub use per_request::ThreadPerRequest;
pub use per_servant::ThreadPerServant;
