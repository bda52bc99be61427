// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium demo raw`: the raw peer, for comparison.

mod address;
mod tls;

use std::thread;
use std::time::Instant;

use clap::{Args, Subcommand};
use orbium_demo::raw::{Client, Exchange};
use serde_json::json;

pub(crate) use address::RawAddress;

use crate::failure::Failure;
use crate::output;
use crate::serving::wait_for_end_of_input;
use crate::stage::pin::PinArgs;
use crate::stage::timing::{Samples, Timing, latency, rate, thousands};
use crate::stage::together::by_threads;
use crate::tls::TlsArgs;

#[derive(Debug, Args)]
pub(crate) struct RawArgs {
    #[command(subcommand)]
    command: RawCommand,
}

#[derive(Debug, Subcommand)]
enum RawCommand {
    /// Answer with as many octets as the client requests.
    Serve(RawServeArgs),
    /// Exchange octets in a closed loop.
    Call(RawCallArgs),
}

#[derive(Debug, Args)]
struct RawServeArgs {
    /// Address to listen at: ADDRESS:PORT, tls:ADDRESS:PORT, unix:PATH, shm:MICROSECONDS:PATH
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: RawAddress,
    #[command(flatten)]
    tls: TlsArgs,
    #[command(flatten)]
    pin: PinArgs,
    /// End when standard input ends
    #[arg(long)]
    until_input_ends: bool,
}

#[derive(Debug, Args)]
struct RawCallArgs {
    /// Address of the server
    #[arg(long, value_name = "ADDRESS")]
    to: RawAddress,
    /// Octets sent
    #[arg(long, value_name = "OCTETS")]
    request: u32,
    /// Octets received
    #[arg(long, value_name = "OCTETS")]
    reply: u32,
    /// Requests that are answered by one reply
    #[arg(long, value_name = "N", default_value_t = 1)]
    every: u32,
    /// Number of exchanges
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    calls: u64,
    /// Exchange in so many threads at once, each over its own connection
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tls: TlsArgs,
    #[command(flatten)]
    pin: PinArgs,
}

pub(crate) fn run(args: &RawArgs) -> Result<(), Failure> {
    match &args.command {
        RawCommand::Serve(args) => run_server(args),
        RawCommand::Call(args) => run_client(args),
    }
}

fn run_server(args: &RawServeArgs) -> Result<(), Failure> {
    args.pin.apply()?;
    let failed = |error| Failure::because(format!("cannot listen at {}: {error}", args.listen));
    let listener = args.listen.listen(&args.tls).map_err(failed)?;
    let address = listener.address().map_err(failed)?;
    output::print(&format!("{address}\nREADY\n"))?;
    let failed = |error| Failure::because(format!("the raw server failed: {error}"));
    if !args.until_input_ends {
        return listener.serve().map_err(failed);
    }
    // Connections have threads of their own, and end with the process.
    thread::Builder::new()
        .spawn(move || listener.serve())
        .map_err(failed)?;
    wait_for_end_of_input();
    Ok(())
}

fn run_client(args: &RawCallArgs) -> Result<(), Failure> {
    args.pin.apply()?;
    let failed = |error| Failure::because(format!("the raw peer at {}: {error}", args.to));
    let exchange = Exchange {
        request: args.request,
        reply: args.reply,
        every: args.every,
    };
    if args.threads > 1 {
        return run_threads(args, exchange);
    }
    let connection = args.to.connect(&args.tls).map_err(failed)?;
    let mut client = Client::over(connection, exchange).map_err(failed)?;
    let mut samples = Samples::default();
    let start = Instant::now();
    let mut sample = |nanoseconds| samples.push(nanoseconds);
    client.run(args.calls, Some(&mut sample)).map_err(failed)?;
    let elapsed = start.elapsed();
    let timing = Timing::new(&samples, args.calls, elapsed);
    if args.json {
        let mut value = timing.to_json();
        value["calls"] = json!(args.calls);
        value["seconds"] = json!(elapsed.as_secs_f64());
        return output::print_json(&value);
    }
    output::print(&format!(
        "raw  median {}  p99 {}  {} calls/s\n",
        latency(timing.median),
        latency(timing.p99),
        thousands(timing.rate)
    ))
}

fn run_threads(args: &RawCallArgs, exchange: Exchange) -> Result<(), Failure> {
    let failed = |error| Failure::because(format!("the raw peer at {}: {error}", args.to));
    let elapsed = by_threads(args.threads, || {
        let connection = args.to.connect(&args.tls).map_err(failed)?;
        let mut client = Client::over(connection, exchange).map_err(failed)?;
        client.run(1, None).map_err(failed)?;
        Ok(move || client.run(args.calls, None).map_err(failed))
    })?;
    let calls = args.calls * u64::from(args.threads);
    let rate = rate(calls, elapsed);
    if args.json {
        return output::print_json(&json!({
            "calls": calls,
            "seconds": elapsed.as_secs_f64(),
            "calls_per_second": rate,
        }));
    }
    output::print(&format!("raw  {} calls/s\n", thousands(rate)))
}
