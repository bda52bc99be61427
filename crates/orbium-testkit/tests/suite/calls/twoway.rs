// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that are answered, over TCP and within the process.

use std::thread;

use orbium::{
    Completion, Config, ExceptionKind, Interface, Orb, config::GiopMinor, reference::NarrowError,
};
use orbium_testkit::probe::{Pair, RefusedError, Target};
use orbium_testkit::{Served, client, each_strategy, reach};

fn check_everything(target: &Target) {
    target.noop().unwrap();
    assert_eq!(target.echo_octet(0xFE).unwrap(), 0xFE);
    assert_eq!(target.echo_long(i32::MIN).unwrap(), i32::MIN);
    let pair = Pair { o: 7, l: -1 << 40 };
    assert_eq!(target.echo_pair(&pair).unwrap(), pair);
    assert_eq!(target.echo_string("").unwrap(), "");
    assert_eq!(
        target.echo_string("grüße, 世界 🦀").unwrap(),
        "grüße, 世界 🦀"
    );
    assert_eq!(target.echo_octets(&[]).unwrap(), []);
    match target.refuse(-3) {
        Err(RefusedError::Refused(refused)) => {
            assert_eq!((refused.code, refused.why.as_str()), (-3, "told to"));
        }
        other => panic!("{other:?}"),
    }
    let exception = target.raise_system("NO_PERMISSION").unwrap_err();
    assert_eq!(exception.kind, ExceptionKind::NoPermission);
    assert_eq!((exception.minor, exception.completed), (77, Completion::No));
}

/// Conformance: replies - NO_EXCEPTION, USER_EXCEPTION, SYSTEM_EXCEPTION
#[test]
fn every_kind_of_answer_comes_back_over_tcp() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (_client, target) = served.client();
        check_everything(&target);
        assert_eq!(target.echo_wstring("breit €").unwrap(), "breit €");
        served.end();
    });
}

/// Conformance: replies - NO_EXCEPTION, USER_EXCEPTION, SYSTEM_EXCEPTION
/// Conformance: TAO 35 - collocated calls behave as remote ones
#[test]
fn every_kind_of_answer_comes_back_within_the_process() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        check_everything(&served.target);
        assert_eq!(served.target.echo_wstring("breit €").unwrap(), "breit €");
        served.end();
    });
}

/// Conformance: GIOP 2: 9.4.1 - the version of the reference is spoken, or less
#[test]
fn older_versions_are_spoken_when_the_reference_or_the_client_says_so() {
    for (server, caller) in [(0, 2), (1, 2), (2, 0), (2, 1), (0, 0), (1, 1)] {
        each_strategy(|strategy| {
            let served = Served::with(Config {
                strategy,
                giop_minor: GiopMinor::new(server).unwrap(),
                ..Config::default()
            });
            let client = Orb::new(Config {
                giop_minor: GiopMinor::new(caller).unwrap(),
                ..Config::default()
            })
            .unwrap();
            let target = served.seen_by(&client);
            let ascii = "plain";
            assert_eq!(target.echo_string(ascii).unwrap(), ascii);
            assert_eq!(target.echo_pair(&Pair { o: 1, l: 2 }).unwrap().l, 2);
            let octets = vec![9; 100_000];
            assert_eq!(target.echo_octets(&octets).unwrap(), octets);
            assert!(target.refuse(1).is_err());
            served.end();
        });
    }
}

/// Conformance: TAO 13 - very large replies to a single-threaded client
/// Conformance: TAO 18 - partial writes go on at the right octet
#[test]
fn messages_of_every_size_around_the_buffers_arrive_whole() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (_client, target) = served.client();
        let sizes = [
            1,
            7,
            8,
            9,
            100,
            4095,
            4096,
            8100,
            8191,
            8192,
            8193,
            65_535,
            262_143,
            262_145,
            1 << 20,
            5_000_000,
            3,
            0,
            8192,
        ];
        for size in sizes {
            let octets: Vec<u8> = (0..size).map(|i| (i % 251) as u8).collect();
            assert_eq!(target.echo_octets(&octets).unwrap(), octets, "{size}");
        }
        served.end();
    });
}

/// Conformance: POA - ORB_CTRL_MODEL
#[test]
fn many_threads_share_one_client() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (_client, target) = served.client();
        thread::scope(|scope| {
            for number in 0..16 {
                let target = &target;
                scope.spawn(move || {
                    for i in 0..100 {
                        assert_eq!(
                            target.echo_long(number * 1000 + i).unwrap(),
                            number * 1000 + i
                        );
                    }
                });
            }
        });
        assert_eq!(served.state.calls(), 1600);
        served.end();
    });
}

/// Conformance: references - plain keys, `corbaloc::host:port/Name`
/// Conformance: TAO 48 - IPv6, port 0, wildcard endpoints, corbaloc
#[test]
fn a_plain_key_names_the_object() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let client = client();
        let url = format!("corbaloc::127.0.0.1:{}/Target", served.port());
        let object = client.string_to_object(&url).unwrap();
        let target: Target = orbium::narrow(object).unwrap();
        assert_eq!(target.echo_long(5).unwrap(), 5);

        let wrong = reach(&client, &url.replace("Target", "Nobody"));
        let exception = wrong.noop().unwrap_err();
        assert_eq!(exception.kind, ExceptionKind::ObjectNotExist);
        assert_eq!(exception.completed, Completion::No);
        assert!(wrong.as_object().non_existent().unwrap());
        served.end();
    });
}

/// Conformance: references - nil
#[test]
fn a_nil_reference_is_refused_where_it_is_used() {
    let served = Served::new(orbium::config::ServerStrategy::default());
    let (_client, target) = served.client();
    let exception = target.nest(None, 1).unwrap_err();
    assert_eq!(exception.kind, ExceptionKind::InvObjref);
    assert_eq!(orbium::narrow::<Target>(None), Err(NarrowError::Nil));
    served.end();
}
