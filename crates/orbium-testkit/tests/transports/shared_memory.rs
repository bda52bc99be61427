// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shared memory does what every transport must do: waiting awake for a while,
//! as it does by default, and never.
#![cfg(target_os = "linux")]

use orbium_shm::{ShmOptions, ShmTransport, Spin};
use orbium_testkit::transport_suite::Subject;

fn endpoint(unique: &str) -> String {
    let path = std::env::temp_dir().join(format!("orbium-suite-{unique}.shm"));
    format!("shmiop://{}", path.display())
}

orbium_testkit::transport_suite! {
    by_default => Subject::new(ShmTransport::new(ShmOptions::default()), endpoint),
    never_awake => Subject::new(
        ShmTransport::new(ShmOptions { spin: Spin::None, ..ShmOptions::default() }),
        endpoint,
    ),
}
