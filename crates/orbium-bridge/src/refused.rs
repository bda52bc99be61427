// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages in fragments of which the beginning was refused.

use std::collections::VecDeque;

use orbium_channel::request_id;
use orbium_giop::{MessageHeader, MessageKind};

/// Messages of which the server must not get the rest, since it has not got the beginning.
#[derive(Debug)]
pub(crate) struct Refused {
    /// Their request ids, the oldest first.
    ids: VecDeque<u32>,
    most: usize,
    /// Whether the last message was the beginning of one of GIOP 1.1, in which Fragments have no id.
    is_old: bool,
}

impl Refused {
    /// For at most that many messages: the oldest one is forgotten for a further one.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            ids: VecDeque::new(),
            most: most.max(1),
            is_old: false,
        }
    }

    /// Notes a message that is refused.
    pub(crate) fn note(&mut self, header: &MessageHeader, message: &[u8]) {
        if self.is_rest(header, message)
            || header.kind == MessageKind::Fragment
            || !header.more_fragments
        {
            return;
        }
        if header.version.minor < 2 {
            self.is_old = true;
        } else if let Some(id) = request_id(header, message) {
            if self.ids.len() >= self.most {
                self.ids.pop_front();
            }
            self.ids.push_back(id);
        }
    }

    /// Whether a message continues a refused one. Any other message with its id ends that one: it
    /// was cancelled, or the id is used again.
    pub(crate) fn is_rest(&mut self, header: &MessageHeader, message: &[u8]) -> bool {
        if self.ids.is_empty() && !self.is_old {
            return false;
        }
        let is_fragment = header.kind == MessageKind::Fragment;
        if is_fragment && header.version.minor < 2 {
            let is_rest = self.is_old;
            self.is_old &= header.more_fragments;
            return is_rest;
        }
        self.is_old = false;
        let id = request_id(header, message);
        let Some(at) = self.ids.iter().position(|it| Some(*it) == id) else {
            return false;
        };
        if !is_fragment || !header.more_fragments {
            self.ids.remove(at);
        }
        is_fragment
    }
}
