//! Clients that are admitted to a server, or not: `cargo run --example admission`.

use std::time::Duration;

use orbium::Orb;
use orbium::rt::{
    Admission, BindError, Bound, Budget, FairShare, LinearMapping, Offer, Priority, RtObject, RtOrb,
};
use orbium_tasks::Purse;
use orbium_tasks::bank::Account;

type Failure = Box<dyn std::error::Error>;

/// Soft: admission needs no native priorities.
fn real_time(orb: &Orb) -> Result<RtOrb, Failure> {
    let builder = RtOrb::builder().mapping(LinearMapping::default()).soft();
    Ok(builder.install(orb)?)
}

/// A server that admits clients by this, and its object.
fn serve(admission: impl Admission + 'static) -> Result<(Orb, String), Failure> {
    let orb = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
    real_time(&orb)?.serve_bindings(admission)?;
    let account: Account = orb.serve("Account", Purse::of("Anna"))?;
    let reference = orb.object_to_string(&account);
    Ok((orb, reference))
}

/// A client with an ORB of its own.
fn bind(reference: &str, offer: &Offer) -> Result<Result<Bound<Account>, BindError>, Failure> {
    let orb = Orb::builder().build()?;
    real_time(&orb)?;
    let account: Account = orb.resolve(reference)?;
    Ok(account.bind(offer))
}

fn main() -> Result<(), Failure> {
    // ANCHOR: refuse
    // A video server: a hundred pictures a second, and each viewer needs forty. Further ones are refused.
    let pictures = Budget::new().share(1.0).cost(Duration::from_millis(10));
    let (_video, reference) = serve(pictures)?;
    let forty = Offer::new(Priority::MIN, 40);
    let viewers = [bind(&reference, &forty)??, bind(&reference, &forty)??];
    match bind(&reference, &forty)? {
        Err(BindError::Countered(left, _)) => println!("refused: {} are left", left.rate.requests),
        other => println!("{other:?}"),
    }
    println!("{} watches on", viewers[0].owner()?);
    // ANCHOR_END: refuse

    // ANCHOR: divide
    // A stock quoter: all are admitted, and divide a thousand quotes a second equally.
    let quotes = Budget::new().share(1.0).cost(Duration::from_millis(1));
    let (_quoter, reference) = serve(FairShare::new(quotes))?;
    let up_to_all = Offer::new(Priority::MIN, 1_000).at_least(50);
    let first = bind(&reference, &up_to_all)??;
    println!("one has {}", first.present_terms()?.rate.requests);
    let next = || bind(&reference, &up_to_all);
    let others = [next()??, next()??, next()??];
    let clients = 1 + others.len();
    let rate = first.present_terms()?.rate.requests;
    println!("each of {clients} has {rate}");
    // ANCHOR_END: divide
    Ok(())
}
