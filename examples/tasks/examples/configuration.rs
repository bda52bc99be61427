//! Configuration of an installation: a file, then the command line. `cargo run --example
//! configuration`.

use std::fs;

use orbium::{Config, Orb, config::Configure as _};
use orbium_tasks::Purse;
use orbium_tasks::bank::Account;

const FILE: &str = "\
# What the program does not decide.
endpoint = \"iiop://localhost:0\"
server_strategy = \"leader-followers:2\"

[limits]
message_size = \"1 MiB\"
connections = 100
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("orbium-config-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let file = folder.join("server.toml");
    fs::write(&file, FILE)?;

    // In a program: `let mut args = std::env::args().collect();`
    let mut args = vec![
        "server".to_owned(),
        "-ORBConfigFile".to_owned(),
        file.display().to_string(),
        "--verbose".to_owned(),
        "-ORBSet".to_owned(),
        "limits.connections=200".to_owned(),
    ];
    // ANCHOR: args
    // Removes the -ORB arguments and leaves the others, as ORB_init does.
    let config = Config::from_args(&mut args)?;
    assert_eq!(args, ["server", "--verbose"]);
    // The command line takes precedence over the file.
    println!("{} {}", config.strategy, config.limits.connections);
    let orb = Orb::new(config)?;
    // ANCHOR_END: args
    let account: Account = orb.serve("Account", Purse::of("Anna"))?;
    println!("{}", account.owner()?);

    // What is written wrongly is refused, with the place.
    fs::write(&file, FILE.replace("connections", "connectoins"))?;
    if let Err(error) = Config::from_file(&file) {
        let text = error.to_string();
        println!(
            "{}",
            text.lines()
                .next()
                .unwrap_or_default()
                .contains("did you mean")
        );
    }
    fs::remove_dir_all(&folder)?;
    Ok(())
}
