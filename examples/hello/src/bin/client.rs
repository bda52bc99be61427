use hello::hello::Greeter;
use orbium::Orb;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let orb = Orb::builder().build()?;
    let object = orb.string_to_object("corbaloc::localhost:5000/Greeter")?;
    let greeter: Greeter = orbium::narrow(object)?;
    println!("{}", greeter.greet("world")?);
    Ok(())
}
