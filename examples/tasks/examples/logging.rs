//! What the ORB says in the log, by the crate `tracing`: `cargo run --example logging`.
//!
//! Life-cycle events are INFO, refusals WARN, calls and connections DEBUG.

use orbium::Orb;
use orbium_tasks::Purse;
use orbium_tasks::bank::Account;
use tracing_subscriber::fmt;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // ANCHOR: subscriber
    // Any subscriber will do. Without one an event costs a load and a branch.
    fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::INFO)
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
