// SPDX-License-Identifier: MIT OR Apache-2.0
//! orbium's checks against the servers of other ORBs.

use std::error::Error;
use std::time::Duration;

use orbium::{Config, Interface, Orb, config::GiopMinor, policy::BufferingConstraint};
use orbium_demo::check::{self, Check, Facts, Outcome};
use orbium_demo::cubit::Cube;
use orbium_demo::kitchen::Peer;
use orbium_demo::ttcp::Receiver;

use crate::expected::Expected;
use crate::programs::{Scratch, Server, available};
use crate::{Line, Tested, judge};

/// How one run differs from the plain one.
#[derive(Default)]
struct Run {
    /// `1.0` or `1.1`: what the server is told to speak at most.
    server_giop: Option<&'static str>,
    /// What orbium is told to speak at most.
    giop_minor: GiopMinor,
    /// Octets above which orbium sends fragments.
    fragment_size: Option<usize>,
    /// What every call may take, which its request then says in two service
    /// contexts.
    call_timeout: Option<Duration>,
    /// Octets of the fragments that a relay makes of every message.
    relay: Option<&'static str>,
    sockets: Sockets,
}

/// Where both listen, and what orbium calls with.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Sockets {
    #[default]
    Tcp,
    /// Unix sockets alone, both sides: nothing else leads anywhere.
    Unix,
    /// The server has both; orbium knows Unix sockets alone.
    BothByUnix,
    /// The server has both; orbium calls over TCP alone.
    BothByTcp,
}

impl Sockets {
    /// What tells omniORB so.
    fn options(self, path: &str) -> Vec<String> {
        let both = [format!("giop:unix:{path}"), "giop:tcp:127.0.0.1:0".into()];
        let wanted = match self {
            Self::Tcp => &both[1..],
            Self::Unix => &both[..1],
            Self::BothByUnix | Self::BothByTcp => &both,
        };
        let options = wanted.iter().flat_map(|at| ["-ORBendPoint", at]);
        options.map(str::to_owned).collect()
    }

    /// The same for orbium.
    fn configure(self, path: &str, config: &mut Config) -> Tested {
        let unix = format!("uiop://{path}").parse()?;
        match self {
            Self::Tcp => {}
            // Below 1.2 omniORB reads of no Unix socket to call back at.
            Self::Unix if config.giop_minor.number() < 2 => {}
            Self::Unix => config.endpoints = vec![unix],
            Self::BothByUnix => {
                config.endpoints = vec![unix];
                config.protocols = config.protocols.only(["uiop"])?;
            }
            Self::BothByTcp => config.client_protocols = Some("iiop".parse()?),
        }
        Ok(())
    }
}

impl From<Check> for Line {
    fn from(check: Check) -> Self {
        let (failure, skip) = match check.outcome {
            Outcome::Passed => (None, None),
            Outcome::Failed(why) => (Some(why), None),
            Outcome::Skipped(why) => (None, Some(why)),
        };
        Self {
            name: check.name.to_owned(),
            failure,
            skip,
        }
    }
}

fn against(peer: &str, run: &Run) -> Tested {
    let program = format!("{peer}-server");
    let needed: &[&str] = match run.relay {
        Some(_) => &[&program, "refragment"],
        None => &[&program],
    };
    if !available(needed) {
        return Ok(());
    }
    let scratch = Scratch::new()?;
    let mut arguments = Vec::new();
    if run.sockets != Sockets::Tcp {
        arguments = run.sockets.options(&scratch.path("server")?);
    }
    if let Some(version) = run.server_giop {
        arguments.extend(["--giop".to_owned(), version.to_owned()]);
    }
    arguments.push("--ior-dir".to_owned());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let server = Server::start(&program, &arguments)?;
    let relay = match run.relay {
        Some(size) => {
            let from = server.references.to_str().ok_or("a strange directory")?;
            Some(Server::start("refragment", &["--size", size, from])?)
        }
        None => None,
    };
    let front = relay.as_ref().unwrap_or(&server);
    let mut config = Config {
        endpoints: vec!["iiop://127.0.0.1:0".parse()?],
        giop_minor: run.giop_minor,
        fragment_size: run.fragment_size,
        call_timeout: run.call_timeout,
        ..Config::default()
    };
    run.sockets
        .configure(&scratch.path("client")?, &mut config)?;
    let orb = Orb::new(config)?;
    let (facts, lines) = all_checks(&orb, front)?;

    let giop = format!("1.{}", facts.giop_minor);
    let name = format!("orbium → {peer}, GIOP {giop}");
    let judged = judge(&name, &lines, &Expected::read("orbium", peer, &giop)?, 100);
    drop(relay);
    orb.shutdown(true)?;
    judged?;
    server.ends_well()
}

/// All checks against the objects of a server, its end last.
pub(crate) fn all_checks(orb: &Orb, server: &Server) -> Result<(Facts, Vec<Line>), Box<dyn Error>> {
    let object =
        |name| Ok::<_, Box<dyn Error>>(orb.string_to_object(server.reference(name)?.trim())?);
    let cube: Cube = orbium::narrow(object("cube")?)?;
    let receiver: Receiver = orbium::narrow(object("receiver")?)?;
    let target: Peer = orbium::narrow(object("peer")?)?;
    let facts = Facts::of(&target);
    let mut checks = check::receiver(&receiver, &facts);
    checks.extend(check::peer(orb, &target, &facts));
    checks.extend(check::cube(&cube, &facts));
    checks.extend(check::asynchronous(orb, &cube, &target, &facts));
    checks.push(check::shutdown(&cube));
    Ok((facts, checks.into_iter().map(Line::from).collect()))
}

/// GIOP 1.0 or 1.1 on our side.
fn speaking(minor: u8) -> GiopMinor {
    GiopMinor::new(minor).unwrap_or_default()
}

/// Longer than anything takes here.
const AN_HOUR: Option<Duration> = Some(Duration::from_secs(3600));

macro_rules! against {
    ($($(#[$mark:meta])* $test:ident: $peer:literal, $run:expr;)*) => {
        $($(#[$mark])*
        #[test]
        fn $test() -> Tested {
            against($peer, &$run)
        })*
    };
}

against! {
    /// Conformance: client of omniORB - GIOP 1.2
    /// Conformance: TAO 46 - asynchronous calls and servers - against other ORBs
    omniorb: "omni", Run::default();
    /// Conformance: client of omniORB - GIOP 1.1, the server's choice
    omniorb_told_to_speak_1_1: "omni", Run { server_giop: Some("1.1"), ..Run::default() };
    /// Conformance: client of omniORB - GIOP 1.0, the server's choice
    omniorb_told_to_speak_1_0: "omni", Run { server_giop: Some("1.0"), ..Run::default() };
    /// Conformance: client of omniORB - GIOP 1.1, orbium's choice
    omniorb_while_we_speak_1_1: "omni", Run { giop_minor: speaking(1), ..Run::default() };
    /// Conformance: client of omniORB - GIOP 1.0, orbium's choice
    omniorb_while_we_speak_1_0: "omni", Run { giop_minor: speaking(0), ..Run::default() };
    /// Conformance: client of omniORB - orbium sends fragments of 1 KiB
    omniorb_while_we_send_fragments: "omni", Run { fragment_size: Some(1024), ..Run::default() };
    /// Conformance: connections - deadlines travel with requests (INVOCATION_POLICIES, and the time
    /// that remains) and are per ORB, thread and reference - to omniORB and JacORB, which serve
    /// such requests as ever
    omniorb_with_deadlines: "omni", Run { call_timeout: AN_HOUR, ..Run::default() };
    omniorb_with_deadlines_while_we_speak_1_0: "omni",
        Run { call_timeout: AN_HOUR, giop_minor: speaking(0), ..Run::default() };
    /// Conformance: client of omniORB - small fragments both ways - 8 octets
    omniorb_in_tiny_fragments: "omni", Run { relay: Some("8"), ..Run::default() };
    /// Conformance: client of omniORB - Unix sockets alone, both ways
    /// Conformance: references - omniORB's Unix sockets: the component, and port 0 where nothing is
    /// served over TCP
    omniorb_over_unix: "omni", Run { sockets: Sockets::Unix, ..Run::default() };
    /// Conformance: client of omniORB - Unix sockets alone, both ways - with fragments
    omniorb_over_unix_while_we_send_fragments: "omni",
        Run { sockets: Sockets::Unix, fragment_size: Some(1024), ..Run::default() };
    /// Conformance: client of omniORB - Unix sockets alone, both ways - at 1.1 and 1.0
    omniorb_over_unix_while_we_speak_1_1: "omni",
        Run { sockets: Sockets::Unix, giop_minor: speaking(1), ..Run::default() };
    /// Conformance: client of omniORB - Unix sockets alone, both ways - at 1.1 and 1.0
    omniorb_over_unix_while_we_speak_1_0: "omni",
        Run { sockets: Sockets::Unix, giop_minor: speaking(0), ..Run::default() };
    /// Conformance: client of omniORB - a server on TCP and a Unix socket
    omniorb_on_both_over_unix: "omni",
        Run { sockets: Sockets::BothByUnix, ..Run::default() };
    /// Conformance: client of omniORB - a server on TCP and a Unix socket
    omniorb_on_both_over_tcp: "omni", Run { sockets: Sockets::BothByTcp, ..Run::default() };
    /// Conformance: client of JacORB - GIOP 1.2
    /// Conformance: TAO 44 - code sets and wide text against JacORB
    /// Conformance: TAO 46 - asynchronous calls and servers - against other ORBs
    jacorb: "jacorb", Run::default();
    /// Conformance: client of JacORB - GIOP 1.1, the server's choice
    jacorb_told_to_speak_1_1: "jacorb", Run { server_giop: Some("1.1"), ..Run::default() };
    /// Conformance: client of JacORB - GIOP 1.0, the server's choice
    jacorb_told_to_speak_1_0: "jacorb", Run { server_giop: Some("1.0"), ..Run::default() };
    /// Conformance: client of JacORB - GIOP 1.1, orbium's choice
    jacorb_while_we_speak_1_1: "jacorb", Run { giop_minor: speaking(1), ..Run::default() };
    /// Conformance: client of JacORB - GIOP 1.0, orbium's choice
    jacorb_while_we_speak_1_0: "jacorb", Run { giop_minor: speaking(0), ..Run::default() };
    /// Conformance: client of JacORB - orbium sends fragments of 1 KiB
    jacorb_while_we_send_fragments: "jacorb", Run { fragment_size: Some(1024), ..Run::default() };
    /// Conformance: connections - deadlines travel with requests (INVOCATION_POLICIES, and the time
    /// that remains) and are per ORB, thread and reference - to omniORB and JacORB, which serve
    /// such requests as ever
    jacorb_with_deadlines: "jacorb", Run { call_timeout: AN_HOUR, ..Run::default() };
    jacorb_with_deadlines_while_we_speak_1_0: "jacorb",
        Run { call_timeout: AN_HOUR, giop_minor: speaking(0), ..Run::default() };
    /// Conformance: client of JacORB - small fragments both ways - 64 octets
    jacorb_in_small_fragments: "jacorb", Run { relay: Some("64"), ..Run::default() };
}

/// The two ways to write where a Unix socket is.
///
/// Conformance: client of omniORB - `corbaloc:omniunix:`, `corbaloc:uiop:`
#[test]
fn omniorb_at_a_path_in_a_url() -> Tested {
    if !available(&["omni-server"]) {
        return Ok(());
    }
    let scratch = Scratch::new()?;
    let path = scratch.path("server")?;
    let endpoint = format!("giop:unix:{path}");
    let server = Server::start("omni-server", &["-ORBendPoint", &endpoint, "--ior-dir"])?;
    let orb = Orb::new(Config::default())?;
    let whole = orb.string_to_object(server.reference("peer")?.trim())?;
    let whole = whole.ok_or("a nil reference")?;
    let profile = whole.ior().iiop_profiles().next();
    let profile = profile.ok_or("no IIOP profile")?;
    // What omniORB says of TCP when it has none.
    assert_eq!(profile.port, 0);
    let key: String = profile
        .object_key
        .iter()
        .map(|octet| format!("%{octet:02x}"))
        .collect();
    for url in [
        format!("corbaloc:omniunix:1.2@{path}:/{key}"),
        format!("corbaloc:uiop:1.2@{path}|{key}"),
        format!("corbaloc:uiop:{path}|{key}"),
    ] {
        let target: Peer = orbium::narrow(orb.string_to_object(&url)?)?;
        assert_eq!(target.r#match(2, 3)?, 5, "{url}");
    }
    Ok(orb.shutdown(true)?)
}

/// Oneways out of a buffer arrive all, before the call that asks how many there were.
///
/// Conformance: Messaging - buffered oneways - to omniORB
#[test]
fn omniorb_receives_buffered_oneways() -> Tested {
    const CALLS: u16 = 1000;
    if !available(&["omni-server"]) {
        return Ok(());
    }
    let server = Server::start("omni-server", &["--ior-dir"])?;
    let orb = Orb::new(Config::default())?;
    let object =
        |name| Ok::<_, Box<dyn Error>>(orb.string_to_object(server.reference(name)?.trim())?);
    let receiver: Receiver = orbium::narrow(object("receiver")?)?;
    let at_once = BufferingConstraint::default();
    for constraint in [
        at_once,
        BufferingConstraint {
            timeout: Some(Duration::from_millis(1)),
            ..at_once
        },
        BufferingConstraint {
            message_count: Some(7),
            ..at_once
        },
        BufferingConstraint {
            message_bytes: Some(10_000),
            ..at_once
        },
    ] {
        let receiver = receiver.with_buffering(constraint);
        receiver.start_timer()?;
        for v in 0..CALLS {
            receiver.send_longs(&[v.into(), v.into()])?;
        }
        let tally = receiver.stop_timer()?;
        let expected = (u64::from(CALLS), 2 * u64::from(CALLS));
        assert_eq!((tally.calls, tally.elements), expected, "{constraint:?}");
    }
    let cube: Cube = orbium::narrow(object("cube")?)?;
    cube.shutdown()?;
    orb.shutdown(true)?;
    server.ends_well()
}
