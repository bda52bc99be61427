// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queue of deliveries to one half, in order, charged to the budget of peers.

use std::collections::VecDeque;
use std::sync::Arc;

use orbium_channel::connection::{Connection, Delivery, Event, Violation};
use orbium_channel::peer_memory::{Budget, Charge, SMALL, append, counted};
use orbium_channel::receive_buffer::MAX_RETAINED_BUFFER;
use orbium_giop::{HEADER_LEN, MessageHeader};
use orbium_sys::Waker;

/// Maximum bytes of messages that are delivered together, unless a single one has more.
const MAX_TOGETHER: usize = 16 * 1024;

/// Places that an empty queue retains.
const RETAINED_PLACES: usize = 64;

/// Bytes that a queue is charged for.
#[derive(Debug)]
struct Charged {
    octets: usize,
    charge: Charge,
}

impl Charged {
    /// Charges more; `false` if there is no memory for it.
    fn add(&mut self, octets: usize) -> bool {
        let total = self.octets + octets;
        if total > SMALL && self.charge.set(total).is_err() {
            return false;
        }
        self.octets = total;
        true
    }

    fn remove(&mut self, octets: usize) {
        self.octets -= octets;
        // Less is never refused.
        let _ = self.charge.set(counted(self.octets));
    }
}

#[derive(Debug)]
pub(crate) struct DeliveryQueue {
    deliveries: VecDeque<Delivery>,
    /// Memory of the deliveries.
    octets: usize,
    charged: Charged,
    /// Whether the size of the first delivery was reported, so that nothing is added to it.
    is_first_said: bool,
    /// Memory for the next messages.
    room: Vec<u8>,
    waker: Option<Arc<Waker>>,
    has_ended: bool,
}

impl DeliveryQueue {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self {
            deliveries: VecDeque::new(),
            octets: 0,
            charged: Charged {
                octets: 0,
                charge: budget.charge(),
            },
            is_first_said: false,
            room: Vec::new(),
            waker: None,
            has_ended: false,
        }
    }

    /// Bytes of memory that the deliveries take.
    pub(crate) fn octets(&self) -> usize {
        self.octets
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Takes the message with that header out of its connection; if there is no memory for it, the
    /// queue ends.
    pub(crate) fn add(&mut self, giop: &mut Connection, header: &MessageHeader) {
        let octets = HEADER_LEN + header.size as usize;
        if self.has_ended {
            return giop.consume(header);
        }
        if giop.came_in_fragments() || octets > MAX_RETAINED_BUFFER {
            match giop.take(header, Vec::new()) {
                Ok(whole) => self.add_charged(Delivery::Whole(whole)),
                Err(Some(refused)) => self.add_event(Ok(Event::Refused(refused))),
                Err(None) => self.end(),
            }
            return;
        }
        if !self.append(giop.message(header).0) {
            self.refuse();
        }
        giop.consume(header);
    }

    /// Adds a message in one piece; `false` if it is too large to be copied, no memory is
    /// available, or the queue has ended.
    pub(crate) fn append(&mut self, message: &[u8]) -> bool {
        if message.len() > MAX_RETAINED_BUFFER || self.has_ended {
            return false;
        }
        let last = Self::last(&mut self.deliveries, self.is_first_said, message.len());
        if let Some(messages) = last {
            if !self.charged.add(message.len()) || append(messages, message).is_err() {
                return false;
            }
            self.octets += message.len();
            self.wake();
            return true;
        }
        if !self.charged.add(size_of::<Delivery>() + message.len()) {
            return false;
        }
        let mut messages = std::mem::take(&mut self.room);
        messages.clear();
        append(&mut messages, message).is_ok() && self.push(Delivery::Messages(messages))
    }

    /// The batch of messages to which one with that many bytes is appended.
    fn last(
        deliveries: &mut VecDeque<Delivery>,
        is_first_said: bool,
        octets: usize,
    ) -> Option<&mut Vec<u8>> {
        if is_first_said && deliveries.len() == 1 {
            return None;
        }
        match deliveries.back_mut()? {
            Delivery::Messages(messages) => {
                (messages.len() + octets <= MAX_TOGETHER).then_some(messages)
            }
            _ => None,
        }
    }

    /// Adds what is no message; without memory for it the queue ends.
    pub(crate) fn add_event(&mut self, event: Result<Event, Violation>) {
        if !self.has_ended {
            self.add_charged(Delivery::Event(event));
        }
    }

    fn add_charged(&mut self, delivery: Delivery) {
        if !self.charged.add(charged(&delivery)) || !self.push(delivery) {
            self.refuse();
        }
    }

    /// Adds a delivery that was charged; `false` without memory for its place.
    fn push(&mut self, delivery: Delivery) -> bool {
        if self.deliveries.try_reserve(1).is_err() {
            return false;
        }
        self.octets += memory(&delivery);
        self.deliveries.push_back(delivery);
        self.wake();
        true
    }

    /// There is no memory for a delivery.
    #[cold]
    fn refuse(&mut self) {
        self.charged.charge.budget().count_refused();
        self.end();
    }

    /// Ends the queue.
    pub(crate) fn end(&mut self) {
        self.has_ended = true;
        self.wake();
    }

    pub(crate) fn wake(&self) {
        if let Some(waker) = &self.waker {
            waker.wake();
        }
    }

    /// Indicates at `waker` from now on whether the queue has deliveries.
    pub(crate) fn show(&mut self, waker: &Arc<Waker>) {
        self.waker = Some(Arc::clone(waker));
    }

    /// The bytes of the next delivery.
    pub(crate) fn next(&mut self) -> Option<usize> {
        let octets = self.deliveries.front()?.octets();
        self.is_first_said = true;
        Some(octets)
    }

    /// Takes the next delivery; `room` is a buffer for later messages.
    pub(crate) fn take(&mut self, room: Vec<u8>) -> Option<Delivery> {
        let delivery = self.deliveries.pop_front()?;
        self.is_first_said = false;
        self.octets -= memory(&delivery);
        self.charged.remove(charged(&delivery));
        if self.deliveries.is_empty() && self.deliveries.capacity() > RETAINED_PLACES {
            self.deliveries = VecDeque::new();
        }
        if room.capacity() <= MAX_TOGETHER && room.capacity() > self.room.capacity() {
            self.room = room;
        }
        if let (Some(waker), true, false) =
            (&self.waker, self.deliveries.is_empty(), self.has_ended)
        {
            waker.clear();
        }
        Some(delivery)
    }
}

/// The memory of a delivery: its bytes, and its place in the queue.
fn memory(delivery: &Delivery) -> usize {
    size_of::<Delivery>() + delivery.octets()
}

/// Of that, what the queue is charged for: a large message has a charge of its own.
fn charged(delivery: &Delivery) -> usize {
    match delivery {
        Delivery::Whole(whole) if whole.message.len() > SMALL => size_of::<Delivery>(),
        _ => memory(delivery),
    }
}
