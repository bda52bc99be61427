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

#[derive(Debug)]
pub(crate) struct DeliveryQueue {
    deliveries: VecDeque<Delivery>,
    octets: usize,
    charge: Charge,
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
            charge: budget.charge(),
            is_first_said: false,
            room: Vec::new(),
            waker: None,
            has_ended: false,
        }
    }

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
                Ok(whole) => self.push(Delivery::Whole(whole)),
                Err(Some(refused)) => self.add_event(Ok(Event::Refused(refused))),
                Err(None) => self.end(),
            }
            return;
        }
        if !self.append(giop.message(header).0) {
            self.charge.budget().count_refused();
            self.end();
        }
        giop.consume(header);
    }

    /// Adds a message in one piece; `false` if it is too large to be copied, no memory is
    /// available, or the queue has ended.
    pub(crate) fn append(&mut self, message: &[u8]) -> bool {
        let total = self.octets + message.len();
        if message.len() > MAX_RETAINED_BUFFER
            || self.has_ended
            || total > SMALL && self.charge.set(total).is_err()
        {
            return false;
        }
        let last = Self::last(&mut self.deliveries, self.is_first_said, message.len());
        if let Some(messages) = last {
            if append(messages, message).is_err() {
                return false;
            }
            self.octets = total;
            self.wake();
        } else {
            let mut messages = std::mem::take(&mut self.room);
            messages.clear();
            if append(&mut messages, message).is_err() {
                return false;
            }
            self.push(Delivery::Messages(messages));
        }
        true
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

    /// Adds an event that is not a message.
    pub(crate) fn add_event(&mut self, event: Result<Event, Violation>) {
        if !self.has_ended {
            self.push(Delivery::Event(event));
        }
    }

    fn push(&mut self, delivery: Delivery) {
        self.octets += delivery.octets();
        self.deliveries.push_back(delivery);
        self.wake();
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
        self.octets -= delivery.octets();
        // Less is never refused.
        let _ = self.charge.set(counted(self.octets));
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
