// SPDX-License-Identifier: MIT OR Apache-2.0
//! The latency of one consumer alone, as the high-priority one among many, and alternating with
//! events for the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use orbium::{
    Orb,
    lane::{Scheduling, set_thread_scheduling},
};
use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
use orbium_event::{Pattern, RemoteConsumer, connect_scheduled_consumer, connect_supplier};

use crate::serve::{HIGH, LOW, URGENT};
use crate::{FanOutArgs, Outcome, PATIENCE, event, median, orb, show};

/// Events before the first measured one.
const WARM_UP: usize = 50;

/// The type of measured events, and of those for the other consumers only.
const MEASURED: i32 = 16;
const SEPARATE: i32 = 17;

/// Measures latencies alone, among many and alternating with events for many.
pub(crate) fn run(args: &FanOutArgs) -> Outcome {
    let others_orb = orb()?;
    // The threads of the high-priority consumer's ORB inherit the scheduling of this one.
    if let Err(error) = set_thread_scheduling(Scheduling::fifo(URGENT)) {
        eprintln!("without native priorities: {error}");
    }
    let fan_out = FanOut::connect(&args.channel)?;
    let (mut alone, mut among, mut after) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..args.runs.get() {
        alone.push(fan_out.median(args, (MEASURED, 0))?);
        for (r#type, medians) in [(MEASURED, &mut among), (SEPARATE, &mut after)] {
            let others = fan_out.connect_others(&others_orb, args, r#type)?;
            medians.push(fan_out.median(args, (r#type, others.len()))?);
            for other in others {
                other.disconnect()?;
            }
        }
    }
    let over = |those: &[f64]| {
        among
            .iter()
            .zip(those)
            .map(|(it, that)| it / that)
            .collect()
    };
    let (ratio, of_sharing) = (over(&alone), over(&after));
    show("alone", "us", alone);
    show(&format!("among {}", args.consumers), "us", among);
    let others = args.consumers.saturating_sub(1);
    show(&format!("after an event of {others} others"), "us", after);
    show("ratio", "", ratio);
    show("ratio to the latency after the others", "", of_sharing);
    Ok(())
}

/// A supplier, the high-priority consumer, and the counts of the others.
struct FanOut {
    supplier: orbium_event::RemoteSupplier,
    arrived: mpsc::Receiver<Instant>,
    others: Arc<AtomicUsize>,
    // Its threads serve the consumer.
    _orb: Orb,
}

impl FanOut {
    fn connect(channel: &str) -> Outcome<Self> {
        let orb = orb()?;
        let channel: EventChannel = orb.resolve(channel)?;
        let (send, arrived) = mpsc::channel();
        let send = std::sync::Mutex::new(send);
        let pattern = Pattern::of(MEASURED, 0);
        connect_scheduled_consumer(&orb, &channel, (&pattern, HIGH), move |_| {
            let now = Instant::now();
            if let Ok(send) = send.lock() {
                let _ = send.send(now);
            }
        })?;
        Ok(Self {
            supplier: connect_supplier(&channel, &[(MEASURED, 1), (SEPARATE, 1)])?,
            arrived,
            others: Arc::default(),
            _orb: orb,
        })
    }

    /// Connects all consumers except the high-priority one, for events of that type.
    fn connect_others(
        &self,
        orb: &Orb,
        args: &FanOutArgs,
        r#type: i32,
    ) -> Outcome<Vec<RemoteConsumer>> {
        let channel: EventChannel = orb.resolve(&args.channel)?;
        let connect = |_| {
            let count = Arc::clone(&self.others);
            let pattern = Pattern::of(r#type, 0);
            let consumer = connect_scheduled_consumer(orb, &channel, (&pattern, LOW), move |_| {
                count.fetch_add(1, Ordering::Release);
            });
            Ok(consumer?)
        };
        (1..args.consumers).map(connect).collect()
    }

    /// The median latency of events, each of which all consumers get before the next; in
    /// microseconds. If the others get events of another type, one precedes each measured event.
    fn median(&self, args: &FanOutArgs, (r#type, others): (i32, usize)) -> Outcome<f64> {
        let measured = [event(args.bytes)];
        let mut separate = measured.clone();
        separate[0].header.r#type = SEPARATE;
        let mut times = Vec::with_capacity(args.events.get());
        let mut last = Instant::now();
        for number in 0..WARM_UP + args.events.get() {
            // Alone as well as among many, the cache contents of the last event are some time old.
            let due = last + Duration::from_micros(args.period);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            if r#type == SEPARATE {
                self.supplier.push(&separate)?;
                self.wait_for(others)?;
            }
            let begin = Instant::now();
            last = begin;
            self.supplier.push(&measured)?;
            let end = self.arrived.recv_timeout(PATIENCE)?;
            if r#type == MEASURED {
                self.wait_for(others)?;
            }
            if number >= WARM_UP {
                times.push(end.duration_since(begin));
            }
        }
        Ok(median(times))
    }

    /// Waits until so many others have an event.
    fn wait_for(&self, others: usize) -> Outcome {
        let begin = Instant::now();
        while self.others.load(Ordering::Acquire) < others {
            if begin.elapsed() > PATIENCE {
                return Err("the other consumers do not get an event".into());
            }
            std::thread::sleep(Duration::from_micros(50));
        }
        self.others.store(0, Ordering::Release);
        Ok(())
    }
}
