// SPDX-License-Identifier: MIT OR Apache-2.0
//! Report of a failed call, for its caller.

use std::fmt;
use std::time::Duration;

use orbium_giop::{SystemException, minor};

use orbium_channel::OfferedProtocol;

/// The part of a call in which something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Before anything was sent: policies, start times, the choice of a protocol.
    Begin,
    /// Looking up a host name.
    Resolve,
    /// Connecting, or waiting for a connection that other calls use.
    Connect,
    /// The TLS handshake.
    Tls,
    /// Writing and sending the request.
    Send,
    /// Waiting for the reply, and what the server replied.
    Wait,
    /// Reading the results.
    Decode,
}

impl Phase {
    /// Its name in logs and traces (`corba.phase`): `begin`, `resolve`, `connect`,
    /// `tls`, `send`, `wait` or `decode`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::Resolve => "resolve",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Send => "send",
            Self::Wait => "wait",
            Self::Decode => "decode",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Something that happened in a call that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// In which part of the call.
    pub phase: Phase,
    /// Where: the protocol and address; `None` within the process, or before one was
    /// chosen.
    pub address: Option<String>,
    /// How long it took, since the step before it or the beginning of the call.
    pub elapsed: Duration,
    /// What came of it.
    pub result: String,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.phase)?;
        if let Some(address) = &self.address {
            write!(f, " {address}")?;
        }
        write!(f, ": {}", self.result)?;
        match self.elapsed {
            Duration::ZERO => Ok(()),
            elapsed => write!(f, ", after {}", Span(elapsed)),
        }
    }
}

/// Report of a call that failed: which operation of which object, where it went,
/// in which phase it failed, why, and how long each part took.
///
/// A [`SystemException`] is eight octets and has no room for that. It is kept for the
/// thread that received the exception: [`last_failure`](super::last_failure) is the last
/// one, [`explain`](super::explain) finds the one of an exception, and `{:#}` of the
/// exception prints it.
///
/// ```
/// use orbium_core::Orb;
///
/// let orb = Orb::builder().client_protocols("uiop".parse()?).build()?;
/// let object = orb.string_to_object("corbaloc::localhost:5000/Cube")?.ok_or("nil")?;
/// let exception = object.is_a("IDL:Cube:1.0").unwrap_err();
/// let failure = orbium_core::last_failure().ok_or("no failure")?;
/// assert_eq!(failure.exception, exception);
/// assert_eq!(failure.operation, "_is_a");
/// assert!(failure.to_string().ends_with(
///     "iiop://localhost:5000: the policy does not name it"
/// ));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// What the call raised.
    pub exception: SystemException,
    /// The operation, as it is named on the wire.
    pub operation: String,
    /// Repository id of the interface, as the reference has it; empty if it has none.
    pub interface: String,
    /// The object key: characters as they are, other octets as `%xx`; cut after 64
    /// octets.
    pub object: String,
    /// What happened, in order, up to 16 steps. The last one failed.
    pub steps: Vec<Step>,
    /// How long the whole call took.
    pub elapsed: Duration,
    /// How often the request was sent again.
    pub retries: u32,
    /// How often the server said that the object is elsewhere.
    pub forwards: u32,
    /// If no server was reached: every protocol that the reference offered, and why it
    /// was not usable.
    pub offered: Vec<OfferedProtocol>,
}

impl Failure {
    /// The phase in which the call failed.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.steps.last().map_or(Phase::Begin, |step| step.phase)
    }

    /// The address of the last request; `None` within the process, or if it went nowhere.
    #[must_use]
    pub fn address(&self) -> Option<&str> {
        self.steps.last()?.address.as_deref()
    }

    /// The protocols that the reference offered and what stood in the way of each, or
    /// else what came of the last step.
    #[must_use]
    pub fn reasons(&self) -> String {
        match (self.offered.as_slice(), self.steps.last()) {
            ([], Some(last)) => last.to_string(),
            ([], None) => "the reference offers no protocol".to_owned(),
            (offered, _) => OfferedProtocol::list(offered),
        }
    }

    /// All but the exception, in lines.
    pub(super) fn write_story(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n  calling `{}`", self.operation)?;
        if !self.interface.is_empty() {
            write!(f, " of {}", self.interface)?;
        }
        if !self.object.is_empty() {
            write!(f, ", object `{}`", self.object)?;
        }
        if !self.elapsed.is_zero() {
            write!(f, ", for {}", Span(self.elapsed))?;
        }
        count(f, self.forwards, "forward")?;
        count(f, self.retries, "retry")?;
        for step in &self.steps {
            write!(f, "\n  {step}")?;
        }
        // What was tried stands above.
        for offered in &self.offered {
            let channel = offered.channel.as_ref().map(ToString::to_string);
            if !self.steps.iter().any(|step| step.address == channel) {
                write!(f, "\n  offered {offered}")?;
            }
        }
        Ok(())
    }
}

fn count(f: &mut fmt::Formatter<'_>, count: u32, noun: &str) -> fmt::Result {
    let ending = match (count, noun) {
        (0, _) => return Ok(()),
        (1, _) => return write!(f, ", 1 {noun}"),
        (_, "retry") => "retries",
        _ => "forwards",
    };
    write!(f, ", {count} {ending}")
}

impl fmt::Display for Failure {
    /// The exception and the reasons in one line; with `{:#}` the whole story.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            write!(f, "{}", self.exception)?;
            return self.write_story(f);
        }
        write!(f, "{}: {}", self.exception, self.reasons())
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.exception)
    }
}

/// An exception explained: its sentence, the story of the call that raised it, as far as
/// this thread knows it, and what its minor code means. See [`explain`](super::explain).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// What the error says of itself.
    pub sentence: String,
    /// The system exception, if it is one.
    pub exception: Option<SystemException>,
    /// The call that raised it; `None` if no call of this thread raised such an
    /// exception lately.
    pub failure: Option<Failure>,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)?;
        if let Some(failure) = &self.failure {
            failure.write_story(f)?;
        }
        if let Some(exception) = self.exception
            && let Some(code) = minor::explain(exception.kind, exception.minor)
        {
            write!(f, "\n\n{}", code.page())?;
        }
        Ok(())
    }
}

/// A time span as people read it: three digits and a unit.
struct Span(Duration);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        let (unit, name) = match nanos {
            0..1_000_000 => (1_000, "µs"),
            1_000_000..1_000_000_000 => (1_000_000, "ms"),
            _ => (1_000_000_000, "s"),
        };
        let (whole, thousandths) = (nanos / unit, nanos % unit * 1000 / unit);
        match whole {
            0..10 => write!(f, "{whole}.{:02} {name}", thousandths / 10),
            10..100 => write!(f, "{whole}.{} {name}", thousandths / 100),
            _ => write!(f, "{whole} {name}"),
        }
    }
}
