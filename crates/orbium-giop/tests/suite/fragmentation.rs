// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages cut into fragments and put together again.

use crate::octets::{Chance, octets};
use orbium_cdr::{ByteOrder, CdrWriter, Format};
use orbium_giop::{
    Assembled, FragmentError, FragmentPlan, MIN_FRAGMENT_LEN, MessageHeader, MessageKind,
    Reassembly, ReassemblyLimits, RequestTemplate, ResponseFlags, Version, finish_message,
    slices_within,
};

fn request(order: ByteOrder, id: u32, body: usize) -> Vec<u8> {
    let template = RequestTemplate::in_order(order, Version::V1_2, b"Key");
    let mut writer = CdrWriter::new(Format::plain(order, 2));
    let start = template.begin(&mut writer, id, ResponseFlags::Full, "send", &[]);
    let octets: Vec<u8> = (0..body).map(|i| i as u8).collect();
    writer.write_raw(&octets);
    finish_message(&mut writer, start);
    writer.finish().unwrap()
}

/// The messages that a plan makes of one message.
fn cut(message: &[u8], limit: usize) -> Option<Vec<Vec<u8>>> {
    let plan = FragmentPlan::new(message, message.len(), limit)?;
    Some(
        plan.map(|part| [part.head(), &message[part.range.clone()]].concat())
            .collect(),
    )
}

fn accept(assembly: &mut Reassembly, message: &[u8]) -> Result<Option<Vec<u8>>, FragmentError> {
    let whole = assemble(assembly, message)?;
    Ok(whole.map(|whole| whole.octets))
}

fn assemble(assembly: &mut Reassembly, message: &[u8]) -> Result<Option<Assembled>, FragmentError> {
    let (head, body) = message.split_at(12);
    let header = MessageHeader::parse(head.first_chunk().unwrap()).unwrap();
    assert_eq!(header.size as usize, body.len());
    assembly.accept(&header, body)
}

/// Conformance: fragments - received, 1.2, cut anywhere
#[test]
fn a_message_cut_anywhere_comes_together_again() {
    for order in [ByteOrder::Big, ByteOrder::Little] {
        let message = request(order, 7, 500);
        for limit in MIN_FRAGMENT_LEN..message.len() {
            let parts = cut(&message, limit).expect("longer than the limit");
            let mut assembly = Reassembly::default();
            let (last, others) = parts.split_last().unwrap();
            for part in others {
                assert!(part.len() <= limit && part.len().is_multiple_of(8));
                assert_eq!(accept(&mut assembly, part), Ok(None));
            }
            assert!(last.len() <= limit);
            assert_eq!(accept(&mut assembly, last), Ok(Some(message.clone())));
            assert!(assembly.is_empty() && assembly.octets() == 0);
        }
    }
}

/// Conformance: fragments - form
#[test]
fn fragments_have_the_layout_of_the_standard() {
    let message = request(ByteOrder::Big, 7, 10);
    assert_eq!(message.len(), 58);
    let parts = cut(&message, 40).unwrap();
    let expected_first = octets(
        "47494f50 01 02 02 00 0000001c      # Request, more fragments, 28 octets follow
         00000007 03 000000 0000 0000 00000003 4b6579 00 00000005 73656e64",
    );
    let expected_last = octets(
        "47494f50 01 02 00 07 00000016      # Fragment, the last, 22 octets follow
         00000007                           # request id
         00 000000 00000000 00010203040506070809",
    );
    assert_eq!(parts, [expected_first, expected_last]);
}

/// Conformance: fragments - form
#[test]
fn messages_that_need_no_cutting_are_left_whole() {
    let message = request(ByteOrder::Little, 7, 100);
    assert!(cut(&message, message.len()).is_none());
    assert!(cut(&message, message.len() - 1).is_some());
    for (at, value) in [(5, 1), (5, 0), (7, 2), (7, 5)] {
        let mut other = message.clone();
        other[at] = value;
        assert!(cut(&other, 64).is_none(), "octet {at} is {value}");
    }
}

/// Conformance: fragments - sent above `Config::fragment_size`, 1.2
#[test]
fn a_message_in_pieces_is_cut_without_being_joined() {
    let message = request(ByteOrder::Little, 7, 300);
    for middle in [16, 17, 100, 299] {
        let pieces = [&message[..middle], &[], &message[middle..]];
        let plan = FragmentPlan::new(pieces[0], message.len(), 64).unwrap();
        let mut assembly = Reassembly::default();
        let mut whole = None;
        for part in plan {
            let mut sent = part.head().to_vec();
            for slice in slices_within(pieces, part.range.clone()) {
                sent.extend_from_slice(slice);
            }
            whole = accept(&mut assembly, &sent).unwrap();
        }
        assert_eq!(whole.as_deref(), Some(&message[..]));
    }
}

/// Conformance: fragments - received, 1.2, interleaved
#[test]
fn interleaved_messages_are_distinguished_by_request_id() {
    let messages: Vec<_> = (0..5)
        .map(|id| request(ByteOrder::Little, id, 100 + 40 * id as usize))
        .collect();
    let mut queues: Vec<_> = messages
        .iter()
        .map(|message| cut(message, 48).unwrap().into_iter())
        .collect();
    let mut chance = Chance(0x1234_5678_9abc_def1);
    let mut assembly = Reassembly::default();
    let mut whole = vec![None; messages.len()];
    while whole.iter().any(Option::is_none) {
        let turn = chance.below(queues.len());
        if let Some(part) = queues[turn].next()
            && let Some(message) = accept(&mut assembly, &part).unwrap()
        {
            whole[turn] = Some(message);
        }
    }
    assert_eq!(
        whole.into_iter().flatten().collect::<Vec<_>>(),
        messages,
        "each one unharmed by the others"
    );
}

/// Conformance: fragments - received, 1.1, one after the other
#[test]
fn giop_1_1_fragments_follow_each_other_without_an_id() {
    let mut assembly = Reassembly::default();
    let first = octets("47494f50 01 01 02 00 00000004 00000000");
    let middle = octets("47494f50 01 01 02 07 00000003 010203");
    let empty = octets("47494f50 01 01 02 07 00000000");
    let last = octets("47494f50 01 01 00 07 00000001 04");
    assert_eq!(accept(&mut assembly, &first), Ok(None));
    assert!(assembly.expects_contiguous());
    assert_eq!(accept(&mut assembly, &middle), Ok(None));
    assert_eq!(accept(&mut assembly, &empty), Ok(None));
    let whole = accept(&mut assembly, &last).unwrap().unwrap();
    assert_eq!(
        whole,
        octets("47494f50 01 01 00 00 00000008 00000000 01020304")
    );
    assert!(!assembly.expects_contiguous());
    accept(&mut assembly, &first).unwrap();
    assert_eq!(
        accept(&mut assembly, &first),
        Err(FragmentError::AlreadyBegun)
    );
}

/// Conformance: fragments - received, 1.1, aligned within each fragment
#[test]
fn giop_1_1_fragments_are_aligned_each_on_its_own() {
    let parts = [
        "47494f50 01 01 03 01 04000000 01000000",
        "47494f50 01 01 03 07 05000000 41424344 45",
        "47494f50 01 01 03 07 00000000",
        "47494f50 01 01 01 07 0c000000 02000000 000000000000f03f",
    ];
    let mut assembly = Reassembly::default();
    let mut whole = None;
    for part in parts {
        whole = assemble(&mut assembly, &octets(part)).unwrap();
    }
    assert!(assembly.is_empty() && assembly.octets() == 0);
    let mut whole = whole.expect("the last was given");
    assert_eq!(whole.seams, [16, 21], "an empty fragment makes no seam");
    let header = MessageHeader::parse(whole.first_chunk().unwrap()).unwrap();
    let mut reader = header
        .reader(&mut whole.octets[12..])
        .with_fragment_boundaries(&whole.seams);
    assert_eq!(reader.read_u32(), Ok(1));
    assert_eq!(reader.take(5).map(|octets| &*octets), Ok(&b"ABCDE"[..]));
    assert_eq!(reader.read_u32(), Ok(2));
    assert_eq!(reader.read_fixed::<f64>(), Ok(1.0));
    assert_eq!(reader.remaining(), 0);
}

#[test]
fn giop_1_2_fragments_leave_no_seams() {
    let mut assembly = Reassembly::default();
    let mut whole = None;
    for part in cut(&request(ByteOrder::Little, 7, 300), 64).unwrap() {
        whole = assemble(&mut assembly, &part).unwrap();
    }
    assert_eq!(whole.map(|whole| whole.seams), Some(Vec::new()));
}

/// Conformance: fragments - limits
#[test]
fn seams_count_against_the_limits() {
    let limits = ReassemblyLimits {
        message: 100,
        ..ReassemblyLimits::default()
    };
    let mut assembly = Reassembly::new(limits);
    let first = octets("47494f50 01 01 02 00 00000004 00000000");
    let more = octets("47494f50 01 01 02 07 00000001 ff");
    accept(&mut assembly, &first).unwrap();
    let taken = (0..)
        .take_while(|_| accept(&mut assembly, &more).is_ok())
        .count();
    assert_eq!(taken, (100 - 16) / 5);
    assert_eq!((assembly.len(), assembly.octets()), (0, 0));
}

/// Conformance: fragments - received, 1.2, cut anywhere
#[test]
fn empty_fragments_are_legal() {
    let mut assembly = Reassembly::default();
    let first = octets("47494f50 01 02 02 01 00000004 00000007");
    let empty = octets("47494f50 01 02 02 07 00000004 00000007");
    let last = octets("47494f50 01 02 00 07 00000004 00000007");
    accept(&mut assembly, &first).unwrap();
    accept(&mut assembly, &empty).unwrap();
    let whole = accept(&mut assembly, &last).unwrap().unwrap();
    assert_eq!(whole, octets("47494f50 01 02 00 01 00000004 00000007"));
}

/// Conformance: fragments - cancelled between its fragments
#[test]
fn a_cancelled_message_is_dropped_and_its_rest_continues_nothing() {
    let parts = cut(&request(ByteOrder::Big, 7, 200), 64).unwrap();
    let mut assembly = Reassembly::default();
    accept(&mut assembly, &parts[0]).unwrap();
    let id = parts[0].get(12..16);
    assert_eq!(assembly.take(|_, begun| begun.get(12..16) != id), None);
    let begun = assembly.take(|_, begun| begun.get(12..16) == id);
    assert_eq!(begun.unwrap().1, parts[0]);
    assert_eq!((assembly.len(), assembly.octets()), (0, 0));
    assert_eq!(
        accept(&mut assembly, &parts[1]),
        Err(FragmentError::NothingToContinue(Some(7)))
    );
}

/// Conformance: fragments - limits
#[test]
fn limits_hold() {
    let limits = ReassemblyLimits {
        message: 200,
        messages: 2,
        total: 250,
    };
    let parts = |id, size| cut(&request(ByteOrder::Big, id, size), 80).unwrap();
    let mut assembly = Reassembly::new(limits);
    let large = parts(1, 400);
    accept(&mut assembly, &large[0]).unwrap();
    accept(&mut assembly, &large[1]).unwrap();
    assert_eq!(
        accept(&mut assembly, &large[2]),
        Err(FragmentError::MessageTooLarge(Some(1)))
    );
    assert!(assembly.is_empty(), "what was too large is given up");

    accept(&mut assembly, &large[0]).unwrap();
    accept(&mut assembly, &parts(2, 400)[0]).unwrap();
    assert_eq!(
        accept(&mut assembly, &parts(3, 400)[0]),
        Err(FragmentError::TooManyMessages(Some(3)))
    );
    accept(&mut assembly, &large[1]).unwrap();
    assert_eq!(assembly.octets(), 80 + 64 + 80);
    assert_eq!(
        accept(&mut assembly, &parts(2, 400)[1]),
        Err(FragmentError::TooManyOctets(Some(2)))
    );
    assert_eq!((assembly.len(), assembly.octets()), (1, 144));
}

/// Conformance: fragments - form
#[test]
fn messages_that_cannot_be_fragmented_are_refused() {
    let mut assembly = Reassembly::default();
    for (text, error) in [
        (
            "47494f50 01 02 02 05 00000000",
            FragmentError::NotFragmentable(MessageKind::CloseConnection),
        ),
        (
            "47494f50 01 01 02 03 00000004 00000007",
            FragmentError::NotFragmentable(MessageKind::LocateRequest),
        ),
        (
            "47494f50 01 02 02 00 00000003 000000",
            FragmentError::NoRequestId,
        ),
        (
            "47494f50 01 02 00 07 00000004 00000009",
            FragmentError::NothingToContinue(Some(9)),
        ),
        (
            "47494f50 01 01 00 07 00000000",
            FragmentError::NothingToContinue(None),
        ),
    ] {
        assert_eq!(accept(&mut assembly, &octets(text)), Err(error), "{text}");
    }
    accept(
        &mut assembly,
        &octets("47494f50 01 02 02 00 00000004 00000007"),
    )
    .unwrap();
    let other_order = octets("47494f50 01 02 01 07 04000000 07000000");
    assert_eq!(
        accept(&mut assembly, &other_order),
        Err(FragmentError::Inconsistent)
    );
    assert!(assembly.is_empty());
}
