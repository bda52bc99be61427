// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants that read their arguments in place, through generated code: called over TCP and
//! by a caller of the same ORB, with owned values and with views.

use std::sync::{Mutex, mpsc};

use orbium::{Call, ExceptionKind, Reply, Sent, SystemException, WChar};
use orbium_codegen::Options;

use crate::generated::generated;
use crate::orbs::Orbs;

mod golden {
    include!("../golden/views.rs");
}

use golden::views::{
    Batch, BatchRef, Colour, Entry, EntryRef, Lost, LostError, Point, Store, StoreServant,
    StoreSwapAsyncResults, Tagged, Tree, TreeRef,
};

type Answer<T> = Result<T, SystemException>;

struct Servant {
    current: Mutex<Entry>,
    posted: Mutex<mpsc::Sender<Entry>>,
}

/// The members of a value as text, so that a caller sees what the servant read.
fn shown(value: &impl std::fmt::Debug) -> String {
    format!("{value:?}")
}

fn height(tree: &TreeRef<'_>) -> u32 {
    1 + tree.branches.iter().map(height).max().unwrap_or(0)
}

impl StoreServant for Servant {
    fn current(&self, _: &Call<'_>) -> Answer<Entry> {
        Ok(self.current.lock().unwrap().clone())
    }

    fn set_current(&self, _: &Call<'_>, value: EntryRef<'_>) -> Answer<()> {
        *self.current.lock().unwrap() = value.into_owned();
        Ok(())
    }

    fn put(&self, _: &Call<'_>, given: EntryRef<'_>, by: &str) -> Result<i32, LostError> {
        match given.key {
            "" => Err(Lost { why: by.to_owned() }.into()),
            key => Ok(given.count + i32::try_from(key.len()).unwrap_or(0)),
        }
    }

    fn put_all(&self, _: &Call<'_>, given: &[EntryRef<'_>]) -> Answer<String> {
        Ok(shown(&given))
    }

    fn show(&self, _: &Call<'_>, given: BatchRef<'_>) -> Answer<String> {
        Ok(shown(&given))
    }

    fn depth(&self, _: &Call<'_>, given: TreeRef<'_>) -> Answer<u32> {
        Ok(height(&given))
    }

    fn join(&self, _: &Call<'_>, given: &[&str]) -> Answer<String> {
        Ok(given.join("+"))
    }

    fn flatten(&self, _: &Call<'_>, given: &[&[&str]]) -> Answer<String> {
        Ok(given.concat().join("+"))
    }

    fn list(&self, _: &Call<'_>, given: &[&str]) -> Answer<String> {
        Ok(given.join("+"))
    }

    fn corners(&self, _: &Call<'_>, given: &[&[&str; 3]; 2]) -> Answer<String> {
        Ok(format!("{}{}", given[0][0], given[1][2]))
    }

    fn tag(&self, _: &Call<'_>, given: &Tagged, other: EntryRef<'_>) -> Answer<String> {
        Ok(format!("{}{}", given.tag, other.key))
    }

    fn longest(
        &self,
        _: &Call<'_>,
        given: &[EntryRef<'_>],
        others: &[&str],
        reply: Reply<'_, str, LostError>,
    ) -> Result<Sent, LostError> {
        let keys = given.iter().map(|entry| entry.key);
        match keys.chain(others.iter().copied()).max_by_key(|it| it.len()) {
            // Sent from the request.
            Some(longest) => reply.send(longest),
            None => Err(Lost::default().into()),
        }
    }

    fn swap(&self, _: &Call<'_>, given: EntryRef<'_>, other: &mut Entry) -> Answer<String> {
        let before = std::mem::replace(other, given.into());
        Ok(before.key)
    }

    fn later(&self, _: &Call<'_>, given: &[EntryRef<'_>], others: &[&str]) -> Answer<String> {
        Ok(format!("{}{}", given[0].key, others.concat()))
    }

    fn post(&self, _: &Call<'_>, given: EntryRef<'_>) -> Answer<()> {
        let posted = self.posted.lock().unwrap();
        posted.send(given.into_owned()).unwrap();
        Ok(())
    }

    fn owned(&self, _: &Call<'_>, given: &Entry) -> Answer<String> {
        Ok(given.key.clone())
    }

    fn owned_too(&self, _: &Call<'_>, given: &[Entry]) -> Answer<String> {
        Ok(shown(&given))
    }

    fn sum(&self, _: &Call<'_>, given: &[f64]) -> Answer<f64> {
        Ok(given.iter().sum())
    }
}

/// A store, and the ORBs between which it is called.
struct Pair {
    orbs: Orbs,
    posted: mpsc::Receiver<Entry>,
    /// The object as a caller of the same ORB has it, and as a remote one.
    both: [Store; 2],
}

impl Pair {
    fn new() -> Self {
        let (sender, posted) = mpsc::channel();
        let orbs = Orbs::new();
        let servant = Servant {
            current: Mutex::default(),
            posted: Mutex::new(sender),
        };
        Self {
            both: orbs.both(servant),
            orbs,
            posted,
        }
    }
}

const FIRST: EntryRef<'_> = EntryRef {
    key: "first",
    count: 1,
};
const SECOND: EntryRef<'_> = EntryRef {
    key: "zweiter é€",
    count: -2,
};

fn batch<'a>(samples: &'a [f64]) -> BatchRef<'a> {
    BatchRef {
        name: "batch",
        data: &[1, 2, 3],
        samples,
        way: &[Point { x: 0.5, y: -1.0 }],
        bits: &[true, false],
        first: FIRST,
        all: &[FIRST, SECOND],
        pair: &[SECOND],
        text: &["a", "", "ü"],
        coded: &["12345678"],
        short_text: "short",
        wide: "wide €",
        grid: &[&["1", "2", "3"], &["4", "5", "6"]],
        shade: Colour::Green,
        at: Point { x: 1.0, y: 2.0 },
        cost: "123.45".parse().unwrap(),
        letter: WChar::try_from('€').unwrap(),
        r#type: 9,
    }
}

#[test]
fn a_servant_reads_in_place_what_callers_own_or_borrow() {
    let pair = Pair::new();
    for store in &pair.both {
        let (first, second) = (Entry::from(FIRST), SECOND.into_owned());
        assert_eq!(store.put(&FIRST, "me"), Ok(6));
        assert_eq!(store.put(&first, "me"), Ok(6));
        let lost = Lost {
            why: "me".to_owned(),
        };
        assert_eq!(store.put(&Entry::default(), "me"), Err(lost.into()));

        let wanted = shown(&[FIRST, SECOND]);
        assert_eq!(store.put_all(&[FIRST, SECOND]).unwrap(), wanted);
        assert_eq!(store.put_all(&vec![FIRST, SECOND]).unwrap(), wanted);
        let owned = [first.clone(), second];
        assert_eq!(store.put_all(&owned[..]).unwrap(), wanted);
        assert_eq!(store.owned_too(&owned).unwrap(), shown(&owned));

        let samples = [0.25, -0.5];
        let batch = batch(&samples);
        assert_eq!(store.show(&batch).unwrap(), shown(&batch));
        assert_eq!(store.show(&Batch::from(batch)).unwrap(), shown(&batch));

        store.set_current(&SECOND).unwrap();
        assert_eq!(store.current().unwrap(), Entry::from(SECOND));
        store.post(&FIRST).unwrap();
        assert_eq!(pair.posted.recv().unwrap(), first);
    }
}

orbium::codegen::idl_interface! {
    /// Returns where its octets lie.
    pub struct Places = "IDL:Places:1.0";
    operations by_octet(0, 112, &[0]);
    pub trait PlacesServant;

    fn place(@view given: Entry | EntryRef<'_>, data: &[u8]) -> Result<u64> = "place";
}

struct Octets;

impl PlacesServant for Octets {
    fn place(&self, _: &Call<'_>, given: EntryRef<'_>, data: &[u8]) -> Answer<u64> {
        assert_eq!(given, FIRST);
        Ok(data.as_ptr() as u64)
    }
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - views are of copies, what goes
/// with them is lent
#[test]
fn octets_that_go_with_a_view_are_lent() {
    let pair = Pair::new();
    let [here, remote]: [Places; 2] = pair.orbs.both(Octets);
    let data = vec![5; 64 * 1024];
    for (places, is_lent) in [(here, true), (remote, false)] {
        let place = places.place(&FIRST, &data).unwrap();
        assert_eq!(place == data.as_ptr() as u64, is_lent);
    }
}

#[test]
fn sequences_of_text_and_of_sequences_are_slices() {
    let pair = Pair::new();
    for store in &pair.both {
        assert_eq!(store.join(&["a", "é"]).unwrap(), "a+é");
        let words = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(store.join(&words).unwrap(), "a+b");
        assert_eq!(
            store.flatten(&[words.clone(), words.clone()]).unwrap(),
            "a+b+a+b"
        );
        assert_eq!(store.flatten(&[&["x"][..], &["y", "z"]]).unwrap(), "x+y+z");
        assert_eq!(
            store.corners(&[["a", "b", "c"], ["d", "e", "f"]]).unwrap(),
            "af"
        );
        assert_eq!(store.list(&words).unwrap(), "a+b");
        assert_eq!(store.sum(&[0.5, 0.25]).unwrap(), 0.75);
        let branches = vec![Tree::default(), Tree::default()];
        let name = String::new();
        assert_eq!(store.depth(&Tree { name, branches }), Ok(2));
        let leaf = [TreeRef {
            name: "leaf",
            branches: &[],
        }];
        let tree = TreeRef {
            name: "tree",
            branches: &leaf,
        };
        assert_eq!(store.depth(&tree), Ok(2));
    }
}

/// Bounds hold for views as for owned values, on both sides.
#[test]
fn bounds_are_checked() {
    let pair = Pair::new();
    for store in &pair.both {
        let four = vec!["code".to_owned(); 4];
        let refused = store.list(&four).unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::BadParam);
        let mut batch = batch(&[]);
        batch.short_text = "123456789";
        let refused = store.show(&batch).unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::BadParam);
        batch.short_text = "12345678";
        batch.pair = &[FIRST; 3];
        let refused = store.show(&batch).unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::BadParam);
    }
}

#[test]
fn views_go_with_slots_inout_parameters_and_asynchronous_calls() {
    let pair = Pair::new();
    for store in &pair.both {
        let longest = store.longest(&[FIRST, SECOND], &["short"]).unwrap();
        assert_eq!(longest, SECOND.key);
        let none: [Entry; 0] = [];
        let no_words: [String; 0] = [];
        let lost = store.longest(&none, &no_words);
        assert_eq!(lost, Err(Lost::default().into()));

        let mut other = Entry::from(FIRST);
        assert_eq!(store.swap(&SECOND, &mut other).unwrap(), "first");
        assert_eq!(other, Entry::from(SECOND));
        let swapped = store.swap_async(&FIRST, &other).wait().unwrap();
        let wanted = StoreSwapAsyncResults {
            result: SECOND.key.to_owned(),
            other: FIRST.into(),
        };
        assert_eq!(swapped, wanted);
        let codes = ["a".to_owned(), "b".to_owned()];
        let later = store.later_async(&[FIRST], &codes);
        assert_eq!(later.wait().unwrap(), "firstab");
        let tagged = Tagged {
            tag: "tag ".to_owned(),
            ..Tagged::default()
        };
        assert_eq!(store.tag(&tagged, &FIRST).unwrap(), "tag first");
        assert_eq!(store.owned(&FIRST.into()).unwrap(), "first");
    }
}

/// What options are tried on.
const IDL: &str = "module Bank {
      struct Entry { string key; };
      union Choice switch (boolean) { case TRUE: string text; };
      struct Chosen { Choice picked; };
      interface Account {
        void book(in Entry given); void undo(in Entry given, in string why);
        @view(FALSE) void hide(in Entry given); @view void choose(in Chosen given);
        long sum();
      };
    };";

#[test]
fn options_name_operations_with_viewed_arguments() {
    let bank = || Options::new("bank.idl");
    let views = |code: &str| code.matches("@view given: Entry | EntryRef<'_>").count();
    let (code, warnings) = generated(IDL, &bank());
    assert_eq!(views(&code), 0);
    assert!(!code.contains("idl_view!"));
    let kept = "parameter `given` of `::Bank::Account::choose` is no view: \
                it holds the union `::Bank::Choice`";
    assert_eq!(warnings, [kept]);
    for (pattern, expected) in [
        ("Bank::Account::book", 1),
        ("::Bank::Account::b*", 1),
        ("Bank::*", 2),
        ("*", 2),
    ] {
        let (code, warnings) = generated(IDL, &bank().viewed_arguments(pattern));
        assert_eq!((views(&code), warnings.len()), (expected, 1), "{pattern}");
        assert_eq!(code.matches("idl_view!").count(), 1);
    }
    let (_, warnings) = generated(IDL, &bank().viewed_arguments("Bank::Accounts::*"));
    assert!(
        warnings[0].contains("`Bank::Accounts::*` names no operation"),
        "{warnings:?}"
    );
}
