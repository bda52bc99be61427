// SPDX-License-Identifier: MIT OR Apache-2.0
//! Common part of both interceptors: their name, and a guard against panics of the SDK.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tracing::error;

/// The name of both interceptors.
pub(crate) const NAME: &str = "opentelemetry";

/// Calls into the SDK; `None` if that panics. The panic hook has reported the location.
pub(crate) fn guarded<R>(run: impl FnOnce() -> R) -> Option<R> {
    let ran = catch_unwind(AssertUnwindSafe(run));
    if ran.is_err() {
        error!(target: "orbium::call", "OpenTelemetry has panicked: a span is lost");
    }
    ran.ok()
}
