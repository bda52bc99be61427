// SPDX-License-Identifier: MIT OR Apache-2.0
//! Synthetic video from a sender to any number of receivers.
//!
//!     media receive [ENDPOINT]        prints a reference, then what it received
//!     media send REFERENCE [FRAMES]   sends 250 frames, 25 each second
//!     media                           both in one process, as fast as it goes
//!
//! The sender leaves out one picture in ten of those that no other needs, as one
//! does whose encoder is late; the receiver counts what it misses. ENDPOINT is
//! `diop://127.0.0.1:0`, or a group such as
//! `miop://239.255.0.9:5009?interface=lo`.

mod video;

use std::error::Error;
use std::io::Write;
use std::time::{Duration, Instant};
use std::{env, io, thread};

use orbium::Orb;
use orbium::media::{FrameKind, MediaError, MediaOptions, MediaReceiver, MediaSender, Time};

type Outcome = Result<(), Box<dyn Error>>;

const FRAMES: u32 = 250;

/// The time between two pictures.
const PERIOD: Duration = Duration::from_millis(40);

/// How long to wait for a sender, and after it fell silent.
const PATIENCE: Duration = Duration::from_secs(10);

fn main() -> Outcome {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [] => both(),
        ["receive"] => receive("diop://127.0.0.1:0"),
        ["receive", endpoint] => receive(endpoint),
        ["send", reference] => send(reference, FRAMES),
        ["send", reference, frames] => send(reference, frames.parse()?),
        _ => Err("usage: media [receive [ENDPOINT] | send REFERENCE [FRAMES]]".into()),
    }
}

fn both() -> Outcome {
    let orb = Orb::builder().build()?;
    let receiver = MediaReceiver::bind(&orb, "diop://127.0.0.1:0", MediaOptions::default())?;
    let mut sender = MediaSender::connect(&orb, receiver.reference())?;
    let watching = thread::spawn(move || watch(receiver).map_err(|error| error.to_string()));
    // Faster than life, but not faster than the receiver can read.
    play(&mut sender, FRAMES, Duration::from_millis(2))?;
    Ok(watching.join().map_err(|_| "the receiver panicked")??)
}

fn receive(endpoint: &str) -> Outcome {
    let orb = Orb::builder().build()?;
    let receiver = MediaReceiver::bind(&orb, endpoint, MediaOptions::default())?;
    println!("{}", orb.object_to_string(receiver.reference()));
    io::stdout().flush()?;
    watch(receiver)
}

fn send(reference: &str, frames: u32) -> Outcome {
    let orb = Orb::builder().build()?;
    let reference = orb.string_to_object(reference)?.ok_or("nil")?;
    let mut sender = MediaSender::connect(&orb, &reference)?;
    println!("to {}", sender.channel());
    play(&mut sender, frames, PERIOD)
}

/// Sends the video, then its end, some times: one of them will arrive.
fn play(sender: &mut MediaSender, frames: u32, period: Duration) -> Outcome {
    let start = Instant::now();
    let mut picture = Vec::new();
    let mut left_out = 0;
    for number in 0..frames {
        let due = start + period * number;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let kind = video::kind(number);
        if kind == FrameKind::Bidirectional && number % 10 == 7 {
            sender.skip();
            left_out += 1;
            continue;
        }
        video::draw(number, &mut picture);
        let time = Time::Ticks(u64::from(number) * video::TICKS);
        sender.send(kind, time, &picture)?;
    }
    for _ in 0..10 {
        thread::sleep(PERIOD);
        let time = Time::Ticks(u64::from(frames) * video::TICKS);
        sender.send(FrameKind::End, time, &[])?;
    }
    println!("sent {} frames, left out {left_out}", frames - left_out);
    Ok(())
}

/// Receives until the end, or until the sender has fallen silent.
fn watch(mut receiver: MediaReceiver) -> Outcome {
    receiver.set_timeout(Some(PATIENCE))?;
    let (mut frames, mut late, mut damaged, mut octets) = (0, 0, 0, 0);
    let mut missed = 0_u32;
    let ended = loop {
        let frame = match receiver.receive() {
            Ok(frame) => frame,
            Err(MediaError::TimedOut) => break "the sender fell silent",
            Err(error) => return Err(error.into()),
        };
        missed += frame.missing();
        if frame.is_late() {
            late += 1;
            missed = missed.saturating_sub(1);
        }
        if frame.kind() == FrameKind::End {
            // Ends that were lost before this one are no pictures.
            let pictures = video::pictures_before(frame.time());
            missed -= frame
                .missing()
                .min(frame.sequence().saturating_sub(pictures));
            break "the end";
        }
        frames += 1;
        octets += frame.len();
        damaged += u32::from(!video::is_intact(frame.sequence(), &frame));
    };
    let statistics = receiver.statistics();
    println!("{ended}: {frames} frames of {octets} octets, {damaged} damaged");
    println!("{missed} missed, {late} late");
    println!(
        "datagrams: {} twice, {} too late, {} refused; {} octets copied",
        statistics.stream.duplicates,
        statistics.stream.stale,
        statistics.refused,
        statistics.copied
    );
    Ok(())
}
