// SPDX-License-Identifier: MIT OR Apache-2.0
//! The request of an asynchronous invocation: marshalled again for each attempt, since the next
//! server may use another version or other code sets.

use orbium_cdr::{CdrWriter, Format};
use orbium_channel::outgoing::fragments_into;
use orbium_giop::{
    Completion, ExceptionKind, ServiceContext, SystemException, finish_message, minor,
};
use orbium_invocation::raises::Raises;
use orbium_invocation::{LateAnswer, Operation, Properties, write_properties};

use super::answer::Returned;
use orbium_client::candidate::Candidate;
use orbium_client::{Detour, Reference, ServedCall};
use orbium_connection::ClientConfig;
use orbium_connection::introduction::Introduction;
use orbium_connection::outcome::Outcome;
use orbium_invocation::call_exceptions::bad_argument;
use orbium_invocation::timing::Timing;

/// The arguments of a call, retained until the answer.
pub(crate) trait Arguments: Send {
    fn write<'a>(&'a self, writer: &mut CdrWriter<'a>);

    /// The exception if there are no arguments to send.
    fn refusal(&self) -> Option<SystemException> {
        None
    }

    /// Has a servant of the caller's own ORB serve the request; `None` if the servant needs a
    /// message.
    fn serve(&self, _: &Reference, _: &Detour, _: LateAnswers<'_>) -> Option<Served> {
        None
    }
}

/// Creates the receiver of a reply, in that format, which a servant sends after it has returned.
pub type LateAnswers<'l> = &'l dyn Fn(Format) -> Box<dyn LateAnswer>;

/// The outcome of a call in place to a servant of the caller's own ORB.
pub(crate) enum Served {
    Returned(Result<Returned, Outcome>),
    Answered(Answered),
}

/// The answer of a servant that has a reply slot or replies later.
#[derive(Debug)]
pub enum Answered {
    /// A message, written in that format.
    Message(Vec<u8>, Format),
    /// It is passed to the receiver of a late reply.
    Later,
    /// The servant was not called, or does not reply.
    Raised(SystemException),
}

/// Values, and the function that writes them.
pub(super) struct Values<A> {
    pub(super) values: A,
    pub(super) write: for<'a> fn(&'a A, &mut CdrWriter<'a>),
}

impl<A: Send> Arguments for Values<A> {
    fn write<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        (self.write)(&self.values, writer);
    }
}

/// Values followed by the properties of a context.
pub(super) struct InContext<A> {
    pub(super) values: Values<A>,
    pub(super) properties: Result<Properties, SystemException>,
}

impl<A: Send> Arguments for InContext<A> {
    fn write<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        self.values.write(writer);
        write_properties(self.properties.as_deref().unwrap_or_default(), writer);
    }

    fn refusal(&self) -> Option<SystemException> {
        self.properties.as_ref().err().copied()
    }
}

/// Values for a call in place to a servant of the caller's own ORB, and the function that makes it.
pub(super) struct Servable<A, S> {
    pub(super) values: Values<A>,
    pub(super) serve: S,
}

impl<A, S, T, E> Arguments for Servable<A, S>
where
    A: Send,
    S: Fn(&A, &Reference, &Detour) -> Option<ServedCall<T, E>> + Send,
    T: Send + 'static,
    E: Raises + Send + 'static,
{
    fn write<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        self.values.write(writer);
    }

    fn serve(&self, object: &Reference, detour: &Detour, _: LateAnswers<'_>) -> Option<Served> {
        let served = (self.serve)(&self.values.values, object, detour)?;
        Some(Served::Returned(Returned::new(served)))
    }
}

/// As [`Servable`], for a servant that has a reply slot or replies later.
pub(super) struct Answerable<A, S> {
    pub(super) values: Values<A>,
    pub(super) answer: S,
}

impl<A, S> Arguments for Answerable<A, S>
where
    A: Send,
    S: Fn(&A, &Reference, &Detour, LateAnswers<'_>) -> Option<Answered> + Send,
{
    fn write<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        self.values.write(writer);
    }

    fn serve(&self, object: &Reference, detour: &Detour, later: LateAnswers<'_>) -> Option<Served> {
        (self.answer)(&self.values.values, object, detour, later).map(Served::Answered)
    }
}

/// The parts of a request that depend on its connection.
pub(super) struct Introduced {
    pub(super) id: u32,
    /// The service contexts that it carries.
    pub(super) contexts: Option<Introduction>,
    /// Memory for it.
    pub(super) storage: Vec<u8>,
}

/// Error of a request that cannot be written.
#[derive(Debug)]
pub(super) struct Unwritable {
    exception: SystemException,
    /// The server may return a reference with code sets that can carry its text.
    pub(super) may_be_asked: bool,
}

impl From<SystemException> for Unwritable {
    fn from(exception: SystemException) -> Self {
        Self {
            exception,
            may_be_asked: false,
        }
    }
}

impl From<Unwritable> for SystemException {
    fn from(request: Unwritable) -> Self {
        request.exception
    }
}

/// The octets of a request, in fragments if it is large.
///
/// # Errors
/// Arguments that cannot be marshalled; a message that is too large.
pub(super) fn written(
    config: &ClientConfig,
    candidate: &Candidate,
    operation: &'static Operation,
    introduced: Introduced,
    timing: &Timing,
    added: &[ServiceContext<'_>],
    arguments: Option<&dyn Arguments>,
) -> Result<Vec<u8>, Unwritable> {
    let (id, introduction) = (introduced.id, introduced.contexts);
    let mut writer = CdrWriter::reuse(introduced.storage, candidate.format());
    let start = if added.is_empty() {
        candidate.begin_request(&mut writer, id, operation, introduction, timing, || None)
    } else {
        candidate.begin_request_with(
            &mut writer,
            (id, operation.response()),
            operation,
            introduction,
            timing,
            added,
        )
    };
    if let Some(arguments) = arguments {
        arguments.write(&mut writer);
    }
    finish_message(&mut writer, start);
    if let Some(error) = writer.error() {
        return Err(Unwritable {
            exception: candidate.bad_argument(error),
            may_be_asked: candidate.lacks_code_sets(error.kind),
        });
    }
    if writer.len() > config.limits.message_size {
        let (kind, code) = (ExceptionKind::Marshal, minor::MESSAGE_TOO_LARGE);
        return Err(SystemException::orbium(kind, code, Completion::No).into());
    }
    match config.fragment_size {
        Some(size) if writer.len() > size => {
            let mut octets = Vec::with_capacity(writer.len());
            fragments_into(&mut octets, &writer, size);
            Ok(octets)
        }
        _ => Ok(writer.finish().map_err(bad_argument)?),
    }
}
