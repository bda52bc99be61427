// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls in steady state take nothing from the heap, on either side: client
//! and server are in this process, and all its threads are counted.

use std::time::Duration;

use orbium::{Config, Interface};
use orbium_testkit::{
    Counted, Served, count_allocations, each_strategy, fewest_allocations, frugal_calls,
    in_own_process,
};

const NONE: Counted = Counted {
    allocations: 0,
    octets: 0,
};

/// Conformance: robustness - no allocation in steady state
#[test]
fn a_call_in_steady_state_takes_nothing_from_the_heap() {
    in_own_process!(|| {
        // The counter does count.
        assert_ne!(
            count_allocations(|| drop(std::hint::black_box(Box::new(1)))),
            NONE
        );
        each_strategy(|strategy| {
            for metrics in [false, true] {
                let served = Served::with(Config {
                    strategy,
                    metrics,
                    ..Config::default()
                });
                let (client, target) = served.client();
                if metrics {
                    client.enable_metrics();
                }
                // A deadline is told to the server, and read there.
                let hurried = target.with_timeout(Duration::from_secs(3600));
                let hurried = frugal_calls(&hurried).into_iter();
                let mut calls = frugal_calls(&target);
                calls.extend(hurried);
                for (what, call) in &mut calls {
                    // Buffers find their size, connections their threads.
                    for _ in 0..200 {
                        call();
                    }
                    let counted = fewest_allocations(0, || {
                        for _ in 0..200 {
                            call();
                        }
                    });
                    assert_eq!(counted, NONE, "{what}, {strategy}, metrics: {metrics}");
                }
                drop(calls);
                served.end();
            }
        });
    });
}
