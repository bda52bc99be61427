// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servers of other ORBs that answer when orbium has given the call up.

use std::collections::BTreeMap;
use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use orbium::giop::Ior;
use orbium::{
    CancellationToken, Completion, Config, ExceptionKind, Interface, Orb, SystemException,
    config::ClientStrategy,
};
use orbium_demo::kitchen::Peer;
use orbium_testkit::eventually;

use crate::Tested;
use crate::programs::{Server, available};
use crate::relay::{Chunk, Relay, Side};

/// What a call may take that is given up.
const PATIENCE: Duration = Duration::from_millis(200);

/// Milliseconds after which its answer comes.
const REPLY_DELAY_MS: u32 = 700;

/// GIOP's numbers for the kinds of messages.
const REQUEST: u8 = 0;
const REPLY: u8 = 1;
const CANCEL_REQUEST: u8 = 2;

/// A message as it passed: its kind, and in GIOP 1.2 the request that it belongs to.
type Passed = (u8, u32);

/// The messages of one connection, by who sent them.
#[derive(Debug, Default)]
struct Talk {
    client: Vec<Passed>,
    server: Vec<Passed>,
}

/// The messages of every connection. None of them is fragmented.
fn talks(chunks: &[Chunk]) -> Vec<Talk> {
    let mut streams: BTreeMap<usize, [Vec<u8>; 2]> = BTreeMap::new();
    for chunk in chunks {
        let [client, server] = streams.entry(chunk.connection).or_default();
        let stream = match chunk.from {
            Side::Client => client,
            Side::Server => server,
        };
        stream.extend_from_slice(&chunk.octets);
    }
    let talk = |[client, server]: &[Vec<u8>; 2]| Talk {
        client: messages(client),
        server: messages(server),
    };
    streams.values().map(talk).collect()
}

fn messages(mut octets: &[u8]) -> Vec<Passed> {
    let mut all = Vec::new();
    while let Some((header, rest)) = octets.split_first_chunk::<12>() {
        let number = |from: &[u8]| {
            let four: [u8; 4] = from.try_into().expect("four octets");
            match header[6] & 1 {
                1 => u32::from_le_bytes(four),
                _ => u32::from_be_bytes(four),
            }
        };
        let size = number(&header[8..]) as usize;
        let body = rest.get(..size).expect("a whole message");
        all.push((header[7], body.get(..4).map_or(0, number)));
        octets = &rest[size..];
    }
    all
}

impl Talk {
    fn has(&self, kind: u8) -> bool {
        self.client.iter().any(|(its, _)| *its == kind)
    }

    /// Whether every request has its reply by now.
    fn is_answered(&self) -> bool {
        let requests = self.client.iter().filter(|(kind, _)| *kind == REQUEST);
        let answered = |id: &u32| self.server.contains(&(REPLY, *id));
        requests.map(|(_, id)| id).all(answered)
    }
}

/// A server of another ORB, with a relay before it.
struct Front {
    relay: Relay,
    orb: Orb,
    target: Peer,
}

impl Front {
    fn new(strategy: ClientStrategy, server: &Server) -> Result<Self, Box<dyn Error>> {
        let orb = Orb::new(Config {
            client_strategy: strategy,
            ..Config::default()
        })?;
        let direct = orb.string_to_object(server.reference("peer")?.trim())?;
        let direct = direct.ok_or("a nil reference")?;
        let profile = direct.ior().iiop_profiles().next();
        let mut profile = profile.ok_or("no IIOP profile")?;
        let relay = Relay::before(profile.port)?;
        "127.0.0.1".clone_into(&mut profile.host);
        profile.port = relay.port();
        // All that the server says of itself stays.
        let ior = Ior {
            type_id: direct.ior().type_id.clone(),
            profiles: vec![profile.encode()],
        };
        let target = orbium::narrow(orb.string_to_object(&ior.to_string())?)?;
        Ok(Self { relay, orb, target })
    }

    fn passed(&self) -> Vec<Talk> {
        talks(&self.relay.passed())
    }
}

/// A call that is given up: the answer comes after so many milliseconds.
fn given_up(target: &Peer, late: u32) {
    let hurried = target.with_timeout(PATIENCE);
    let exception = hurried.slow(late).expect_err("it takes longer");
    // On a busy machine there may have been no connection in time.
    if exception.completed != Completion::No {
        assert_eq!(exception.completed, Completion::Maybe);
        assert_eq!(exception.kind, ExceptionKind::Timeout);
    }
}

/// Calls, each with its own answer, until the late ones should have come too.
fn go_on(target: &Peer) {
    let end = Instant::now() + Duration::from_millis(REPLY_DELAY_MS.into());
    let mut number = 0;
    while number < 3 || Instant::now() < end {
        number += 1;
        assert_eq!(target.r#match(number, 1000), Ok(number + 1000));
        thread::sleep(Duration::from_millis(10));
    }
}

/// One call is given up beside one that is not, then several at once; all others
/// have their own answers.
fn calls(front: &Front) {
    let target = &front.target;
    thread::scope(|scope| {
        let patient = scope.spawn(|| target.slow(REPLY_DELAY_MS / 2));
        given_up(target, REPLY_DELAY_MS);
        go_on(target);
        let patient = patient.join().expect("an answer");
        assert_eq!(patient, Ok((REPLY_DELAY_MS / 2).cast_signed()));
    });
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| given_up(target, REPLY_DELAY_MS / 2));
        }
    });
    go_on(target);
}

fn exclusive(strategy: ClientStrategy, server: &Server, cancelled: bool) -> Tested {
    let front = Front::new(strategy, server)?;
    calls(&front);
    front.orb.shutdown(true)?;
    let talks = talks(&front.relay.end());
    assert!(talks.len() > 1, "{talks:?}");
    let given_up = talks.iter().filter(|talk| talk.has(CANCEL_REQUEST));
    let mut count = 0;
    for talk in given_up {
        // Nothing follows on a connection whose answer is outstanding.
        assert_eq!(
            talk.client.last().map(|(kind, _)| *kind),
            Some(CANCEL_REQUEST)
        );
        count += 1;
    }
    assert_eq!(count > 0, cancelled, "{talks:?}");
    Ok(())
}

fn shared(strategy: ClientStrategy, server: &Server, cancelled: bool) -> Tested {
    let front = Front::new(strategy, server)?;
    calls(&front);
    if !cancelled {
        // What comes too late comes all the same, and is passed over.
        eventually("the late answers have come", || {
            front.passed().iter().all(Talk::is_answered)
        });
    }
    assert_eq!(front.target.r#match(1, 2)?, 3);
    front.orb.shutdown(true)?;
    let talks = talks(&front.relay.end());
    assert_eq!(talks.len(), 1, "{talks:?}");
    assert_eq!(talks[0].has(CANCEL_REQUEST), cancelled, "{talks:?}");
    Ok(())
}

/// Milliseconds that a servant needs when its call is cancelled.
const ENDLESS: u32 = 30_000;

/// A call that another thread cancels, while others have their answers.
fn cancelled(strategy: ClientStrategy, server: &Server) -> Tested {
    let front = Front::new(strategy, server)?;
    let (target, token) = (&front.target, CancellationToken::new());
    target.as_object().connect()?;
    thread::scope(|scope| {
        let tokened = target.with_cancellation(&token);
        let call = scope.spawn(move || tokened.slow(ENDLESS));
        eventually("the request has passed", || {
            front.passed().iter().any(|it| it.has(REQUEST))
        });
        token.cancel();
        let exception = call
            .join()
            .expect("an outcome")
            .expect_err("it takes longer");
        let expected = SystemException::omg(ExceptionKind::Transient, 3, Completion::Maybe);
        assert_eq!(exception, expected);
        for number in 0..3 {
            assert_eq!(target.r#match(number, 1000), Ok(number + 1000));
        }
    });
    Ok(())
}

/// Has a server of another ORB, and runs a test with every way to use connections, all at
/// once.
fn with_each_strategy(
    peer: &str,
    test: impl Fn(ClientStrategy, &Server) -> Tested + Sync,
) -> Tested {
    let program = format!("{peer}-server");
    if !available(&[&program]) {
        return Ok(());
    }
    let (server, test) = (&Server::start(&program, &["--ior-dir"])?, &test);
    thread::scope(|scope| {
        for strategy in [
            ClientStrategy::ExclusivePool,
            ClientStrategy::ExclusivePerThread,
            ClientStrategy::LeaderFollowers,
            ClientStrategy::IoThread,
        ] {
            scope.spawn(move || test(strategy, server).expect("calls"));
        }
    });
    Ok(())
}

/// Conformance: connections - a synchronous call is cancelled from another thread: TRANSIENT 3
#[test]
fn calls_of_omniorbs_servants_are_cancelled() -> Tested {
    with_each_strategy("omni", cancelled)
}

/// Conformance: connections - a synchronous call is cancelled from another thread: TRANSIENT 3
#[test]
fn calls_of_jacorbs_servants_are_cancelled() -> Tested {
    with_each_strategy("jacorb", cancelled)
}

/// Calls of servants that answer late.
fn late_servants(peer: &str, cancelled: bool) -> Tested {
    with_each_strategy(peer, |strategy, server| match strategy {
        ClientStrategy::ExclusivePool | ClientStrategy::ExclusivePerThread => {
            exclusive(strategy, server, cancelled)
        }
        _ => shared(strategy, server, cancelled),
    })
}

/// A CancelRequest keeps omniORB from reading on, so it is sent none.
///
/// Conformance: connections - servers of other ORBs that answer too late: TIMEOUT, late replies are
/// discarded, other calls have their own answers, over exclusive and shared connections
/// Conformance: connections - CancelRequest sent when a call is given up, but not to omniORB, which
/// then may read no more of the connection ([EXPECTED.md](../interop/EXPECTED.md))
#[test]
fn omniorb_answers_late() -> Tested {
    late_servants("omni", false)
}

/// Conformance: connections - servers of other ORBs that answer too late: TIMEOUT, late replies are
/// discarded, other calls have their own answers, over exclusive and shared connections
#[test]
fn jacorb_answers_late() -> Tested {
    late_servants("jacorb", true)
}
