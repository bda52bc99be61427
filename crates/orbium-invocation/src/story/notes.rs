// SPDX-License-Identifier: MIT OR Apache-2.0
//! Thread-local records: notes of the calls in progress, and the last failures.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use orbium_cdr::CdrError;
use orbium_giop::SystemException;
use orbium_transport::{Stage, Stamp};

use super::failure::{Explanation, Failure, Phase, Step};
use crate::exception::raises::{Raised, Raises};
use orbium_channel::{Channel, OfferedProtocol};

/// Maximum number of notes of a thread, of calls in progress.
const MAX_NOTES: usize = 64;
/// Maximum number of failures stored for a thread.
const MAX_FAILURES: usize = 8;
/// Maximum length of a stored text: those of peers and references may be long.
const MAX_TEXT_LENGTH: usize = 300;

/// A recorded step of a call, with its time.
#[derive(Clone, Debug)]
pub struct Note {
    pub(super) phase: Phase,
    pub(super) channel: Option<Channel>,
    pub(super) result: String,
    /// The end of the step.
    pub(super) at: Stamp,
    /// Its beginning, if not right after the previous one.
    pub(super) since: Option<Stamp>,
}

impl Note {
    /// Whether it was made after that time.
    pub fn is_after(&self, begun: Stamp) -> bool {
        self.at.is_after(begun)
    }

    /// A note with the present time.
    #[cold]
    pub fn new(phase: Phase, channel: Option<&Channel>, result: &dyn fmt::Display) -> Self {
        Self {
            phase,
            channel: channel.cloned(),
            result: cut(result.to_string()),
            at: Stamp::now(),
            since: None,
        }
    }
}

/// The records of a thread.
struct Kept {
    /// With the beginning of their call, if it is already known.
    notes: VecDeque<(Option<Stamp>, Note)>,
    /// The protocols offered by the reference of a call that reached no server.
    offered: Vec<OfferedProtocol>,
    /// The latest ones, the newest at the end.
    failures: VecDeque<Failure>,
}

thread_local! {
    static RECORDS: RefCell<Kept> = const {
        RefCell::new(Kept {
            notes: VecDeque::new(),
            offered: Vec::new(),
            failures: VecDeque::new(),
        })
    };
}

/// Preparation of every ORB for its calls: exceptions print the stories, and time stamps can be
/// converted.
pub fn prepare() {
    Stamp::calibrate();
    orbium_giop::set_story_writer(write_story);
}

/// The failure of the last failed call of this thread; `None` if none has failed. Successful calls
/// leave it unchanged: its [`exception`](Failure::exception) is that of the call that it explains.
///
/// An asynchronous call belongs to the thread that takes its result.
#[must_use]
#[inline]
pub fn last_failure() -> Option<Failure> {
    RECORDS.with_borrow(|kept| kept.failures.back().cloned())
}

/// Explains the error of an operation: its meaning, and, if a recent call of this thread raised it,
/// the operation and object, the address, the phase of the failure, and the duration of each part.
///
/// ```
/// use orbium_core::{Orb, explain};
///
/// let orb = Orb::builder().build()?;
/// let object = orb.string_to_object("corbaloc:iiop:127.0.0.1:1/Cube")?.ok_or("nil")?;
/// let exception = object.is_a("IDL:Cube:1.0").unwrap_err();
/// let explained = explain(&exception).to_string();
/// assert!(explained.contains("calling `_is_a`, object `Cube`"), "{explained}");
/// assert!(explained.contains("connect iiop://127.0.0.1:1: "), "{explained}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
#[inline]
pub fn explain<E: Raises + fmt::Display>(error: &E) -> Explanation {
    let exception = match error.raised() {
        Raised::System(exception) => Some(exception),
        Raised::User(..) => None,
    };
    Explanation {
        sentence: format!("{error}"),
        failure: exception.and_then(story_of),
        exception,
    }
}

/// The newest failure of this thread that raised such an exception.
pub fn story_of(exception: SystemException) -> Option<Failure> {
    RECORDS.with_borrow(|kept| {
        let mut failures = kept.failures.iter().rev();
        failures.find(|it| it.exception == exception).cloned()
    })
}

/// Writes the addition of `{:#}` to an exception.
fn write_story(exception: &SystemException, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match story_of(*exception) {
        Some(failure) => failure.write_story(f),
        None => Ok(()),
    }
}

/// Records a step of the call that this thread makes.
#[cold]
pub fn note(phase: Phase, channel: Option<&Channel>, result: &dyn fmt::Display) {
    keep(Note::new(phase, channel, result));
}

fn keep(note: Note) {
    RECORDS.with_borrow_mut(|kept| {
        if kept.notes.len() >= MAX_NOTES {
            kept.notes.pop_front();
        }
        kept.notes.push_back((None, note));
    });
}

/// Begins the record of connecting by this thread.
#[cold]
pub fn start_connecting() -> Stamp {
    drop(Stage::take_reports());
    Stamp::now()
}

/// Records the stages of connecting by this thread, with the failure if any.
#[cold]
pub fn note_connecting(channel: &Channel, begun: Stamp, error: Option<&dyn fmt::Display>) {
    for note in connecting(channel, begun, error) {
        keep(note);
    }
}

/// The stages of connecting by this thread, with the failure if any.
#[cold]
pub fn connecting(channel: &Channel, begun: Stamp, error: Option<&dyn fmt::Display>) -> Vec<Note> {
    let mut stages = Stage::take_reports();
    if stages.is_empty() {
        stages.push((Stage::Connect, begun));
    }
    let now = Stamp::now();
    let mut notes = Vec::new();
    for (place, (stage, since)) in stages.iter().enumerate() {
        let next = stages.get(place + 1);
        let (phase, done) = match stage {
            Stage::Resolve => (Phase::Resolve, "found"),
            Stage::Connect => (Phase::Connect, "connected"),
            Stage::Secure => (Phase::Tls, "agreed"),
        };
        let result: &dyn fmt::Display = match error {
            Some(error) if next.is_none() => error,
            _ => &done,
        };
        notes.push(Note {
            at: next.map_or(now, |(_, next)| *next),
            since: Some(*since),
            ..Note::new(phase, Some(channel), result)
        });
    }
    notes
}

/// Takes the notes of this thread since `begun` that no call has claimed: for asynchronous
/// invocations.
#[cold]
pub fn take_notes(begun: Stamp) -> Vec<Note> {
    RECORDS.with_borrow_mut(|kept| {
        let mut taken = Vec::new();
        while let Some((None, note)) = kept.notes.back()
            && note.is_after(begun)
        {
            taken.extend(kept.notes.pop_back().map(|(_, note)| note));
        }
        taken.reverse();
        taken
    })
}

/// Assigns the notes made since `begun` to the call that began then, except those of
/// nested calls. Older notes belong to calls that succeeded, which never clear them.
#[cold]
pub fn claim(begun: Stamp) {
    RECORDS.with_borrow_mut(|kept| {
        let notes = kept.notes.iter_mut().rev();
        for (call, _) in notes.take_while(|(_, note)| note.is_after(begun)) {
            call.get_or_insert(begun);
        }
    });
}

/// Records the reason of a refusal outside a call: for [`explain`] and `{:#}`.
#[doc(hidden)]
#[cold]
pub fn explain_refusal(exception: SystemException, operation: &str, cause: &dyn fmt::Display) {
    let step = Step {
        phase: Phase::Begin,
        address: None,
        elapsed: Duration::ZERO,
        result: cut(cause.to_string()),
    };
    remember(Failure {
        exception,
        operation: operation.to_owned(),
        interface: String::new(),
        object: String::new(),
        steps: vec![step],
        elapsed: Duration::ZERO,
        retries: 0,
        forwards: 0,
        offered: Vec::new(),
    });
}

/// Stores a failure for this thread.
#[cold]
pub fn remember(failure: Failure) {
    RECORDS.with_borrow_mut(|kept| {
        if kept.failures.len() >= MAX_FAILURES {
            kept.failures.pop_front();
        }
        kept.failures.push_back(failure);
    });
}

/// The text of an exception without its name: the result of a step.
pub(super) fn sentence(exception: SystemException) -> String {
    format!("{exception}")
}

/// The reason for which results cannot be read.
pub fn unreadable(error: CdrError) -> String {
    format!("the reply cannot be read: {error}")
}

/// External text, on one line and truncated.
pub(super) fn cut(text: String) -> String {
    if text.len() <= MAX_TEXT_LENGTH && !text.contains(char::is_control) {
        return text;
    }
    let mut shown = String::new();
    for (place, character) in text.chars().enumerate() {
        if place == MAX_TEXT_LENGTH {
            shown.push('…');
            break;
        }
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Takes the notes claimed by the call that began then, and the protocols offered by its reference.
pub(super) fn take_claimed(begun: Stamp) -> (Vec<Note>, Vec<OfferedProtocol>) {
    claim(begun);
    RECORDS.with_borrow_mut(|kept| {
        let mut own = Vec::new();
        kept.notes.retain(|(call, note)| {
            let is_own = *call == Some(begun);
            if is_own {
                own.push(note.clone());
            }
            !is_own
        });
        (own, std::mem::take(&mut kept.offered))
    })
}

/// Records the protocols offered to a call that reached no server. A note of the call about a
/// protocol, or `refusal` of its channel, is the reason why it was not usable.
pub fn keep_offered(
    mut offered: Vec<OfferedProtocol>,
    begun: Stamp,
    refusal: &dyn Fn(&Channel) -> Option<&'static str>,
) {
    RECORDS.with_borrow_mut(|kept| {
        for protocol in &mut offered {
            let Some(channel) = protocol.channel.as_ref() else {
                continue;
            };
            if protocol.refusal.is_some() {
                continue;
            }
            let mut reason: Option<&str> = refusal(channel);
            for (call, note) in &kept.notes {
                if *call == Some(begun) && note.channel.as_ref() == Some(channel) {
                    reason = Some(&note.result);
                }
            }
            protocol.refusal = reason.map(str::to_owned);
        }
        kept.offered = offered;
    });
}
