// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replies that come in fragments: put together, and charged to the budget.

use orbium_channel::framing::{Framing, refusal};
use orbium_channel::peer_memory::{Budget, Charge};
use orbium_channel::receive_buffer::SMALL;
use orbium_giop::{
    Assembled, FragmentError, HEADER_LEN, MessageHeader, MessageKind, Reassembly, ReassemblyLimits,
};

/// The messages in assembly of a connection to a server.
#[derive(Debug)]
pub(crate) struct Assembly {
    reassembly: Reassembly,
    charge: Charge,
}

/// A message put together, and what is charged for it.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) message: Assembled,
    pub(crate) charge: Charge,
}

impl Assembly {
    pub(crate) fn new(limits: ReassemblyLimits, budget: &Budget) -> Self {
        Self {
            reassembly: Reassembly::new(limits),
            charge: budget.charge(),
        }
    }

    /// Takes the message with that header out of the framing. Returns the message
    /// that is complete with it, or the reply that stands for one for which there is
    /// no memory: what else comes of that one is passed over.
    ///
    /// # Errors
    /// The fragment is not in order, exceeds a limit, or there is no memory for what
    /// cannot be answered so.
    #[cold]
    pub(crate) fn accept(
        &mut self,
        header: &MessageHeader,
        framing: &mut Framing,
    ) -> Result<Option<Whole>, FragmentError> {
        let more = header.size as usize;
        let total = self.reassembly.octets().saturating_add(more);
        let charged = total <= SMALL || self.charge.set(total).is_ok();
        let body = &framing.message(header)[HEADER_LEN..];
        let added = match charged {
            true => self.reassembly.accept(header, body),
            false => Err(FragmentError::NoMemory(None)),
        };
        let added = match added {
            Ok(None) => Ok(None),
            Ok(Some(message)) => Ok(Some(self.charged(message))),
            Err(FragmentError::NoMemory(dropped)) => {
                framing.budget().count_refused();
                let body = &framing.message(header)[HEADER_LEN..];
                self.refuse(header, body, dropped)
            }
            Err(error) => Err(error),
        };
        framing.consume(header);
        self.charge_rest();
        added
    }

    /// Gives up the message that a Fragment continues for which the framing has no
    /// memory, and drops the Fragment.
    ///
    /// # Errors
    /// There is no memory for what cannot be answered.
    #[cold]
    pub(crate) fn skip(&mut self, framing: &mut Framing) -> Result<Option<Whole>, FragmentError> {
        let header = framing.header().ok().flatten();
        let Some(header) = header.filter(|it| it.kind == MessageKind::Fragment) else {
            return Err(FragmentError::NoMemory(None));
        };
        let refused = self.refuse(&header, &framing.received()[HEADER_LEN..], None);
        framing.skip();
        self.charge_rest();
        refused
    }

    /// The reply in place of the message that the fragment is of. `dropped` is its
    /// id, if it is in assembly no more.
    fn refuse(
        &mut self,
        header: &MessageHeader,
        body: &[u8],
        dropped: Option<u32>,
    ) -> Result<Option<Whole>, FragmentError> {
        // Without an id in its fragments, what follows would mean nothing.
        if header.version.minor < 2 {
            return Err(FragmentError::NoMemory(None));
        }
        let id = body.first_chunk().map(|id| u32_from(*id, header));
        let begun = self.reassembly.give_up(header, body);
        let kind = match (header.kind, begun) {
            (MessageKind::Fragment, Some((first, _))) => first.kind,
            (MessageKind::Fragment, None) if dropped.is_some() => MessageKind::Reply,
            // The rest of a message that was given up.
            (MessageKind::Fragment, None) => return Ok(None),
            (kind, _) => kind,
        };
        match id {
            Some(id) if kind == MessageKind::Reply => Ok(Some(Whole {
                message: Assembled {
                    octets: refusal(header, id),
                    seams: Vec::new(),
                },
                charge: Charge::default(),
            })),
            id => Err(FragmentError::NoMemory(id)),
        }
    }

    /// A message that is complete, with its part of the charge.
    fn charged(&mut self, message: Assembled) -> Whole {
        let empty = self.charge.budget().charge();
        let mut charge = std::mem::replace(&mut self.charge, empty);
        // Less is never refused.
        let _ = charge.set(counted(message.octets.len()));
        Whole { message, charge }
    }

    /// Charges what is still in assembly.
    fn charge_rest(&mut self) {
        let _ = self.charge.set(counted(self.reassembly.octets()));
    }
}

/// What of so many octets is charged.
fn counted(octets: usize) -> usize {
    if octets <= SMALL { 0 } else { octets }
}

fn u32_from(octets: [u8; 4], header: &MessageHeader) -> u32 {
    match header.order {
        orbium_cdr::ByteOrder::Big => u32::from_be_bytes(octets),
        orbium_cdr::ByteOrder::Little => u32::from_le_bytes(octets),
    }
}
