use hello::hello::{Greeter, GreeterServant};
use orbium::{Call, Orb, SystemException};
use std::borrow::Cow;

struct Polite;

impl GreeterServant for Polite {
    fn greet<'a>(
        &'a self,
        _: &'a Call<'_>,
        name: &'a str,
    ) -> Result<Cow<'a, str>, SystemException> {
        Ok(format!("Hello, {name}!").into())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let orb = Orb::builder().endpoint("iiop://localhost:5000")?.build()?;
    let greeter: Greeter = orb.serve("Greeter", Polite)?;
    println!("{}", orb.object_to_string(&greeter));
    Ok(orb.run()?)
}
