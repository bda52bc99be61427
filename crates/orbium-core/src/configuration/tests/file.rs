// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files.

use std::path::Path;
use std::time::Duration;

use orbium_config::file::parse;

use crate::{Config, ServerStrategy};

fn read(text: &str) -> Result<Config, String> {
    parse("x.conf", text, None).map_err(|error| error.to_string())
}

#[test]
fn a_file_has_keys_sections_comments_and_a_profile() {
    let config = read(
        "# of the flight computer\n\
         profile = embedded\n\
         \n\
         endpoint = iiop://:5000   # all interfaces\n\
         endpoint = \"uiop:///run/a # b.sock\"\n\
         initial_reference = NameService=corbaloc::ns:2809/NameService\n\
         call_timeout = 250 ms\n\
         [limits]\n\
         connections = 12\n\
         [properties]\n\
         dscp = 46\n",
    )
    .unwrap();
    let endpoints: Vec<_> = config.endpoints.iter().map(ToString::to_string).collect();
    assert_eq!(endpoints, ["iiop://:5000", "uiop:///run/a # b.sock"]);
    assert_eq!(config.strategy, ServerStrategy::Reactive);
    assert_eq!(config.call_timeout, Some(Duration::from_millis(250)));
    assert_eq!(config.limits.connections, 12);
    assert_eq!(config.properties.dscp, Some(46));
    assert_eq!(config.initial_references[0].0, "NameService");
}

#[test]
fn a_file_has_lanes() {
    let config = read(
        "endpoint = iiop://:5000\n\
         [lane urgent]\n\
         priority = 100\n\
         scheduling = fifo:80\n\
         processors = 2, 3\n\
         strategy = worker-pool:2/16\n\
         endpoint = iiop://:5001\n\
         borrows_from = routine\n\
         [lane routine]\n\
         priority = 10\n\
         strategy = worker-pool:1/4\n\
         [limits]\n\
         connections = 12\n",
    )
    .unwrap();
    assert_eq!(config.check(), Ok(()));
    assert_eq!(config.limits.connections, 12);
    let [urgent, routine] = config.lanes.as_slice() else {
        panic!("{config:?}");
    };
    assert_eq!((&*urgent.name, &*routine.name), ("urgent", "routine"));
    assert_eq!(urgent.priority, crate::Priority::new(100));
    assert_eq!(urgent.scheduling, Some(crate::Scheduling::fifo(80)));
    assert_eq!(urgent.processors, Some(vec![2, 3]));
    assert_eq!(urgent.borrows_from_named, ["routine"]);
    assert_eq!(urgent.endpoints.len(), 1);
}

#[test]
fn a_service_configuration_of_tao_is_understood() {
    let config = read(
        "static Server_Strategy_Factory \"-ORBConcurrency reactive\"\n\
         static Resource_Factory \"-ORBConnectionCacheMax 32\"\n",
    )
    .unwrap();
    assert_eq!(config.strategy, ServerStrategy::Reactive);
    assert_eq!(config.limits.idle_connections, 32);
}

#[test]
fn what_is_wrong_is_shown_with_its_line_and_what_to_write() {
    for (text, wanted) in [
        (
            "server_strategy = fast",
            "x.conf:1: `fast` is not a server strategy: expected thread-per-connection",
        ),
        (
            "\nreactive",
            "x.conf:2: `reactive` is no setting: write `key = value`",
        ),
        (
            "[limit]",
            "x.conf:1: `[limit]` is no section: write [limits]",
        ),
        (
            "[limits",
            "write [limits], [properties], [tls] or [lane NAME]",
        ),
        ("[lane]", "x.conf:1: `` is no name of a lane"),
        ("[lane a.b]", "`a.b` is no name of a lane"),
        (
            "[lane a]\npriority = high",
            "x.conf:2: `high` is no CORBA priority",
        ),
        ("[lane a]\nprioritty = 1", "did you mean `priority`?"),
        ("[limits]\nnesting = many", "x.conf:2: `many` is no number"),
        ("giop_minor = 3", "write 0, 1 or 2"),
        ("call_timeout = 5", "write a number and a unit"),
        (
            "profile = fast",
            "write default, embedded, avionics, medical-imaging",
        ),
        (
            "giop_minor = 1\nprofile = embedded",
            "x.conf:2: a profile sets everything",
        ),
        ("endpoint = \"iiop://:1", "second quotation mark"),
        (
            "initial_reference = NameService",
            "write NameService=corbaloc",
        ),
        ("initial_reference = A=corbaloc:rir:/A", "leads back"),
        ("dynamic X Service_Object", "loads no services"),
        ("static Resource_Factory", "has no options"),
        (
            "static R \"-ORBFoo 1\"",
            "x.conf:1: there is no argument `-ORBFoo`",
        ),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.contains(wanted), "{text:?}: {error}");
        // The line itself is there too.
        let line = text.lines().last().unwrap();
        assert!(error.ends_with(&format!("| {line}")), "{error}");
    }
}

#[test]
fn malformed_files_are_reported() {
    let error = orbium_config::file::read::<Config>(Path::new("/no/such/file"), None).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("/no/such/file: cannot be read")
    );
}
