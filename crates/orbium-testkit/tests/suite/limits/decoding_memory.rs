// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoding without memory: it ended the process, for the decoder allocated what the lengths
//! on the wire asked for.

use std::fs;

use orbium::giop::minor::{ORBIUM_VMCID, PEER_MEMORY};
use orbium::giop::{Ior, TaggedProfile};
use orbium::{Completion, ExceptionKind, SystemException};
use orbium_cdr::{
    Any, ByteOrder, CdrError, CdrErrorKind, CdrReader, CdrWriter, CharSet, Decode, Encode, Format,
    Type, TypeCode,
};
use orbium_testkit::in_own_process;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Octets of each value.
const LARGE: usize = 12 << 20;

/// Has glibc make a mapping of its own for each block of a value, and its heap grow where the limit
/// refuses both: else blocks come out of the 64 MiB of address space that it reserves for the heap
/// of a thread, or that were a value before.
const MAPPED: [(&str, &str); 2] = [
    ("MALLOC_MMAP_THRESHOLD_", "131072"),
    ("MALLOC_ARENA_MAX", "1"),
];

/// Octets of address space that this process has taken.
fn occupied() -> u64 {
    let figures = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = figures.split(' ').next().unwrap().parse().unwrap();
    pages * 4096
}

fn written<'a>(format: Format, write: impl FnOnce(&mut CdrWriter<'a>)) -> Vec<u8> {
    let mut writer = CdrWriter::new(format);
    write(&mut writer);
    writer.finish().unwrap()
}

type Read<'r> = &'r dyn Fn(&mut CdrReader<'_>) -> Result<usize, CdrError>;

/// Reads a value with no more memory than `spare` octets, which is an error.
fn refused(what: &str, format: Format, octets: &mut [u8], spare: usize, read: Read<'_>) {
    let before = getrlimit(Resource::As);
    let lowered = Rlimit {
        current: Some(occupied() + spare as u64),
        ..before
    };
    setrlimit(Resource::As, lowered).unwrap();
    let scarce = read(&mut CdrReader::new(octets, format));
    setrlimit(Resource::As, before).unwrap();
    let error = scarce.expect_err(what);
    assert_eq!(error.kind, CdrErrorKind::NoMemory, "{what}");
    let raised = SystemException::from_cdr(error, Completion::No);
    assert_eq!(raised.kind, ExceptionKind::NoResources);
    assert_eq!(raised.minor, ORBIUM_VMCID | PEER_MEMORY);
}

/// As [`refused`], then reads the value with memory.
fn read_scarce(what: &str, format: Format, octets: &mut [u8], spare: usize, read: Read<'_>) {
    refused(what, format, octets, spare, read);
    assert!(read(&mut CdrReader::new(octets, format)).expect(what) > 0);
}

fn whole<T: Decode>(reader: &mut CdrReader<'_>) -> Result<usize, CdrError> {
    T::decode(reader).map(|_| 1)
}

/// Conformance: ORB - a decoder without memory for a value: NO_RESOURCES
#[test]
fn a_value_for_which_the_system_has_no_memory_is_an_error() {
    in_own_process!(MAPPED, || {
        let plain = Format::plain(ByteOrder::NATIVE, 2);
        let native = Format::native();
        let latin1 = Format {
            char_set: CharSet::Latin1,
            ..native
        };
        let little = 2 << 20;

        let ones = vec![1; LARGE];
        let mut octets = written(plain, |w| w.write_octets(&ones));
        drop(ones);
        read_scarce("octets", plain, &mut octets, little, &whole::<Vec<u8>>);
        drop(octets);

        let ones = vec![1_i32; LARGE / 4];
        let mut octets = written(plain, |w| ones.encode(w));
        drop(ones);
        read_scarce("longs", plain, &mut octets, little, &whole::<Vec<i32>>);
        let foreign = Format::plain(
            match ByteOrder::NATIVE {
                ByteOrder::Big => ByteOrder::Little,
                ByteOrder::Little => ByteOrder::Big,
            },
            2,
        );
        octets[..4].reverse();
        read_scarce("foreign", foreign, &mut octets, little, &whole::<Vec<i32>>);
        drop(octets);

        // Strings without text: eight octets on the wire, 24 in memory. The second
        // time there is memory for what is reserved, but not for what is added.
        let count = LARGE / 8;
        let mut octets = written(plain, |w| {
            w.write_count(count);
            for _ in 0..count {
                w.write_str("");
            }
        });
        refused("strings", plain, &mut octets, little, &whole::<Vec<String>>);
        let some = LARGE + LARGE / 2;
        read_scarce("growing", plain, &mut octets, some, &whole::<Vec<String>>);
        drop(octets);

        let text = "a".repeat(LARGE);
        let mut octets = written(native, |w| w.write_str(&text));
        read_scarce("string", native, &mut octets, little, &whole::<String>);
        read_scarce("string again", native, &mut octets, little, &|reader| {
            let mut text = String::new();
            text.decode_into(reader).map(|()| text.len())
        });
        // Octets beyond ASCII become two of UTF-8.
        let end = octets.len() - 1;
        octets[4..end].fill(0xE4);
        read_scarce("ISO 8859-1", latin1, &mut octets, little, &whole::<String>);
        drop(octets);

        for minor in [1, 2] {
            let format = Format { minor, ..native };
            let mut octets = written(format, |w| w.write_wstr(&text[..LARGE / 4 * 3]));
            let read = |reader: &mut CdrReader<'_>| reader.read_wstring().map(|text| text.len());
            refused("wstring", format, &mut octets, little, &read);
            // Memory for the units, but not for the text.
            let some = LARGE / 2 * 3 + little;
            read_scarce("its text", format, &mut octets, some, &read);
        }
        // A type that is an alias with such a name, and a reference with such a key.
        let alias = TypeCode::alias("IDL:Long:1.0", &text, Type::LONG.into());
        let mut octets = written(native, |w| alias.encode(w));
        drop(alias);
        read_scarce("type", native, &mut octets, little, &whole::<TypeCode>);
        let reference = Ior {
            type_id: String::new(),
            profiles: vec![TaggedProfile {
                tag: 0,
                data: text.into_bytes(),
            }],
        };
        let mut octets = written(native, |w| reference.encode(w));
        drop(reference);
        read_scarce("reference", native, &mut octets, little, &whole::<Ior>);
        drop(octets);

        let any = Any::new(&vec![7_u8; LARGE]).unwrap();
        let mut octets = written(native, |w| any.encode(w));
        drop(any);
        refused("any", native, &mut octets, little, &whole::<Any>);
        // Memory for one copy, but not for the one that is kept.
        let some = LARGE + LARGE / 2;
        read_scarce("any kept", native, &mut octets, some, &whole::<Any>);
        let any = Any::decode(&mut CdrReader::new(&mut octets, native)).unwrap();
        drop(octets);
        read_scarce("its value", native, &mut [], little, &|_| {
            any.read_with(whole::<Vec<u8>>)
        });
    });
}
