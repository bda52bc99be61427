// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compressed messages that become much: four of 255 KB took 2.8 GiB.

use std::sync::Arc;

use orbium::{Config, Orb, config::Limits};
use orbium_giop::messaging::ziop::Ziop;
use orbium_giop::messaging::{Decoder, Messaging, PART, Side};
use orbium_testkit::{Served, each_strategy, eventually};

const MIB: usize = 1 << 20;

fn serving(strategy: orbium::config::ServerStrategy, limits: Limits) -> Served {
    serving_by("ziop", strategy, limits)
}

fn serving_by(messaging: &str, strategy: orbium::config::ServerStrategy, limits: Limits) -> Served {
    let endpoint = format!("iiop://127.0.0.1:0?messaging={messaging}");
    Served::with(Config {
        endpoints: vec![endpoint.parse().expect("an endpoint")],
        strategy,
        limits,
        ..Config::default()
    })
}

fn compressing(layer: Ziop) -> Orb {
    let mut config = Config::default();
    config.protocols.register_messaging(Arc::new(layer));
    Orb::new(config).expect("an ORB")
}

/// Conformance: ORB - decompression: a ratio and the same budget, checked part by part
#[test]
fn a_frame_that_becomes_too_much_ends_its_connection_only() {
    each_strategy(|strategy| {
        let served = serving(strategy, Limits::default());
        let attacker = compressing(Ziop::default().with_ratio(usize::MAX));
        let zeros = vec![0; 32 * MIB];
        let attacked = served.seen_by(&attacker).echo_octets(&zeros);
        assert!(attacked.is_err(), "{strategy}");
        let most = served.orb.peer_memory().most;
        // A hundred times the frame, and what buffers grow ahead.
        assert!(most < 16 * MIB, "{most} octets, {strategy}");
        eventually("all is given back", || served.orb.peer_memory().held == 0);
        // Who sends what compresses that well as it is is served.
        let client = compressing(Ziop::default());
        let target = served.seen_by(&client);
        assert_eq!(target.echo_octets(&zeros).unwrap().len(), zeros.len());
        served.end();
    });
}

/// Conformance: ORB - decompression: a ratio and the same budget, checked part by part
#[test]
fn the_ratio_is_a_matter_of_configuration() {
    each_strategy(|strategy| {
        let limits = Limits {
            decompression_ratio: 2000,
            ..Limits::default()
        };
        let served = serving(strategy, limits);
        let client = compressing(Ziop::default().with_ratio(2000));
        let target = served.seen_by(&client);
        // The answer comes as it is.
        let zeros = vec![0; 8 * MIB];
        assert_eq!(target.echo_octets(&zeros).unwrap().len(), zeros.len());
        served.end();
    });
}

/// Where two messaging protocols lie one on the other the memory reserved between them was taken for what had been
/// inflated, up to twice as much: messages that became more than fifty times smaller were refused.
///
/// Conformance: ORB - decompression: a ratio and the same budget, checked part by part
#[test]
fn messages_within_the_ratio_pass_through_a_stack() {
    each_strategy(|strategy| {
        let served = serving_by("fixed,ziop", strategy, Limits::default());
        let client = compressing(Ziop::default());
        let target = served.seen_by(&client);
        // An octet unlike the others after so many: 50 to 100 times smaller.
        for period in (140..=240).step_by(20) {
            let mut octets = vec![0; 2 * MIB];
            for (number, octet) in octets.iter_mut().step_by(period).enumerate() {
                *octet = ((number * number) >> 3) as u8;
            }
            let answer = target.echo_octets(&octets);
            assert!(answer.is_ok_and(|it| it == octets), "{period}, {strategy}");
        }
        served.end();
    });
}

/// Conformance: ORB - decompression: a ratio and the same budget, checked part by part
#[test]
fn a_message_is_inflated_part_by_part() {
    let layer = Ziop::default().with_ratio(usize::MAX);
    let original = vec![0; 4 * MIB];
    let session = layer.session(Side::Client, 8 * MIB);
    let (mut encoder, mut decoder) = (session.encoder, session.decoder);
    let (mut frame, mut tail) = (Vec::new(), Vec::new());
    let pieces = [&original[..]];
    let message = orbium_giop::messaging::Message::new(&pieces);
    encoder.encode(message, &mut frame, &mut tail).unwrap();
    assert!(frame.len() < 16 << 10);
    let (mut all, mut part, mut is_last) = (0, Vec::new(), false);
    while !is_last {
        part.clear();
        is_last = Decoder::decode_part(&mut *decoder, &frame, &mut part).unwrap();
        assert!(part.len() <= 2 * PART, "{}", part.len());
        all += part.len();
    }
    assert_eq!(all, original.len());
}
