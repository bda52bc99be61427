// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events and spans of the engine for subscribers of `tracing`.

pub(crate) use orbium_trace::log::{wants_spans, warn};
