//! Asynchronous invocations with tokio: `cargo run --example async_calls`.
//!
//! The operation has `@ami` in the IDL. Any executor will do: the future knows none.

use orbium::Orb;
use orbium_tasks::Purse;
use orbium_tasks::bank::{Account, OverdrawnError};

// ANCHOR: main
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
    let account: Account = server.serve("Account", Purse::of("Anna"))?;
    let text = server.object_to_string(&account);

    let client = Orb::builder().build()?;
    let account: Account = client.resolve(&text)?;
    account.deposit(5)?;

    // Both requests are sent before the first reply is awaited.
    let (first, second) = tokio::join!(account.withdraw_async(3), account.withdraw_async(4));
    let refused = [first, second]
        .into_iter()
        .filter(|outcome| matches!(outcome, Err(OverdrawnError::Overdrawn(_))))
        .count();
    println!("{refused} of 2 was refused");
    Ok(())
}
// ANCHOR_END: main
