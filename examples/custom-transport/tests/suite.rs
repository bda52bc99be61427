// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pipes do what every transport must do.

use custom_transport::Pipes;
use orbium_testkit::CountingAllocator;
use orbium_testkit::transport_suite::Subject;

#[global_allocator]
static HEAP: CountingAllocator = CountingAllocator;

orbium_testkit::transport_suite! {
    pipe => Subject::new(Pipes, |unique| {
        // What a killed server leaves behind is not left just anywhere.
        format!("pipe://{}/pipes-{unique}", env!("CARGO_TARGET_TMPDIR"))
    }),
}
