// SPDX-License-Identifier: MIT OR Apache-2.0
//! Record of the events that a consumer has received from several sources.

/// The deliveries of an event.
#[derive(Clone, Debug, Default)]
struct Delivered {
    /// Where the stream has it, by its first delivery.
    place: u64,
    times: u64,
    /// A delivery names another place.
    is_doubled: bool,
}

/// The deliveries of events that sources have numbered from 0.
pub(crate) struct Arrived {
    by_source: Vec<Vec<Delivered>>,
    events: usize,
}

impl Arrived {
    /// Of sources from 1.
    pub(crate) fn new(sources: usize) -> Self {
        Self {
            by_source: vec![Vec::new(); sources],
            events: 0,
        }
    }

    /// A delivery of that place in the stream.
    pub(crate) fn add(&mut self, (source, number): (usize, usize), place: u64) {
        let of_source = &mut self.by_source[source - 1];
        if of_source.len() <= number {
            of_source.resize(number + 1, Delivered::default());
        }
        let event = &mut of_source[number];
        match event.times {
            0 => {
                event.place = place;
                self.events += 1;
            }
            _ => event.is_doubled |= event.place != place,
        }
        event.times += 1;
    }

    /// Events that were delivered.
    pub(crate) fn events(&self) -> usize {
        self.events
    }

    pub(crate) fn deliveries(&self) -> u64 {
        self.by_source.iter().flatten().map(|it| it.times).sum()
    }

    /// Every event was delivered, those of a source stand in their order, and nothing else is in the stream.
    pub(crate) fn assert_complete(&self, pushed: &[usize]) {
        let mut places = Vec::new();
        for (source, (of_source, pushed)) in self.by_source.iter().zip(pushed).enumerate() {
            assert_eq!(of_source.len(), *pushed, "source {}", source + 1);
            for (number, event) in of_source.iter().enumerate() {
                let is_once = event.times > 0 && !event.is_doubled;
                assert!(is_once, "source {}, {number}: {event:?}", source + 1);
            }
            let of_source = of_source.iter().map(|it| it.place);
            assert!(of_source.clone().is_sorted(), "source {}", source + 1);
            places.extend(of_source);
        }
        places.sort_unstable();
        let all = 1..=places.len() as u64;
        assert!(places.into_iter().eq(all), "the stream has other messages");
    }
}
