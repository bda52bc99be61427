//! Handlers of replies as tasks of a scheduler context: `cargo run --example scheduled_tasks`.
//!
//! The most urgent reply is handled first, whichever arrives first; the policy changes on the way.

use std::sync::mpsc;
use std::time::Duration;

use orbium::Orb;
use orbium_executor::{Policy, SchedulerContext, TaskQos};
use orbium_tasks::Purse;
use orbium_tasks::bank::Account;

// ANCHOR: main
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
    let account: Account = server.serve("Account", Purse::of("Anna"))?;
    let text = server.object_to_string(&account);

    let client = Orb::builder().build()?;
    let account: Account = client.resolve(&text)?;
    account.deposit(100)?;

    let context = SchedulerContext::builder("handlers")
        .policy(Policy::Edf)
        .threads(2)
        .build()?;
    let (handled, outcomes) = mpsc::channel();
    for amount in 1..=10 {
        let qos = TaskQos::default().deadline(Duration::from_millis(amount.into()));
        let handled = handled.clone();
        account
            .withdraw_async(amount)
            .on_reply_by(context.executor(qos), move |outcome| {
                // The receiver may be gone.
                let _ = handled.send(outcome.is_ok());
            });
    }
    drop(handled);
    context.set_policy(Policy::Muf);
    let paid = outcomes.iter().filter(|is_paid| *is_paid).count();
    println!("{paid} of 10 were paid, by {}", context.policy());
    Ok(())
}
// ANCHOR_END: main
