use hello::hello::Greeter;
use orbium::Orb;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let orb = Orb::builder().build()?;
    let greeter: Greeter = orb.resolve("corbaloc::localhost:5000/Greeter")?;
    println!("{}", greeter.greet("Žofie")?);
    Ok(())
}
