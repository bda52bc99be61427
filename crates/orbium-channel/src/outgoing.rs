// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finished messages into a stream of octets.

use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::time::Duration;

use orbium_cdr::CdrWriter;
use orbium_giop::messaging::to_giop;
use orbium_giop::{FragmentPlan, MessageHeader, slices_within};
use orbium_sys::{Interest, wait_for};
use orbium_transport::{ByteStream, Deadline};

/// Waits until a source is ready, or the deadline has passed (`TimedOut`). A thread that
/// serves requests may do so while it waits.
pub type Wait = fn(&dyn AsFd, Interest, Deadline) -> io::Result<()>;

/// Time limit of a send to a peer that does not receive.
#[derive(Clone, Copy, Debug)]
pub enum Patience {
    /// A deadline; for a caller, which may dispatch upcalls while it waits.
    Until(Deadline, Wait),
    /// For that time from the first wait for the peer: the clock is not read before.
    For(Duration),
    /// The deadline of [`For`](Self::For) after the first wait.
    Begun(Deadline),
}

impl Patience {
    fn deadline(&mut self) -> Deadline {
        if let Self::For(time) = *self {
            *self = Self::Begun(Deadline::after(Some(time)));
        }
        match *self {
            Self::Until(deadline, _) | Self::Begun(deadline) => deadline,
            Self::For(_) => Deadline::NEVER,
        }
    }

    /// Limits the rest of a partly sent message. A blocking socket has used up its timeout, which
    /// would start again after each partial send; a caller's deadline bounds the whole.
    ///
    /// # Errors
    /// `TimedOut` after the deadline; the system's error.
    #[cold]
    fn mind(self, stream: &dyn ByteStream) -> io::Result<()> {
        let Self::Until(deadline, _) = self else {
            return Ok(());
        };
        match deadline.remaining()? {
            Some(left) if stream.counts_in_ticks() => stream.set_timeouts(None, Some(Some(left))),
            _ => Ok(()),
        }
    }
}

/// Most buffers handed to the kernel at once.
const MAX_PIECES: usize = 16;

/// Sends a message whole, in fragments above `fragment_size` if there is one. `patience` is called
/// only if one send may not suffice.
#[inline]
pub fn send(
    stream: &dyn ByteStream,
    message: &CdrWriter<'_>,
    fragment_size: Option<usize>,
    patience: impl FnOnce() -> Patience,
) -> io::Result<()> {
    match fragment_size {
        Some(size) if message.len() > size => send_fragments(stream, message, size, patience()),
        _ => send_message(stream, message, patience),
    }
}

/// Sends a message whole, before the deadline.
#[inline]
fn send_message(
    stream: &dyn ByteStream,
    message: &CdrWriter<'_>,
    patience: impl FnOnce() -> Patience,
) -> io::Result<()> {
    if message.is_gathered() {
        return send_gathered(stream, message, patience());
    }
    orbium_trace::probe!(TransportSend);
    let outcome = stream.send(message.written());
    orbium_trace::probe!(IoSend);
    match outcome {
        Ok(sent) if sent == message.len() => Ok(()),
        outcome => send_rest(stream, message, outcome, patience()),
    }
}

fn send_gathered(
    stream: &dyn ByteStream,
    message: &CdrWriter<'_>,
    patience: Patience,
) -> io::Result<()> {
    send_pieces(stream, &[], &mut message.pieces(), patience)
}

/// Sends the rest of a message in one piece after a first attempt with that outcome.
#[cold]
fn send_rest(
    stream: &dyn ByteStream,
    message: &CdrWriter<'_>,
    outcome: io::Result<usize>,
    mut patience: Patience,
) -> io::Result<()> {
    let octets = message.written();
    match outcome {
        Ok(sent) => {
            patience.mind(stream)?;
            send_octets(stream, &octets[sent..], patience)
        }
        Err(error) => {
            wait_if_full(stream, error, &mut patience)?;
            send_octets(stream, octets, patience)
        }
    }
}

/// Sends octets whole.
#[cold]
pub fn send_octets(
    stream: &dyn ByteStream,
    mut octets: &[u8],
    mut patience: Patience,
) -> io::Result<()> {
    while !octets.is_empty() {
        match stream.send(octets) {
            Ok(sent) if sent < octets.len() => {
                patience.mind(stream)?;
                octets = &octets[sent..];
            }
            Ok(_) => return Ok(()),
            Err(error) => wait_if_full(stream, error, &mut patience)?,
        }
    }
    Ok(())
}

/// Sends octets from several places, whole and in order; `head` before them.
fn send_pieces<'p>(
    stream: &dyn ByteStream,
    head: &'p [u8],
    pieces: &mut dyn Iterator<Item = &'p [u8]>,
    patience: Patience,
) -> io::Result<()> {
    let mut slices = [IoSlice::new(&[]); MAX_PIECES];
    slices[0] = IoSlice::new(head);
    let mut count = usize::from(!head.is_empty());
    for piece in pieces {
        if count == MAX_PIECES {
            send_slices(stream, &mut slices[..count], patience)?;
            count = 0;
        }
        slices[count] = IoSlice::new(piece);
        count += 1;
    }
    send_slices(stream, &mut slices[..count], patience)
}

fn send_slices(
    stream: &dyn ByteStream,
    mut slices: &mut [IoSlice<'_>],
    mut patience: Patience,
) -> io::Result<()> {
    while !slices.is_empty() {
        orbium_trace::probe!(TransportSend);
        let sent = stream.send_vectored(slices);
        orbium_trace::probe!(IoSend);
        match sent {
            Ok(sent) => {
                IoSlice::advance_slices(&mut slices, sent);
                if !slices.is_empty() {
                    patience.mind(stream)?;
                }
            }
            Err(error) => wait_if_full(stream, error, &mut patience)?,
        }
    }
    Ok(())
}

/// Sends a message in GIOP 1.2 fragments of at most `size` octets.
#[cold]
fn send_fragments(
    stream: &dyn ByteStream,
    message: &CdrWriter<'_>,
    size: usize,
    patience: Patience,
) -> io::Result<()> {
    if let Some((plan, whole)) = short_plan(message, size) {
        for part in plan {
            let mut body = [&whole[part.range.clone()]].into_iter();
            send_pieces(stream, part.head(), &mut body, patience)?;
        }
        return Ok(());
    }
    let Some(plan) = FragmentPlan::new(message.written(), message.len(), size) else {
        // GIOP 1.0 and 1.1: not fragmented.
        return send_message(stream, message, || patience);
    };
    for part in plan {
        let mut body = slices_within(message.pieces(), part.range.clone());
        send_pieces(stream, part.head(), &mut body, patience)?;
    }
    Ok(())
}

/// The fragments of a message with a short header, and the message to be fragmented: the same with
/// a GIOP header.
fn short_plan(message: &CdrWriter<'_>, size: usize) -> Option<(FragmentPlan, Vec<u8>)> {
    MessageHeader::parse_short(message.written().first_chunk()?)?;
    let frame: Vec<_> = message.pieces().collect();
    let whole = to_giop(&frame.concat())?;
    Some((FragmentPlan::new(&whole, whole.len(), size)?, whole))
}

/// Waits until a stream, blocking or not, accepts octets again.
#[cold]
fn wait_if_full(
    stream: &dyn ByteStream,
    error: io::Error,
    patience: &mut Patience,
) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::Interrupted => return Ok(()),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {}
        _ => return Err(error),
    }
    let deadline = patience.deadline();
    let left = deadline.remaining()?;
    let sending = stream.sending_source();
    let source: &dyn AsFd = match &sending {
        Some(sending) => sending,
        None => stream.source(),
    };
    if let Patience::Until(_, wait) = patience {
        wait(source, Interest::Write, deadline)?;
        return patience.mind(stream);
    }
    match wait_for([(source, Interest::Write)], left)? {
        [true] => Ok(()),
        [false] => deadline.remaining().map(|_| ()),
    }
}

/// Appends a message in fragments to octets that are sent later.
pub fn fragments_into(out: &mut Vec<u8>, message: &CdrWriter<'_>, size: usize) {
    if let Some((plan, whole)) = short_plan(message, size) {
        for part in plan {
            out.extend_from_slice(part.head());
            out.extend_from_slice(&whole[part.range.clone()]);
        }
        return;
    }
    match FragmentPlan::new(message.written(), message.len(), size) {
        None => message
            .pieces()
            .for_each(|piece| out.extend_from_slice(piece)),
        Some(plan) => {
            for part in plan {
                out.extend_from_slice(part.head());
                slices_within(message.pieces(), part.range.clone())
                    .for_each(|piece| out.extend_from_slice(piece));
            }
        }
    }
}
