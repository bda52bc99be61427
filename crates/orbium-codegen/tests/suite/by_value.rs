// SPDX-License-Identifier: MIT OR Apache-2.0
//! Custom and abstract valuetypes, what values support, and abstract interfaces through
//! generated code: called over TCP and by a caller of the same ORB.

use std::sync::Mutex;

use orbium::value::{Abstract, CustomMarshal, DataInput, DataOutput, Factories};
use orbium::{Any, Call, ExceptionKind, Interface, SystemException, TypeCode};
use orbium_cdr::{CdrError, CdrErrorKind, TCKind, Typed};

use crate::orbs::Orbs;

mod golden {
    include!("../golden/by_value.rs");
}

use golden::by_value::{
    Counter, CounterCountResults, CounterServant, Crate, CrateFactory, CrateOperations, CrateState,
    Depot, DepotServant, Describable, DescribableServant, Item, Nowhere, NowhereError, Packed,
    PackedState, Sealed, SealedOperations, SealedState, Station, StationServant, Stored,
    StoredOperations, Tagged, TaggedOperations, TaggedState, Tally, TallyOperations, TallyState,
    Weighed, WeighedOperations,
};

type Answer<T> = Result<T, SystemException>;
type Thing = Option<Abstract<Describable>>;

/// The operations of crates, tagged or not.
struct Wood;

impl WeighedOperations for Wood {
    fn weight(&self, this: &Weighed) -> Answer<f64> {
        Ok(this.downcast::<Crate>().map_or(0.0, |it| it.read().grams))
    }
}

impl StoredOperations for Wood {
    fn bay(&self, _: &Stored, hall: &str) -> Result<i32, NowhereError> {
        match hall {
            "" => Err(Nowhere {}.into()),
            hall => Ok(hall.len() as i32),
        }
    }
}

impl CrateOperations for Wood {
    fn describe(&self, this: &Crate, at_length: bool) -> Answer<String> {
        let content = &this.read().content;
        Ok(format!(
            "{}{content}",
            if at_length { "a crate of " } else { "" }
        ))
    }
}

impl TaggedOperations for Wood {}

fn crate_of(content: &str, grams: f64) -> Crate {
    let content = content.to_owned();
    Crate::with_operations(CrateState { content, grams }, Wood)
}

fn tagged(content: &str, tag: &str) -> Tagged {
    let base = crate_of(content, 1.5).read().clone();
    let tag = tag.to_owned();
    Tagged::with_operations(TaggedState { base, tag }, Wood)
}

/// Eight booleans to the octet.
struct InBits;

impl CustomMarshal<Packed> for InBits {
    fn marshal(&self, this: &Packed, output: &mut DataOutput<'_, '_>) -> Result<(), CdrError> {
        let state = this.read();
        output.write_ulong(state.bits.len() as u32);
        for eight in state.bits.chunks(8) {
            output.write_octet(eight.iter().fold(0, |sum, bit| sum << 1 | u8::from(*bit)));
        }
        output.write_value(state.next.as_ref());
        Ok(())
    }

    fn unmarshal(&self, this: &Packed, input: &mut DataInput<'_, '_>) -> Result<(), CdrError> {
        let mut left = input.read_ulong()? as usize;
        let mut bits = Vec::new();
        while left > 0 {
            let octet = input.read_octet()?;
            let here = left.min(8);
            bits.extend((0..here).rev().map(|at| octet >> at & 1 == 1));
            left -= here;
        }
        let next = input.read_value()?;
        *this.write() = PackedState { bits, next };
        Ok(())
    }
}

fn packed(bits: &[bool]) -> Packed {
    let bits = bits.to_vec();
    Packed::with_operations(PackedState { bits, next: None }, InBits)
}

/// A custom value with operations.
struct Wax;

impl WeighedOperations for Wax {
    fn weight(&self, _: &Weighed) -> Answer<f64> {
        Ok(0.25)
    }
}

impl SealedOperations for Wax {
    fn open(&self, this: &Sealed, key: &str) -> Answer<()> {
        this.write().seal.push_str(key);
        Ok(())
    }
}

impl CustomMarshal<Sealed> for Wax {
    fn marshal(&self, this: &Sealed, output: &mut DataOutput<'_, '_>) -> Result<(), CdrError> {
        let seal = this.read().seal.clone();
        if seal.is_empty() {
            return Err(output.error(CdrErrorKind::BadString));
        }
        output.write_wstring(&seal);
        Ok(())
    }

    fn unmarshal(&self, this: &Sealed, input: &mut DataInput<'_, '_>) -> Result<(), CdrError> {
        this.write().seal = input.read_wstring()?;
        Ok(())
    }
}

fn sealed(seal: &str) -> Sealed {
    let seal = seal.to_owned();
    Sealed::with_operations(SealedState { seal }, Wax)
}

/// A value that is a servant.
struct Sum;

impl TallyOperations for Sum {
    fn count(&self, this: &Tally, step: i32) -> Answer<CounterCountResults> {
        let mut state = this.write();
        let before = state.total;
        state.total += step;
        let result = state.total;
        Ok(CounterCountResults { result, before })
    }

    fn reset(&self, this: &Tally) -> Answer<()> {
        this.write().total = 0;
        Ok(())
    }

    fn name(&self, _: &Tally) -> Answer<String> {
        Ok("tally".to_owned())
    }

    fn clear(&self, this: &Tally) -> Answer<()> {
        self.reset(this)
    }
}

fn register(factories: &Factories) {
    factories.register(|| crate_of("", 0.0));
    factories.register(|| tagged("", ""));
    factories.register(|| packed(&[]));
    factories.register(|| sealed(""));
}

#[derive(Default)]
struct House {
    best: Mutex<Thing>,
}

impl DepotServant for House {
    fn echo(
        &self,
        _: &Call<'_>,
        item: Option<&Abstract<Describable>>,
        other: &mut Thing,
    ) -> Answer<Thing> {
        // What is called here is the value, or the object at its own place.
        if let Some(item) = item {
            let text = match item {
                Abstract::Object(object) => object.describe(true)?,
                Abstract::Value(_) => {
                    let value: Crate = item.value().ok_or(ExceptionKind::BadParam)?;
                    value.describe(true)?
                }
            };
            assert!(text.starts_with("a "), "{text}");
        }
        let given = other.take();
        *other = item.cloned();
        Ok(given)
    }

    fn echo_item(&self, _: &Call<'_>, it: &Item) -> Answer<Item> {
        Ok(it.clone())
    }

    fn echo_weighed(&self, _: &Call<'_>, item: Option<&Weighed>) -> Answer<Option<Weighed>> {
        if let Some(item) = item {
            assert!(item.weight()? > 0.0);
        }
        Ok(item.cloned())
    }

    fn echo_packed(&self, _: &Call<'_>, item: Option<&Packed>) -> Answer<Option<Packed>> {
        Ok(item.cloned())
    }

    fn echo_sealed(&self, _: &Call<'_>, item: Option<&Sealed>) -> Answer<Option<Sealed>> {
        if let Some(item) = item {
            item.open("!")?;
        }
        Ok(item.cloned())
    }

    fn echo_any(&self, _: &Call<'_>, item: &Any) -> Answer<Any> {
        Ok(item.clone())
    }

    fn best(&self, _: &Call<'_>) -> Answer<Thing> {
        Ok(self.best.lock().unwrap().clone())
    }

    fn set_best(&self, _: &Call<'_>, value: Option<&Abstract<Describable>>) -> Answer<()> {
        *self.best.lock().unwrap() = value.cloned();
        Ok(())
    }
}

struct Platform;

impl DescribableServant for Platform {
    fn describe(&self, _: &Call<'_>, at_length: bool) -> Answer<String> {
        Ok(if at_length { "a station" } else { "station" }.to_owned())
    }
}

impl StationServant for Platform {
    fn signals(&self, _: &Call<'_>) -> Answer<i32> {
        Ok(2)
    }

    fn set_signals(&self, _: &Call<'_>, _: i32) -> Answer<()> {
        Ok(())
    }
}

fn registered() -> Orbs {
    let orbs = Orbs::new();
    register(orbs.server.value_factories());
    register(orbs.client.value_factories());
    orbs
}

fn depots(orbs: &Orbs) -> [Depot; 2] {
    orbs.both(House::default())
}

fn station(orbs: &Orbs) -> Station {
    orbs.server.root_poa().activate(Platform).unwrap()
}

/// Conformance: IDL - abstract interfaces
#[test]
fn an_abstract_interface_takes_objects_and_values() {
    let orbs = registered();
    let station = station(&orbs);
    let object = Abstract::Object(Describable::from(station));
    let value = Abstract::of_value(&tagged("plums", "fresh"));
    for depot in depots(&orbs) {
        let mut other = Some(value.clone());
        let back = depot.echo(Some(&object), &mut other).unwrap();
        let back: Tagged = back.unwrap().value().unwrap();
        assert_eq!(back.read().tag, "fresh");
        assert_eq!(back.describe(false).unwrap(), "plums");
        let object = other.unwrap();
        let other = object.object().unwrap();
        assert_eq!(other.describe(false).unwrap(), "station");
        let narrowed: Station = other.as_object().narrow().unwrap();
        assert_eq!(narrowed.signals(), Ok(2));

        let mut other = None;
        assert_eq!(depot.echo(None, &mut other), Ok(None));
        assert_eq!(other, None);
        let back = depot.echo(Some(&value), &mut other).unwrap();
        assert_eq!(back, None);
        assert!(other.unwrap().value::<Crate>().is_some());

        assert_eq!(depot.best(), Ok(None));
        depot.set_best(Some(&value)).unwrap();
        assert!(depot.best().unwrap().unwrap().value::<Tagged>().is_some());
        depot.set_best(None).unwrap();
    }
    let described = <Abstract<Describable> as Typed>::type_code();
    assert_eq!(described.kind(), TCKind::AbstractInterface);
    assert_eq!(described.id(), "IDL:ByValue/Describable:1.0");
    assert_eq!(described.name(), "Describable");
}

/// Conformance: IDL - abstract interfaces
#[test]
fn an_abstract_interface_may_be_in_a_struct_and_an_any() {
    let orbs = registered();
    let station = Describable::from(station(&orbs));
    let items = [
        None,
        Some(Abstract::Object(station)),
        Some(Abstract::of_value(&crate_of("nails", 2.0))),
    ];
    for depot in depots(&orbs) {
        for what in &items {
            let more = Any::new(what).unwrap();
            let what = what.clone();
            let item = Item { what, more };
            let back = depot.echo_item(&item).unwrap();
            let again: Thing = back.more.extract().unwrap();
            for got in [back.what, again] {
                match (&item.what, got) {
                    (None, None) => {}
                    (Some(Abstract::Object(_)), Some(Abstract::Object(object))) => {
                        assert_eq!(object.describe(true).unwrap(), "a station");
                    }
                    (Some(Abstract::Value(_)), Some(value)) => {
                        let value: Crate = value.value().unwrap();
                        assert_eq!(value.describe(true).unwrap(), "a crate of nails");
                    }
                    (sent, got) => panic!("{sent:?} came back as {got:?}"),
                }
            }
        }
    }
}

/// Conformance: IDL - value types: abstract
#[test]
fn abstract_value_types_have_operations() {
    let orbs = registered();
    for depot in depots(&orbs) {
        let sent = Weighed::from(crate_of("nails", 2.0));
        let back = depot.echo_weighed(Some(&sent)).unwrap().unwrap();
        assert_eq!(back.weight(), Ok(2.0));
        let stored: Stored = back.downcast().unwrap();
        assert_eq!(stored.bay("east"), Ok(4));
        assert_eq!(stored.bay(""), Err(Nowhere {}.into()));
        // The methods of all its bases are there.
        let back: Crate = back.downcast().unwrap();
        assert_eq!(back.bay("nord-west"), Ok(9));
        assert_eq!(back.weight(), Ok(2.0));

        let tagged = tagged("plums", "fresh");
        let back = depot.echo_weighed(Some(&tagged.into())).unwrap().unwrap();
        let back: Tagged = back.downcast().unwrap();
        assert_eq!(back.weight(), Ok(1.5));
        assert_eq!(back.describe(false).unwrap(), "plums");

        let sealed = sealed("red");
        let back = depot.echo_weighed(Some(&sealed.into())).unwrap().unwrap();
        assert_eq!(back.downcast::<Sealed>().unwrap().read().seal, "red");
    }
}

/// Conformance: IDL - value types: custom
#[test]
fn custom_values_are_marshalled_by_the_program() {
    let orbs = registered();
    let bits = [
        true, false, true, true, false, true, true, true, true, false,
    ];
    for depot in depots(&orbs) {
        assert_eq!(depot.echo_packed(None), Ok(None));
        let given = packed(&bits);
        given.write().next = Some(packed(&bits[3..]));
        let back = depot.echo_packed(Some(&given)).unwrap().unwrap();
        assert_eq!(back.read().bits, bits);
        let next = back.read().next.clone().unwrap();
        assert_eq!(next.read().bits, bits[3..]);
        // A ring of custom values.
        given.write().next = Some(given.clone());
        let back = depot.echo_packed(Some(&given)).unwrap().unwrap();
        assert_eq!(back.read().next, Some(back.clone()));
        back.unlink();
        given.unlink();

        let back = depot.echo_sealed(Some(&sealed("blue"))).unwrap().unwrap();
        assert_eq!(back.read().seal, "blue!");
        // What the program refuses to write.
        let error = depot.echo_sealed(Some(&sealed(""))).unwrap_err();
        assert_eq!(error.kind, ExceptionKind::BadParam);
    }
}

/// Conformance: IDL - value types: custom
#[test]
fn a_custom_value_needs_a_factory() {
    let orbs = Orbs::new();
    for depot in depots(&orbs) {
        let error = depot.echo_packed(Some(&packed(&[true]))).unwrap_err();
        assert_eq!(error.kind, ExceptionKind::Marshal);
        assert_eq!(error.minor & 0xfff, 1, "no factory");
    }
}

/// Conformance: IDL - value types: in anys
#[test]
fn anys_hold_values_of_registered_types() {
    let orbs = registered();
    for depot in depots(&orbs) {
        let any = Any::new(&Some(tagged("plums", "fresh"))).unwrap();
        let back = depot.echo_any(&any).unwrap();
        let value = back.extract::<Option<Tagged>>().unwrap().unwrap();
        assert_eq!(value.describe(true).unwrap(), "a crate of plums");
        let any = Any::new(&Some(packed(&[true, false]))).unwrap();
        let back = depot.echo_any(&any).unwrap();
        let value = back.extract::<Option<Packed>>().unwrap().unwrap();
        assert_eq!(value.read().bits, [true, false]);
    }
}

/// A value is read as its TypeCode describes it; the state of a custom one needs the program.
///
/// Conformance: IDL - value types: in anys
#[test]
fn an_any_of_a_value_that_is_not_registered_is_relayed_unless_it_is_custom() {
    let orbs = Orbs::new();
    let [_, remote] = depots(&orbs);
    let any = Any::new(&Some(tagged("plums", "fresh"))).unwrap();
    assert_eq!(any.type_code(), &TypeCode::from(Tagged::TYPE));
    let back = remote.echo_any(&any).unwrap();
    let value = back.extract::<Option<Tagged>>().unwrap().unwrap();
    assert_eq!(value.read().tag, "fresh");
    let any = Any::new(&Some(packed(&[true]))).unwrap();
    let error = remote.echo_any(&any).unwrap_err();
    assert_eq!(error.kind, ExceptionKind::Marshal);
    assert_eq!(error.minor & 0xfff, 1, "no factory");
}

/// Conformance: IDL - value types: supported interfaces
#[test]
fn a_value_that_supports_an_interface_is_a_servant_of_it() {
    let orbs = Orbs::new();
    let tally = Tally::with_operations(TallyState { total: 5 }, Sum);
    let counters: [Counter; 2] = orbs.both(tally.clone());
    for counter in counters {
        let counted = counter.count(2).unwrap();
        assert_eq!((counted.before, counted.result), (5, 7));
        assert_eq!(tally.read().total, 7, "calls work on the value itself");
        assert_eq!(counter.name().unwrap(), "tally");
        tally.clear().unwrap();
        assert_eq!(tally.count(5).unwrap().before, 0);
    }
    fn is_servant<S: CounterServant>(_: &S) {}
    is_servant(&tally);
}

/// Conformance: IDL - value types: factories of IDL
#[test]
fn factories_of_idl_are_a_trait() {
    struct Works;
    impl CrateFactory for Works {
        fn filled(&self, content: &str, grams: f64) -> Result<Crate, NowhereError> {
            match content {
                "" => Err(Nowhere {}.into()),
                content => Ok(crate_of(content, grams)),
            }
        }
        fn empty(&self) -> Answer<Crate> {
            Ok(crate_of("", 0.0))
        }
    }
    let works: &dyn CrateFactory = &Works;
    assert_eq!(works.filled("tea", 3.0).unwrap().weight(), Ok(3.0));
    assert_eq!(works.filled("", 3.0), Err(Nowhere {}.into()));
    assert_eq!(works.empty().unwrap().read().content, "");
}
