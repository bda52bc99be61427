//! User exceptions and system exceptions, matched: `cargo run --example exceptions`.

use orbium::{ExceptionKind, Orb};
use orbium_tasks::Purse;
use orbium_tasks::bank::{Account, Overdrawn, OverdrawnError};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
    let account: Account = server.serve("Account", Purse::of("Anna"))?;
    let text = server.object_to_string(&account);

    let client = Orb::builder().build()?;
    let account: Account = client.resolve(&text)?;
    account.deposit(30)?;

    // ANCHOR: user
    // What the operation declares is a variant beside what any call may raise.
    match account.withdraw(100) {
        Ok(()) => println!("withdrawn"),
        Err(OverdrawnError::Overdrawn(Overdrawn { missing })) => println!("{missing} are missing"),
        Err(OverdrawnError::System(exception)) => return Err(exception.into()),
    }
    // ANCHOR_END: user

    // ANCHOR: system
    // A system exception says what kind it is, and whether the operation was completed.
    server.shutdown(true)?;
    let exception = account.balance().expect_err("the server has ended");
    assert_eq!(exception.kind, ExceptionKind::Transient);
    println!("{:?}, completed: {:?}", exception.kind, exception.completed);
    // The whole story: which address, which operation, in which phase, how long it took.
    eprintln!("{exception:#}");
    // ANCHOR_END: system
    Ok(())
}
