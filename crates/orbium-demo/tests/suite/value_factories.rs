// SPDX-License-Identifier: MIT OR Apache-2.0
//! Factories of values: looked up, replaced, and some that fail.

use orbium::{ExceptionKind, Orb};
use orbium_demo::values::{Echo, Point, PointState, RefusedError};
use orbium_demo::{register_values, serve_values};

/// Conformance: CDR - values: a factory that panics is UNKNOWN, and the server goes on
#[test]
fn a_factory_that_panics_harms_no_other_request() -> Result<(), Box<dyn std::error::Error>> {
    let server = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
    let served = serve_values(&server)?;
    server
        .value_factories()
        .register::<Point>(|| panic!("factory"));
    let client = Orb::builder().build()?;
    let echo: Echo = client.resolve(&server.object_to_string(&served))?;
    let point = Point::new(PointState { x: 1, y: 2 });
    for _ in 0..2 {
        let RefusedError::System(refused) = echo.echo_point(Some(&point)).unwrap_err() else {
            panic!("the servant was called");
        };
        assert_eq!(refused.kind, ExceptionKind::Unknown);
        assert_eq!(echo.describe()?, "echo");
    }
    server.value_factories().register_type::<Point>();
    assert_eq!(echo.echo_point(Some(&point))?.ok_or("null")?.read().y, 2);
    server.shutdown(true)?;
    Ok(())
}

/// Conformance: CDR - values: factories by repository id: replaced, looked up, removed
#[test]
fn factories_are_found_by_repository_id() -> Result<(), Box<dyn std::error::Error>> {
    let orb = Orb::builder().build()?;
    let factories = orb.value_factories();
    let id = "IDL:orbium.test/Values/Point:1.0";
    assert!(factories.make(id).is_none());
    register_values(factories);
    let made = |x| {
        factories
            .make(id)
            .and_then(|it| Some(it.downcast::<Point>()?.read().x == x))
    };
    assert_eq!(made(0), Some(true));
    assert!(factories.register::<Point>(|| Point::new(PointState { x: 5, y: 0 })));
    assert_eq!(made(5), Some(true));
    assert!(factories.unregister(id));
    assert!(!factories.unregister(id));
    assert!(factories.make(id).is_none());
    Ok(())
}
