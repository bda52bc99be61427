//! A client that tries again while the server is not there yet:
//! `cargo run --example retry`.
//!
//! TRANSIENT with `Completion::No` says that the operation was not begun: trying again
//! is safe. The ORB itself sends again what a server closed in order before it began.

use std::error::Error;
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use orbium::{Completion, ExceptionKind, Interface, Orb, SystemException};
use orbium_tasks::Purse;
use orbium_tasks::bank::Account;

// ANCHOR: call_with_retry
/// Repeats a call while it raises TRANSIENT, completed NO.
fn call_with_retry<T>(
    mut call: impl FnMut() -> Result<T, SystemException>,
) -> Result<T, SystemException> {
    let mut pause = Duration::from_millis(20);
    for _ in 0..10 {
        match call() {
            Err(exception)
                if exception.kind == ExceptionKind::Transient
                    && exception.completed == Completion::No =>
            {
                println!("not there yet");
                thread::sleep(pause);
                pause *= 2;
            }
            outcome => return outcome,
        }
    }
    call()
}
// ANCHOR_END: call_with_retry

fn late_server(port: u16) -> Result<Orb, Box<dyn Error + Send + Sync>> {
    let orb = Orb::builder()
        .endpoint(&format!("iiop://127.0.0.1:{port}"))?
        .build()?;
    let _: Account = orb.serve("Account", Purse::of("Anna"))?;
    Ok(orb)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A port that is free, and stays so until the server takes it.
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let client = Orb::builder().build()?;
    let url = format!("corbaloc::127.0.0.1:{port}/Account");
    // ANCHOR: unchecked
    // Unchecked: the server, which knows the interface, is not running yet.
    let object = client.string_to_object(&url)?.ok_or("a nil reference")?;
    let account = Account::from_object(object);
    // ANCHOR_END: unchecked

    let server = thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        late_server(port).expect("the port is still free")
    });
    println!("{}", call_with_retry(|| account.owner())?);
    server.join().expect("the server's thread").shutdown(true)?;
    Ok(())
}
