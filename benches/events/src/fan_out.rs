// SPDX-License-Identifier: MIT OR Apache-2.0
//! The latency of one consumer alone, and as the one of high priority among many.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use orbium::{Orb, Scheduling, give_scheduling};
use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
use orbium_event::{Pattern, RemoteConsumer, connect_scheduled_consumer, connect_supplier};

use crate::serve::{HIGH, LOW, URGENT};
use crate::{FanOutArgs, Outcome, PATIENCE, event, median, orb, show};

/// Before the first event that is measured.
const WARM_UP: usize = 50;

/// Measures latencies alone and among many in turns.
pub(crate) fn run(args: &FanOutArgs) -> Outcome {
    let others_orb = orb()?;
    // The threads of the high-priority consumer's ORB inherit what this one has.
    if let Err(error) = give_scheduling(Scheduling::fifo(URGENT)) {
        eprintln!("without native priorities: {error}");
    }
    let fan_out = FanOut::connect(&args.channel)?;
    let (mut alone, mut among, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..args.runs.get() {
        let one = fan_out.median(args, 0)?;
        let others = fan_out.connect_others(&others_orb, &args.channel, args.consumers)?;
        let many = fan_out.median(args, others.len())?;
        for other in others {
            other.disconnect()?;
        }
        alone.push(one);
        among.push(many);
        ratios.push(many / one);
    }
    show("alone", "us", alone);
    show(&format!("among {}", args.consumers), "us", among);
    show("ratio", "", ratios);
    Ok(())
}

/// A supplier, the high-priority consumer, and what the others count.
struct FanOut {
    supplier: orbium_event::RemoteSupplier,
    arrived: mpsc::Receiver<Instant>,
    others: Arc<AtomicUsize>,
    // Their threads serve the consumer.
    _orb: Orb,
}

impl FanOut {
    fn connect(channel: &str) -> Outcome<Self> {
        let orb = orb()?;
        let channel: EventChannel = orb.resolve(channel)?;
        let (send, arrived) = mpsc::channel();
        let send = std::sync::Mutex::new(send);
        let pattern = Pattern::of(16, 0);
        connect_scheduled_consumer(&orb, &channel, (&pattern, HIGH), move |_| {
            let now = Instant::now();
            if let Ok(send) = send.lock() {
                let _ = send.send(now);
            }
        })?;
        Ok(Self {
            supplier: connect_supplier(&channel, &[(16, 1)])?,
            arrived,
            others: Arc::default(),
            _orb: orb,
        })
    }

    /// Connects all consumers but the one of high priority.
    fn connect_others(
        &self,
        orb: &Orb,
        channel: &str,
        consumers: usize,
    ) -> Outcome<Vec<RemoteConsumer>> {
        let channel: EventChannel = orb.resolve(channel)?;
        let connect = |_| {
            let count = Arc::clone(&self.others);
            let pattern = Pattern::of(16, 0);
            let consumer = connect_scheduled_consumer(orb, &channel, (&pattern, LOW), move |_| {
                count.fetch_add(1, Ordering::Release);
            });
            Ok(consumer?)
        };
        (1..consumers).map(connect).collect()
    }

    /// The median of events, each of which all consumers get before the next; in microseconds.
    fn median(&self, args: &FanOutArgs, others: usize) -> Outcome<f64> {
        let set = [event(args.bytes)];
        let mut times = Vec::with_capacity(args.events.get());
        let mut last = Instant::now();
        for number in 0..WARM_UP + args.events.get() {
            // Alone as among many, what the last event left in the caches is some time old.
            let due = last + Duration::from_micros(args.period);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            self.others.store(0, Ordering::Release);
            let begin = Instant::now();
            last = begin;
            self.supplier.push(&set)?;
            let end = self.arrived.recv_timeout(PATIENCE)?;
            while self.others.load(Ordering::Acquire) < others {
                if begin.elapsed() > PATIENCE {
                    return Err("the other consumers do not get an event".into());
                }
                std::thread::sleep(Duration::from_micros(50));
            }
            if number >= WARM_UP {
                times.push(end.duration_since(begin));
            }
        }
        Ok(median(times))
    }
}
