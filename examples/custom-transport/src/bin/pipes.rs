// SPDX-License-Identifier: MIT OR Apache-2.0
//! A greeter that is called through pipes, from another process:
//!
//! ```sh
//! cargo run -p custom-transport --bin pipes -- serve target/greeter
//! cargo run -p custom-transport --bin pipes -- call target/greeter world
//! ```

use std::error::Error;

use custom_transport::Pipes;
use hello::hello::{Greeter, GreeterServant};
use orbium::{Call, Orb, SystemException, transport::Transport};

struct Polite;

impl GreeterServant for Polite {
    fn greet(&self, _: &Call<'_>, name: &str) -> Result<String, SystemException> {
        Ok(format!("Hello, {name}!"))
    }
}

fn serve(directory: &str) -> Result<(), Box<dyn Error>> {
    let orb = Orb::builder()
        .transport(Transport::stream(Pipes))
        .endpoint(&format!("pipe://{directory}"))?
        .build()?;
    let greeter: Greeter = orb.root_poa().activate(Polite)?;
    orb.bind_key("Greeter", &greeter)?;
    orb.root_poa().manager().activate()?;
    println!("{}", orb.object_to_string(&greeter));
    Ok(orb.run()?)
}

fn call(directory: &str, name: &str) -> Result<(), Box<dyn Error>> {
    let orb = Orb::builder().transport(Transport::stream(Pipes)).build()?;
    let object = orb.string_to_object(&format!("corbaloc:pipe:1.2@{directory}|Greeter"))?;
    let greeter: Greeter = orbium::narrow(object)?;
    println!("{}", greeter.greet(name)?);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["serve", directory] => serve(directory),
        ["call", directory, name] => call(directory, name),
        _ => Err("expected `serve DIRECTORY` or `call DIRECTORY NAME`".into()),
    }
}
