// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of addresses as text.

use super::*;

fn header(r#type: i32, source: i32) -> EventHeader {
    EventHeader {
        r#type,
        source,
        ..EventHeader::default()
    }
}

#[test]
fn addresses_are_by_type_or_source() {
    let text = "16@239.255.7.1:5050,0x11@[ff15::7]:5051,-3@127.0.0.1:1";
    for (key, of) in [
        ("type", (|it| header(it, 0)) as fn(i32) -> EventHeader),
        ("source", |it| header(0, it)),
    ] {
        let table: Addresses = format!("{key}:{text}").parse().unwrap();
        let found = [16, 17, -3].map(|it| table.of(&of(it)).unwrap().to_string());
        assert_eq!(found, ["239.255.7.1:5050", "[ff15::7]:5051", "127.0.0.1:1"]);
        assert_eq!(table.of(&of(18)), None);
        let others: Addresses = format!("{key}:*@127.0.0.1:9,{text}").parse().unwrap();
        assert_eq!(others.of(&of(18)), "127.0.0.1:9".parse().ok());
        assert_eq!(others.all().len(), 4);
    }
}

#[test]
fn text_that_is_no_table_is_refused_by_its_part() {
    for (text, part) in [
        ("type:", ""),
        ("type:16", "16"),
        ("type:16@host:5050", "16@host:5050"),
        ("type:1@127.0.0.1:1,", ""),
        ("type:1@127.0.0.1:1,1@127.0.0.1:2", "1@127.0.0.1:2"),
        ("type:*@127.0.0.1:1,*@127.0.0.1:2", "*@127.0.0.1:2"),
        ("source:0xfffffffff@127.0.0.1:1", "0xfffffffff@127.0.0.1:1"),
        ("name:1@127.0.0.1:1", "name:1@127.0.0.1:1"),
    ] {
        let refused = text.parse::<Addresses>().unwrap_err();
        assert!(
            refused.to_string().ends_with(&format!(": {part}")),
            "{refused}"
        );
    }
    let many = (0..=MAX_ADDRESSES).map(|it| format!("{it}@127.0.0.1:{}", it + 1));
    let many = format!("type:{}", many.collect::<Vec<_>>().join(","));
    assert!(many.parse::<Addresses>().is_err());
}

#[test]
fn one_address_a_table_and_a_server_are_distinguished_by_their_text() {
    let parsed = |text: &str| text.parse::<Destination>();
    let one = "server:5050".to_owned();
    assert_eq!(parsed("server:5050"), Ok(Destination::One(one)));
    let server = Destination::Server("corbaloc::gate:5020/Addresses".to_owned());
    assert_eq!(parsed("server:corbaloc::gate:5020/Addresses"), Ok(server));
    assert!(matches!(
        parsed("type:1@127.0.0.1:1"),
        Ok(Destination::Table(_))
    ));
    assert!(parsed("1@127.0.0.1:1").is_err());
}
