//! Ending in order: a request that was begun is answered: `cargo run --example shutdown`.

use std::sync::mpsc;
use std::thread;

use orbium::{Call, Orb, SystemException};
use orbium_tasks::bank::{Account, AccountServant, OverdrawnError};

/// A servant that takes its time.
struct Slow {
    begun: mpsc::Sender<()>,
    go_on: std::sync::Mutex<mpsc::Receiver<()>>,
}

impl AccountServant for Slow {
    fn owner(&self, _: &Call<'_>) -> Result<String, SystemException> {
        Ok("Slow".into())
    }

    fn balance(&self, _: &Call<'_>) -> Result<i32, SystemException> {
        let _ = self.begun.send(());
        let _ = self.go_on.lock().map(|go_on| go_on.recv());
        Ok(42)
    }

    fn deposit(&self, _: &Call<'_>, _: u32) -> Result<(), SystemException> {
        Ok(())
    }

    fn withdraw(&self, _: &Call<'_>, _: u32) -> Result<(), OverdrawnError> {
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (begun, has_begun) = mpsc::channel();
    let (proceed, go_on) = mpsc::channel();
    let server = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
    let slow = Slow {
        begun,
        go_on: go_on.into(),
    };
    let account: Account = server.serve("Account", slow)?;
    let client = Orb::builder().build()?;
    let account: Account = client.resolve(&server.object_to_string(&account))?;

    // ANCHOR: main
    let caller = {
        let account = account.clone();
        thread::spawn(move || account.balance())
    };
    has_begun.recv()?;
    // Returns at once: no new request is begun from here on.
    server.shutdown(false)?;
    proceed.send(())?;
    println!("{:?}", caller.join().expect("the caller's thread"));
    // Waits until everything is over.
    server.shutdown(true)?;
    println!("{}", account.balance().expect_err("it has ended").kind);
    // ANCHOR_END: main
    Ok(())
}
