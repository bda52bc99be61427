// SPDX-License-Identifier: MIT OR Apache-2.0
//! A frame takes nothing from the heap, neither where it is sent nor where it is
//! received, whole or in fragments, borrowed or copied.

use orbium::Orb;
use orbium::media::{FrameKind, MediaOptions, MediaReceiver, MediaSender, Time};
use orbium_testkit::{Counted, PATIENCE, count_allocations, fewest_allocations, in_own_process};

const NONE: Counted = Counted {
    allocations: 0,
    octets: 0,
};

#[test]
fn a_frame_takes_nothing_from_the_heap() {
    in_own_process!(|| {
        // The counter does count.
        assert_ne!(
            count_allocations(|| drop(std::hint::black_box(Box::new(1)))),
            NONE
        );
        let orb = Orb::builder().build().unwrap();
        let options = MediaOptions::default();
        let mut receiver = MediaReceiver::bind(&orb, "diop://127.0.0.1:0", options).unwrap();
        receiver.set_timeout(Some(PATIENCE)).unwrap();
        let mut sender = MediaSender::connect(&orb, receiver.reference()).unwrap();
        let picture = vec![7; 20_000];
        let mut room = vec![0; 20_000];
        let mut frames = 0;
        for len in [100, 20_000] {
            let mut pass = |copied: bool| {
                for _ in 0..100 {
                    frames += 1;
                    let payload = &picture[..len];
                    sender
                        .send(FrameKind::Key, Time::Ticks(0), payload)
                        .unwrap();
                    if copied {
                        let info = receiver.receive_into(&mut room).unwrap();
                        assert!(room[..info.len] == *payload);
                    } else {
                        let frame = receiver.receive().unwrap();
                        assert!(*frame == *payload);
                    }
                }
            };
            pass(false);
            for copied in [false, true] {
                let counted = fewest_allocations(0, || pass(copied));
                assert_eq!(counted, NONE, "{len} octets, copied: {copied}");
            }
        }
        assert_eq!(receiver.statistics().copied, 0);
        assert_eq!(receiver.statistics().stream.frames, frames);
    });
}
