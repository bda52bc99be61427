// SPDX-License-Identifier: MIT OR Apache-2.0
//! A sender of UDP packets at the maximum rate. Each line of its input is a command: `on`, and
//! `off`, after which it prints the number of sent packets, and the time.

use std::io::BufRead;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use clap::Args;
use orbium_cli::stage::pin::PinArgs;
use orbium_cli::{Failure, output};
use serde_json::{Value, json};

/// The data of a packet, in bytes: that of a small request.
const BYTES: usize = 64;

#[derive(Debug, Args)]
pub(crate) struct PacketsArgs {
    /// Destination of the packets
    #[arg(value_name = "ADDRESS")]
    to: SocketAddr,
    #[command(flatten)]
    pin: PinArgs,
}

static SENDS: AtomicBool = AtomicBool::new(false);

/// `orbium-bench packets`: executes commands until its input ends.
pub(crate) fn run(args: &PacketsArgs) -> Result<(), Failure> {
    args.pin.apply()?;
    let mut sending: Option<JoinHandle<Value>> = None;
    output::print("READY\n")?;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| Failure::because(error.to_string()))?;
        let answer = match line.as_str() {
            "on" => {
                SENDS.store(true, Ordering::Relaxed);
                sending = Some(start(args.to)?);
                Value::Null
            }
            _ => {
                SENDS.store(false, Ordering::Relaxed);
                sending
                    .take()
                    .and_then(|thread| thread.join().ok())
                    .unwrap_or_default()
            }
        };
        output::print(&format!("{answer}\n"))?;
    }
    Ok(())
}

fn start(to: SocketAddr) -> Result<JoinHandle<Value>, Failure> {
    let socket = UdpSocket::bind(("0.0.0.0", 0))
        .map_err(|error| Failure::because(format!("no socket for packets: {error}")))?;
    Ok(thread::spawn(move || {
        let begin = Instant::now();
        let mut sent = 0_u64;
        while SENDS.load(Ordering::Relaxed) {
            // Not connected: the lack of a receiving socket is not an error here.
            sent += u64::from(socket.send_to(&[0; BYTES], to).is_ok());
        }
        json!({ "packets": sent, "seconds": begin.elapsed().as_secs_f64() })
    }))
}
