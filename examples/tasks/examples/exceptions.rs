//! User exceptions and system exceptions, matched: `cargo run --example exceptions`.

use std::fs;
use std::path::PathBuf;

use orbium::ExceptionKind;
use orbium::prelude::*;
use orbium_tasks::Purse;
use orbium_tasks::bank::{Account, AccountServant, Overdrawn, OverdrawnError};

// ANCHOR: or_raise
/// An account whose balance is kept in a file.
struct Passbook(PathBuf);

impl AccountServant for Passbook {
    fn balance(&self, _: &Call<'_>) -> Result<i32> {
        let text = fs::read_to_string(&self.0).or_raise(ExceptionKind::PersistStore)?;
        text.trim().parse().or_raise(ExceptionKind::PersistStore)
    }

    fn withdraw(&self, call: &Call<'_>, amount: u32) -> Result<(), OverdrawnError> {
        let left = self.balance(call)? - amount as i32;
        if left < 0 {
            let missing = left.unsigned_abs();
            return Err(Overdrawn { missing }.into());
        }
        Ok(fs::write(&self.0, left.to_string()).or_raise(ExceptionKind::PersistStore)?)
    }
    // ANCHOR_END: or_raise

    fn owner(&self, _: &Call<'_>) -> Result<String> {
        let name = self
            .0
            .file_stem()
            .ok_or("no name")
            .or_raise(ExceptionKind::PersistStore)?;
        Ok(name.to_string_lossy().into_owned())
    }

    fn deposit(&self, call: &Call<'_>, amount: u32) -> Result<()> {
        let balance = self.balance(call)? + amount as i32;
        fs::write(&self.0, balance.to_string()).or_raise(ExceptionKind::PersistStore)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
    let account: Account = server.serve("Account", Purse::of("Anna"))?;
    let text = server.object_to_string(&account);

    let client = Orb::builder().build()?;
    let account: Account = client.resolve(&text)?;
    account.deposit(30)?;

    // ANCHOR: user
    // The error enum has a variant for each declared exception, and `System`.
    match account.withdraw(100) {
        Ok(()) => println!("withdrawn"),
        Err(OverdrawnError::Overdrawn(Overdrawn { missing })) => println!("{missing} are missing"),
        Err(OverdrawnError::System(exception)) => return Err(exception.into()),
    }
    // ANCHOR_END: user

    // A servant's own errors are its own: the caller learns the kind that the servant chose.
    let missing: Account = server.serve("Missing", Passbook("no such file".into()))?;
    let missing: Account = client.resolve(&server.object_to_string(&missing))?;
    let exception = missing.balance().expect_err("there is no file");
    assert_eq!(exception, ExceptionKind::PersistStore.into());
    let Err(OverdrawnError::System(exception)) = missing.withdraw(1) else {
        panic!("there is no file");
    };
    assert_eq!(exception, ExceptionKind::PersistStore.into());

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
