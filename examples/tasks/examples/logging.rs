//! Log output of an ORB, by the crate `tracing`: `cargo run --example logging`.
//!
//! Life-cycle events are INFO, refusals WARN, single connections and the spans of calls and
//! requests DEBUG. What a servant logs is within the span of its request.

use orbium::Orb;
use orbium_tasks::Purse;
use orbium_tasks::bank::Account;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // ANCHOR: subscriber
    // Any subscriber will do. Without one an event costs a load and a branch.
    tracing_subscriber::fmt()
        .with_max_level(LevelFilter::DEBUG)
        // A line when a call or a request is over, with all that is known of it.
        .with_span_events(FmtSpan::CLOSE)
        .without_time()
        .with_ansi(false)
        .init();
    // ANCHOR_END: subscriber

    let server = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
    let account: Account = server.serve("Account", Purse::of("Anna"))?;
    let client = Orb::builder().build()?;
    let account: Account = client.resolve(&server.object_to_string(&account))?;
    println!("{}", account.owner()?);
    server.shutdown(true)?;
    Ok(())
}
