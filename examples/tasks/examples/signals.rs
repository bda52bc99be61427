//! A server that ends in order on SIGTERM and SIGINT: `cargo run --example signals`.

use orbium::Orb;
use orbium_tasks::Purse;
use orbium_tasks::bank::Account;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

// ANCHOR: main
fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Before the ORB: from here on no signal is lost.
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let orb = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
    let account: Account = orb.serve("Account", Purse::of("Anna"))?;
    println!("{}", orb.object_to_string(&account));

    // The ORB serves with threads of its own, so this one may wait.
    let signal = signals.forever().next();
    println!("signal {}", signal.unwrap_or_default());
    // Completes requests in progress, sends CloseConnection, and shuts down.
    orb.shutdown(true)?;
    println!("ended");
    Ok(())
}
// ANCHOR_END: main
