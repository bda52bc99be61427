// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages cut into fragments and put together again.

use crate::octets::{Chance, octets};
use orbium_cdr::{ByteOrder, CdrWriter, Format};
use orbium_giop::{
    Assembled, FragmentError, FragmentPlan, MIN_FRAGMENT_LEN, MessageHeader, MessageKind,
    Reassembly, ReassemblyLimits, ReplyHeader, ReplyStatus, RequestPositions, RequestTemplate,
    ResponseFlags, ServiceContexts, Version, finish_message, slices_within, split_header,
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

/// A message of GIOP 1.1 as an ORB sends it that aligns each fragment on its own: a number that does
/// not fit begins the next fragment, and octets are cut anywhere.
struct Fragmented {
    order: ByteOrder,
    kind: MessageKind,
    /// Maximum length of a fragment.
    limit: usize,
    done: Vec<Vec<u8>>,
    /// The present fragment.
    fragment: Vec<u8>,
}

impl Fragmented {
    fn new(order: ByteOrder, kind: MessageKind, limit: usize) -> Self {
        Self {
            order,
            kind,
            limit,
            done: Vec::new(),
            fragment: vec![0; 12],
        }
    }

    fn long(&mut self, value: u32) {
        if self.fragment.len().next_multiple_of(4) + 4 > self.limit {
            self.end_fragment(true);
        }
        let aligned = self.fragment.len().next_multiple_of(4);
        self.fragment.resize(aligned, 0xAA);
        self.fragment.extend(match self.order {
            ByteOrder::Big => value.to_be_bytes(),
            ByteOrder::Little => value.to_le_bytes(),
        });
    }

    fn octets(&mut self, octets: &[u8]) {
        for octet in octets {
            if self.fragment.len() == self.limit {
                self.end_fragment(true);
            }
            self.fragment.push(*octet);
        }
    }

    fn sequence(&mut self, octets: &[u8]) {
        self.long(octets.len() as u32);
        self.octets(octets);
    }

    fn end_fragment(&mut self, more_fragments: bool) {
        let mut fragment = std::mem::replace(&mut self.fragment, vec![0; 12]);
        let header = MessageHeader {
            version: Version::V1_1,
            order: self.order,
            more_fragments,
            kind: if self.done.is_empty() {
                self.kind
            } else {
                MessageKind::Fragment
            },
            size: (fragment.len() - 12) as u32,
        };
        fragment[..12].copy_from_slice(&header.encode());
        self.done.push(fragment);
    }

    fn assembled(mut self) -> Assembled {
        self.end_fragment(false);
        let mut assembly = Reassembly::default();
        let parts = self.done.iter();
        let whole = parts.filter_map(|part| assemble(&mut assembly, part).unwrap());
        whole.last().expect("the last fragment was given")
    }
}

/// The contexts of the messages below: the longest is divided by every limit.
const CONTEXTS: [(u32, &[u8]); 4] = [
    (1, b"\0code sets"),
    (0x4A41_4301, b""),
    (
        0x5441_4F00,
        b"abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklm",
    ),
    (9, b"x"),
];

fn check_contexts(contexts: &ServiceContexts<'_>, limit: usize) {
    let read: Vec<_> = contexts.iter().map(|it| (it.id, it.data)).collect();
    assert_eq!(read, CONTEXTS, "fragments of {limit} octets");
    assert_eq!(
        (contexts.len(), contexts.is_empty()),
        (CONTEXTS.len(), false)
    );
    assert_eq!(contexts.find(9), Some(&b"x"[..]));
}

/// The contexts ended at the first boundary: a message with a context across it was refused.
///
/// Conformance: fragments - received, 1.1, aligned within each fragment
#[test]
fn service_contexts_are_read_across_giop_1_1_fragments() {
    for order in [ByteOrder::Big, ByteOrder::Little] {
        for limit in 16..250 {
            let mut request = Fragmented::new(order, MessageKind::Request, limit);
            write_contexts(&mut request);
            request.long(7);
            request.octets(&[1, 0, 0, 0]);
            request.sequence(b"Cube");
            request.sequence(b"square\0");
            request.sequence(b"");
            request.long(0x0102_0304);
            check_request(request.assembled(), limit);
            let mut reply = Fragmented::new(order, MessageKind::Reply, limit);
            write_contexts(&mut reply);
            reply.long(7);
            reply.long(0);
            reply.long(0x0102_0304);
            check_reply(reply.assembled(), limit);
        }
    }
}

fn write_contexts(message: &mut Fragmented) {
    message.long(CONTEXTS.len() as u32);
    for (id, data) in CONTEXTS {
        message.long(id);
        message.sequence(data);
    }
}

fn check_request(whole: Assembled, limit: usize) {
    let Assembled { mut octets, seams } = whole;
    let addresses = octets.as_ptr_range();
    let (head, after) = split_header(&mut octets);
    let header = MessageHeader::parse(&head).unwrap();
    let mut reader = header.reader(after).with_fragment_boundaries(&seams);
    let request = header.read_request(&head, &mut reader).expect("a request");
    check_contexts(&request.contexts, limit);
    assert_eq!((request.request_id, request.operation), (7, &b"square"[..]));
    let positions = RequestPositions::of(&request, &reader, &addresses);
    assert_eq!(reader.read_u32(), Ok(0x0102_0304));
    // Later, as a queue has it.
    let request = positions.request(&header, &mut octets);
    check_contexts(&request.contexts, limit);
    assert_eq!(request.key, Some(&b"Cube"[..]));
    let mut arguments = request.arguments.with_fragment_boundaries(&seams);
    assert_eq!(arguments.read_u32(), Ok(0x0102_0304));
}

fn check_reply(whole: Assembled, limit: usize) {
    let Assembled { mut octets, seams } = whole;
    let (head, after) = split_header(&mut octets);
    let header = MessageHeader::parse(&head).unwrap();
    let mut reader = header.reader(after).with_fragment_boundaries(&seams);
    let reply = ReplyHeader::read(&mut reader, 1).expect("a reply");
    check_contexts(&reply.contexts, limit);
    assert_eq!(
        (reply.request_id, reply.status),
        (7, ReplyStatus::NoException)
    );
    assert_eq!(reader.read_u32(), Ok(0x0102_0304));
}
