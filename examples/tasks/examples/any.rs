//! `any`: `cargo run --example any`.

use orbium::{Any, cdr::AnyError};
use orbium_tasks::bank::Overdrawn;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // ANCHOR: values
    // Every generated type goes in and comes out by its Rust type.
    let any = Any::new(&Overdrawn { missing: 7 })?;
    println!("{:?} {}", any.type_code().kind(), any.type_code().id());
    assert_eq!(any.extract::<Overdrawn>()?.missing, 7);
    assert_eq!(any.extract::<i32>(), Err(AnyError::TypeMismatch));

    // Basic types need no `new`.
    for any in [
        Any::from(5i32),
        Any::from(true),
        Any::new(&"text".to_owned())?,
    ] {
        println!("{:?}", any.type_code().kind());
    }
    // ANCHOR_END: values
    Ok(())
}
