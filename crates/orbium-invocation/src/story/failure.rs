// SPDX-License-Identifier: MIT OR Apache-2.0
//! Report of a failed call, for its caller.

use std::fmt;
use std::time::Duration;

use orbium_giop::{SystemException, minor};

use orbium_channel::OfferedProtocol;

/// The phase of a call.
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
    /// Waiting for the reply, and the reply of the server.
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

/// A step of a call that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// The phase of the call.
    pub phase: Phase,
    /// The protocol and address; `None` within the process, or before one was chosen.
    pub address: Option<String>,
    /// The duration, since the previous step or the beginning of the call.
    pub elapsed: Duration,
    /// The result of the step.
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

/// Report of a call that failed: its operation and object, its addresses, the phase of the failure,
/// the reason, and the duration of each part.
///
/// A [`SystemException`] has only eight bytes. The report is stored for the thread that received
/// the exception: [`last_failure`](super::last_failure) is the last one,
/// [`explain`](super::explain) finds the one of an exception, and `{:#}` of the exception prints
/// it.
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
    /// The exception of the call.
    pub exception: SystemException,
    /// The name of the operation on the wire.
    pub operation: String,
    /// Repository id of the interface from the reference; empty if it has none.
    pub interface: String,
    /// The object key: printable characters, other bytes as `%xx`; truncated after 64 bytes.
    pub object: String,
    /// The steps, in order, up to 16. The last one failed.
    pub steps: Vec<Step>,
    /// The duration of the whole call.
    pub elapsed: Duration,
    /// The number of retries of the request.
    pub retries: u32,
    /// The number of forwards by the server.
    pub forwards: u32,
    /// If no server was reached: every protocol that the reference offered, and the reason why it
    /// was not usable.
    pub offered: Vec<OfferedProtocol>,
}

impl Failure {
    /// The phase in which the call failed.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.steps.last().map_or(Phase::Begin, |step| step.phase)
    }

    /// The address of the last request; `None` within the process, or if none was sent.
    #[must_use]
    pub fn address(&self) -> Option<&str> {
        self.steps.last()?.address.as_deref()
    }

    /// The protocols that the reference offered with the obstacle of each, or else the result of
    /// the last step.
    #[must_use]
    pub fn reasons(&self) -> String {
        match (self.offered.as_slice(), self.steps.last()) {
            ([], Some(last)) => last.to_string(),
            ([], None) => "the reference offers no protocol".to_owned(),
            (offered, _) => OfferedProtocol::list(offered),
        }
    }

    /// Writes all but the exception, in lines.
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
        // Attempted protocols are already listed.
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

/// An explained exception: its sentence, the story of the call that raised it, if this thread has
/// it, and the meaning of its minor code. See [`explain`](super::explain).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// The sentence of the error.
    pub sentence: String,
    /// The system exception, if it is one.
    pub exception: Option<SystemException>,
    /// The call that raised it; `None` if no recent call of this thread raised such an exception.
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

/// A duration in readable form: three digits and a unit.
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
