// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interceptors over real connections, as one program.

mod asynchronous;
mod availability;
mod by_hand;
mod cancellation;
mod codec;
mod contexts;
mod dynamic;
mod dynamic_servants;
mod flow;
mod implemented;
mod implicit;
mod initializers;
mod ior;
mod late_replies;
mod linked;
mod overlooked;
mod processing_modes;
mod recorder;
mod request_policies;
mod retries;
mod slots;
mod template_values;
mod templates;
mod unlocated;
mod whole;

type Tested = Result<(), Box<dyn std::error::Error>>;
