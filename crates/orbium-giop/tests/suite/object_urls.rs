// SPDX-License-Identifier: MIT OR Apache-2.0
//! corbaloc and corbaname URLs: what is accepted, what it means, what is not.

use orbium_giop::{
    Component, Corbaloc, ExceptionKind, IiopAddress, Ior, ObjectAddress, ObjectUrl, Profile,
    UrlErrorKind, Version, profile,
};

fn address(version: Version, host: &str, port: u16) -> IiopAddress {
    IiopAddress {
        version,
        host: host.into(),
        port,
    }
}

fn iiop(minor: u8, host: &str, port: u16) -> ObjectAddress {
    ObjectAddress::Iiop(address(Version { major: 1, minor }, host, port))
}

fn corbaloc(text: &str) -> Corbaloc {
    match ObjectUrl::parse(text) {
        Ok(ObjectUrl::Corbaloc(corbaloc)) => corbaloc,
        other => panic!("{text}: {other:?}"),
    }
}

/// Conformance: references - `corbaloc:`, several addresses, `rir:`, IPv6, versions
/// Conformance: TAO 48 - IPv6, port 0, wildcard endpoints, corbaloc
#[test]
fn good_corbalocs_mean_what_the_standard_says() {
    let unix = |path: &str| ObjectAddress::Uiop {
        version: Version::V1_2,
        path: path.into(),
    };
    let omni = |version, path: &str| ObjectAddress::OmniUnix {
        version,
        path: path.into(),
    };
    let orbium = |scheme: &str, address: &str| ObjectAddress::Orbium {
        scheme: scheme.into(),
        version: Version::V1_2,
        address: address.into(),
    };
    for (text, addresses, key) in [
        ("corbaloc::h/Key", vec![iiop(0, "h", 2809)], &b"Key"[..]),
        ("corbaloc:iiop:h/Key", vec![iiop(0, "h", 2809)], b"Key"),
        ("CORBALOC:IIOP:h/Key", vec![iiop(0, "h", 2809)], b"Key"),
        ("  corbaloc::h/Key\n", vec![iiop(0, "h", 2809)], b"Key"),
        (
            "corbaloc:iiop:1.2@host.example:5000/Dev/Trader",
            vec![iiop(2, "host.example", 5000)],
            b"Dev/Trader",
        ),
        (
            "corbaloc::1.2@h:1,:i:2,iiop:1.1@j/K",
            vec![iiop(2, "h", 1), iiop(0, "i", 2), iiop(1, "j", 2809)],
            b"K",
        ),
        (
            "corbaloc::192.0.2.1/NameService",
            vec![iiop(0, "192.0.2.1", 2809)],
            b"NameService",
        ),
        ("corbaloc::[::1]/K", vec![iiop(0, "::1", 2809)], b"K"),
        (
            "corbaloc::1.2@[fe80::1%eth0]:65535/K",
            vec![iiop(2, "fe80::1%eth0", 65535)],
            b"K",
        ),
        ("corbaloc::/K", vec![iiop(0, "", 2809)], b"K"),
        ("corbaloc::h", vec![iiop(0, "h", 2809)], b""),
        ("corbaloc::h/", vec![iiop(0, "h", 2809)], b""),
        ("corbaloc::h:1/a%00b%fF", vec![iiop(0, "h", 1)], b"a\0b\xff"),
        (
            "corbaloc::h:1/;/:?@&=+$,-_.!~*'()",
            vec![iiop(0, "h", 1)],
            b";/:?@&=+$,-_.!~*'()",
        ),
        ("corbaloc:rir:", vec![ObjectAddress::Rir], b"NameService"),
        ("corbaloc:rir:/", vec![ObjectAddress::Rir], b"NameService"),
        (
            "corbaloc:rir:/RootPOA",
            vec![ObjectAddress::Rir],
            b"RootPOA",
        ),
        ("corbaloc:uiop:1.2@/run/x|a/b", vec![unix("/run/x")], b"a/b"),
        (
            "corbaloc:iiop:h:1,uiop:1.2@/run/a@b|K",
            vec![iiop(0, "h", 1), unix("/run/a@b")],
            b"K",
        ),
        (
            "corbaloc:omniunix:/run/x:/K",
            vec![omni(Version::V1_0, "/run/x")],
            b"K",
        ),
        (
            "corbaloc:omniunix:1.2@/run/x:,:h:1/K",
            vec![omni(Version::V1_2, "/run/x"), iiop(0, "h", 1)],
            b"K",
        ),
        (
            "corbaloc:ssliop:1.2@h:684/K",
            vec![ObjectAddress::Ssliop(address(Version::V1_2, "h", 684))],
            b"K",
        ),
        (
            "corbaloc:diop:1.2@h:7/K",
            vec![ObjectAddress::Diop(address(Version::V1_2, "h", 7))],
            b"K",
        ),
        (
            "corbaloc:shmiop:1.2@/run/x.shm|Key",
            vec![orbium("shmiop", "/run/x.shm")],
            b"Key",
        ),
        (
            "corbaloc:inproc:name/Key",
            vec![orbium("inproc", "name")],
            b"Key",
        ),
        (
            "corbaloc:Quic:1.2@h:7/K/L",
            vec![orbium("quic", "h:7")],
            b"K/L",
        ),
        (
            "corbaloc:can:1.2@/dev/can0,inproc:b,:h:1,uiop:1.2@/run/x|K",
            vec![
                orbium("can", "/dev/can0"),
                orbium("inproc", "b"),
                iiop(0, "h", 1),
                unix("/run/x"),
            ],
            b"K",
        ),
        (
            "corbaloc:can:1.2@/dev/can0,inproc:b|K",
            vec![orbium("can", "/dev/can0"), orbium("inproc", "b")],
            b"K",
        ),
        (
            "corbaloc:can:/K",
            vec![ObjectAddress::Other {
                protocol: "can".into(),
                address: "".into(),
            }],
            b"K",
        ),
    ] {
        let parsed = corbaloc(text);
        assert_eq!(parsed.addresses, addresses, "{text}");
        assert_eq!(parsed.key, key, "{text}");
        let printed = parsed.to_string();
        assert_eq!(corbaloc(&printed), parsed, "{text} printed as {printed}");
    }
}

/// Conformance: references - `corbaloc:`, several addresses, `rir:`, IPv6, versions
#[test]
fn bad_urls_say_what_is_wrong_and_where() {
    use UrlErrorKind as Kind;
    for (text, kind, offset, minor) in [
        ("", Kind::UnknownScheme, 0, 7),
        ("host:5000", Kind::UnknownScheme, 0, 7),
        ("corbalo::h/K", Kind::UnknownScheme, 0, 7),
        ("corbaloc", Kind::UnknownScheme, 0, 7),
        ("file:///x", Kind::UnknownScheme, 0, 7),
        ("corbaloc:", Kind::NoProtocol, 9, 8),
        ("corbaloc:/K", Kind::NoProtocol, 9, 8),
        ("corbaloc:host/K", Kind::NoProtocol, 9, 8),
        ("corbaloc:1.2@h:1/K", Kind::NoProtocol, 9, 8),
        ("corbaloc::h,/K", Kind::NoProtocol, 12, 8),
        ("corbaloc::a:1,b/K", Kind::NoProtocol, 14, 8),
        ("corbaloc::2.0@h/K", Kind::BadVersion, 10, 8),
        ("corbaloc::1@h/K", Kind::BadVersion, 10, 8),
        ("corbaloc::1.@h/K", Kind::BadVersion, 10, 8),
        ("corbaloc::1.999@h/K", Kind::BadVersion, 10, 8),
        ("corbaloc::@h/K", Kind::BadVersion, 10, 8),
        ("corbaloc::h h/K", Kind::BadHost, 10, 8),
        ("corbaloc::h%41/K", Kind::BadHost, 10, 8),
        ("corbaloc::h\u{e4}/K", Kind::BadHost, 10, 8),
        ("corbaloc::::1/K", Kind::BadPort, 11, 8),
        ("corbaloc::fe80::1:5/K", Kind::BadPort, 15, 8),
        ("corbaloc::[::1/K", Kind::BadIpv6, 10, 8),
        ("corbaloc::[host]/K", Kind::BadIpv6, 10, 8),
        ("corbaloc::[]/K", Kind::BadIpv6, 10, 8),
        ("corbaloc::[::1]5/K", Kind::BadPort, 15, 8),
        ("corbaloc::[::1]:/K", Kind::BadPort, 16, 8),
        ("corbaloc::h:/K", Kind::BadPort, 12, 8),
        ("corbaloc::h:0/K", Kind::BadPort, 12, 8),
        ("corbaloc::h:65536/K", Kind::BadPort, 12, 8),
        ("corbaloc::h:+5/K", Kind::BadPort, 12, 8),
        ("corbaloc::h:5x/K", Kind::BadPort, 12, 8),
        ("corbaloc:uiop:|K", Kind::NoPath, 14, 8),
        ("corbaloc:uiop:1.2@|K", Kind::NoPath, 18, 8),
        ("corbaloc:omniunix::/K", Kind::NoPath, 18, 8),
        ("corbaloc:inproc:/K", Kind::NoPath, 16, 8),
        ("corbaloc:can:1.2@|K", Kind::NoPath, 17, 8),
        (
            "corbaloc:miop:2.0@1.0-D-1/239.0.0.1:5",
            Kind::BadVersion,
            14,
            8,
        ),
        (
            "corbaloc:miop:1.1@1.0-D-1/239.0.0.1:5",
            Kind::BadVersion,
            14,
            8,
        ),
        ("corbaloc:miop:1.0@D-1/239.0.0.1:5", Kind::BadGroup, 18, 8),
        ("corbaloc:miop:1.1-D-1/239.0.0.1:5", Kind::BadGroup, 14, 8),
        ("corbaloc:miop:1.0--1/239.0.0.1:5", Kind::BadGroup, 14, 8),
        ("corbaloc:miop:1.0-D-/239.0.0.1:5", Kind::BadGroup, 14, 8),
        ("corbaloc:miop:1.0-D-+1/239.0.0.1:5", Kind::BadGroup, 14, 8),
        ("corbaloc:miop:1.0-D-1-/239.0.0.1:5", Kind::BadGroup, 14, 8),
        (
            "corbaloc:miop:1.0-D-1-4294967296/239.0.0.1:5",
            Kind::BadGroup,
            14,
            8,
        ),
        ("corbaloc:miop:1.0-D-1", Kind::NotMulticast, 21, 8),
        (
            "corbaloc:miop:1.0-D-1/192.0.2.1:5",
            Kind::NotMulticast,
            22,
            8,
        ),
        ("corbaloc:miop:1.0-D-1/[::1]:5", Kind::NotMulticast, 22, 8),
        ("corbaloc:miop:1.0-D-1/239.0.0.1", Kind::BadPort, 31, 8),
        ("corbaloc:miop:1.0-D-1/239.0.0.1:0", Kind::BadPort, 32, 8),
        ("corbaloc:rir:h/K", Kind::RirNotAlone, 13, 9),
        ("corbaloc:rir:,:h/K", Kind::RirNotAlone, 13, 9),
        ("corbaloc::h,rir:/K", Kind::RirNotAlone, 12, 9),
        ("corbaloc::h/a b", Kind::MustBeEscaped(' '), 13, 9),
        ("corbaloc::h/a#b", Kind::MustBeEscaped('#'), 13, 9),
        ("corbaloc::h/\u{e4}", Kind::MustBeEscaped('\u{e4}'), 12, 9),
        ("corbaloc::h/%", Kind::BadEscape, 12, 10),
        ("corbaloc::h/%4", Kind::BadEscape, 12, 10),
        ("corbaloc::h/ab%4x", Kind::BadEscape, 14, 10),
        ("corbaname::h#%ff", Kind::NotText, 13, 10),
        ("corbaname::h#a b", Kind::MustBeEscaped(' '), 14, 9),
        ("corbaname:h#a", Kind::NoProtocol, 10, 8),
    ] {
        let error = ObjectUrl::parse(text).expect_err(text);
        assert_eq!((error.kind, error.offset), (kind, offset), "{text}");
        assert_eq!(error.minor(), minor, "{text}");
        let exception = error.exception();
        assert_eq!(exception.kind, ExceptionKind::BadParam);
        assert_eq!(exception.minor, 0x4F4D_0000 | minor);
    }
}

/// Conformance: references - `IOR:` strings
#[test]
fn a_bad_stringified_reference_is_minor_10() {
    let error = ObjectUrl::parse("IOR:01xx").unwrap_err();
    assert_eq!(error.minor(), 10);
    assert_eq!(error.to_string(), "not a hexadecimal digit at offset 6");
}

/// Conformance: references - `corbaname:` - syntax
#[test]
fn corbanames_have_a_context_and_a_name() {
    for (text, context, name) in [
        ("corbaname::h", "corbaloc:iiop:h:2809/NameService", ""),
        ("corbaname::h#", "corbaloc:iiop:h:2809/NameService", ""),
        (
            "corbaname::h#ctx.kind/obj",
            "corbaloc:iiop:h:2809/NameService",
            "ctx.kind/obj",
        ),
        (
            "corbaname::h:5000/NS#a%20b%23",
            "corbaloc:iiop:h:5000/NS",
            "a b#",
        ),
        ("corbaname:rir:#a/b", "corbaloc:rir:/NameService", "a/b"),
        ("corbaname:rir:/NS#a", "corbaloc:rir:/NS", "a"),
        (
            "Corbaname:iiop:1.2@h:1,:[::1]#%C3%A4",
            "corbaloc:iiop:1.2@h:1,iiop:[::1]:2809/NameService",
            "\u{e4}",
        ),
    ] {
        let Ok(ObjectUrl::Corbaname(parsed)) = ObjectUrl::parse(text) else {
            panic!("{text}");
        };
        assert_eq!(parsed.context.to_string(), context, "{text}");
        assert_eq!(parsed.name, name, "{text}");
        let printed = parsed.to_string();
        assert_eq!(
            ObjectUrl::parse(&printed),
            Ok(ObjectUrl::Corbaname(parsed)),
            "{text} printed as {printed}"
        );
    }
}

/// Conformance: references - `corbaloc:`, several addresses, `rir:`, IPv6, versions
#[test]
fn a_corbaloc_becomes_a_reference_with_a_profile_for_each_address() {
    let ior = corbaloc("corbaloc::1.2@a:1,:,uiop:1.2@/run/x|K")
        .to_ior()
        .unwrap();
    assert_eq!(ior.type_id, "");
    let iiop: Vec<_> = ior.iiop_profiles().collect();
    assert_eq!(iiop[0].to_string(), "1.2@a:1");
    assert_eq!(iiop[1].to_string(), "1.0@localhost:2809");
    assert!(iiop.iter().all(|profile| profile.components.is_empty()));
    assert_eq!(ior.profiles.len(), 3);
    for profile in &ior.profiles {
        assert_eq!(profile.object_key().as_deref(), Some(&b"K"[..]));
    }
    assert!(matches!(
        Profile::parse(&ior.profiles[2]),
        Ok(Profile::Uiop(_))
    ));
    assert_eq!(Ior::from_string(&ior.to_string()), Ok(ior));
}

#[test]
fn a_tls_address_becomes_the_profile_that_others_publish() {
    let ior = corbaloc("corbaloc:ssliop:h:684/K").to_ior().unwrap();
    let profile = ior.iiop_profiles().next().unwrap();
    assert_eq!((profile.port, profile.version), (0, Version::V1_2));
    let component = Component::parse(&profile.components[0]).unwrap();
    assert!(matches!(component, Component::Ssl { port: 684, .. }));
}

/// Conformance: references - `corbaloc:`, several addresses, `rir:`, IPv6, versions
#[test]
fn urls_without_a_profile_are_no_reference() {
    let error = corbaloc("corbaloc:rir:/X").to_ior().unwrap_err();
    assert_eq!(error.kind, UrlErrorKind::NotAnAddress);
    let error = corbaloc("corbaloc:host:5000/X").to_ior().unwrap_err();
    assert_eq!(error.kind, UrlErrorKind::UnsupportedProtocol);
    assert_eq!(corbaloc("corbaloc:rir:/X").initial_reference(), Some("X"));
    assert_eq!(corbaloc("corbaloc::h/X").initial_reference(), None);
}

#[test]
fn a_group_has_a_profile_with_its_name_as_key() {
    for (text, printed) in [
        (
            "corbaloc:miop:1.0@1.0-Domain-7-2/239.1.2.3:5000",
            "corbaloc:miop:1.0@1.0-Domain-7-2/239.1.2.3:5000/",
        ),
        (
            "corbaloc:MIOP:1.0-a.b-18446744073709551615/[ff05::1]:1",
            "corbaloc:miop:1.0@1.0-a.b-18446744073709551615/[ff05::1]:1/",
        ),
    ] {
        let parsed = corbaloc(text);
        assert_eq!(parsed.to_string(), printed);
        assert_eq!(corbaloc(printed), parsed);
        let [ObjectAddress::Miop(address)] = &parsed.addresses[..] else {
            panic!("{parsed:?}");
        };
        let ior = parsed.to_ior().unwrap();
        let key = address.group.object_key();
        assert_eq!(ior.profiles[0].object_key(), Some(key));
        let Ok(Profile::Uipmc(profile)) = Profile::parse(&ior.profiles[0]) else {
            panic!("{ior:?}");
        };
        assert_eq!(profile.group().as_ref(), Some(&address.group));
        assert_eq!(profile.address, address.address.to_string());
        assert_eq!(profile.port, address.port);
    }
}

#[test]
fn other_transports_have_profiles_of_their_own() {
    let url = corbaloc("corbaloc:diop:1.2@h:7,shmiop:1.2@/run/x.shm|K");
    let ior = url.to_ior().unwrap();
    assert_eq!(ior.profiles[0].tag, profile::TAG_TAO_DIOP);
    let Ok(Profile::Orbium(shared)) = Profile::parse(&ior.profiles[1]) else {
        panic!("{ior:?}");
    };
    assert_eq!(
        (&*shared.scheme, &*shared.address),
        ("shmiop", "/run/x.shm")
    );
    for profile in &ior.profiles {
        assert_eq!(profile.object_key().as_deref(), Some(&b"K"[..]));
    }
}
