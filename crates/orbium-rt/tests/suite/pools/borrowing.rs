// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that one lane takes of another.

use orbium_rt::{ThreadpoolConfig, ThreadpoolLane};

use super::{BUSY, Pooled, wait_for};

/// Conformance: RT 5.8.3 - borrowing, from lower lanes only
#[test]
fn an_exhausted_lane_borrows_from_a_lower_one() {
    let lanes = [5, 20].map(|it| ThreadpoolLane::new(it, 1, 0));
    let config = ThreadpoolConfig {
        allow_borrowing: true,
        ..ThreadpoolConfig::default()
    };
    let pooled = Pooled::with_lanes(&lanes, config);
    let busy = pooled.at_the_gate(20);
    pooled.state.gate.await_waiting(1);
    assert_eq!(pooled.served_at(20), Ok(20), "by the thread of lane 5");
    assert_eq!(
        pooled.served_at(5),
        Ok(5),
        "which has its own priority back"
    );
    let borrowed = pooled.at_the_gate(20);
    pooled.state.gate.await_waiting(2);
    assert_eq!(pooled.served_at(5), Err(BUSY));
    pooled.state.gate.open();
    wait_for(vec![busy, borrowed]);
    pooled.end();
}

/// Conformance: RT 5.8.3 - borrowing, from lower lanes only
#[test]
fn lanes_do_not_borrow_from_higher_lanes() {
    let lanes = [5, 20].map(|it| ThreadpoolLane::new(it, 1, 0));
    let config = ThreadpoolConfig {
        allow_borrowing: true,
        ..ThreadpoolConfig::default()
    };
    let pooled = Pooled::with_lanes(&lanes, config);
    let busy = pooled.at_the_gate(5);
    pooled.state.gate.await_waiting(1);
    assert_eq!(pooled.served_at(5), Err(BUSY));
    assert_eq!(pooled.served_at(20), Ok(20));
    pooled.state.gate.open();
    wait_for(vec![busy]);
    pooled.end();
}

/// Conformance: RT 5.8 - `create_threadpool_with_lanes`
#[test]
fn without_borrowing_a_lane_has_its_own_threads_alone() {
    let lanes = [5, 20].map(|it| ThreadpoolLane::new(it, 1, 0));
    let pooled = Pooled::with_lanes(&lanes, ThreadpoolConfig::default());
    let busy = pooled.at_the_gate(20);
    pooled.state.gate.await_waiting(1);
    assert_eq!(pooled.served_at(20), Err(BUSY));
    assert_eq!(pooled.served_at(5), Ok(5));
    pooled.state.gate.open();
    wait_for(vec![busy]);
    pooled.end();
}
