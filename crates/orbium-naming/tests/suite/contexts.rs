// SPDX-License-Identifier: MIT OR Apache-2.0
//! The client against contexts of these tests.

use std::time::Duration;

use orbium::{Config, Interface, Orb, config::Configure as _};
use orbium_naming::NamingContext;
use orbium_testkit::eventually;

use crate::Tested;
use crate::journey::{Quirks, everything};
use crate::memory::Names;

fn client(names: &Names) -> Result<(Orb, NamingContext), Box<dyn std::error::Error>> {
    let url = format!("NameService=corbaloc:{}/NameService", names.address());
    let mut config = Config::default();
    config.set("initial_reference", &url)?;
    let orb = Orb::new(config)?;
    let root = NamingContext::root(&orb)?;
    Ok((orb, root))
}

/// Conformance: names - naming client: every operation and exception - contexts of orbium
#[test]
fn every_operation_and_exception() -> Tested {
    let names = Names::serve();
    let (_orb, root) = client(&names)?;
    everything(&root, Quirks::NONE)?;
    assert_eq!(root.list()?.count(), 0);
    Ok(())
}

/// An iterator that stays at the server is memory there until the server tires of it.
#[test]
fn iterators_do_not_stay_at_the_server() -> Tested {
    let names = Names::serve();
    let (_orb, root) = client(&names)?;
    for number in 0..10 {
        root.bind(format!("n{number}"), None)?;
    }
    let mut some = root.list_by(3)?;
    assert_eq!(names.iterators(), 1);
    assert!(some.next().is_some_and(|it| it.is_ok()));
    drop(some);
    eventually("the iterator is destroyed", || names.iterators() == 0);
    assert_eq!(root.list_by(3)?.count(), 10);
    eventually("the iterator is destroyed", || names.iterators() == 0);
    assert_eq!(root.list_by(10)?.count(), 10);
    assert_eq!(root.resolve("n1")?, None);
    Ok(())
}

/// Every call of a context has a deadline, also where none is configured; contexts
/// that come from a call have that of the context that was called.
#[test]
fn deadlines_are_inherited() -> Tested {
    let names = Names::serve();
    let (orb, root) = client(&names)?;
    let times = |context: &NamingContext| context.as_object().time_policies().roundtrip_timeout;
    let default = orb.config().naming_timeout.0;
    assert_eq!(times(&root), Some(default));
    let short = root.with_timeout(Duration::from_secs(9));
    for context in [
        short.bind_new_context("a")?,
        short.resolve_context("a")?,
        short.new_context()?,
    ] {
        assert_eq!(times(&context), Some(Duration::from_secs(9)));
    }
    let mut config = Config::default();
    config.set("call_timeout", "20 s")?;
    let orb = Orb::new(config)?;
    let url = format!("corbaname:{}", names.address());
    let root: NamingContext = orb.resolve(&url)?;
    assert_eq!(times(&root), None, "the ORB's own applies");
    Ok(())
}
