// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames of media from sender to receiver: whole, cut, lost, doubled, shuffled,
//! forged; over a transport of the test, UDP and groups.

mod assembly;
mod hostile;
mod memory;
mod sockets;

use memory::Memory;
use orbium::media::{MediaOptions, MediaReceiver, MediaSender};
use orbium::{Orb, transport::Transport};

/// An ORB that has the transport, its receiver and a sender to it.
struct Line {
    memory: Memory,
    receiver: MediaReceiver,
    sender: MediaSender,
}

impl Line {
    fn new(options: MediaOptions) -> Self {
        let memory = Memory::default();
        let builder = Orb::builder().transport(Transport::datagram(memory.clone()));
        let orb = builder.build().unwrap();
        let receiver = MediaReceiver::bind(&orb, "mem://?messaging=media", options).unwrap();
        let sender = MediaSender::connect(&orb, receiver.reference()).unwrap();
        Self {
            memory,
            receiver,
            sender,
        }
    }
}

/// Octets that differ from frame to frame and from place to place.
fn picture(sequence: u32, len: usize) -> Vec<u8> {
    let seed = sequence.wrapping_mul(0x9E37_79B9);
    (0..len as u32)
        .map(|i| (i.wrapping_mul(31) ^ seed.rotate_left(i / 256)) as u8)
        .collect()
}
