//! Testing a servant without a network: `cargo run --example no_network`.
//!
//! A reference to an object of the same ORB calls the servant through its adapter, without a
//! socket: what a unit test of a servant needs.

use orbium::Orb;
use orbium_tasks::Purse;
use orbium_tasks::bank::{Account, OverdrawnError};

// ANCHOR: fixture
/// An ORB without endpoints, and the object in it.
fn fixture() -> Result<(Orb, Account), Box<dyn std::error::Error>> {
    let orb = Orb::builder().build()?;
    let account = orb.serve("Account", Purse::of("Anna"))?;
    Ok((orb, account))
}
// ANCHOR_END: fixture

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // ANCHOR: test
    let (orb, account) = fixture()?;
    account.deposit(10)?;
    assert!(matches!(
        account.withdraw(11),
        Err(OverdrawnError::Overdrawn(_))
    ));
    assert_eq!(account.balance(), Ok(10));
    println!("{} has {}", account.owner()?, account.balance()?);
    orb.shutdown(true)?;
    // ANCHOR_END: test
    Ok(())
}
