// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was left out says with which feature it comes. Run for this package
//! alone nothing is there but what always is; with the workspace all of it.

use orbium::giop::component::TaggedComponent;
use orbium::giop::real_time::{
    PriorityBand, PriorityBandsValue, PriorityModel, PriorityModelValue,
};
use orbium::giop::{ExceptionKind, Ior};
use orbium::{
    ClientStrategy, Config, LaneConfig, ObjectError, Orb, OrbError, Priority, Protocols,
    ServerStrategy,
};

/// What comes with features, and whether it is there.
const PARTS: [(&str, &str, bool); 7] = [
    ("inproc", "in-process", cfg!(feature = "in-process")),
    ("shmiop", "shm", cfg!(feature = "shm")),
    (
        "diop",
        "datagrams",
        cfg!(any(feature = "datagrams", feature = "media")),
    ),
    (
        "miop",
        "datagrams",
        cfg!(any(feature = "datagrams", feature = "media")),
    ),
    ("giop-lite", "messaging", MESSAGING),
    ("fixed", "messaging", MESSAGING),
    ("ziop", "ziop", cfg!(feature = "ziop")),
];

const MESSAGING: bool = cfg!(any(
    feature = "messaging",
    feature = "datagrams",
    feature = "media",
    feature = "ziop"
));

fn is_transport(name: &str) -> bool {
    name == "inproc" || name.ends_with("iop") && name != "ziop"
}

fn listen(endpoint: &str) -> Result<Orb, OrbError> {
    Orb::builder().endpoint(endpoint)?.build()
}

#[test]
fn what_always_is_there_is_there() {
    let protocols = Protocols::default();
    let schemes: Vec<_> = protocols.schemes().collect();
    assert!(schemes.starts_with(&["iiop", "uiop"]), "{schemes:?}");
    listen("iiop://127.0.0.1:0").unwrap();
}

#[test]
fn an_endpoint_left_out_names_the_feature() {
    for (name, feature, is_there) in PARTS {
        if is_there {
            continue;
        }
        let endpoint = match is_transport(name) {
            true => format!("{name}://127.0.0.1:0"),
            false => format!("iiop://127.0.0.1:0?messaging={name}"),
        };
        match listen(&endpoint).map(drop) {
            Err(OrbError::Feature(at, missing)) => {
                assert_eq!((at, missing), (endpoint, feature));
            }
            other => panic!("{endpoint}: {other:?}"),
        }
    }
}

/// TLS comes with a feature, and then needs to hear of files.
#[test]
fn tls_left_out_or_not_configured_says_so() {
    let error = listen("ssliop://127.0.0.1:0").unwrap_err();
    let hint = match cfg!(feature = "tls") {
        false => "feature `tls`",
        true => "`ssliop` needs tls.certificate",
    };
    assert!(error.to_string().contains(hint), "{error}");
}

/// Strategies, and lanes, with what is said of each if it was left out.
fn with_strategies() -> Vec<(Config, &'static str)> {
    let mut all: Vec<_> = [
        (
            ServerStrategy::LeaderFollowers { threads: 2 },
            "server strategy leader-followers:2",
        ),
        (
            ServerStrategy::WorkerPool {
                workers: 2,
                queue: 8,
            },
            "server strategy worker-pool:2/8",
        ),
    ]
    .map(|(strategy, name)| {
        let config = Config {
            strategy,
            ..Config::default()
        };
        (config, name)
    })
    .into();
    for (client_strategy, name) in [
        (
            ClientStrategy::ExclusivePerThread,
            "client strategy exclusive-per-thread",
        ),
        (
            ClientStrategy::LeaderFollowers,
            "client strategy leader-followers",
        ),
        (ClientStrategy::IoThread, "client strategy io-thread"),
        (ClientStrategy::Reactor, "client strategy reactor"),
    ] {
        let config = Config {
            client_strategy,
            strategy: ServerStrategy::Reactive,
            ..Config::default()
        };
        all.push((config, name));
    }
    let lanes = Config {
        lanes: vec![urgent()],
        ..Config::default()
    };
    all.push((lanes, "lane urgent"));
    all
}

fn urgent() -> LaneConfig {
    LaneConfig {
        name: "urgent".into(),
        priority: Priority::new(9),
        ..LaneConfig::default()
    }
}

const STRATEGIES: bool = cfg!(feature = "strategies");

fn is_as_expected<T>(made: Result<T, OrbError>, name: &str) {
    assert_eq!(made.is_ok(), STRATEGIES, "{name}");
    match made.map(drop) {
        Ok(()) => {}
        Err(OrbError::Feature(what, missing)) => {
            assert_eq!((what.as_str(), missing), (name, "strategies"));
        }
        Err(other) => panic!("{name}: {other:?}"),
    }
}

#[test]
fn a_strategy_left_out_names_the_feature() {
    for (config, name) in with_strategies() {
        is_as_expected(Orb::new(config), name);
    }
}

#[test]
fn a_lane_left_out_names_the_feature() {
    let orb = listen("iiop://127.0.0.1:0").unwrap();
    is_as_expected(orb.add_lane(&urgent()), "lane urgent");
    assert_eq!(orb.lanes().len(), usize::from(STRATEGIES));
    orb.own_lane().expect("the ORB's own is always there");
}

#[test]
fn what_was_left_out_is_said_in_a_sentence() {
    let refused = OrbError::Feature("server strategy worker-pool:2/8".into(), "strategies");
    assert_eq!(
        refused.to_string(),
        "server strategy worker-pool:2/8: this program was built without orbium's feature `strategies`"
    );
}

#[test]
fn strategies_that_always_are_there_serve() {
    for strategy in [
        ServerStrategy::ThreadPerConnection,
        ServerStrategy::Reactive,
    ] {
        let orb = Orb::builder()
            .endpoint("iiop://127.0.0.1:0")
            .unwrap()
            .strategy(strategy)
            .build()
            .unwrap();
        orb.root_poa().manager().activate().unwrap();
        let at = &orb.addresses().unwrap()[0];
        let client = Orb::builder().build().unwrap();
        let url = format!("corbaloc::{}:{}/Nothing", at.host, at.port);
        let object = client.string_to_object(&url).unwrap().expect("no nil");
        assert_eq!(object.non_existent(), Ok(true), "{strategy}");
        orb.shutdown(true).unwrap();
    }
}

/// Without real time a reference is called like any other; with it, a call without
/// a priority finds no band.
#[test]
fn what_a_reference_says_of_priorities_is_kept_whether_heeded_or_not() {
    let server = listen("iiop://127.0.0.1:0").unwrap();
    server.root_poa().manager().activate().unwrap();
    let at = &server.addresses().unwrap()[0];
    let client = Orb::builder().build().unwrap();
    let url = format!("corbaloc::1.2@{}:{}/Nothing", at.host, at.port);
    let plain = client.string_to_object(&url).unwrap().expect("no nil");
    let mut profile = plain.ior().iiop_profiles().next().expect("it is IIOP");
    let model = PriorityModelValue {
        model: PriorityModel::ClientPropagated,
        server_priority: 5,
    };
    let bands = PriorityBandsValue(vec![PriorityBand { low: 1, high: 9 }]);
    let policies = [model.to_policy(), bands.to_policy()];
    profile
        .components
        .push(TaggedComponent::policies(&policies));
    let ior = Ior::with_profile("IDL:Nothing:1.0", &profile).to_string();
    let object = client.string_to_object(&ior).unwrap().expect("no nil");
    let expected = match cfg!(feature = "rt") {
        false => Ok(true),
        true => Err(ExceptionKind::NoResources),
    };
    assert_eq!(object.non_existent().map_err(|it| it.kind), expected);
    assert_eq!(object.ior().to_string(), ior);
    assert!(object.published_policies().is_client_propagated());
}

#[test]
fn a_list_of_protocols_names_the_feature() {
    for (name, feature, is_there) in PARTS {
        match Protocols::default().only([name]) {
            Ok(_) => assert!(is_there, "{name}"),
            Err(error) => {
                assert!(!is_there, "{name}");
                let hint = format!("feature `{feature}`");
                assert!(error.to_string().ends_with(&hint), "{error}");
            }
        }
    }
}

#[test]
fn a_call_over_what_was_left_out_names_the_feature() -> Result<(), ObjectError> {
    let orb = Orb::builder().build().unwrap();
    for (url, feature, is_there) in [
        ("corbaloc:shmiop:nowhere/Key", "shm", cfg!(feature = "shm")),
        (
            "corbaloc:diop:127.0.0.1:9/Key",
            "datagrams",
            cfg!(any(feature = "datagrams", feature = "media")),
        ),
    ] {
        let object = orb.string_to_object(url)?.expect("no nil");
        object.is_a("IDL:Nothing:1.0").unwrap_err();
        let failure = orbium::last_failure().expect("why it failed").to_string();
        let hint = format!("feature `{feature}`");
        assert_eq!(failure.contains(&hint), !is_there, "{failure}");
    }
    Ok(())
}
