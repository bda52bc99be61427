// SPDX-License-Identifier: MIT OR Apache-2.0
//! The process of the demonstration that sends oneways over datagrams, and asks the receivers over
//! TCP for their counts.

pub(crate) mod flood;
pub(crate) mod oneway_stage;
use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use orbium::{Config, ExceptionKind, Interface, Orb, SystemException, protocol::ProtocolPolicy};
use orbium_demo::load::Load;
use orbium_demo::specimen::octets_checksum;
use orbium_demo::ttcp::{Receiver, Tally};

use super::answers::{PATIENCE, print};
use super::event::Event;
use super::report::{Finding, Verdict};
use crate::failure::Failure;
use crate::object::reference::{self, ProtocolArgs};
use crate::stage::pin::PinArgs;
use crate::stage::timing::{rate, thousands};
use flood::Sent;

/// Octets of each call that is sent. The last one takes several packets of a
/// group.
const SIZES: [usize; 3] = [64, 1 << 10, 8 << 10];

/// Calls that are sent at once to check that all of them arrive: few enough for the receive buffer
/// of the kernel.
const BURST: u64 = 8;

/// Time without a new call after which a flood counts as received.
const SILENCE: Duration = Duration::from_millis(50);

/// The same where no loss is expected, or no call has arrived yet: a receiver on a busy machine may
/// be late.
const LONG_SILENCE: Duration = Duration::from_secs(5);

/// The maximum number of calls of one octet, each sent after a silence, until one arrives. Fewer
/// than the octets of the smallest call, so that sizes distinguish them.
const MARKS: u64 = 60;

#[derive(Debug, Args)]
pub(crate) struct OnewaysArgs {
    /// The receiver, or the group of all receivers
    #[arg(long, value_name = "REF")]
    to: String,
    /// A receiver, to be asked for its tally; one for each of them
    #[arg(long, value_name = "REF", required = true)]
    ask: Vec<String>,
    /// Milliseconds that each operation is sent
    #[arg(long, value_name = "MS", default_value_t = 50)]
    slice: u64,
    /// Send to groups through this interface
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
    #[command(flatten)]
    protocols: ProtocolArgs,
    #[command(flatten)]
    pin: PinArgs,
}

struct Parties {
    to: Receiver,
    receivers: Vec<Receiver>,
}

/// The calls and the marks that a receiver has counted.
#[derive(Clone, Copy, PartialEq)]
struct Received {
    sends: Tally,
    marks: u64,
}

impl From<Tally> for Received {
    fn from(tally: Tally) -> Self {
        // All sizes are multiples of the first.
        let marks = tally.elements % SIZES[0] as u64;
        let sends = Tally {
            calls: tally.calls - marks.min(tally.calls),
            elements: tally.elements - marks,
            checksum: tally
                .checksum
                .wrapping_sub(marks.wrapping_mul(octets_checksum(1))),
        };
        Self { sends, marks }
    }
}

pub(crate) fn run(args: &OnewaysArgs) -> Result<(), Failure> {
    args.pin.apply()?;
    let mut config = Config {
        call_timeout: Some(PATIENCE),
        protocols: reference::protocols(),
        ..Config::default()
    };
    if let Some(name) = &args.interface {
        let set = config.properties.set("multicast_interface", name);
        set.map_err(|_| Failure::because(format!("`{name}` is no interface")))?;
    }
    args.protocols.add_to(&mut config)?;
    let failed = |error: &dyn fmt::Display| Failure::because(error.to_string());
    let orb = Orb::new(config).map_err(|error| failed(&error))?;
    let object = |text: &String| -> Result<Receiver, Failure> {
        let object = orb.string_to_object(text).map_err(|error| failed(&error))?;
        let object = object.ok_or_else(|| Failure::because("the reference is nil"))?;
        Ok(Receiver::from_object(object))
    };
    let asked = "iiop".parse::<ProtocolPolicy>();
    let asked = asked.map_err(|error| failed(&error))?;
    let receivers = args.ask.iter().map(object);
    let receivers = receivers.map(|receiver| Ok(receiver?.with_protocols(asked.clone())));
    let parties = Parties {
        to: object(&args.to)?,
        receivers: receivers.collect::<Result<_, Failure>>()?,
    };
    print(&Event::Checked(Finding {
        name: "a twoway call is refused".into(),
        verdict: refused(&parties.to),
    }))?;
    let slice = Duration::from_millis(args.slice);
    SIZES
        .into_iter()
        .try_for_each(|size| check_and_flood(&parties, size, slice))
}

fn check_and_flood(parties: &Parties, size: usize, slice: Duration) -> Result<(), Failure> {
    let call = format!("send_octets of {}", thousands(size as f64));
    print(&Event::Step(call.clone()))?;
    print(&Event::Checked(Finding {
        name: format!("{call}: each of a few arrives as it was sent"),
        verdict: match parties.check(size) {
            Ok(()) => Verdict::Passed,
            Err(reason) => Verdict::Failed(reason),
        },
    }))?;
    let sent = parties
        .flood(&call, size, slice)
        .map_err(|reason| Failure::because(format!("{call}: {reason}")))?;
    print(&Event::Sent(sent))
}

/// A oneway has no reply.
fn refused(to: &Receiver) -> Verdict {
    match to.stop_timer() {
        Err(exception) if exception.kind == ExceptionKind::InvPolicy => Verdict::Passed,
        other => Verdict::Failed(format!("stop_timer() gave {other:?}")),
    }
}

impl Parties {
    /// Sends a few calls, all of which are to arrive.
    fn check(&self, size: usize) -> Result<(), String> {
        self.catch_up()?;
        self.start()?;
        Load::SendOctets
            .send(self.to.as_object(), size, BURST)
            .map_err(in_words)?;
        let received = self.settled(BURST, LONG_SILENCE)?;
        for (number, Received { sends: tally, .. }) in received.iter().enumerate() {
            intact(tally, size)?;
            if tally.calls != BURST {
                let (number, calls) = (number + 1, tally.calls);
                return Err(format!("receiver {number} got {calls} of {BURST}"));
            }
        }
        Ok(())
    }

    /// Sends calls at the maximum rate for that time.
    fn flood(&self, call: &str, size: usize, slice: Duration) -> Result<Sent, String> {
        const AT_ONCE: u64 = 16;
        self.start()?;
        let (start, mut sent) = (Instant::now(), 0);
        while start.elapsed() < slice {
            Load::SendOctets
                .send(self.to.as_object(), size, AT_ONCE)
                .map_err(in_words)?;
            sent += AT_ONCE;
        }
        let rate = rate(sent, start.elapsed());
        let received = self.settled(sent, SILENCE)?;
        for Received { sends: tally, .. } in &received {
            intact(tally, size)?;
            if tally.calls > sent {
                return Err(format!("{sent} calls became {}", tally.calls));
            }
        }
        Ok(Sent {
            call: call.to_owned(),
            sent,
            rate,
            received: received.iter().map(|each| each.sends.calls).collect(),
        })
    }

    fn start(&self) -> Result<(), String> {
        self.receivers
            .iter()
            .try_for_each(Receiver::start_timer)
            .map_err(in_words)
    }

    /// Waits until all calls of an earlier flood are received: receivers that wait for a processor
    /// longer than a silence still have them queued. Calls are served in order, so a mark that has
    /// arrived is behind all of them.
    fn catch_up(&self) -> Result<(), String> {
        self.start()?;
        for _ in 0..MARKS {
            Load::SendOctets
                .send(self.to.as_object(), 1, 1)
                .map_err(in_words)?;
            let (sent, mut marked) = (Instant::now(), false);
            while !marked && sent.elapsed() < 2 * SILENCE {
                thread::sleep(SILENCE / 50);
                marked = self.received()?.iter().all(|each| each.marks > 0);
            }
            if marked {
                return Ok(());
            }
        }
        Err("no datagram was received".into())
    }

    /// The counts of the receivers.
    fn received(&self) -> Result<Vec<Received>, String> {
        let asked = self.receivers.iter().map(Receiver::stop_timer);
        let received = asked.map(|tally| tally.map(Received::from));
        received.collect::<Result<_, _>>().map_err(in_words)
    }

    /// The counts of the receivers when all have everything, or no new call has arrived for a
    /// while.
    fn settled(&self, sent: u64, silence: Duration) -> Result<Vec<Received>, String> {
        let (mut last, mut since) = (self.received()?, Instant::now());
        let end = Instant::now() + PATIENCE;
        loop {
            let has_all = last.iter().all(|each| each.sends.calls >= sent);
            let silence = if last.iter().any(|each| each.sends.calls == 0) {
                LONG_SILENCE
            } else {
                silence
            };
            if has_all || since.elapsed() >= silence || Instant::now() >= end {
                return Ok(last);
            }
            thread::sleep(SILENCE / 10);
            let now = self.received()?;
            if now != last {
                (last, since) = (now, Instant::now());
            }
        }
    }
}

/// Checks that the received calls are those that were sent.
fn intact(tally: &Tally, size: usize) -> Result<(), String> {
    let want = Tally {
        calls: tally.calls,
        elements: tally.calls * size as u64,
        checksum: tally.calls.wrapping_mul(octets_checksum(size)),
    };
    if *tally == want {
        return Ok(());
    }
    Err(format!("the tally is {tally:?} instead of {want:?}"))
}

fn in_words(exception: SystemException) -> String {
    exception.to_string()
}
