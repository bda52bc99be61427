// SPDX-License-Identifier: MIT OR Apache-2.0
//! Without a subscriber that wants them, spans are not recorded.

use orbium::config::ServerStrategy;
use orbium_testkit::{Recorder, Served, each_strategy, in_own_process};
use tracing::level_filters::LevelFilter;

/// Everything that is logged elsewhere.
fn much(strategy: ServerStrategy) {
    let served = Served::new(strategy);
    served.state.on_act(|_, _| panic!("on purpose"));
    let (client, target) = served.client();
    for v in 0..100 {
        assert_eq!(target.echo_long(v), Ok(v));
        target.post(v).unwrap();
    }
    target.refuse(3).unwrap_err();
    target.raise_system("NO_MEMORY").unwrap_err();
    target.act(1).unwrap_err();
    client.shutdown(true).unwrap();
    served.end();
}

/// Conformance: robustness - connections, references, forwards, retries, refusals and panics are
/// logged, and nothing unasked or per request at INFO
#[test]
fn with_level_off_nothing_is_recorded() {
    in_own_process!(|| {
        let log = Recorder::install(LevelFilter::OFF);
        each_strategy(much);
        assert_eq!(log.counts(), (0, 0));
    });
}

/// Conformance: robustness - connections, references, forwards, retries, refusals and panics are
/// logged, and nothing unasked or per request at INFO
#[test]
fn at_info_no_request_leaves_a_line_or_a_span() {
    in_own_process!(|| {
        let log = Recorder::install(LevelFilter::INFO);
        each_strategy(|strategy| {
            let served = Served::new(strategy);
            let (_client, target) = served.client();
            target.noop().unwrap();
            let before = log.counts();
            for v in 0..200 {
                assert_eq!(target.echo_long(v), Ok(v));
                target.refuse(v).unwrap_err();
                target.raise_system("NO_MEMORY").unwrap_err();
            }
            assert_eq!(log.counts(), before);
            assert_eq!(before.0, 0);
            served.end();
        });
    });
}
