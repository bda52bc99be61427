// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants that send what they borrow, through generated code: called over TCP and by
//! a caller of the same ORB.

use std::sync::{Mutex, RwLock};

use orbium::{Any, Call, ExceptionKind, Reply, Sent, SystemException};
use orbium_codegen::Options;

use crate::generated::generated;
use crate::orbs::Orbs;

mod golden {
    include!("../golden/borrowed.rs");
}

use golden::borrowed::{
    BoxServant, Colour, Deck, DeckNumbersReply, DeckNumbersResults, DeckServant,
    DeckShortTextReply, DeckSplitReply, DeckSplitResults, DeckSwapReply, DeckWideReply, Entry,
    Grid, Lost, LostError,
};

/// What options are tried on.
const IDL: &str = "module Bank {
      interface Account {
        string owner(); string history(in long from); @borrow(FALSE) string hint(); long sum();
      };
    };";

#[test]
fn options_name_operations_with_borrowed_results() {
    let bank = || Options::new("bank.idl");
    let slots = |code: &str| code.matches("slot orb::Reply<").count();
    assert_eq!(slots(&generated(IDL, &bank()).0), 0);
    for (pattern, expected) in [
        ("Bank::Account::history", 1),
        ("::Bank::Account::h*", 1),
        ("Bank::*", 2),
        ("*", 2),
    ] {
        let (code, warnings) = generated(IDL, &bank().borrowed_results(pattern));
        assert_eq!((slots(&code), warnings), (expected, vec![]), "{pattern}");
    }
    let (code, warnings) = generated(IDL, &bank().borrowed_results("Bank::Accounts::*"));
    assert_eq!(slots(&code), 0);
    assert!(
        warnings[0].contains("`Bank::Accounts::*` names no operation"),
        "{warnings:?}"
    );
}

type Answer<T> = Result<T, SystemException>;

#[derive(Default)]
struct Servant {
    label: Mutex<String>,
    frames: RwLock<Vec<u8>>,
    first: Mutex<Entry>,
    kept: Mutex<Option<Sent>>,
}

impl BoxServant for Servant {
    fn label(&self, _: &Call<'_>, reply: Reply<'_, str>) -> Answer<Sent> {
        let label = self.label.lock().unwrap();
        if *label != "forge" {
            return reply.send(&label);
        }
        let mut kept = self.kept.lock().unwrap();
        if let Some(sent) = kept.take() {
            return Ok(sent);
        }
        *kept = Some(reply.send(&label)?);
        Err(ExceptionKind::NoPermission.into())
    }

    fn read(
        &self,
        _: &Call<'_>,
        at: u32,
        reply: Reply<'_, [u8], LostError>,
    ) -> Result<Sent, LostError> {
        let frames = self.frames.read().unwrap();
        match frames.get(at as usize..) {
            Some(frames) => reply.send(frames),
            None => Err(Lost {
                why: format!("{at}"),
            }
            .into()),
        }
    }
}

impl DeckServant for Servant {
    fn first(&self, _: &Call<'_>, reply: Reply<'_, Entry>) -> Answer<Sent> {
        let first = self.first.lock().unwrap();
        let sent = reply.send(&first)?;
        drop(first);
        Ok(sent)
    }

    fn set_first(&self, _: &Call<'_>, value: &Entry) -> Answer<()> {
        value.clone_into(&mut self.first.lock().unwrap());
        Ok(())
    }

    fn echo(&self, _: &Call<'_>, data: &[u8], reply: Reply<'_, [u8]>) -> Answer<Sent> {
        reply.send(data)
    }

    fn list(&self, _: &Call<'_>, key: &str, reply: Reply<'_, [Entry]>) -> Answer<Sent> {
        let entry = |value| Entry {
            key: key.to_owned(),
            value,
        };
        reply.send(&[entry(1), entry(2)])
    }

    fn cells(&self, _: &Call<'_>, reply: Reply<'_, Grid>) -> Answer<Sent> {
        reply.send(&[[1, 2, 3], [4, 5, 6]])
    }

    fn shade(&self, _: &Call<'_>, reply: Reply<'_, Colour>) -> Answer<Sent> {
        reply.send(&Colour::Green)
    }

    fn next(&self, call: &Call<'_>, reply: Reply<'_, Option<Deck>>) -> Answer<Sent> {
        reply.send(&Some(call.this()?))
    }

    fn anything(&self, _: &Call<'_>, value: &Any, reply: Reply<'_, Any>) -> Answer<Sent> {
        reply.send(value)
    }

    fn short_text(
        &self,
        _: &Call<'_>,
        given: &str,
        reply: Reply<'_, DeckShortTextReply<'_>>,
    ) -> Answer<Sent> {
        let doubled = given.repeat(2);
        reply.send(&DeckShortTextReply { result: &doubled })
    }

    fn wide(&self, _: &Call<'_>, given: &str, reply: Reply<'_, DeckWideReply<'_>>) -> Answer<Sent> {
        reply.send(&DeckWideReply { result: given })
    }

    fn split(
        &self,
        _: &Call<'_>,
        whole: &str,
        reply: Reply<'_, DeckSplitReply<'_>, LostError>,
    ) -> Result<Sent, LostError> {
        let label = self.label.lock().unwrap();
        let at = whole
            .find(label.as_str())
            .ok_or_else(|| Lost { why: label.clone() })?;
        reply.send(&DeckSplitReply {
            result: &whole[..at],
            rest: &whole[at + label.len()..],
            at: i32::try_from(at).unwrap(),
        })
    }

    fn swap(
        &self,
        _: &Call<'_>,
        a: &str,
        b: &Entry,
        reply: Reply<'_, DeckSwapReply<'_>>,
    ) -> Answer<Sent> {
        let b = Entry {
            key: a.to_owned(),
            value: b.value + 1,
        };
        reply.send(&DeckSwapReply {
            a: "swapped",
            b: &b,
        })
    }

    fn grow(&self, _: &Call<'_>, data: &[u8], reply: Reply<'_, [u8]>) -> Answer<Sent> {
        reply.send(&[data, data].concat())
    }

    fn numbers(&self, _: &Call<'_>, reply: Reply<'_, DeckNumbersReply>) -> Answer<Sent> {
        reply.send(&DeckNumbersReply {
            result: 9,
            second: Colour::Red,
        })
    }

    fn owned(&self, _: &Call<'_>) -> Answer<String> {
        Ok("owned".to_owned())
    }

    fn owned_too(&self, _: &Call<'_>) -> Answer<Entry> {
        Ok(self.first.lock().unwrap().clone())
    }
}

fn decks(orbs: &Orbs, servant: impl DeckServant) -> [Deck; 2] {
    orbs.both(servant)
}

fn servant() -> Servant {
    Servant {
        label: Mutex::new("=".to_owned()),
        frames: RwLock::new(vec![1, 2, 3]),
        ..Servant::default()
    }
}

#[test]
fn sent_results_reach_callers_of_the_same_orb_and_remote_ones() {
    let orbs = Orbs::new();
    for deck in decks(&orbs, servant()) {
        assert_eq!(deck.label().unwrap(), "=");
        assert_eq!(deck.read(1).unwrap(), [2, 3]);
        assert_eq!(deck.echo(&[7; 3000]).unwrap(), [7; 3000]);
        assert_eq!(deck.list("k").unwrap()[1].key, "k");
        assert_eq!(deck.cells().unwrap(), [[1, 2, 3], [4, 5, 6]]);
        assert_eq!(deck.shade(), Ok(Colour::Green));
        assert_eq!(deck.next().unwrap().unwrap().owned().unwrap(), "owned");
        let any = Any::new(&5_i32).unwrap();
        assert_eq!(deck.anything(&any).unwrap().extract::<i32>(), Ok(5));
        assert_eq!(deck.wide("ä€").unwrap(), "ä€");
        assert_eq!(deck.short_text("abcd").unwrap(), "abcdabcd");
        let (result, rest) = ("key".to_owned(), "value".to_owned());
        let split = DeckSplitResults {
            result,
            rest,
            at: 3,
        };
        assert_eq!(deck.split("key=value"), Ok(split));
        let second = Colour::Red;
        assert_eq!(deck.numbers(), Ok(DeckNumbersResults { result: 9, second }));
    }
}

#[test]
fn inout_parameters_come_back_with_the_results() {
    let orbs = Orbs::new();
    for deck in decks(&orbs, servant()) {
        let (mut a, mut b) = ("a".to_owned(), Entry::default());
        deck.swap(&mut a, &mut b).unwrap();
        assert_eq!((a.as_str(), b.key.as_str(), b.value), ("swapped", "a", 1));
        let mut data = vec![1, 2];
        deck.grow(&mut data).unwrap();
        assert_eq!(data, [1, 2, 1, 2]);
        deck.set_first(&b).unwrap();
        assert_eq!(
            (deck.first().unwrap(), deck.owned_too().unwrap()),
            (b.clone(), b)
        );
    }
}

#[test]
fn exceptions_are_returned_instead() {
    let orbs = Orbs::new();
    for deck in decks(&orbs, servant()) {
        let lost = |why: &str| {
            LostError::from(Lost {
                why: why.to_owned(),
            })
        };
        assert_eq!(deck.read(4), Err(lost("4")));
        assert_eq!(deck.split("nothing"), Err(lost("=")));
        // The result exceeds its bound of eight characters.
        let error = deck.short_text("12345").unwrap_err();
        assert_eq!(error.kind, ExceptionKind::Marshal);
    }
}

/// A servant that raises after it has sent, and one that returns the token of an earlier
/// request.
#[test]
fn a_request_is_answered_once_and_not_by_another_requests_token() {
    let orbs = Orbs::new();
    let forger = Servant {
        label: Mutex::new("forge".to_owned()),
        ..Servant::default()
    };
    for deck in decks(&orbs, forger) {
        assert_eq!(deck.label().unwrap(), "forge");
        assert_eq!(deck.label().unwrap_err().kind, ExceptionKind::Internal);
        assert_eq!(deck.shade(), Ok(Colour::Green));
    }
}
