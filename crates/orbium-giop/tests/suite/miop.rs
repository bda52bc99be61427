// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages in multicast packets that are lost, doubled and shuffled.

use crate::octets::{Chance, octets};
use orbium_cdr::ByteOrder;
use orbium_giop::miop::{
    Accepted, Collector, CollectorLimits, ID_LEN, MiopError, PACKET_HEADER_LEN, PacketHeader,
    PacketPlan,
};
use proptest::prelude::*;

const LIMITS: CollectorLimits = CollectorLimits {
    message: 4000,
    messages: 3,
    total: 10_000,
    age: 100,
    remembered: 4,
};

fn id(number: u8) -> [u8; ID_LEN] {
    [number; ID_LEN]
}

fn message(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + i / 256) as u8).collect()
}

fn packets(message: &[u8], number: u8, largest: usize) -> Vec<Vec<u8>> {
    PacketPlan::new(message.len(), id(number), largest)
        .expect("room for data")
        .map(|packet| [&packet.head[..], &message[packet.range]].concat())
        .collect()
}

/// Conformance: protocols - packets of MIOP
#[test]
fn packets_have_the_layout_of_the_standard() {
    let sent = message(20);
    let [first, last] = &packets(&sent, 9, PACKET_HEADER_LEN + 16)[..] else {
        panic!("two packets");
    };
    if ByteOrder::NATIVE == ByteOrder::Little {
        let head = octets("4d494f50 10 01 1000 00000000 02000000 0c000000");
        assert_eq!(first[..20], head);
        let head = octets("4d494f50 10 03 0400 01000000 02000000 0c000000");
        assert_eq!(last[..20], head);
    }
    assert_eq!(first[20..32], id(9));
    assert_eq!(first[32..], sent[..16]);
    assert_eq!(last[32..], sent[16..]);
    let header = PacketHeader::parse(last).unwrap();
    assert_eq!((header.number, header.count), (1, 2));
    assert!(header.is_last && header.id == id(9));
    assert_eq!(last[header.data()], sent[16..]);
}

#[test]
fn packets_of_others_are_read_in_either_order_and_with_any_id() {
    for (packet, data) in [
        (
            "4d494f50 10 02 0002 00000000 00000001 00000000 00000000 aabb",
            24..26,
        ),
        (
            "4d494f50 10 03 0100 00000000 00000000 03000000 010203 00 cc",
            24..25,
        ),
        (
            "4d494f50 10 02 0001 00000000 00000001 00000005 0102030405 00000000000000 cc",
            32..33,
        ),
    ] {
        let packet = octets(packet);
        let mut collector = Collector::new(LIMITS);
        let accepted = collector.accept(&(), &packet, 0);
        assert_eq!(accepted, Ok(Accepted::Whole(data)));
    }
}

#[test]
fn malformed_packets_are_refused() {
    let mut collector = Collector::new(LIMITS);
    for (packet, error) in [
        (
            "4d494f50 10 00 0000 00000000 00000001",
            MiopError::Truncated,
        ),
        (
            "47494f50 10 02 0000 00000000 00000001 00000000 00000000",
            MiopError::BadMagic(*b"GIOP"),
        ),
        (
            "4d494f50 11 02 0000 00000000 00000001 00000000 00000000",
            MiopError::UnsupportedVersion(0x11),
        ),
        (
            "4d494f50 10 02 0000 00000000 00000001 000000fd 00000000",
            MiopError::IdTooLong(253),
        ),
        (
            "4d494f50 10 02 0000 00000000 00000001 00000005 01020304",
            MiopError::Truncated,
        ),
        (
            "4d494f50 10 02 0001 00000000 00000001 00000000 00000000",
            MiopError::Truncated,
        ),
        (
            "4d494f50 10 00 0000 00000002 00000002 00000000 00000000",
            MiopError::BadNumber,
        ),
        (
            "4d494f50 10 02 0000 00000000 00000002 00000000 00000000",
            MiopError::Inconsistent,
        ),
        (
            "4d494f50 10 02 0000 ffffffff 00000000 00000000 00000000",
            MiopError::BadNumber,
        ),
    ] {
        let refused = collector.accept(&(), &octets(packet), 0);
        assert_eq!(refused, Err(error), "{packet}");
    }
    assert!(collector.is_empty());
}

#[test]
fn a_message_comes_once_however_often_its_packets_come() {
    let sent = message(100);
    let packets = packets(&sent, 1, PACKET_HEADER_LEN + 48);
    let mut collector = Collector::new(LIMITS);
    let mut accept = |packet: &[u8]| collector.accept(&"a", packet, 0).unwrap();
    assert_eq!(accept(&packets[2]), Accepted::Incomplete);
    assert_eq!(accept(&packets[2]), Accepted::Duplicate);
    assert_eq!(accept(&packets[0]), Accepted::Incomplete);
    assert_eq!(accept(&packets[1]), Accepted::Completed(sent.clone()));
    for packet in &packets {
        assert_eq!(accept(packet), Accepted::Duplicate);
    }
    let single = &single(&sent);
    assert!(matches!(accept(single), Accepted::Whole(_)));
    assert_eq!(accept(single), Accepted::Duplicate);
    // The same packets of another sender are another message.
    let other = collector.accept(&"b", single, 0);
    assert!(matches!(other, Ok(Accepted::Whole(_))));
    assert!(collector.is_empty() && collector.octets() == 0);
}

fn single(message: &[u8]) -> Vec<u8> {
    packets(message, 2, 1000).remove(0)
}

#[test]
fn packets_that_disagree_drop_their_message() {
    let three = packets(&message(100), 1, PACKET_HEADER_LEN + 48);
    let two = packets(&message(60), 1, PACKET_HEADER_LEN + 48);
    let mut collector = Collector::new(LIMITS);
    assert_eq!(
        collector.accept(&(), &three[1], 0),
        Ok(Accepted::Incomplete)
    );
    let refused = collector.accept(&(), &two[0], 0);
    assert_eq!(refused, Err(MiopError::Inconsistent));
    assert!(collector.is_empty() && collector.octets() == 0);
}

#[test]
fn old_and_excess_messages_make_room() {
    let mut collector = Collector::new(LIMITS);
    let parts = |number| packets(&message(100), number, PACKET_HEADER_LEN + 48);
    for number in 0..10 {
        let accepted = collector.accept(&(), &parts(number)[0], u64::from(number));
        assert_eq!(accepted, Ok(Accepted::Incomplete));
        assert!(collector.len() <= LIMITS.messages);
    }
    assert_eq!((collector.len(), collector.given_up()), (3, 7));
    collector.expire(LIMITS.age + 8);
    assert_eq!((collector.len(), collector.given_up()), (2, 8));
    collector.expire(u64::MAX);
    assert_eq!((collector.len(), collector.octets()), (0, 0));
}

/// Conformance: protocols - packets of MIOP
#[test]
fn endless_packets_stay_within_the_limits() {
    let mut collector = Collector::new(LIMITS);
    let data = vec![0; 3000];
    for number in 0..2000_u32 {
        // No packet says how many there are, nor is the last; some are empty.
        let mut packet = octets("4d494f50 10 01 0000 00000000 00000000 01000000 07 000000");
        packet[8..12].copy_from_slice(&number.to_le_bytes());
        packet[20] = (number % 5) as u8;
        let len = if number % 3 == 0 { 0 } else { data.len() / 3 };
        packet[6..8].copy_from_slice(&(len as u16).to_le_bytes());
        packet.extend(&data[..len]);
        let _ = collector.accept(&(), &packet, 0);
        assert!(collector.octets() <= LIMITS.total && collector.len() <= LIMITS.messages);
    }
    let large = packets(&message(5000), 1, 60_000);
    let refused = collector.accept(&(), &large[0], 0);
    assert_eq!(refused, Err(MiopError::TooLarge));
}

#[test]
fn a_plan_needs_room_for_data() {
    assert!(PacketPlan::new(100, id(0), PACKET_HEADER_LEN + 7).is_none());
    assert!(PacketPlan::new(100, id(0), 0).is_none());
    assert_eq!(PacketPlan::new(0, id(0), 100).map(Iterator::count), Some(1));
    let huge = PacketPlan::new(200_000, id(0), usize::MAX).unwrap();
    assert_eq!(huge.count(), 4);
}

proptest! {
    /// Conformance: protocols - packets of MIOP
    #[test]
    fn messages_come_whole_from_shuffled_packets(
        lens in prop::collection::vec(0..4000_usize, 1..4),
        largest in PACKET_HEADER_LEN + 8..600,
        seed in 1..u64::MAX,
    ) {
        let limits = CollectorLimits { total: 1 << 20, ..LIMITS };
        let mut chance = Chance(seed);
        let mut wire = Vec::new();
        for (number, len) in lens.iter().enumerate() {
            wire.extend(packets(&message(*len), number as u8, largest));
        }
        // Some come twice, and all in any order.
        for _ in 0..wire.len() / 4 {
            wire.push(wire[chance.below(wire.len())].clone());
        }
        for i in (1..wire.len()).rev() {
            wire.swap(i, chance.below(i + 1));
        }
        let mut collector = Collector::new(limits);
        let mut came = Vec::new();
        for packet in &wire {
            match collector.accept(&(), packet, 0).expect("a packet") {
                Accepted::Whole(range) => came.push(packet[range].to_vec()),
                Accepted::Completed(message) => came.push(message),
                Accepted::Incomplete | Accepted::Duplicate => {}
            }
        }
        let mut sent: Vec<_> = lens.iter().map(|len| message(*len)).collect();
        came.sort();
        sent.sort();
        prop_assert_eq!(came, sent);
        prop_assert!(collector.is_empty());
    }

    #[test]
    fn damaged_packets_stay_within_the_limits(seed in 1..u64::MAX) {
        let mut chance = Chance(seed);
        let mut collector = Collector::new(LIMITS);
        for number in 0..40 {
            for mut packet in packets(&message(900), number % 7, 200) {
                chance.mutate(&mut packet);
                let now = u64::from(number);
                if let Ok(Accepted::Completed(message)) = collector.accept(&(), &packet, now) {
                    prop_assert!(message.len() <= LIMITS.message);
                }
                prop_assert!(collector.octets() <= LIMITS.total);
                prop_assert!(collector.len() <= LIMITS.messages);
            }
        }
        collector.expire(u64::MAX);
        prop_assert_eq!(collector.octets(), 0);
    }
}
