// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls in steady state take nothing from the heap, on either side: client
//! and server are in this process, and all its threads are counted.

use orbium_testkit::probe::Pair;
use orbium_testkit::{Counted, CountingAllocator, Served, count_allocations, each_strategy};

#[global_allocator]
static HEAP: CountingAllocator = CountingAllocator;

const NONE: Counted = Counted {
    allocations: 0,
    octets: 0,
};

type NamedCall<'c> = (&'static str, Box<dyn FnMut() + 'c>);

/// One test: a second one would be counted too.
#[test]
fn a_call_in_steady_state_takes_nothing_from_the_heap() {
    // The counter does count.
    assert_ne!(
        count_allocations(|| drop(std::hint::black_box(Box::new(1)))),
        NONE
    );
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (_client, target) = served.client();
        let octets = vec![7; 1024];
        let mut back = Vec::new();
        let mut calls: Vec<NamedCall<'_>> = vec![
            ("noop", Box::new(|| target.noop().unwrap())),
            (
                "octet",
                Box::new(|| assert_eq!(target.echo_octet(3).unwrap(), 3)),
            ),
            (
                "long",
                Box::new(|| assert_eq!(target.echo_long(-3).unwrap(), -3)),
            ),
            (
                "struct",
                Box::new(|| {
                    let pair = Pair { o: 1, l: 1 << 40 };
                    assert_eq!(target.echo_pair(&pair).unwrap(), pair);
                }),
            ),
            (
                "1 KiB of octets",
                Box::new(|| {
                    target.echo_octets_into(&octets, &mut back).unwrap();
                    assert_eq!(back, octets);
                }),
            ),
        ];
        for (what, call) in &mut calls {
            // Buffers find their size, connections their threads.
            for _ in 0..200 {
                call();
            }
            let counted = count_allocations(|| {
                for _ in 0..200 {
                    call();
                }
            });
            assert_eq!(counted, NONE, "{what}, {strategy}");
        }
        drop(calls);
        served.end();
    });
}
