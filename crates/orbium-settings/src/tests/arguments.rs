// SPDX-License-Identifier: MIT OR Apache-2.0
//! `-ORB` arguments.

use std::time::Duration;

use orbium_core::{ClientStrategy, Config, ServerStrategy};

use crate::Configure as _;

fn from(words: &str) -> (Result<Config, String>, Vec<String>) {
    let mut args: Vec<_> = words.split_whitespace().map(str::to_owned).collect();
    let config = Config::from_args(&mut args).map_err(|error| error.to_string());
    (config, args)
}

#[test]
fn the_options_of_omniorb_mean_the_same_or_name_what_does() {
    let (config, _) = from(
        "-ORBmaxGIOPVersion 1.1 -ORBinConScanPeriod 180 -ORBoutConScanPeriod 0 \
         -ORBscanGranularity 5 -ORBnativeCharCodeSet UTF-8 -ORBnativeWCharCodeSet UTF-16 \
         -ORBpoaHoldRequestTimeout 500 -ORBendPoint giop:tcp::5000 \
         -ORBmaxServerThreadPerConnection 1 -ORBgiopMaxMsgSize 2097152",
    );
    let config = config.unwrap();
    assert_eq!(config.giop_minor.number(), 1);
    assert_eq!(
        config.limits.server_idle_time,
        Some(Duration::from_secs(180))
    );
    assert_eq!(config.limits.client_idle_time, None);
    assert_eq!(config.limits.hold_time, Some(Duration::from_millis(500)));
    assert_eq!(config.limits.message_size, 2 << 20);
    assert_eq!(config.endpoints[0].to_string(), "iiop://:5000");
    assert_eq!(config.native_char_code_set.to_string(), "UTF-8");
    for (words, said) in [
        ("-ORBtraceLevel 25", "RUST_LOG"),
        ("-ORBsslCAPath ca", "tls.authorities"),
        ("-ORBendPointPublish giop:tcp:h:1", "publish="),
        ("-ORBnativeWCharCodeSet UCS-4", "UTF-16"),
        ("-ORBclientTransportRule *", "-ORBClientProtocols"),
        ("-ORBmaxServerThreadPoolSize 9", "worker-pool"),
    ] {
        let refused = from(words).0.unwrap_err();
        assert!(refused.contains(said), "{refused}");
    }
}

#[test]
fn arguments_are_taken_out_in_both_forms() {
    let (config, args) = from(
        "server -ORBListenEndpoints iiop://:5000;uiop:///run/x -v \
         -ORBInitRef NameService=corbaloc::ns/NameService -ORBConcurrencyreactive \
         -ORBclientCallTimeOutPeriod 250 -ORBSet limits.nesting=9 -ORBNodelay 0 \
         -ORBServerId me -ORBId7 -ORBTransportMuxStrategy MUXED file -- -ORBNot",
    );
    let config = config.unwrap();
    assert_eq!(args, ["server", "-v", "file", "--", "-ORBNot"]);
    let endpoints: Vec<_> = config.endpoints.iter().map(ToString::to_string).collect();
    assert_eq!(endpoints, ["iiop://:5000", "uiop:///run/x"]);
    assert_eq!(config.strategy, ServerStrategy::Reactive);
    assert_eq!(config.call_timeout, Some(Duration::from_millis(250)));
    assert_eq!(config.limits.nesting, 9);
    assert_eq!(config.identity.server_id, "me");
    assert_eq!(config.identity.orb_id, "7");
    assert_eq!(config.client_strategy, ClientStrategy::LeaderFollowers);
    assert!(!config.properties.no_delay);
    assert_eq!(config.initial_references.len(), 1);
}

#[test]
fn endpoints_of_other_orbs_mean_the_same() {
    for (theirs, ours) in [
        ("giop:tcp:host:5000", "iiop://host:5000"),
        ("giop:tcp::5000", "iiop://:5000"),
        ("giop:unix:/run/x", "uiop:///run/x"),
        ("giop:ssl:host:5001", "ssliop://host:5001"),
        ("iiop://1.2@host:5000", "iiop://host:5000"),
        ("uiop://1.2@/run/x", "uiop:///run/x"),
        ("uiop://@name", "uiop://@name"),
    ] {
        let config = from(&format!("-ORBendPoint {theirs}")).0.unwrap();
        assert_eq!(config.endpoints[0].to_string(), ours);
    }
}

#[test]
fn a_profile_goes_before_the_rest_wherever_it_stands() {
    let (config, _) = from("x -ORBSet limits.connections=5 -ORBProfile embedded");
    let config = config.unwrap();
    assert_eq!(config.limits.connections, 5);
    assert_eq!(config.strategy, ServerStrategy::Reactive);
}

#[test]
fn wrong_arguments_are_named_and_nothing_is_taken() {
    for (words, wanted) in [
        (
            "-ORBServerStrateg reactive",
            "did you mean `-ORBServerStrategy`?",
        ),
        // Regression: `-ORB` alone was enough for a suggestion.
        ("-ORBhelp 1", "see docs/configuration.md"),
        ("-ORBfoo 1", "see docs/configuration.md"),
        // Regression: the first named the ORB `leConnections`, the second read a file `Directive`.
        ("-ORBIdleConnections 10", "there is no argument"),
        ("-ORBSvcConfDirective x", "there is no argument"),
        ("-ORBProfile", "-ORBProfile: has no value"),
        ("-ORBProfile -ORBid x", "-ORBProfile: has no value"),
        (
            "-ORBProfile fast",
            "-ORBProfile: there is no profile `fast`",
        ),
        ("-ORBSet nesting", "write -ORBSet key=value"),
        ("-ORBSet limits.nestin=3", "did you mean `limits.nesting`?"),
        (
            "-ORBConfigFile /no/such/file",
            "/no/such/file: cannot be read",
        ),
        (
            "-ORBTransportMuxStrategy some",
            "`some` is not exclusive or muxed",
        ),
        ("-ORBListenEndpoints nonsense", "-ORBListenEndpoints: "),
    ] {
        let (config, args) = from(words);
        let error = config.unwrap_err();
        assert!(error.contains(wanted), "{words}: {error}");
        assert_eq!(args.join(" "), words);
    }
}

/// The wait strategies of TAO's callers.
#[test]
fn tao_s_ways_to_wait_are_known() {
    for (words, wanted) in [
        ("-ORBWaitStrategy ST", ClientStrategy::Reactor),
        ("-ORBClientConnectionHandler st", ClientStrategy::Reactor),
        ("-ORBWaitStrategy MT", ClientStrategy::LeaderFollowers),
        (
            "-ORBClientConnectionHandler MT_NOUPCALL",
            ClientStrategy::LeaderFollowers,
        ),
        ("-ORBWaitStrategy RW", ClientStrategy::ExclusivePool),
        ("-ORBClientStrategy reactor", ClientStrategy::Reactor),
    ] {
        let (config, _) = from(words);
        assert_eq!(config.unwrap().client_strategy, wanted, "{words}");
    }
}
