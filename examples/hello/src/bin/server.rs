use hello::hello::{Greeter, GreeterServant};
use orbium::prelude::*;

struct Polite;

impl GreeterServant for Polite {
    fn greet(&self, _: &Call, name: &str) -> Result<String> {
        Ok(format!("Hello, {name}!"))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let orb = Orb::builder().endpoint("iiop://localhost:5000")?.build()?;
    let greeter: Greeter = orb.serve("Greeter", Polite)?;
    println!("{}", orb.object_to_string(&greeter));
    Ok(orb.run()?)
}
