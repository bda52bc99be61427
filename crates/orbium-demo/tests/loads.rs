// SPDX-License-Identifier: MIT OR Apache-2.0
//! The loads, against servants of our own.

use std::net::TcpListener;

use orbium::{ObjectRef, Orb};
use orbium_demo::load::Load;
use orbium_demo::{raw, serve};

fn server() -> Result<Orb, Box<dyn std::error::Error>> {
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
    serve(&orb)?;
    Ok(orb)
}

/// The object that has the operation, found by its plain key.
fn object(server: &Orb, client: &Orb, load: Load) -> Result<ObjectRef, Box<dyn std::error::Error>> {
    let at = &server.addresses()?[0];
    let url = format!("corbaloc::{}:{}/{}", at.host, at.port, load.object_key());
    Ok(client.string_to_object(&url)?.ok_or("nil")?)
}

#[test]
fn every_load_is_verified_and_runs() -> Result<(), Box<dyn std::error::Error>> {
    let (server, client) = (server()?, Orb::builder().build()?);
    for load in Load::ALL {
        let object = object(&server, &client, *load)?;
        for size in [0, 1, 100, 3000] {
            load.verify(&object, size)
                .map_err(|reason| format!("{load} of {size}: {reason}"))?;
            load.run(&object, size, 5, None)?;
        }
        let mut samples = 0;
        load.run(&object, 10, 7, Some(&mut |_| samples += 1))?;
        assert_eq!(samples, 7, "{load}");
    }
    client.shutdown(true)?;
    server.shutdown(true)?;
    Ok(())
}

#[test]
fn loads_are_found_by_the_names_of_operations() {
    for load in Load::ALL {
        assert_eq!(load.name().parse(), Ok(*load));
    }
    let unknown = "cube".parse::<Load>().unwrap_err();
    assert!(unknown.to_string().contains("send_structs"), "{unknown}");
}

#[test]
fn a_flood_over_plain_sockets_is_answered_once() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let server = std::thread::spawn(move || raw::serve_one(&listener));
    let mut client = raw::Client::connect(address, raw::Exchange::flood(70_000, 20))?;
    let mut samples = 0;
    client.run(3, Some(&mut |_| samples += 1))?;
    assert_eq!(samples, 3);
    drop(client);
    server.join().map_err(|_| "the server panicked")??;
    Ok(())
}

#[test]
fn empty_messages_cannot_be_exchanged() {
    let refused = raw::Client::connect("127.0.0.1:9", raw::Exchange::twoway(0, 1));
    let error = refused.map(drop).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
}
