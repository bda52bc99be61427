// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pools of an ORB as references are created and dropped.

use orbium_channel::Channel;
use orbium_giop::codeset::Negotiated;

use super::*;

fn pool(pools: &Pools, port: usize) -> Arc<Pool> {
    let key = PoolKey {
        channel: Channel::giop("iiop", format!("127.0.0.1:{port}")),
        negotiated: Negotiated::DEFAULT,
        partition: partition::ConnectionPartition::default(),
    };
    pools.pool(key).unwrap()
}

/// Regression: pools were dropped only when connections were opened. References to unreachable
/// servers, as a client can pass with each request, left one each forever.
#[test]
fn pools_of_servers_that_were_never_reached_do_not_accumulate() {
    let pools = Pools::new(Arc::default(), &ConnectionBook::default());
    for port in 1..=10_000 {
        pool(&pools, port);
    }
    assert!(pools.0.snapshot().len() <= MIN_POOLS_AT_SWEEP);
}

#[test]
fn pools_with_references_stay() {
    let pools = Pools::new(Arc::default(), &ConnectionBook::default());
    let held: Vec<_> = (1..=1000).map(|port| pool(&pools, port)).collect();
    assert_eq!(pools.0.snapshot().len(), 1000);
    for (port, held) in (1..).zip(&held) {
        assert!(Arc::ptr_eq(held, &pool(&pools, port)));
    }
}
