// SPDX-License-Identifier: MIT OR Apache-2.0
//! A received reply before its consumer reads it.

use orbium_cdr::{CdrError, CdrReader, Format};
use orbium_channel::peer_memory::Charge;
use orbium_giop::{
    Completion, HEADER_LEN, MessageHeader, ReplyHeader, ReplyStatus, SystemException,
};
use orbium_interceptor::client::CallOutcome;
use orbium_interceptor::{ContextList, DynamicInvocation};
use orbium_invocation::raises::{ExceptionId, Raises};
use orbium_invocation::story::unreadable;
use orbium_metrics::End;

use orbium_connection::outcome::{Outcome, contexts_of, outcome_of, raised_as};
use orbium_invocation::Decoding;
use orbium_invocation::typed_reply::{ReplyReader, TypedOutcome};

/// A received reply.
#[derive(Debug)]
pub struct ReceivedReply {
    /// The header of the message.
    pub header: MessageHeader,
    /// The status of the reply.
    pub status: ReplyStatus,
    /// The offset of its body.
    pub body: usize,
    /// The whole message.
    pub octets: Vec<u8>,
    /// The offsets at which the bodies of its fragments were joined.
    pub seams: Vec<u32>,
    /// The memory charged for it until it is read.
    pub charge: Charge,
    /// The format of the server's messages, except for the byte order.
    pub format: Format,
}

impl ReceivedReply {
    /// The reply in a message of the caller's own ORB, written in that format; `None` if it is not
    /// a reply.
    #[must_use]
    pub fn in_process(mut octets: Vec<u8>, format: Format) -> Option<Self> {
        let (header, body) = octets.split_first_chunk_mut::<HEADER_LEN>()?;
        let header = MessageHeader::parse(header).ok()?;
        let mut reader = header.reader(body);
        let status = ReplyHeader::read(&mut reader, header.version.minor)
            .ok()?
            .status;
        let body = reader.position();
        Some(Self {
            header,
            status,
            body,
            octets,
            seams: Vec::new(),
            charge: Charge::default(),
            format,
        })
    }

    fn body_format(&self) -> Format {
        Format {
            minor: self.header.format().minor,
            ..self.format.with_order(self.header.order)
        }
    }

    fn read<T>(
        &mut self,
        decoding: Option<&Decoding>,
        read: impl FnOnce(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Result<T, CdrError> {
        let format = self.body_format();
        let octets = self.octets.get_mut(self.body..).unwrap_or_default();
        let mut reader = CdrReader::at(octets, self.body, format);
        reader.set_fragment_boundaries(&self.seams);
        if let Some(decoding) = decoding {
            decoding.apply(&mut reader);
        }
        read(&mut reader)
    }

    /// The outcome of a reply without results; `None` if it has an answer.
    pub fn outcome(&mut self, decoding: Option<&Decoding>) -> Option<Outcome> {
        match self.status {
            ReplyStatus::NoException | ReplyStatus::UserException => None,
            status => {
                let outcome = self.read(decoding, |reader| outcome_of(status, reader));
                Some(outcome.unwrap_or_else(|_| Outcome::malformed()))
            }
        }
    }

    /// The repository id of its user exception.
    pub fn exception_id(&self) -> Option<String> {
        // The rest of the exception is not read.
        const MAX_ID_LENGTH: usize = 1024;
        let end = self.octets.len().min(self.body + MAX_ID_LENGTH);
        let mut octets = self.octets.get(self.body..end)?.to_vec();
        let mut reader = CdrReader::at(&mut octets, self.body, self.body_format());
        reader.set_fragment_boundaries(&self.seams);
        reader.read_owned_name().ok()
    }

    /// Shows its contents to interceptors of a dynamic call.
    #[cold]
    pub fn show(&self, decoding: &Decoding, facts: &DynamicInvocation) {
        // A reader converts foreign byte order in place, and the caller reads it again.
        let mut octets = self.octets.get(self.body..).unwrap_or_default().to_vec();
        let mut reader = CdrReader::at(&mut octets, self.body, self.body_format());
        reader.set_fragment_boundaries(&self.seams);
        decoding.apply(&mut reader);
        facts.read_reply(self.status == ReplyStatus::UserException, &mut reader);
    }

    /// The outcome of its call, for interceptors.
    pub fn call_outcome(&self) -> CallOutcome {
        match self.status {
            ReplyStatus::UserException => {
                CallOutcome::UserException(self.exception_id().unwrap_or_default().into())
            }
            _ => CallOutcome::Results,
        }
    }

    /// Its service contexts.
    pub fn contexts(&mut self) -> ContextList {
        contexts_of(&self.header, &mut self.octets, &self.seams)
    }

    /// The end of its call, for the metrics.
    pub fn end(&self) -> (End, Option<SystemException>) {
        match self.status {
            ReplyStatus::UserException => (End::UserException, None),
            _ => (End::Results, None),
        }
    }

    /// The results or the user exception; or the exception for undecodable ones, with the reason.
    pub fn into_result<T, E: Raises>(
        self,
        decoding: &Decoding,
        mut results: impl FnMut(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Result<Result<T, E>, (SystemException, String)> {
        let outcome = TypedOutcome::new();
        // Both are in the outcome, including an exception of a type without a static id.
        let _ = self.read_by(decoding, &mut outcome.read_by(&mut results))?;
        Ok(outcome.ended(Ok(())))
    }

    /// Reads the results or the user exception.
    ///
    /// # Errors
    /// The exception for undecodable ones, with the reason.
    pub(crate) fn read_by(
        mut self,
        decoding: &Decoding,
        reply: &mut dyn ReplyReader,
    ) -> Result<Result<(), ExceptionId>, (SystemException, String)> {
        if self.status == ReplyStatus::UserException {
            let raised = self.read(Some(decoding), |reader| {
                let id = reader.read_owned_name()?;
                reply.read_exception(&id, reader)
            });
            return raised_as(raised)
                .map(Err)
                .map_err(|exception| (exception, exception.to_string()));
        }
        let read = self.read(Some(decoding), |reader| reply.read_results(reader));
        read.map(Ok).map_err(|error| {
            let exception = SystemException::from_cdr(error, Completion::Yes);
            (exception, unreadable(error))
        })
    }
}
