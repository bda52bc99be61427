// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servant traits with default bodies: of an interface of 45 operations, a servant
//! that serves 15 has 15. Each had to be written, served or not.

use std::error::Error;

use orbium::{Call, ExceptionKind, Orb, SystemException};

#[allow(clippy::all, clippy::pedantic, clippy::restriction)]
#[deny(unused_variables)]
mod generated {
    orbium::include_idl!("many");
}
/// Every type there is.
#[allow(clippy::all, clippy::pedantic, clippy::restriction)]
#[deny(unused_variables)]
mod unserved {
    orbium::include_idl!("kitchen_unserved");
}

use generated::many::{self, RefusedError, Wide, WideServant};
use unserved::kitchen::{BaseServant, OtherServant, Peer, PeerServant};

/// Five of each kind of operation.
struct Third;

macro_rules! adds {
    ($($name:ident)+) => { $(
        fn $name(&self, _: &Call<'_>, a: i32, call: &str) -> Result<i32, SystemException> {
            Ok(a + i32::try_from(call.len()).unwrap_or(0))
        }
    )+ };
}

macro_rules! names {
    ($($name:ident)+) => { $(
        fn $name(&self, _: &Call<'_>, text: &str, n: &mut i32) -> Result<String, RefusedError> {
            *n += 1;
            Ok(text.to_owned())
        }
    )+ };
}

macro_rules! alls {
    ($($name:ident: $results:ident,)+) => { $(
        fn $name(&self, _: &Call<'_>) -> Result<many::$results, SystemException> {
            Ok(many::$results { result: vec![7], count: 1 })
        }
    )+ };
}

impl WideServant for Third {
    adds!(add_0 add_3 add_6 add_9 add_12);
    names!(name_1 name_4 name_7 name_10 name_13);
    alls!(
        all_2: WideAll2Results,
        all_5: WideAll5Results,
        all_8: WideAll8Results,
        all_11: WideAll11Results,
        all_14: WideAll14Results,
    );
}

/// Serves one operation of a base, which gives what is borrowed.
struct Labelled;

impl BaseServant for Labelled {
    fn label(&self, _: &Call<'_>) -> Result<String, SystemException> {
        Ok("label".into())
    }
}

impl OtherServant for Labelled {}

impl PeerServant for Labelled {}

#[test]
fn operations_that_a_servant_does_not_have_are_not_implemented() -> Result<(), Box<dyn Error>> {
    let server = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
    let client = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
    let root = server.root_poa();
    root.manager().activate()?;
    let wide: Wide = root.activate(Third)?;
    let text = server.object_to_string(&wide);
    let wide: Wide = orbium::narrow(client.string_to_object(&text)?)?;

    assert_eq!(wide.add_12(1, "xyz")?, 4);
    let mut n = 1;
    assert_eq!(wide.name_13("t", &mut n)?, "t");
    assert_eq!(n, 2);
    assert_eq!(wide.all_14()?.result, [7]);

    assert_eq!(
        wide.add_15(1, "").unwrap_err().kind,
        ExceptionKind::NoImplement
    );
    let refused = wide.name_16("t", &mut n).unwrap_err();
    assert!(
        matches!(refused, RefusedError::System(e) if e.kind == ExceptionKind::NoImplement),
        "{refused}"
    );
    assert_eq!(wide.all_44().unwrap_err().kind, ExceptionKind::NoImplement);

    let peer: Peer = root.activate(Labelled)?;
    let text = server.object_to_string(&peer);
    let peer: Peer = orbium::narrow(client.string_to_object(&text)?)?;
    assert_eq!(peer.label()?, "label");
    assert_eq!(peer.ident().unwrap_err().kind, ExceptionKind::NoImplement);
    client.shutdown(true)?;
    server.shutdown(true)?;
    Ok(())
}
