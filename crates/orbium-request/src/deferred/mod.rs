// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests with deferred replies: asynchronous method handling.

mod answer_path;
mod future;
mod open;
mod registry;
mod reply;
mod servant;
mod urgency;
mod waiting_caller;

pub use answer_path::{AnswerPath, Unanswered};
pub use registry::OpenRequests;
pub use reply::{DeferredReply, Forward};
pub use servant::{AsyncCall, AsyncServant, ByUrgency, Spawn, Task};
pub use urgency::Urgency;
pub use waiting_caller::WaitingCaller;
