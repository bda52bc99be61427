// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages in fragments that are aligned each on its own (GIOP 1.1) are read
//! as if they had come in one.

use orbium_cdr::{
    Any, ByteOrder, CdrError, CdrErrorKind, CdrReader, CdrWriter, Char, Decode, Encode, FixedSize,
    Format, LongDouble, Typed, WChar, WideSet, fixed_struct,
};

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Many {
    o: u8,
    l: i32,
    s: i16,
}
fixed_struct!(Many {
    o: u8,
    l: i32,
    s: i16
});

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct BinStruct {
    s: i16,
    c: Char,
    l: i32,
    o: u8,
    d: f64,
}
fixed_struct!(BinStruct {
    s: i16,
    c: Char,
    l: i32,
    o: u8,
    d: f64
});

/// Octets of a message header.
const DATA_AT: usize = 12;

/// Writes fragments of at most `size` octets, as ORBs do that align each on its
/// own: a primitive that does not fit begins the next.
struct Model {
    format: Format,
    size: usize,
    /// Data of the fragments before.
    done: Vec<u8>,
    boundaries: Vec<u32>,
    /// The present one, with its header.
    fragment: Vec<u8>,
}

impl Model {
    fn new(format: Format, size: usize) -> Self {
        Self {
            format,
            size,
            done: vec![0; DATA_AT],
            boundaries: Vec::new(),
            fragment: vec![0; DATA_AT],
        }
    }

    fn next_fragment(&mut self) {
        self.done.extend_from_slice(&self.fragment[DATA_AT..]);
        self.boundaries.push(self.done.len() as u32);
        self.fragment = vec![0xEE; DATA_AT];
    }

    /// A primitive; `bytes` are in native order.
    fn put(&mut self, bytes: &[u8], align: usize) {
        let start = self.fragment.len().next_multiple_of(align);
        if start + bytes.len() > self.size {
            // Some ORBs fill the fragment up, some end it where it is.
            if bytes.len() == 8 {
                self.fragment.resize(start.min(self.size), 0xAA);
            }
            self.next_fragment();
        }
        let start = self.fragment.len().next_multiple_of(align);
        self.fragment.resize(start, 0xAA);
        if self.format.order.is_foreign() {
            self.fragment.extend(bytes.iter().rev());
        } else {
            self.fragment.extend_from_slice(bytes);
        }
    }

    fn octets(&mut self, mut octets: &[u8]) {
        while !octets.is_empty() {
            if self.fragment.len() == self.size {
                self.next_fragment();
            }
            let room = (self.size - self.fragment.len()).min(octets.len());
            self.fragment.extend_from_slice(&octets[..room]);
            octets = &octets[room..];
        }
    }

    fn count(&mut self, count: usize) {
        self.put(&(count as u32).to_ne_bytes(), 4);
    }

    fn string(&mut self, text: &str) {
        self.count(text.len() + 1);
        self.octets(text.as_bytes());
        self.octets(&[0]);
    }

    fn many(&mut self, value: Many) {
        self.put(&[value.o], 1);
        self.put(&value.l.to_ne_bytes(), 4);
        self.put(&value.s.to_ne_bytes(), 2);
    }

    fn bin(&mut self, value: BinStruct) {
        self.put(&value.s.to_ne_bytes(), 2);
        self.put(&[value.c.0], 1);
        self.put(&value.l.to_ne_bytes(), 4);
        self.put(&[value.o], 1);
        self.put(&value.d.to_ne_bytes(), 8);
    }

    /// The message put together, and its boundaries.
    fn finish(mut self) -> (Vec<u8>, Vec<u32>) {
        self.done.extend_from_slice(&self.fragment[DATA_AT..]);
        (self.done, self.boundaries)
    }
}

fn many(i: i32) -> Many {
    Many {
        o: i as u8,
        l: i * 77777,
        s: (i * 3) as i16,
    }
}

fn bin(i: i32) -> BinStruct {
    BinStruct {
        s: i as i16,
        c: Char(b'a' + (i % 26) as u8),
        l: i * 1_000_003,
        o: !(i as u8),
        d: f64::from(i) * 1.25,
    }
}

#[derive(Debug, Default, PartialEq)]
struct Everything {
    flag: bool,
    text: String,
    bins: Vec<BinStruct>,
    one: Option<BinStruct>,
    doubles: Vec<f64>,
    octets: Vec<u8>,
    manies: Vec<Many>,
    nested: Vec<Vec<i16>>,
    strings: Vec<String>,
    wide: String,
    unit: WChar,
    array: [i64; 5],
    encapsulated: u64,
    slice: Vec<i64>,
    triple: (u8, u16, u64),
    long_double: LongDouble,
    last: u64,
}

fn everything() -> Everything {
    Everything {
        flag: true,
        text: "a string that is longer than the least of the fragments".to_owned(),
        bins: (0..23).map(bin).collect(),
        one: Some(bin(99)),
        doubles: (0..17).map(|i| f64::from(i) / 3.0).collect(),
        octets: (0..201).map(|i| i as u8).collect(),
        manies: (0..19).map(many).collect(),
        nested: (0..7).map(|i| (0..i * 3).collect()).collect(),
        strings: (0..9).map(|i| "x".repeat(i * 5)).collect(),
        wide: "wide \u{1F600} text".to_owned(),
        unit: WChar(0x20AC),
        array: [1, -2, 3, -4, i64::MIN],
        encapsulated: 0x0102_0304_0506_0708,
        slice: (0..11).map(|i| i << 40).collect(),
        triple: (7, 8, 9),
        long_double: LongDouble::from(1.5),
        last: u64::MAX - 1,
    }
}

fn write(value: &Everything, out: &mut Model) {
    out.put(&[u8::from(value.flag)], 1);
    out.string(&value.text);
    out.count(value.bins.len());
    value.bins.iter().for_each(|item| out.bin(*item));
    value.one.iter().for_each(|item| out.bin(*item));
    out.count(value.doubles.len());
    for item in &value.doubles {
        out.put(&item.to_ne_bytes(), 8);
    }
    out.count(value.octets.len());
    out.octets(&value.octets);
    out.count(value.manies.len());
    value.manies.iter().for_each(|item| out.many(*item));
    out.count(value.nested.len());
    for items in &value.nested {
        out.count(items.len());
        for item in items {
            out.put(&item.to_ne_bytes(), 2);
        }
    }
    out.count(value.strings.len());
    for item in &value.strings {
        out.string(item);
    }
    out.count(value.wide.encode_utf16().count() + 1);
    for unit in value.wide.encode_utf16().chain([0]) {
        out.put(&unit.to_ne_bytes(), 2);
    }
    out.put(&value.unit.0.to_ne_bytes(), 2);
    for item in value.array {
        out.put(&item.to_ne_bytes(), 8);
    }
    let mut inner = CdrWriter::new(out.format);
    inner.write_u8(u8::from(out.format.order == ByteOrder::Little));
    inner.write_u64(value.encapsulated);
    let inner = inner.finish().unwrap();
    out.count(inner.len());
    out.octets(&inner);
    out.count(value.slice.len());
    for item in &value.slice {
        out.put(&item.to_ne_bytes(), 8);
    }
    out.put(&[value.triple.0], 1);
    out.put(&value.triple.1.to_ne_bytes(), 2);
    out.put(&value.triple.2.to_ne_bytes(), 8);
    let mut long_double = value.long_double.0;
    if cfg!(target_endian = "big") {
        long_double.reverse();
    }
    out.put(&long_double, 8);
    out.put(&value.last.to_ne_bytes(), 8);
}

fn read(reader: &mut CdrReader<'_>) -> Result<Everything, CdrError> {
    let value = Everything {
        flag: reader.read_bool()?,
        text: String::decode(reader)?,
        bins: Vec::decode(reader)?,
        one: Some(BinStruct::decode(reader)?),
        doubles: Vec::decode(reader)?,
        octets: reader.read_octets()?.to_vec(),
        manies: Vec::decode(reader)?,
        nested: Vec::decode(reader)?,
        strings: Vec::decode(reader)?,
        wide: reader.read_wstring()?,
        unit: reader.read_wchar()?,
        array: <[i64; 5]>::decode(reader)?,
        encapsulated: reader.read_encapsulation()?.read_u64()?,
        slice: reader.read_fixed_slice::<i64>()?.into_owned(),
        triple: (reader.read_u8()?, reader.read_u16()?, reader.read_u64()?),
        long_double: LongDouble::decode(reader)?,
        last: u64::decode(reader)?,
    };
    assert_eq!(reader.remaining(), 0);
    Ok(value)
}

fn formats() -> impl Iterator<Item = Format> {
    [ByteOrder::Big, ByteOrder::Little]
        .into_iter()
        .map(|order| Format {
            wide_set: Some(WideSet::Utf16),
            ..Format::plain(order, 1)
        })
}

/// Fragment sizes that hold any primitive: a `long double` after a header.
const SIZES: std::ops::RangeInclusive<usize> = 32..=200;

/// Conformance: fragments - received, 1.1, aligned within each fragment
#[test]
fn values_are_the_same_however_small_the_fragments() {
    let value = everything();
    for format in formats() {
        for size in SIZES.step_by(4).chain([333, 999, 100_000]) {
            let mut model = Model::new(format, size);
            write(&value, &mut model);
            let (mut message, boundaries) = model.finish();
            assert_eq!(boundaries.is_empty(), size == 100_000);
            let mut reader = CdrReader::at(&mut message[DATA_AT..], DATA_AT, format)
                .with_fragment_boundaries(&boundaries);
            assert_eq!(read(&mut reader), Ok(everything()), "fragments of {size}");
        }
    }
}

/// Conformance: fragments - received, 1.1, aligned within each fragment
#[test]
fn a_message_that_ends_early_is_an_error_at_every_octet() {
    let value = everything();
    for format in formats() {
        for size in [32, 40, 100] {
            let mut model = Model::new(format, size);
            write(&value, &mut model);
            let (message, boundaries) = model.finish();
            for end in DATA_AT..message.len() {
                let mut message = message[..end].to_vec();
                let mut reader = CdrReader::at(&mut message[DATA_AT..], DATA_AT, format)
                    .with_fragment_boundaries(&boundaries);
                let error = read(&mut reader).expect_err("not all is there");
                assert!(
                    matches!(
                        error.kind,
                        CdrErrorKind::Truncated | CdrErrorKind::CountTooLarge
                    ),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn smallest_fragments_hold_one_primitive_each() {
    let items: Vec<BinStruct> = (0..40).map(bin).collect();
    for format in formats() {
        for size in (16..=64).step_by(4) {
            // A double needs its padding and eight octets.
            let doubles = size >= 24;
            let mut model = Model::new(format, size);
            for item in &items {
                model.many(many(i32::from(item.s)));
                if doubles {
                    model.bin(*item);
                }
            }
            let (mut message, boundaries) = model.finish();
            let mut reader = CdrReader::at(&mut message[DATA_AT..], DATA_AT, format)
                .with_fragment_boundaries(&boundaries);
            for item in &items {
                assert_eq!(reader.read_fixed::<Many>(), Ok(many(i32::from(item.s))));
                if doubles {
                    assert_eq!(reader.read_fixed::<BinStruct>(), Ok(*item));
                }
            }
            assert_eq!(reader.remaining(), 0);
        }
    }
}

#[test]
fn a_reader_may_begin_after_a_boundary() {
    for format in formats() {
        for size in (24..=64).step_by(4) {
            let mut model = Model::new(format, size);
            // An odd run, so that no boundary lies at a multiple of four.
            model.octets(&[7; 101]);
            let at = |model: &Model| model.done.len() + model.fragment.len() - DATA_AT;
            let start = at(&model);
            model.next_fragment();
            model.octets(&[1]);
            let inside = at(&model);
            (0..9).for_each(|i| model.bin(bin(i)));
            let (message, boundaries) = model.finish();
            for (from, lead) in [(start, 1), (inside, 0)] {
                let mut message = message.clone();
                let mut reader = CdrReader::at(&mut message[from..], from, format)
                    .with_fragment_boundaries(&boundaries);
                reader.take(lead).unwrap();
                let mut items = Vec::new();
                reader.read_fixed_vec::<BinStruct>(9, &mut items).unwrap();
                assert_eq!(items, (0..9).map(bin).collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn octets_across_fragment_boundaries_are_contiguous() {
    let mut message: Vec<u8> = (0..60).collect();
    let boundaries = [13, 14, 20, 33];
    let format = Format::plain(ByteOrder::Big, 1);
    let mut reader = CdrReader::at(&mut message[DATA_AT..], DATA_AT, format)
        .with_fragment_boundaries(&boundaries);
    assert_eq!(reader.ahead(), [12], "up to the first boundary");
    assert_eq!(reader.remaining(), 48);
    let first = reader.take(5).unwrap();
    let second = reader.take(10).unwrap();
    assert_eq!(first, [12, 13, 14, 15, 16]);
    assert_eq!(second, [17, 18, 19, 20, 21, 22, 23, 24, 25, 26]);
    assert_eq!(reader.take(6).unwrap(), [27, 28, 29, 30, 31, 32]);
    assert_eq!(
        reader.ahead()[0],
        33,
        "a boundary just ahead is stepped over"
    );
    assert_eq!(reader.remaining(), 27);
    assert_eq!(
        reader.take(28).map_err(|error| error.kind),
        Err(CdrErrorKind::Truncated)
    );
}

#[test]
fn invalid_boundaries_do_no_harm() {
    let format = Format::plain(ByteOrder::Big, 1);
    let boundaries: [&[u32]; 5] = [
        &[0, 5, 12],
        &[40, 39, 38],
        &[20, 20, 20],
        &[30, u32::MAX],
        &[u32::MAX, 13, 14],
    ];
    for boundaries in boundaries {
        let mut message = [0; 50];
        let mut reader = CdrReader::at(&mut message[DATA_AT..], DATA_AT, format)
            .with_fragment_boundaries(boundaries);
        let mut values = 0;
        while reader.read_fixed::<f64>().is_ok() {
            values += 1;
        }
        assert!((1..=4).contains(&values), "{values} of {boundaries:?}");
    }
}

/// Conformance: fragments - received, 1.1, aligned within each fragment
#[test]
fn an_any_may_lie_across_boundaries() {
    let doubles: Vec<f64> = (0..21).map(f64::from).collect();
    let code = <Vec<f64> as Typed>::type_code();
    let mut writer = CdrWriter::new(Format::native());
    code.encode(&mut writer);
    let type_code = writer.finish().unwrap();
    let any = Any::new(&doubles).unwrap();
    for size in SIZES.step_by(4) {
        let format = Format::plain(ByteOrder::NATIVE, 1);
        let mut model = Model::new(format, size);
        // The kind, then the encapsulation of what is in the sequence.
        model.put(&type_code[..4], 4);
        model.put(&type_code[4..8], 4);
        model.octets(&type_code[8..]);
        model.count(doubles.len());
        for item in &doubles {
            model.put(&item.to_ne_bytes(), 8);
        }
        model.string("after it");
        let (mut message, boundaries) = model.finish();
        let mut reader = CdrReader::at(&mut message[DATA_AT..], DATA_AT, format)
            .with_fragment_boundaries(&boundaries);
        let read = Any::decode(&mut reader).unwrap();
        assert_eq!(read, any, "fragments of {size}");
        assert_eq!(reader.read_str().as_deref(), Ok("after it"));
    }
}

/// Conformance: fragments - received, 1.1, aligned within each fragment
#[test]
fn the_octets_that_another_orb_sent_are_read() {
    // A sequence of structs from omniORB in GIOP 1.1: the first fragment, of
    // 8192 octets, ends after the third member of a struct, and the second
    // begins as captured, with the double at octet 16 of it.
    assert_eq!(BinStruct::LAYOUT.end(0), 24);
    let mut message = vec![0; 8192];
    message[8184..8192].copy_from_slice(&[0x57, 0, 0x58, 0, 3, 0, 0, 0]);
    message.extend([0x57, 0, 0, 0, 0, 0, 0, 0, 0, 0xa1, 0xaa, 0xc0]);
    let format = Format::plain(ByteOrder::Little, 1);
    let mut reader =
        CdrReader::at(&mut message[8184..], 8184, format).with_fragment_boundaries(&[8192]);
    let expected = BinStruct {
        s: 0x57,
        c: Char(0x58),
        l: 3,
        o: 0x57,
        d: f64::from_bits(0xc0aa_a100_0000_0000),
    };
    assert_eq!(reader.read_fixed::<BinStruct>(), Ok(expected));
    assert_eq!(reader.remaining(), 0);
}
