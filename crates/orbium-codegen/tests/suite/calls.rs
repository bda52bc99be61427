// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls through generated stubs and skeletons, over TCP within the process.

use std::sync::{Arc, Mutex};

use orbium::stub::ServedBy;
use orbium::{
    Any, Call, ExceptionKind, Interface, LongDouble, ObjectRef, SystemException, TypeCode, WChar,
};

use crate::orbs::Orbs;

mod golden {
    include!("../golden/interfaces.rs");
}

use golden::base::{Busy, ThingServant};
use golden::interfaces::everything::{Denied, Entry};
use golden::interfaces::{
    BrokenError, BrokenOrBusyError, BusyOrDeniedError, DeniedError, Diamond, DiamondServant,
    Everything, EverythingAllError, EverythingBothResults, EverythingDivideResults,
    EverythingFindError, EverythingServant, EverythingTwoResults, Later, LaterServant, LeftServant,
    Money, RightServant,
};

#[derive(Default)]
struct Servant {
    log: Mutex<Vec<String>>,
    size: Mutex<i32>,
    next: Mutex<Option<Later>>,
}

impl Servant {
    fn note(&self, what: &str) {
        self.log.lock().unwrap().push(what.to_owned());
    }
}

type Answer<T> = Result<T, SystemException>;

impl ThingServant for Servant {
    fn name(&self, _: &Call<'_>) -> Answer<String> {
        Ok("everything".to_owned())
    }
    fn size(&self, _: &Call<'_>) -> Answer<i32> {
        Ok(*self.size.lock().unwrap())
    }
    fn set_size(&self, _: &Call<'_>, value: i32) -> Answer<()> {
        *self.size.lock().unwrap() = value;
        Ok(())
    }
    fn poke(&self, _: &Call<'_>) -> Answer<()> {
        self.note("poke");
        Ok(())
    }
}

impl LeftServant for Servant {
    fn go_left(&self, _: &Call<'_>) -> Answer<()> {
        self.note("left");
        Ok(())
    }
}

impl RightServant for Servant {
    fn go_right(&self, _: &Call<'_>) -> Answer<()> {
        self.note("right");
        Ok(())
    }
}

impl DiamondServant for Servant {
    fn centre(&self, _: &Call<'_>) -> Answer<()> {
        self.note("centre");
        Ok(())
    }
}

impl LaterServant for Servant {
    fn self_again(&self, _: &Call<'_>, value: Option<&Later>) -> Answer<Option<Later>> {
        Ok(value.cloned())
    }
}

impl EverythingServant for Servant {
    fn flag(&self, _: &Call<'_>) -> Result<bool, BrokenError> {
        Err(golden::base::Broken {
            why: "no flag".into(),
        }
        .into())
    }
    fn set_flag(&self, _: &Call<'_>, value: bool) -> Result<(), BrokenOrBusyError> {
        if value { Err(Busy {}.into()) } else { Ok(()) }
    }
    fn next(&self, _: &Call<'_>) -> Answer<Option<Later>> {
        Ok(self.next.lock().unwrap().clone())
    }
    fn set_next(&self, _: &Call<'_>, value: Option<&Later>) -> Answer<()> {
        *self.next.lock().unwrap() = value.cloned();
        Ok(())
    }
    fn nothing(&self, _: &Call<'_>) -> Answer<()> {
        Ok(())
    }
    fn shout(&self, _: &Call<'_>, what: &str, times: i32) -> Answer<()> {
        self.note(&what.repeat(usize::try_from(times).unwrap()));
        Ok(())
    }
    fn signal(&self, _: &Call<'_>) -> Answer<()> {
        self.note("signal");
        Ok(())
    }
    fn add(&self, _: &Call<'_>, a: i32, b: i32) -> Answer<i32> {
        Ok(a + b)
    }
    fn divide(&self, _: &Call<'_>, a: i32, b: i32) -> Answer<EverythingDivideResults> {
        Ok(EverythingDivideResults {
            result: a / b,
            remainder: a % b,
        })
    }
    fn two(&self, _: &Call<'_>) -> Answer<EverythingTwoResults> {
        Ok(EverythingTwoResults {
            first: "first".into(),
            second: vec![2; 16],
        })
    }
    fn swap(&self, _: &Call<'_>, a: &mut String, b: &mut String) -> Answer<()> {
        std::mem::swap(a, b);
        Ok(())
    }
    fn count(&self, _: &Call<'_>, all: &mut Vec<Option<Later>>) -> Answer<i32> {
        all.push(None);
        Ok(i32::try_from(all.len()).unwrap())
    }
    fn both(
        &self,
        _: &Call<'_>,
        given: &str,
        changed: &mut Entry,
    ) -> Answer<EverythingBothResults> {
        changed.key.push_str(given);
        changed.secret.reverse();
        Ok(EverythingBothResults {
            result: given.to_uppercase(),
            number: 9,
        })
    }
    fn find(&self, _: &Call<'_>, key: &str, secret: &[u8]) -> Result<Entry, EverythingFindError> {
        if secret.is_empty() {
            return Err(Denied { secret: vec![1, 2] }.into());
        }
        Ok(Entry {
            key: key.into(),
            secret: secret.into(),
        })
    }
    fn all(&self, call: &Call<'_>, most: u32) -> Result<Vec<Option<Later>>, EverythingAllError> {
        match most {
            0 => Err(golden::base::Gone { since: 1999 }.into()),
            1 => Err(Busy {}.into()),
            _ => Ok(vec![None, Some(call.this()?)]),
        }
    }
    fn several(&self, _: &Call<'_>, e: &Entry) -> Result<(), BusyOrDeniedError> {
        if e.secret.is_empty() {
            Err(Busy {}.into())
        } else {
            Ok(())
        }
    }
    fn again(&self, _: &Call<'_>, _: &Entry) -> Result<(), BusyOrDeniedError> {
        Ok(())
    }
    fn convert(
        &self,
        _: &Call<'_>,
        value: &Any,
        target: &TypeCode,
        near: Option<&ObjectRef>,
    ) -> Answer<Any> {
        self.note(&format!("{target} {}", near.is_some()));
        Ok(value.clone())
    }
    fn price(&self, _: &Call<'_>, amount: Money) -> Answer<Money> {
        Ok(-amount)
    }
    fn wide(&self, _: &Call<'_>, text: &str, separator: WChar) -> Answer<String> {
        let separator = char::try_from(separator).unwrap();
        Ok(format!("{text}{separator}{text}"))
    }
    fn wide_bounded(&self, _: &Call<'_>, text: &str) -> Answer<String> {
        Ok(format!("{text}{text}"))
    }
    fn precise(&self, _: &Call<'_>, value: LongDouble) -> Answer<LongDouble> {
        Ok(value)
    }
    fn with_context(&self, _: &Call<'_>, a: i32) -> Answer<bool> {
        Ok(a == 1)
    }
    fn many(
        &self,
        _: &Call<'_>,
        a: i32,
        b: i32,
        c: i32,
        d: i32,
        e: i32,
        f: i32,
        g: i32,
        h: i32,
    ) -> Answer<i32> {
        Ok(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h)
    }
    fn in_a_row(
        &self,
        _: &Call<'_>,
        values: &[f64],
        flags: &[bool],
        texts: &[String],
    ) -> Answer<()> {
        self.note(&format!("{values:?} {flags:?} {texts:?}"));
        Ok(())
    }
}

/// A servant for each test, and the ORBs between which it is called.
struct Pair {
    servant: Arc<Servant>,
    orbs: Orbs,
}

impl Pair {
    fn new() -> Self {
        Self {
            servant: Arc::default(),
            orbs: Orbs::new(),
        }
    }

    /// The servant as an object of that interface, as the client's ORB sees it.
    fn remote<I: Interface + ServedBy<Arc<Servant>>>(&self) -> I {
        let [_, remote] = self.orbs.both(Arc::clone(&self.servant));
        remote
    }

    fn everything(&self) -> Everything {
        self.remote()
    }

    fn log(&self) -> Vec<String> {
        std::mem::take(&mut self.servant.log.lock().unwrap())
    }
}

fn entry() -> Entry {
    Entry {
        key: "key".into(),
        secret: vec![1, 2, 3],
    }
}

/// Conformance: TAO 41 - every type, direction and bound
#[test]
fn values_go_in_and_come_out() {
    let pair = Pair::new();
    let object = pair.everything();
    object.nothing().unwrap();
    assert_eq!(object.add(2, 3), Ok(5));
    assert_eq!(
        object.divide(7, 2),
        Ok(EverythingDivideResults {
            result: 3,
            remainder: 1
        })
    );
    let two = object.two().unwrap();
    assert_eq!((two.first.as_str(), two.second.len()), ("first", 16));
    assert_eq!(object.many(1, 2, 3, 4, 5, 6, 7, 8), Ok(204));
    assert_eq!(
        object.price("12.34".parse().unwrap()).unwrap().to_string(),
        "-12.34"
    );
    assert_eq!(object.wide("ä€", WChar(0x2192)).unwrap(), "ä€→ä€");
    assert_eq!(
        object.precise(LongDouble::from(0.1)),
        Ok(LongDouble::from(0.1))
    );
    assert_eq!(object.with_context(1), Ok(true));
    object
        .in_a_row(&[1.5], &[true, false], &["a".into()])
        .unwrap();
    assert_eq!(pair.log(), ["[1.5] [true, false] [\"a\"]"]);
}

/// Conformance: TAO 41 - every type, direction and bound
#[test]
fn inout_values_are_changed_in_place() {
    let pair = Pair::new();
    let object = pair.everything();
    let (mut a, mut b) = ("a".to_owned(), "b".to_owned());
    object.swap(&mut a, &mut b).unwrap();
    assert_eq!((a.as_str(), b.as_str()), ("b", "a"));
    let mut all = vec![None];
    assert_eq!(object.count(&mut all), Ok(2));
    assert_eq!(all.len(), 2);
    let mut changed = entry();
    let both = object.both("x", &mut changed).unwrap();
    assert_eq!(
        both,
        EverythingBothResults {
            result: "X".into(),
            number: 9
        }
    );
    assert_eq!(
        changed,
        Entry {
            key: "keyx".into(),
            secret: vec![3, 2, 1]
        }
    );
}

// `Error: Broken(Broken { why: "no flag" })` was what a `main` printed, and derived `Debug`
// of a system exception within it.
#[test]
fn debug_of_an_error_enum_is_its_sentence() {
    let pair = Pair::new();
    let broken = pair.everything().flag().unwrap_err();
    assert_eq!(format!("{broken:?}"), "Broken { why: \"no flag\" }");
    assert_eq!(format!("{broken:?}"), broken.to_string());
    let busy = BrokenOrBusyError::from(Busy {});
    assert_eq!(format!("{busy:?}"), "Base::Busy");
    let system = SystemException::from(ExceptionKind::NoImplement);
    let wrapped = BrokenOrBusyError::from(system);
    assert_eq!(format!("{wrapped:?}"), system.to_string());
}

/// Conformance: replies - NO_EXCEPTION, USER_EXCEPTION, SYSTEM_EXCEPTION
#[test]
fn exceptions_come_as_what_they_are() {
    let pair = Pair::new();
    let object = pair.everything();
    let broken = object.flag().unwrap_err();
    assert!(matches!(broken, BrokenError::Broken(broken) if broken.why == "no flag"));
    assert_eq!(object.set_flag(true), Err(BrokenOrBusyError::Busy(Busy {})));
    assert_eq!(object.set_flag(false), Ok(()));
    assert_eq!(
        object.find("k", &[]),
        Err(Denied { secret: vec![1, 2] }.into())
    );
    assert_eq!(
        object.find("k", &[7]),
        Ok(Entry {
            key: "k".into(),
            secret: vec![7]
        })
    );
    assert!(matches!(object.all(0), Err(EverythingAllError::Gone(gone)) if gone.since == 1999));
    assert!(matches!(object.all(1), Err(EverythingAllError::Busy(_))));
    assert!(object.several(&Entry::default()).is_err());
    assert_eq!(object.again(&entry()), Ok(()));
}

/// Conformance: CDR - bounds, on both sides
#[test]
fn bounds_are_kept_on_both_sides() {
    let pair = Pair::new();
    let object = pair.everything();
    let kind = |error| match error {
        DeniedError::System(exception) => exception.kind,
        DeniedError::Denied(_) => unreachable!("nothing is denied"),
    };
    let long = "x".repeat(21);
    assert_eq!(
        kind(object.find(&long, &[1]).unwrap_err()),
        ExceptionKind::BadParam
    );
    assert_eq!(
        kind(object.find("k", &[0; 17]).unwrap_err()),
        ExceptionKind::BadParam
    );
    assert_eq!(object.wide_bounded("four").unwrap(), "fourfour");
    // The servant answers with more than the result may hold.
    assert!(object.wide_bounded("12345").is_err());
    assert!(object.wide_bounded("1234567890").is_err());
}

/// Conformance: references - nil
#[test]
fn references_may_be_nil() {
    let pair = Pair::new();
    let object = pair.everything();
    assert_eq!(object.next(), Ok(None));
    let later: Later = pair.remote();
    object.set_next(Some(&later)).unwrap();
    let next = object.next().unwrap().unwrap();
    assert_eq!(next.self_again(None), Ok(None));
    assert!(next.self_again(Some(&next)).unwrap().is_some());
    object.set_next(None).unwrap();
    assert_eq!(object.next(), Ok(None));
    let mut all = vec![None; 9];
    object.all_into(2, &mut all).unwrap();
    assert!(matches!(all.as_slice(), [None, Some(_)]));
}

#[test]
fn anys_and_type_codes_travel() {
    let pair = Pair::new();
    let object = pair.everything();
    let any = Any::new(&entry()).unwrap();
    let code = any.type_code().clone();
    let near = object.as_object();
    let back = object.convert(&any, &code, Some(near)).unwrap();
    assert_eq!(back.extract::<Entry>(), Ok(entry()));
    assert_eq!(pair.log(), [format!("{code} true")]);
}

// Once only an untyped reference was taken, in `Some`.
#[test]
fn a_parameter_of_type_object_takes_any_reference() {
    let pair = Pair::new();
    let everything = pair.everything();
    let any = Any::new(&entry()).unwrap();
    let code = any.type_code();
    let untyped: Option<ObjectRef> = Some(everything.clone().into());
    // A typed reference, an untyped one, an option of one, nil.
    everything.convert(&any, code, &everything).unwrap();
    let object = everything.as_object();
    everything.convert(&any, code, object).unwrap();
    everything.convert(&any, code, untyped.as_ref()).unwrap();
    everything.convert(&any, code, Some(object)).unwrap();
    everything.convert(&any, code, None).unwrap();
    let given = [true, true, true, true, false].map(|is_there| format!("{code} {is_there}"));
    assert_eq!(pair.log(), given);
}

/// Conformance: ORB - `_is_a`, `_non_existent`, `_repository_id`, narrow
#[test]
fn inherited_operations_reach_the_servant_from_every_base() {
    let pair = Pair::new();
    let diamond: Diamond = pair.remote();
    diamond.poke().unwrap();
    diamond.go_left().unwrap();
    diamond.centre().unwrap();
    golden::interfaces::Right::from(diamond.clone())
        .go_right()
        .unwrap();
    // Of the second base, which the first does not lead to.
    diamond.go_right().unwrap();
    // A reference to the first base, and to that one's, as it is.
    let left: &golden::interfaces::Left = &diamond;
    left.go_left().unwrap();
    let thing: &golden::base::Thing = &diamond;
    assert_eq!(*thing, golden::base::Thing::from(diamond.clone()));
    thing.set_size(5).unwrap();
    assert_eq!(
        (diamond.size(), thing.name().as_deref()),
        (Ok(5), Ok("everything"))
    );
    assert_eq!(
        pair.log(),
        ["poke", "left", "centre", "right", "right", "left"]
    );
    assert_eq!(diamond.as_object().is_a("IDL:Base/Thing:1.0"), Ok(true));
    assert_eq!(
        diamond.as_object().is_a("IDL:Interfaces/Everything:1.0"),
        Ok(false)
    );
    assert!(diamond.as_object().narrow::<Everything>().is_err());
}

#[test]
fn oneways_arrive_in_order() {
    let pair = Pair::new();
    let object = pair.everything();
    object.shout("ab", 2).unwrap();
    object.signal().unwrap();
    // Answered after what was sent before it on the same connection.
    object.nothing().unwrap();
    assert_eq!(pair.log(), ["abab", "signal"]);
}

#[test]
fn a_servant_may_be_a_trait_object() {
    let pair = Pair::new();
    let servant: Arc<dyn EverythingServant> = pair.servant.clone();
    let object: Everything = pair.orbs.server.root_poa().activate(servant).unwrap();
    assert_eq!(pair.orbs.remote(&object).add(1, 1), Ok(2));
}
