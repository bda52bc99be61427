// SPDX-License-Identifier: MIT OR Apache-2.0
//! References, profiles and components, and their strings.

use crate::octets::octets;
use orbium_cdr::{ByteOrder, CdrErrorKind, CdrReader, CdrWriter, Decode, Encode, Format};
use orbium_giop::codeset::{CodeSetComponentInfo, CodeSetId, NativeCharSet};
use orbium_giop::component::{self, HostPort};
use orbium_giop::profile::{self, MAX_LAYERS, TAG_INTERNET_IOP};
use orbium_giop::{
    Component, IiopProfile, Ior, IorStringError, ObjectGroup, OrbiumProfile, Profile,
    TaggedComponent, TaggedProfile, UiopProfile, UipmcProfile, Version, encode_encapsulation,
};

fn iiop(version: Version) -> IiopProfile {
    IiopProfile {
        version,
        host: "host.example".into(),
        port: 5000,
        object_key: b"\0Key".to_vec(),
        components: if version.minor == 0 {
            Vec::new()
        } else {
            vec![
                TaggedComponent::orb_type(component::ORB_TYPE_ORBIUM),
                TaggedComponent {
                    tag: 0xDEAD_BEEF,
                    data: vec![1, 2, 3],
                },
            ]
        },
    }
}

/// Conformance: references - profiles of IIOP 1.0, 1.1, 1.2 and beyond
#[test]
fn profiles_of_every_version_round_trip() {
    for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
        let profile = iiop(version);
        assert_eq!(IiopProfile::decode(&profile.encode()), Ok(profile));
    }
}

/// Conformance: references - profiles of IIOP 1.0, 1.1, 1.2 and beyond
#[test]
fn profile_octets_mean_what_the_standard_says() {
    let big = octets(
        "00 01 02 00              # big endian, IIOP 1.2, gap
         00000002 6800            # host h
         1388                     # port 5000
         00000003 4b6579 00       # key, gap
         00000001                 # one component
         00000003 0000000c        # TAG_ALTERNATE_IIOP_ADDRESS
         00 000000 00000002 6900 0050  # i:80",
    );
    let profile = IiopProfile::decode(&TaggedProfile {
        tag: TAG_INTERNET_IOP,
        data: big,
    })
    .unwrap();
    assert_eq!(profile.to_string(), "1.2@h:5000");
    assert_eq!(profile.object_key, b"Key");
    assert_eq!(
        Component::parse(&profile.components[0]),
        Ok(Component::AlternateAddress(HostPort {
            host: "i".into(),
            port: 80
        }))
    );
}

/// Conformance: references - profiles of IIOP 1.0, 1.1, 1.2 and beyond
#[test]
fn a_higher_minor_version_is_read_as_far_as_it_is_known() {
    let mut encoded = iiop(Version::V1_2).encode();
    encoded.data[2] = 9;
    encoded.data.extend([1, 2, 3]);
    let profile = IiopProfile::decode(&encoded).unwrap();
    assert_eq!(profile.version, Version { major: 1, minor: 9 });
    assert_eq!(profile.components.len(), 2);
    encoded.data[1] = 2;
    let error = IiopProfile::decode(&encoded).unwrap_err();
    assert_eq!(error.kind, CdrErrorKind::BadReference);
}

/// Conformance: references - what is unknown is kept
#[test]
fn unknown_profiles_and_components_are_kept_octet_for_octet() {
    let ior = Ior {
        type_id: "IDL:X:1.0".into(),
        profiles: vec![
            TaggedProfile {
                tag: 77,
                data: vec![9, 8, 7, 6, 5],
            },
            iiop(Version::V1_2).encode(),
            TaggedProfile {
                tag: TAG_INTERNET_IOP,
                data: vec![0xFF, 1],
            },
            TaggedProfile {
                tag: 78,
                data: Vec::new(),
            },
        ],
    };
    for order in [ByteOrder::Big, ByteOrder::Little] {
        let format = Format::plain(order, 2);
        let mut writer = CdrWriter::new(format);
        ior.encode(&mut writer);
        let mut bytes = writer.finish().unwrap();
        let read = Ior::decode(&mut CdrReader::new(&mut bytes, format)).unwrap();
        assert_eq!(read, ior);
    }
    assert_eq!(Ior::from_string(&ior.to_string()), Ok(ior.clone()));
    assert_eq!(ior.iiop_profiles().count(), 1, "the malformed one is kept");
    assert_eq!(
        Profile::parse(&ior.profiles[0]),
        Ok(Profile::Unknown),
        "not an error"
    );
}

/// Conformance: references - TAO's UIOP profile
#[test]
fn other_profiles_with_known_bodies_are_understood() {
    let uiop = UiopProfile {
        version: Version::V1_2,
        rendezvous_point: "/run/x".into(),
        object_key: b"K".to_vec(),
        components: vec![TaggedComponent::orb_type(1)],
    };
    let encoded = uiop.encode();
    assert_eq!(encoded.object_key().as_deref(), Some(&b"K"[..]));
    assert_eq!(Profile::parse(&encoded), Ok(Profile::Uiop(uiop)));
    let body = iiop(Version::V1_2);
    let shm = body.encode_as(profile::TAG_TAO_SHMIOP);
    assert_eq!(
        Profile::parse(&shm),
        Ok(Profile::HostPort(profile::TAG_TAO_SHMIOP, body.clone()))
    );
    let common = TaggedProfile::multiple_components(&body.components);
    assert_eq!(
        Profile::parse(&common),
        Ok(Profile::Components(body.components))
    );
}

/// Conformance: references - nil
#[test]
fn nil_is_a_string_of_its_own_and_comes_back() {
    let little = "IOR:01000000010000000000000000000000";
    let nil = Ior::from_string(little).unwrap();
    assert!(nil.is_nil());
    assert_eq!(nil, Ior::NIL);
    if ByteOrder::NATIVE == ByteOrder::Little {
        assert_eq!(Ior::NIL.to_string(), little);
    }
    assert_eq!(Ior::from_string(&Ior::NIL.to_string()), Ok(Ior::NIL));
}

/// Conformance: references - `IOR:` strings
#[test]
fn a_stringified_reference_with_the_components_of_omniorb_is_read() {
    let text = "IOR:010000001300000049444c3a43756269742f437562653a312e30000001000000\
                0000000050000000010102000900000031302e302e302e310000f90a04000000\
                4375626502000000000000000800000001000000005454410100000018000000\
                010000000100010001000000010001050901010000000000";
    let ior = Ior::from_string(text).unwrap();
    assert_eq!(ior.type_id, "IDL:Cubit/Cube:1.0");
    let profile = ior.iiop_profiles().next().unwrap();
    assert_eq!(profile.to_string(), "1.2@10.0.0.1:2809");
    assert_eq!(profile.object_key, b"Cube");
    let shown: Vec<_> = profile
        .components
        .iter()
        .map(|component| Component::parse(component).unwrap().to_string())
        .collect();
    assert_eq!(
        shown,
        ["omniORB", "char ISO 8859-1 (converts UTF-8); wchar UTF-16"]
    );
}

/// Conformance: references - `IOR:` strings
#[test]
fn case_and_white_space_of_a_string_do_not_matter() {
    let ior = Ior::with_profile("IDL:X:1.0", &iiop(Version::V1_1));
    let text = ior.to_string();
    assert!(text.starts_with("IOR:"));
    assert_eq!(Ior::from_string(&text.to_uppercase()), Ok(ior.clone()));
    assert_eq!(Ior::from_string(&text.to_lowercase()), Ok(ior.clone()));
    assert_eq!(Ior::from_string(&format!("  {text}\n")), Ok(ior));
}

/// Conformance: references - `IOR:` strings
#[test]
fn strings_that_are_no_references_say_why() {
    assert_eq!(Ior::from_string("IOR"), Err(IorStringError::NoScheme));
    assert_eq!(Ior::from_string("ior0:00"), Err(IorStringError::NoScheme));
    assert_eq!(Ior::from_string("IOR:000"), Err(IorStringError::OddLength));
    assert_eq!(
        Ior::from_string("IOR:00x0"),
        Err(IorStringError::BadDigit(6))
    );
    assert_eq!(
        Ior::from_string("IOR:000g"),
        Err(IorStringError::BadDigit(7))
    );
    assert!(matches!(
        Ior::from_string("IOR:"),
        Err(IorStringError::Malformed(_))
    ));
    // A count of four thousand million profiles.
    let error = Ior::from_string("IOR:000000000000000100000000ffffffff").unwrap_err();
    assert!(matches!(error, IorStringError::Malformed(e) if e.kind == CdrErrorKind::CountTooLarge));
}

#[test]
fn known_components_are_shown_for_people() {
    let options = |tag| {
        TaggedComponent::encapsulated(tag, |writer| {
            writer.write_u16(102);
            writer.write_u16(0);
            writer.write_u16(684);
        })
    };
    for (component, text) in [
        (
            TaggedComponent::orb_type(component::ORB_TYPE_OMNIORB),
            "omniORB",
        ),
        (TaggedComponent::orb_type(0x1234), "0x00001234"),
        (
            TaggedComponent::code_sets(&CodeSetComponentInfo::orbium(NativeCharSet::default())),
            "char ISO 8859-1 (converts UTF-8); wchar UTF-16",
        ),
        (TaggedComponent::alternate_address("::1", 5), "[::1]:5"),
        (
            options(component::TAG_SSL_SEC_TRANS),
            "port 684; supports Integrity+Confidentiality+EstablishTrustInTarget+\
             EstablishTrustInClient; requires none",
        ),
        (
            TaggedComponent::omniorb_unix("me", "/run/x"),
            "\"/run/x\" on \"me\"",
        ),
        (
            TaggedComponent::orbium_host(b"0f9a1b2c-0000-4000-8000-000000000001"),
            "boot 0f9a1b2c-0000-4000-8000-000000000001",
        ),
        (
            TaggedComponent::orbium_host(&[7; 16]),
            "boot 07070707070707070707070707070707",
        ),
        (
            TaggedComponent::group(&ObjectGroup {
                version: Version::V1_0,
                domain: "D".into(),
                id: 7,
                reference_version: 2,
            }),
            "domain \"D\" group 7 reference version 2 (1.0)",
        ),
        (
            TaggedComponent::encapsulated(component::TAG_TAO_ENDPOINTS, |writer| {
                writer.write_count(1);
                writer.write_name("h");
                writer.write_u16(80);
                writer.write_u16(0xFFFF);
            }),
            "h:80 priority -1",
        ),
        (
            TaggedComponent::encapsulated(component::TAG_POLICIES, |writer| {
                writer.write_count(1);
                writer.write_u32(40);
                writer.write_octets(&[1, 0xAB]);
            }),
            "type 40 value 01ab",
        ),
        (
            TaggedComponent {
                tag: 0xDEAD_BEEF,
                data: vec![1, 0xFF],
            },
            "01ff",
        ),
        (
            TaggedComponent {
                tag: component::TAG_NULL_TAG,
                data: Vec::new(),
            },
            "",
        ),
    ] {
        let parsed = Component::parse(&component).unwrap();
        assert_eq!(parsed.to_string(), text, "{:#x}", component.tag);
    }
    assert_eq!(component::tag_name(1), Some("TAG_CODE_SETS"));
    assert_eq!(profile::tag_name(0), Some("TAG_INTERNET_IOP"));
}

#[test]
fn a_malformed_known_component_is_an_error_of_its_own() {
    let profile = IiopProfile {
        components: vec![TaggedComponent {
            tag: component::TAG_CODE_SETS,
            data: vec![0],
        }],
        ..iiop(Version::V1_2)
    };
    let read = IiopProfile::decode(&profile.encode()).expect("the profile is none the worse");
    let error = Component::parse(&read.components[0]).unwrap_err();
    assert_eq!(error.kind, CdrErrorKind::Truncated);
}

/// Conformance: references - what is unknown is kept
#[test]
fn code_set_components_keep_sets_that_are_not_known() {
    let data = encode_encapsulation(|writer| {
        for value in [0x1002_0417, 1, 0x0501_0001, 0, 0] {
            writer.write_u32(value);
        }
    })
    .unwrap();
    let tag = component::TAG_CODE_SETS;
    let Ok(Component::CodeSets(info)) = Component::parse(&TaggedComponent { tag, data }) else {
        panic!("a code-set component");
    };
    assert_eq!(info.char_data.native, CodeSetId(0x1002_0417));
    assert_eq!(info.char_data.conversion, [CodeSetId::UTF_8]);
    assert_eq!(info.wchar_data.native, CodeSetId::NONE);
}

/// Conformance: references - alternate addresses, several profiles, tried in order
#[test]
fn addresses_come_in_the_order_they_are_to_be_tried() {
    let mut profile = IiopProfile {
        components: vec![
            TaggedComponent::alternate_address("b", 2),
            TaggedComponent {
                tag: component::TAG_ALTERNATE_IIOP_ADDRESS,
                data: vec![1],
            },
            TaggedComponent::orb_type(1),
            TaggedComponent::alternate_address("c", 3),
        ],
        ..iiop(Version::V1_2)
    };
    let addresses = |profile: &IiopProfile| -> Vec<String> {
        profile.addresses().map(|at| at.to_string()).collect()
    };
    assert_eq!(addresses(&profile), ["host.example:5000", "b:2", "c:3"]);
    profile.port = 0;
    assert_eq!(addresses(&profile), ["b:2", "c:3"], "no plain port");
}

#[test]
fn code_sets_and_common_components_are_found() {
    let sets = CodeSetComponentInfo::orbium(NativeCharSet::Latin1);
    let mut profile = iiop(Version::V1_2);
    assert_eq!(profile.code_sets(), None);
    profile.components.push(TaggedComponent::code_sets(&sets));
    assert_eq!(profile.code_sets(), Some(sets));
    let mut ior = Ior::with_profile("", &profile);
    assert_eq!(ior.common_components(), []);
    let common = [TaggedComponent::orb_type(1)];
    ior.profiles
        .push(TaggedProfile::multiple_components(&common));
    assert_eq!(ior.common_components(), common);
}

fn orbium(layers: usize) -> OrbiumProfile {
    OrbiumProfile {
        version: Version::V1_2,
        scheme: "shmiop".into(),
        messaging: (0..layers).map(|layer| format!("layer-{layer}")).collect(),
        address: "/run/x.shm".into(),
        object_key: b"Key".to_vec(),
        components: vec![TaggedComponent::orbium_host(&[7; 16])],
    }
}

#[test]
fn orbium_profiles_round_trip_and_keep_their_layout() {
    for layers in [0, 1, MAX_LAYERS] {
        let profile = orbium(layers);
        let encoded = profile.encode();
        assert_eq!(encoded.tag, 0x4F52_4200);
        assert_eq!(OrbiumProfile::decode(&encoded).as_ref(), Ok(&profile));
        assert_eq!(Profile::parse(&encoded), Ok(Profile::Orbium(profile)));
        assert_eq!(encoded.object_key().as_deref(), Some(&b"Key"[..]));
    }
    let data = octets(
        "00 01 02 00              # big endian, GIOP 1.2, gap
         00000002 7300 0000       # scheme s
         00000001 00000002 6600 0000  # one layer: f
         00000002 6100 0000       # address a
         00000001 4b 000000       # key K
         00000000                 # no components",
    );
    let tag = profile::TAG_ORBIUM_IOP;
    let expected = OrbiumProfile {
        version: Version::V1_2,
        scheme: "s".into(),
        messaging: vec!["f".into()],
        address: "a".into(),
        object_key: b"K".to_vec(),
        components: Vec::new(),
    };
    let decoded = OrbiumProfile::decode(&TaggedProfile { tag, data });
    assert_eq!(decoded, Ok(expected));
}

#[test]
fn an_orbium_profile_names_no_more_halves_than_allowed() {
    let error = OrbiumProfile::decode(&orbium(MAX_LAYERS + 1).encode()).unwrap_err();
    assert_eq!(error.kind, CdrErrorKind::CountTooLarge);
}

#[test]
fn the_host_of_a_profile_is_16_to_36_octets() {
    for (len, read) in [(15, false), (16, true), (36, true), (37, false)] {
        let component = TaggedComponent::orbium_host(&vec![7; len]);
        assert_eq!(Component::parse(&component).is_ok(), read, "{len}");
    }
}

#[test]
fn group_profiles_have_the_layout_of_the_standard() {
    let data = octets(
        "00 01 00 00              # big endian, MIOP 1.0, gap
         0000000a 3233392e302e302e3100  # 239.0.0.1
         1388                     # port 5000
         00000001                 # one component
         00000027 0000001c        # TAG_GROUP
         00 01 00 00 00000002 4400 00000000 0000  # big endian, 1.0, domain D
         0000000000000007 00000002 # group 7, reference version 2",
    );
    let profile = UipmcProfile {
        version: Version::V1_0,
        address: "239.0.0.1".into(),
        port: 5000,
        components: Vec::new(),
    };
    let tag = profile::TAG_UIPMC;
    let read = UipmcProfile::decode(&TaggedProfile { tag, data }).unwrap();
    let group = ObjectGroup {
        version: Version::V1_0,
        domain: "D".into(),
        id: 7,
        reference_version: 2,
    };
    assert_eq!(read.group(), Some(group.clone()));
    let components = read.components.clone();
    assert_eq!(
        read,
        UipmcProfile {
            components,
            ..profile.clone()
        }
    );
    assert_eq!(profile.group(), None);
    let components = vec![TaggedComponent::group(&group)];
    let written = UipmcProfile {
        components,
        ..profile
    };
    assert_eq!(
        Profile::parse(&written.encode()),
        Ok(Profile::Uipmc(written))
    );
}
