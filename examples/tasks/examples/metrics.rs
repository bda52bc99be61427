//! Counters and histograms of requests, as Prometheus scrapes them:
//! `cargo run --example metrics`.

use orbium::Orb;
use orbium_tasks::Purse;
use orbium_tasks::bank::Account;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // ANCHOR: builder
    let server = Orb::builder()
        .endpoint("iiop://localhost:0")?
        .metrics()
        .build()?;
    // ANCHOR_END: builder
    let account: Account = server.serve("Account", Purse::of("Anna"))?;
    let client = Orb::builder().build()?;
    let account: Account = client.resolve(&server.object_to_string(&account))?;
    for _ in 0..10 {
        account.deposit(1)?;
    }
    // Replies go out before the last request is counted; the end waits for both.
    server.shutdown(true)?;

    let metrics = server.metrics().ok_or("metrics were asked for")?;
    for line in metrics.prometheus_text().lines() {
        if line.starts_with("orbium_server_requests_total") && line.contains("\"ok\"") {
            println!("{line}");
        }
    }
    Ok(())
}
