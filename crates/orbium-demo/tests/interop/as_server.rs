// SPDX-License-Identifier: MIT OR Apache-2.0
//! The clients of other ORBs against orbium's server.

use std::fs;
use std::sync::Arc;

use orbium::giop::codeset::NativeCharSet;
use orbium::interceptor::Interceptors;
use orbium::{
    Config, Orb,
    config::{GiopMinor, ServerStrategy},
    hook::Hook,
};
use orbium_demo::serve;
use orbium_qos::{CommunicationClass, Priority, PublishedQos, Qos, RiopDispatch};

use crate::expected::Expected;
use crate::forwarding::{Forwarded, references};
use crate::programs::{self, Scratch, Server, available};
use crate::{Line, Tested, judge};

/// How one run differs from the plain one.
#[derive(Default)]
struct Run {
    strategy: ServerStrategy,
    /// `1.0` or `1.1`: what the client is told to speak.
    client_giop: Option<&'static str>,
    /// What orbium publishes and speaks at most.
    giop_minor: GiopMinor,
    /// Octets above which orbium sends fragments.
    fragment_size: Option<usize>,
    /// Octets of the fragments that a relay makes of every message.
    relay: Option<&'static str>,
    /// More for the client's command line.
    options: &'static [&'static str],
    /// The checks to be made: all, unless the names of some begin so.
    only: Option<&'static str>,
    sockets: Sockets,
    /// What references name as native.
    native: NativeCharSet,
    /// Whether the client knows an address and plain keys alone.
    by_key: bool,
    /// Whether the client knows references to servant managers alone.
    forwarded: Option<Forwarded>,
    /// Whether references say a quality of service, which requests may carry.
    published_qos: bool,
    /// Checks that must be made, and pass.
    must: &'static [&'static str],
}

/// Where orbium listens; omniORB listens at a Unix socket unless it is TCP.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Sockets {
    #[default]
    Tcp,
    /// A Unix socket alone.
    Unix,
    /// Both, but nobody listens where TCP is said to be.
    BothByUnix,
    /// Both; the client is told to use TCP alone.
    BothByTcp,
}

impl Sockets {
    fn endpoints(self, path: &str) -> Vec<String> {
        let unix = format!("uiop://{path}");
        let tcp = "iiop://127.0.0.1:0".to_owned();
        match self {
            Self::Tcp => vec![tcp],
            Self::Unix => vec![unix],
            // The port is reserved and never given to anybody.
            Self::BothByUnix => vec![format!("{tcp}?publish=127.0.0.1:1"), unix],
            Self::BothByTcp => vec![tcp, unix],
        }
    }

    fn options(self, path: &str, giop: &str) -> Vec<String> {
        let mut options = Vec::new();
        // Below 1.2 omniORB publishes no Unix socket to call back at.
        if self != Self::Tcp && giop == "1.2" {
            options.extend(["-ORBendPoint".to_owned(), format!("giop:unix:{path}")]);
        }
        match self {
            Self::Tcp | Self::Unix => {}
            // These make URLs of the address for TCP.
            Self::BothByUnix => {
                let by_url = ["is_a*", "non_existent*", "not_exist*", "corbaloc*"];
                let skip = |name| ["--skip".to_owned(), format!("object.{name}")];
                options.extend(by_url.into_iter().flat_map(skip));
            }
            Self::BothByTcp => {
                options.extend(["-ORBclientTransportRule", "* tcp"].map(str::to_owned));
            }
        }
        options
    }
}

/// What a client printed about a check.
pub(crate) fn line(text: &str) -> Option<Line> {
    let (verdict, rest) = text.split_once(' ')?;
    let (name, why) = match rest.split_once(": ") {
        Some((name, why)) => (name, Some(why.to_owned())),
        None => (rest, None),
    };
    let (failure, skip) = match verdict {
        "ok" => (None, None),
        "FAIL" => (Some(why.unwrap_or_default()), None),
        "skip" => (None, Some(why.unwrap_or_default())),
        _ => return None,
    };
    Some(Line {
        name: name.to_owned(),
        failure,
        skip,
    })
}

/// Interceptors that put a quality of service into every reference.
fn publishing() -> Result<Interceptors, Box<dyn std::error::Error>> {
    let mut interceptors = Interceptors::new();
    interceptors.add_ior(PublishedQos::new(&Qos {
        class: Some(CommunicationClass::Message),
        priority: Priority::new(100),
        ..Qos::NONE
    })?)?;
    Ok(interceptors)
}

fn against(peer: &str, run: &Run) -> Tested {
    let program = format!("{peer}-client");
    let needed: &[&str] = match run.relay {
        Some(_) => &[&program, "refragment"],
        None => &[&program],
    };
    if !available(needed) {
        return Ok(());
    }
    let scratch = Scratch::new()?;
    let endpoints = run.sockets.endpoints(&scratch.path("server")?);
    let endpoints = endpoints.iter().map(|endpoint| endpoint.parse());
    let orb = Orb::new(Config {
        endpoints: endpoints.collect::<Result<_, _>>()?,
        strategy: run.strategy,
        giop_minor: run.giop_minor,
        fragment_size: run.fragment_size,
        native_char_code_set: run.native,
        interceptors: if run.published_qos {
            publishing()?
        } else {
            Interceptors::new()
        },
        dispatch: run
            .published_qos
            .then(|| Hook(Arc::new(RiopDispatch::new()))),
        ..Config::default()
    })?;
    let served = serve(&orb)?;
    let own = &scratch.0;
    let objects = references(&orb, &served, run.forwarded)?;
    for (name, object) in ["cube", "receiver", "peer"].iter().zip(&objects) {
        let text = orb.object_to_string(object);
        fs::write(own.join(name).with_extension("ior"), text)?;
    }
    if run.by_key {
        let at = &orb.addresses()?[0];
        for (file, key) in [("cube", "Cube"), ("receiver", "Receiver"), ("peer", "Peer")] {
            let url = format!("corbaloc::{}:{}/{key}", at.host, at.port);
            fs::write(own.join(file).with_extension("ior"), url)?;
        }
    }
    let relay = match run.relay {
        Some(size) => {
            let from = own.to_str().ok_or("a strange directory")?;
            Some(Server::start("refragment", &["--size", size, from])?)
        }
        None => None,
    };
    let front = relay.as_ref().map_or(own, |relay| &relay.references);

    let giop = match run.client_giop {
        Some(version) => version.to_owned(),
        None => format!("1.{}", run.giop_minor.number()),
    };
    let mut arguments = run.sockets.options(&scratch.path("client")?, &giop);
    let at_least = match run.only {
        Some(start) => {
            arguments.extend(["--only".to_owned(), format!("{start}*")]);
            1
        }
        None => {
            arguments.push("--shutdown".to_owned());
            100
        }
    };
    for name in ["cube", "receiver", "peer"] {
        let file = front.join(name).with_extension("ior");
        arguments.push(format!("--{name}"));
        arguments.push(file.to_str().ok_or("a strange directory")?.to_owned());
    }
    if giop != "1.2" {
        arguments.extend(["--giop".to_owned(), giop.clone()]);
    }
    if peer == "omni" && run.native == NativeCharSet::Latin1 {
        // omniORB's own default, which its programs here replace by UTF-8.
        arguments.extend(["-ORBnativeCharCodeSet", "ISO-8859-1"].map(str::to_owned));
    }
    arguments.extend(run.options.iter().map(|option| (*option).to_owned()));
    let (_, output) = programs::run(&program, &arguments)?;
    drop(relay);

    let lines: Vec<Line> = output.lines().filter_map(line).collect();
    let name = format!("{peer} → orbium, {}, GIOP {giop}", run.strategy);
    judge(
        &name,
        &lines,
        &Expected::read(peer, "orbium", &giop)?,
        at_least,
    )?;
    for name in run.must {
        let found = lines.iter().find(|line| line.name == *name);
        let passed = found.is_some_and(|line| line.failure.is_none() && line.skip.is_none());
        if !passed {
            return Err(format!("{name} did not pass: {found:?}").into());
        }
    }
    if run.only.is_some() {
        return Ok(orb.shutdown(true)?);
    }
    // `Cube::shutdown` may have been faster, which is an exception here.
    let _ = orb.run();
    Ok(())
}

/// GIOP 1.0 or 1.1 on our side.
fn speaking(minor: u8) -> GiopMinor {
    GiopMinor::new(minor).unwrap_or_default()
}

macro_rules! against {
    ($($(#[$mark:meta])* $test:ident: $peer:literal, $run:expr;)*) => {
        $($(#[$mark])*
        #[test]
        fn $test() -> Tested {
            against($peer, &$run)
        })*
    };
}

const REACTIVE: Run = Run {
    strategy: ServerStrategy::Reactive,
    client_giop: None,
    giop_minor: match GiopMinor::new(2) {
        Some(minor) => minor,
        None => panic!("1.2 exists"),
    },
    fragment_size: None,
    relay: None,
    options: &[],
    only: None,
    sockets: Sockets::Tcp,
    native: NativeCharSet::Latin1,
    by_key: false,
    forwarded: None,
    published_qos: false,
    must: &[],
};

/// A `char` beyond ASCII.
const CHARS: &[&str] = &["kitchen.char_latin1", "kitchen.string_latin1"];
/// Text that ISO 8859-1 lacks.
const SCRIPTS: &[&str] = &[
    "kitchen.string_latin1",
    "kitchen.string_unicode",
    "kitchen.string_beyond_bmp",
];

/// What a plain key cannot say, as it names no code sets.
const WIDE: &[&str] = &["kitchen.wstring_unicode", "kitchen.scalars"];

const LEADER_FOLLOWERS: Run = Run {
    strategy: ServerStrategy::LeaderFollowers { threads: 2 },
    ..REACTIVE
};

const WORKER_POOL: Run = Run {
    strategy: ServerStrategy::WorkerPool {
        workers: 2,
        queue: 64,
    },
    ..REACTIVE
};

/// JacORB sends the low octet of what its own set lacks: no check of other text.
const JACORB_IN_LATIN_1: Run = Run {
    options: &[
        "-Djacorb.native_char_codeset=ISO8859_1",
        "--skip",
        "kitchen.string_unicode",
        "--skip",
        "kitchen.label_unicode",
        "--skip",
        "kitchen.string_beyond_bmp",
    ],
    strategy: ServerStrategy::ThreadPerConnection,
    ..REACTIVE
};

/// What omniORB gives up: its time-outs do not travel, so nothing else is different.
const DEADLINES: Run = Run {
    options: &["--deadlines"],
    only: Some("deadline."),
    strategy: ServerStrategy::ThreadPerConnection,
    ..REACTIVE
};

against! {
    /// Conformance: replies - LOCATION_FORWARD, LOCATION_FORWARD_PERM sent by orbium's server
    omniorb_sent_on_by_an_activator: "omni",
        Run { forwarded: Some(Forwarded::ByActivator), only: Some("kitchen."), ..Run::default() };
    /// Conformance: replies - LOCATION_FORWARD, LOCATION_FORWARD_PERM sent by orbium's server
    omniorb_sent_on_by_a_locator: "omni",
        Run { forwarded: Some(Forwarded::ByLocator), only: Some("kitchen."), ..Run::default() };
    /// Conformance: replies - LOCATION_FORWARD, LOCATION_FORWARD_PERM sent by orbium's server
    jacorb_sent_on_by_an_activator: "jacorb",
        Run { forwarded: Some(Forwarded::ByActivator), only: Some("kitchen."), ..Run::default() };
    /// Conformance: replies - LOCATION_FORWARD, LOCATION_FORWARD_PERM sent by orbium's server
    jacorb_sent_on_by_a_locator: "jacorb",
        Run { forwarded: Some(Forwarded::ByLocator), only: Some("kitchen."), ..Run::default() };
    /// Conformance: server of omniORB - GIOP 1.2, a thread per connection
    /// Conformance: code sets - a `char` beyond ASCII from omniORB and JacORB
    omniorb: "omni", Run { must: CHARS, ..Run::default() };
    /// Conformance: server of omniORB - `corbaloc::host:port/Key`: sent to the whole reference,
    /// wide text and all
    omniorb_by_plain_keys: "omni",
        Run {
            by_key: true,
            // omniORB holds what it was sent to for another object than what it asked for.
            only: Some("kitchen."),
            options: &["-ORBnativeCharCodeSet", "UTF-8"],
            native: NativeCharSet::Utf8,
            must: SCRIPTS,
            ..Run::default()
        };
    /// Conformance: server of omniORB - `corbaloc::host:port/Key`: sent to the whole reference,
    /// wide text and all - reactive
    omniorb_by_plain_keys_reactive: "omni", Run { by_key: true, only: Some("kitchen."), must: WIDE, ..REACTIVE };
    /// Conformance: RT - RIOP: priority and class are carried and obeyed; servers without it serve -
    /// omniORB as client, given references that say a quality of service
    omniorb_given_references_with_qos: "omni", Run { published_qos: true, ..Run::default() };
    /// Conformance: RT - RIOP: priority and class are carried and obeyed; servers without it serve -
    /// JacORB as client, given references that say a quality of service
    jacorb_given_references_with_qos: "jacorb", Run { published_qos: true, ..Run::default() };
    /// Conformance: server of omniORB - GIOP 1.2, reactive
    omniorb_reactive: "omni", REACTIVE;
    /// Conformance: server of omniORB - GIOP 1.2, leader-followers
    omniorb_leader_followers: "omni", LEADER_FOLLOWERS;
    /// Conformance: server of omniORB - GIOP 1.2, leader-followers - at 1.0
    omniorb_leader_followers_told_to_speak_1_0: "omni",
        Run { client_giop: Some("1.0"), ..LEADER_FOLLOWERS };
    /// Conformance: server of omniORB - GIOP 1.2, worker pool
    omniorb_worker_pool: "omni", WORKER_POOL;
    /// Conformance: server of omniORB - GIOP 1.2, worker pool - in small fragments
    omniorb_worker_pool_in_small_fragments: "omni", Run { relay: Some("64"), ..WORKER_POOL };
    /// Conformance: server of omniORB - GIOP 1.2, worker pool - many calls on one connection
    omniorb_many_calls_on_one_connection_worker_pool: "omni",
        Run { options: &["-ORBoneCallPerConnection", "0"], ..WORKER_POOL };
    /// Conformance: server of omniORB - GIOP 1.1, the client's choice
    omniorb_told_to_speak_1_1: "omni", Run { client_giop: Some("1.1"), ..Run::default() };
    /// Conformance: server of omniORB - GIOP 1.0, the client's choice, reactive
    omniorb_told_to_speak_1_0: "omni", Run { client_giop: Some("1.0"), ..REACTIVE };
    /// Conformance: server of omniORB - GIOP 1.1, orbium's choice
    omniorb_while_we_speak_1_1: "omni", Run { giop_minor: speaking(1), ..Run::default() };
    /// Conformance: server of omniORB - GIOP 1.0, orbium's choice
    omniorb_while_we_speak_1_0: "omni", Run { giop_minor: speaking(0), ..Run::default() };
    /// Conformance: server of omniORB - orbium sends fragments of 1 KiB
    omniorb_while_we_send_fragments: "omni", Run { fragment_size: Some(1024), ..Run::default() };
    /// Conformance: server of omniORB - small fragments both ways
    /// Conformance: complaint 24 - fragments are mishandled
    omniorb_in_tiny_fragments: "omni", Run { relay: Some("8"), ..Run::default() };
    /// Conformance: server of omniORB - small fragments both ways - reactive
    omniorb_in_small_fragments_reactive: "omni", Run { relay: Some("64"), ..REACTIVE };
    /// Conformance: server of omniORB - target by profile, by reference
    /// Conformance: replies - all three forms taken by the server
    omniorb_addressing_by_profile: "omni",
        Run { options: &["-ORBgiopTargetAddressMode", "1"], ..Run::default() };
    /// Conformance: server of omniORB - target by profile, by reference
    /// Conformance: replies - all three forms taken by the server
    omniorb_addressing_by_reference: "omni",
        Run { options: &["-ORBgiopTargetAddressMode", "2"], ..REACTIVE };
    /// Conformance: server of omniORB - many calls on one connection
    omniorb_many_calls_on_one_connection: "omni",
        Run { options: &["-ORBoneCallPerConnection", "0"], ..Run::default() };
    /// Conformance: server of omniORB - native code set: orbium's UTF-8, the client's other
    omniorb_in_latin_1_to_utf_8: "omni",
        Run {
            options: &["-ORBnativeCharCodeSet", "ISO-8859-1"],
            native: NativeCharSet::Utf8,
            ..Run::default()
        };
    /// Conformance: server of omniORB - native code set: orbium's ISO 8859-1, the client's other
    omniorb_in_utf_8: "omni",
        Run {
            options: &["-ORBnativeCharCodeSet", "UTF-8"],
            only: Some("kitchen.string_latin1"),
            must: &["kitchen.string_latin1"],
            ..Run::default()
        };
    /// Conformance: server of omniORB - native code set: orbium's UTF-8, the client's the same
    omniorb_in_utf_8_to_utf_8: "omni",
        Run {
            options: &["-ORBnativeCharCodeSet", "UTF-8"],
            native: NativeCharSet::Utf8,
            must: SCRIPTS,
            ..Run::default()
        };
    /// Conformance: server of omniORB - Unix sockets alone, both ways
    /// Conformance: references - omniORB's Unix sockets: the component, and port 0 where nothing is
    /// served over TCP
    omniorb_over_unix: "omni", Run { sockets: Sockets::Unix, ..Run::default() };
    /// Conformance: server of omniORB - Unix sockets alone, both ways - reactive
    omniorb_over_unix_reactive: "omni", Run { sockets: Sockets::Unix, ..REACTIVE };
    /// Conformance: server of omniORB - Unix sockets alone, both ways - at 1.1 and 1.0
    omniorb_over_unix_told_to_speak_1_1: "omni",
        Run { sockets: Sockets::Unix, client_giop: Some("1.1"), ..Run::default() };
    /// Conformance: server of omniORB - Unix sockets alone, both ways - at 1.1 and 1.0
    omniorb_over_unix_while_we_speak_1_1: "omni",
        Run { sockets: Sockets::Unix, giop_minor: speaking(1), ..Run::default() };
    /// Conformance: server of omniORB - Unix sockets alone, both ways - at 1.1 and 1.0
    omniorb_over_unix_told_to_speak_1_0: "omni",
        Run { sockets: Sockets::Unix, client_giop: Some("1.0"), ..REACTIVE };
    /// Conformance: server of omniORB - Unix sockets alone, both ways - with fragments
    omniorb_over_unix_while_we_send_fragments: "omni",
        Run { sockets: Sockets::Unix, fragment_size: Some(1024), ..Run::default() };
    /// Conformance: server of omniORB - orbium on TCP and a Unix socket
    omniorb_to_both_over_unix: "omni", Run { sockets: Sockets::BothByUnix, ..Run::default() };
    /// Conformance: server of omniORB - orbium on TCP and a Unix socket - reactive
    omniorb_to_both_over_tcp: "omni", Run { sockets: Sockets::BothByTcp, ..REACTIVE };
    /// Conformance: connections - deadlines of omniORB's clients do not travel: a client that waits
    /// for a late servant shuts the connection, and its other calls, those of other threads too,
    /// are served as ever
    omniorb_with_deadlines: "omni", DEADLINES;
    /// Conformance: connections - deadlines of omniORB's clients do not travel: a client that waits
    /// for a late servant shuts the connection, and its other calls, those of other threads too,
    /// are served as ever
    omniorb_with_deadlines_reactive: "omni",
        Run { strategy: ServerStrategy::Reactive, ..DEADLINES };
    /// Conformance: connections - deadlines of omniORB's clients do not travel: a client that waits
    /// for a late servant shuts the connection, and its other calls, those of other threads too,
    /// are served as ever
    omniorb_with_deadlines_leader_followers: "omni",
        Run { strategy: LEADER_FOLLOWERS.strategy, ..DEADLINES };
    /// Conformance: connections - deadlines of omniORB's clients do not travel: a client that waits
    /// for a late servant shuts the connection, and its other calls, those of other threads too,
    /// are served as ever
    omniorb_with_deadlines_worker_pool_on_one_connection: "omni",
        Run {
            options: &["--deadlines", "-ORBoneCallPerConnection", "0"],
            strategy: WORKER_POOL.strategy,
            ..DEADLINES
        };
    /// Conformance: connections - deadlines of omniORB's clients do not travel: a client that waits
    /// for a late servant shuts the connection, and its other calls, those of other threads too,
    /// are served as ever
    omniorb_with_deadlines_told_to_speak_1_0: "omni",
        Run { client_giop: Some("1.0"), ..DEADLINES };
    /// Conformance: server of JacORB - GIOP 1.2, a thread per connection
    /// Conformance: TAO 44 - code sets and wide text against JacORB
    /// Conformance: complaint 23 - advertised code sets change with a linked library
    jacorb: "jacorb", Run { must: SCRIPTS, ..Run::default() };
    /// Conformance: server of JacORB - native code set: orbium's ISO 8859-1, the client's other
    /// Conformance: code sets - a `char` beyond ASCII from omniORB and JacORB
    jacorb_in_latin_1: "jacorb", Run { must: CHARS, ..JACORB_IN_LATIN_1 };
    /// Conformance: server of JacORB - native code set: orbium's UTF-8, the client's other
    jacorb_in_latin_1_to_utf_8: "jacorb",
        Run { native: NativeCharSet::Utf8, must: CHARS, ..JACORB_IN_LATIN_1 };
    /// Conformance: server of JacORB - native code set: orbium's UTF-8, the client's the same
    jacorb_to_utf_8: "jacorb",
        Run { native: NativeCharSet::Utf8, must: SCRIPTS, ..Run::default() };
    /// Conformance: server of JacORB - `corbaloc::host:port/Key`: sent to the whole reference, wide
    /// text and all
    jacorb_by_plain_keys: "jacorb", Run { by_key: true, must: SCRIPTS, ..Run::default() };
    /// Conformance: server of JacORB - `corbaloc::host:port/Key`: sent to the whole reference, wide
    /// text and all - reactive
    jacorb_by_plain_keys_reactive: "jacorb", Run { by_key: true, must: WIDE, ..REACTIVE };
    /// Conformance: server of JacORB - GIOP 1.2, reactive
    jacorb_reactive: "jacorb", REACTIVE;
    /// Conformance: server of JacORB - GIOP 1.2, leader-followers
    jacorb_leader_followers: "jacorb", LEADER_FOLLOWERS;
    /// Conformance: server of JacORB - GIOP 1.2, worker pool
    jacorb_worker_pool: "jacorb", WORKER_POOL;
    /// Conformance: server of JacORB - GIOP 1.1, the client's choice
    jacorb_told_to_speak_1_1: "jacorb", Run { client_giop: Some("1.1"), ..Run::default() };
    /// Conformance: server of JacORB - GIOP 1.0, the client's choice, reactive
    jacorb_told_to_speak_1_0: "jacorb", Run { client_giop: Some("1.0"), ..REACTIVE };
    /// Conformance: server of JacORB - GIOP 1.1, orbium's choice
    jacorb_while_we_speak_1_1: "jacorb", Run { giop_minor: speaking(1), ..Run::default() };
    /// Conformance: server of JacORB - GIOP 1.0, orbium's choice
    jacorb_while_we_speak_1_0: "jacorb", Run { giop_minor: speaking(0), ..Run::default() };
    /// Conformance: server of JacORB - orbium sends fragments of 1 KiB
    jacorb_while_we_send_fragments: "jacorb", Run { fragment_size: Some(1024), ..Run::default() };
    /// Conformance: server of JacORB - small fragments both ways - reactive
    jacorb_in_small_fragments: "jacorb", Run { relay: Some("64"), ..REACTIVE };
    /// Conformance: connections - deadlines of JacORB's clients: its policies travel, its calls are
    /// served in time, a late servant is TIMEOUT, a late request is not begun
    jacorb_with_deadlines: "jacorb", Run { options: &["--deadlines"], ..Run::default() };
    /// Conformance: connections - deadlines of JacORB's clients: its policies travel, its calls are
    /// served in time, a late servant is TIMEOUT, a late request is not begun
    jacorb_with_deadlines_reactive: "jacorb", Run { options: &["--deadlines"], ..REACTIVE };
    /// Conformance: connections - deadlines of JacORB's clients: its policies travel, its calls are
    /// served in time, a late servant is TIMEOUT, a late request is not begun
    jacorb_with_deadlines_told_to_speak_1_0: "jacorb",
        Run { options: &["--deadlines"], client_giop: Some("1.0"), ..Run::default() };
}
