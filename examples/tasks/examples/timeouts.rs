//! Bounds for the time of a call: `cargo run --example timeouts`.

use std::net::TcpListener;
use std::time::Duration;

use orbium::{Completion, ExceptionKind, Interface, Orb, policy::TimePolicies};
use orbium_tasks::Purse;
use orbium_tasks::bank::Account;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // ANCHOR: orb
    // Every call of this ORB ends within ten seconds, unless the reference says otherwise.
    let client = Orb::builder()
        .call_timeout(Duration::from_secs(10))
        .build()?;
    // ANCHOR_END: orb

    // A listener that accepts no connection: the kernel connects, no reply ever comes.
    let silent = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("corbaloc::{}/Account", silent.local_addr()?);
    let object = client.string_to_object(&url)?.ok_or("a nil reference")?;
    let account = Account::from_object(object);

    // ANCHOR: reference
    // A reference is cheap to clone; this one has a bound of its own.
    let hurried = account.with_timeout(Duration::from_millis(50));
    let exception = hurried.balance().expect_err("nothing answers");
    assert_eq!(exception.kind, ExceptionKind::Timeout);
    // The request was sent: the operation may have been carried out.
    assert_eq!(exception.completed, Completion::Maybe);
    println!("{}", exception.kind);
    // ANCHOR_END: reference

    // ANCHOR: policies
    // Two bounds: until the servant begins, and until the reply is here.
    let server = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
    let account: Account = server.serve("Account", Purse::of("Anna"))?;
    let account: Account = client.resolve(&server.object_to_string(&account))?;
    let bounded = account.with_time_policies(TimePolicies {
        request_timeout: Some(Duration::from_secs(60)),
        roundtrip_timeout: Some(Duration::from_secs(90)),
        ..TimePolicies::NONE
    });
    println!("{}", bounded.owner()?);
    // ANCHOR_END: policies
    Ok(())
}
