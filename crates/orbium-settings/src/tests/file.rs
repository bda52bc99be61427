// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files.

use std::path::Path;
use std::time::Duration;

use crate::file::parse;

use orbium_core::{Config, Priority, Scheduling, ServerStrategy};

fn read(text: &str) -> Result<Config, String> {
    parse("x.toml", text, None).map_err(|error| error.to_string())
}

#[test]
fn a_file_has_keys_sections_comments_and_a_profile() {
    let config = read(
        "# of the flight computer\n\
         endpoint = [\n\
           'iiop://:5000', # all interfaces\n\
           'uiop:///run/a # b.sock',\n\
         ]\n\
         initial_reference = 'NameService=corbaloc::ns:2809/NameService'\n\
         call_timeout = '250 ms'\n\
         profile = 'embedded'\n\
         \n\
         [limits]\n\
         connections = 1_200\n\
         [properties]\n\
         dscp = 46\n",
    )
    .unwrap();
    let endpoints: Vec<_> = config.endpoints.iter().map(ToString::to_string).collect();
    assert_eq!(endpoints, ["iiop://:5000", "uiop:///run/a # b.sock"]);
    assert_eq!(config.strategy, ServerStrategy::Reactive);
    assert_eq!(config.call_timeout, Some(Duration::from_millis(250)));
    assert_eq!(config.limits.connections, 1200);
    assert_eq!(config.properties.dscp, Some(46));
    assert_eq!(config.initial_references[0].0, "NameService");
}

/// Each equivalent form of TOML.
#[test]
fn a_setting_is_the_same_in_every_form_of_toml() {
    for forms in [
        &[
            "limits.connections = 12",
            "[limits]\nconnections = '12'",
            "limits = { connections = 0xC }",
        ][..],
        &[
            "endpoint = ['iiop://:1', 'iiop://:2']",
            "endpoint = ['iiop://:9', 'none', 'iiop://:1', 'iiop://:2']",
        ],
        &[
            "[initial_reference]\nB = 'corbaloc::b/B'\nA = 'corbaloc::a/A'",
            "initial_reference = ['B=corbaloc::b/B', 'A=corbaloc::a/A']",
            "initial_reference.B = 'corbaloc::b/B'\ninitial_reference.A = 'corbaloc::a/A'",
            "[ORBInitRef]\nB = 'corbaloc::b/B'\nA = 'corbaloc::a/A'",
        ],
        &[
            "[lane.a]\nprocessors = [2, 3]\nborrows_from = ['b', 'c']\nsoft = true",
            "lane.a = { processors = '2,3', borrows_from = 'b c', soft = 'on' }",
        ],
        &["lanes = []", "lanes = 'none'", ""],
        &["lanes = ['a', 'b']", "[lane.a]\n[lane.b]"],
        &["call_timeout = 'none'", "# nothing"],
        &[
            "jacorb.connection.client.idle_timeout = 250",
            "[jacorb.connection]\nclient = { idle_timeout = 250 }",
            "limits.client_idle_time = '250 ms'",
        ],
    ] {
        let first = read(forms[0]).unwrap();
        for form in forms {
            assert_eq!(read(form).unwrap(), first, "{form}");
        }
    }
}

#[test]
fn a_file_has_lanes() {
    let config = read(
        "endpoint = 'iiop://:5000'\n\
         [lane.urgent]\n\
         priority = 100\n\
         scheduling = 'fifo:80'\n\
         processors = [2, 3]\n\
         strategy = 'worker-pool:2/16'\n\
         endpoint = 'iiop://:5001'\n\
         borrows_from = 'routine'\n\
         [lane.routine]\n\
         priority = 10\n\
         strategy = 'worker-pool:1/4'\n\
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
    assert_eq!(urgent.priority, Priority::new(100));
    assert_eq!(urgent.scheduling, Some(Scheduling::fifo(80)));
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

/// A text with an error in its last line: the error has the line, the key and the correction.
#[track_caller]
fn refused(text: &str, wanted: &str) {
    let error = read(text).unwrap_err();
    assert!(error.contains(wanted), "{text:?}: {error}");
    let line = text.lines().last().unwrap().trim();
    assert!(error.ends_with(&format!("| {line}")), "{text:?}: {error}");
    let number = text.lines().count();
    assert!(error.starts_with(&format!("x.toml:{number}: ")), "{error}");
}

#[test]
fn errors_of_values_have_the_line_the_key_and_what_to_write() {
    for (text, wanted) in [
        (
            "server_strategy = 'fast'",
            "x.toml:1: server_strategy: `fast` is not a server strategy: expected thread-per-",
        ),
        (
            "[lane.a]\npriority = 'high'",
            "lane.a.priority: `high` is no CORBA priority",
        ),
        ("[lane.a]\nprioritty = 1", "did you mean `priority`?"),
        // Regression: a server had to have the name `none`.
        (
            "tls.server_names = []",
            "tls.server_names: the list is empty: write host, any or NAMES",
        ),
        (
            "[limits]\nnesting = 'many'",
            "limits.nesting: `many` is no number",
        ),
        (
            "[limits]\nnesting = -1",
            "limits.nesting: `-1` is no number",
        ),
        ("giop_minor = 3", "write 0, 1 or 2"),
        (
            "call_timeout = 5",
            "call_timeout: `5` is no span of time: write a number and a unit",
        ),
        (
            "call_timeout = 2.5",
            "call_timeout: `2.5` is no span of time",
        ),
        (
            "call_timeout = 07:32:00",
            "call_timeout: `07:32:00` is no span of time",
        ),
        (
            "profile = 'fast'",
            "write default, embedded, avionics, medical-imaging",
        ),
        ("profile = ['embedded']", "profile: write one name"),
        (
            "initial_reference = 'NameService'",
            "write NameService=corbaloc",
        ),
        (
            "initial_reference.A = ['x']",
            "initial_reference.A: write one URL",
        ),
        ("initial_reference = 'A=corbaloc:rir:/A'", "leads back"),
        (
            "call_timeout = ['5 s', '6 s']",
            "call_timeout: write one value, TIME or none",
        ),
        (
            "call_timeout = { limit = '5 s' }",
            "call_timeout: write one value, TIME or none",
        ),
        ("endpoint = [\n'iiop://:1',\n'iiop']", "endpoint: "),
        ("protocols = [['iiop']]", "protocols: a list of texts, LIST"),
        ("properties.dscp = 'high'", "`high` is no value of dscp"),
    ] {
        refused(text, wanted);
    }
}

#[test]
fn unknown_keys_and_sections_are_refused_with_the_nearest() {
    for (text, wanted) in [
        (
            "giop_minr = 1",
            "there is no key `giop_minr`: did you mean `giop_minor`?",
        ),
        (
            "[limit]",
            "there is no section `limit`: did you mean `limits`?",
        ),
        (
            "limit.forwards = 1",
            "there is no section `limit`: did you mean `limits`?",
        ),
        ("[limits.more]", "there is no section `limits.more`"),
        ("[[lane]]", "lane: "),
        (
            "lane = 'urgent'",
            "there is no key `lane`: did you mean `lanes`?",
        ),
        ("lane.urgent = 1", "write `[lane.urgent]`"),
        ("[lane.'a.b']", "`a.b` is no name of a lane"),
        ("[lane.'']", "`` is no name of a lane"),
        (
            "[limits]\nendpoint = 'iiop://:1'",
            "there is no key `limits.endpoint`: write `endpoint` above the first section",
        ),
        ("properties.dscpp = 1", "did you mean `dscp`?"),
        (
            "jacorb.connection.client.idle = 1",
            "there is no key `jacorb.connection.client.idle`",
        ),
    ] {
        refused(text, wanted);
    }
}

/// Regression: files were lines of `key = value` before they were TOML; each such line has a
/// suggestion.
#[test]
fn lines_that_are_not_toml_are_refused_with_their_spelling_in_toml() {
    for (text, wanted) in [
        (
            "server_strategy = reactive",
            "write `server_strategy = \"reactive\"`",
        ),
        (
            "endpoint = iiop://:5000?dscp=46   # all interfaces",
            "write `endpoint = \"iiop://:5000?dscp=46\"`",
        ),
        ("call_timeout = 20 ms", "write `call_timeout = \"20 ms\"`"),
        ("keeps_deadlines = on", "write `keeps_deadlines = \"on\"`"),
        (
            "[limits]\nmessage_size = 1 MiB",
            "write `message_size = \"1 MiB\"`",
        ),
        ("[lane.a]\nprocessors = 2,3", "write `processors = \"2,3\"`"),
        ("[lane urgent]", "write `[lane.urgent]`"),
        (
            "endpoint = 'iiop://:1'\nendpoint = 'iiop://:2'",
            "`endpoint` is there for the second time: write it once, several values in brackets",
        ),
        (
            "[limits]\n[tls]\n[limits]",
            "the section `limits` is there for the second time",
        ),
        (
            "\nreactive",
            "`reactive` is no setting: write `key = value`",
        ),
        (
            "[limits",
            "write [limits], [properties], [tls], [initial_reference] or [lane.NAME]",
        ),
        ("endpoint = \"iiop://:1", "endpoint: this is not TOML: "),
        ("giop_minor =", "giop_minor: this is not TOML: "),
        (
            "giop_minor = 1\nstatic R \"-ORBFoo 1\"",
            "such lines stand in a file of their own, which `-ORBSvcConf` names",
        ),
        (
            "ORBInitRef.A=corbaloc::h:1/A",
            "write `ORBInitRef.A = \"corbaloc::h:1/A\"`",
        ),
    ] {
        refused(text, wanted);
    }
}

#[test]
fn lines_of_a_service_configuration_that_mean_nothing_here_are_refused() {
    for (text, wanted) in [
        ("dynamic X Service_Object", "loads no services"),
        ("static Resource_Factory", "has no options"),
        (
            "static R \"-ORBFoo 1\"",
            "x.toml:1: there is no argument `-ORBFoo`",
        ),
        (
            "static R \"-ORBConcurrency reactive\"\ngiop_minor = 1",
            "keys are TOML and stand in a file of their own",
        ),
    ] {
        refused(text, wanted);
    }
}

#[test]
fn malformed_files_are_reported() {
    let error = crate::file::read::<Config>(Path::new("/no/such/file"), None).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("/no/such/file: cannot be read")
    );
}
