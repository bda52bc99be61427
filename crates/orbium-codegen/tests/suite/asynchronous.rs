// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that do not wait, through generated stubs, over TCP within the process.

use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use orbium::{
    Any, Call, Char, Completion, ExceptionKind, Interface, LongDouble, ObjectRef, SystemException,
    TypeCode, asynchronous::Asynchronous,
};

use crate::orbs::Orbs;

mod golden {
    include!("../golden/asynchronous.rs");
}

use golden::away::{
    Base, BaseServant, BaseSwapAsyncResults, Colour, Either, Late, LateError, Lost, LostError,
    LostOrLateError, Matrix, Money, Named, Point, Waiting, WaitingServant, Words, Worker,
    WorkerBothResults, WorkerGrowAsyncResults, WorkerGrowResults, WorkerResultAsyncResults,
    WorkerServant, WorkerSwapAsyncAsyncResults,
};

type Answer<T> = Result<T, SystemException>;

#[derive(Default)]
struct Servant {
    label: Mutex<String>,
    notified: AtomicU32,
}

impl BaseServant for Servant {
    fn label(&self, _: &Call<'_>) -> Answer<String> {
        Ok(self.label.lock().unwrap().clone())
    }
    fn set_label(&self, _: &Call<'_>, value: &str) -> Answer<()> {
        value.clone_into(&mut self.label.lock().unwrap());
        Ok(())
    }
    fn centre(&self, _: &Call<'_>) -> Result<Point, LostError> {
        Err(Lost {}.into())
    }
    fn ping(&self, _: &Call<'_>) -> Answer<()> {
        Ok(())
    }
    fn swap(&self, _: &Call<'_>, a: &mut String, b: &mut Point) -> Answer<i32> {
        std::mem::swap(&mut b.x, &mut b.y);
        a.push('!');
        Ok(7)
    }
}

impl WorkerServant for Servant {
    fn notify(&self, _: &Call<'_>, _: &str) -> Answer<()> {
        self.notified.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
    fn add(&self, _: &Call<'_>, a: i32, b: i32) -> Answer<i32> {
        Ok(a + b)
    }
    fn join(&self, _: &Call<'_>, left: &str, right: &str) -> Answer<String> {
        Ok(format!("{left}{right}"))
    }
    fn r#move(&self, _: &Call<'_>, all: &[Point], by: &Point, who: &Named) -> Answer<Vec<Point>> {
        let moved = all.iter().map(|p| Point {
            x: p.x + by.x + who.place.x,
            y: p.y + by.y + who.place.y,
        });
        Ok(moved.collect())
    }
    fn both(&self, _: &Call<'_>, key: &[u8]) -> Result<WorkerBothResults, LostOrLateError> {
        match key {
            [] => Err(Lost {}.into()),
            [by] => Err(Late { by: i32::from(*by) }.into()),
            [x, y, ..] => Ok(WorkerBothResults {
                first: point(i32::from(*x), 1),
                second: point(i32::from(*y), 2),
            }),
        }
    }
    fn bump(&self, _: &Call<'_>, value: &mut i32) -> Answer<()> {
        *value += 1;
        Ok(())
    }
    fn grow(
        &self,
        _: &Call<'_>,
        who: &mut Named,
        names: &Words,
    ) -> Result<WorkerGrowResults, LateError> {
        if who.name.is_empty() {
            return Err(Late { by: 3 }.into());
        }
        who.name.push_str(&names[1]);
        Ok(WorkerGrowResults {
            result: names[0].clone(),
            grid: [[who.place.x; 3], [who.place.y; 3]],
        })
    }
    fn find(
        &self,
        _: &Call<'_>,
        near: Option<&Worker>,
        any_one: Option<&ObjectRef>,
        what: &Any,
        kind: &TypeCode,
    ) -> Answer<Option<Worker>> {
        assert_eq!(any_one.is_some(), near.is_some());
        assert_eq!(what.type_code(), kind);
        Ok(near.cloned())
    }
    fn pick(
        &self,
        _: &Call<'_>,
        one: &Either,
        grid: &Matrix,
        shade: Colour,
        letter: Char,
        sum: Money,
    ) -> Answer<Either> {
        let text = format!("{one:?} {grid:?} {shade:?} {} {sum}", char::from(letter));
        Ok(Either::S(text))
    }
    fn precise(&self, _: &Call<'_>, value: LongDouble) -> Answer<LongDouble> {
        Ok(value)
    }
    fn make(&self, _: &Call<'_>, name: &str) -> Answer<Vec<u8>> {
        Ok(name.as_bytes().into())
    }
    fn with_context(&self, _: &Call<'_>, a: i32) -> Answer<bool> {
        Ok(a == 5)
    }
    fn from(&self, _: &Call<'_>, r#type: i32, w: i32, r: i32) -> Answer<i32> {
        Ok(r#type * 100 + w * 10 + r)
    }
    fn add_async(&self, _: &Call<'_>, a: i32) -> Answer<i32> {
        Ok(-a)
    }
    fn swap_async(&self, _: &Call<'_>, a: &mut String) -> Answer<String> {
        Ok(std::mem::replace(a, "new".into()))
    }
    fn result(&self, _: &Call<'_>, sent: i32, result: &mut i32) -> Answer<i32> {
        *result += 1;
        Ok(sent)
    }
    fn at_once(&self, _: &Call<'_>) -> Answer<()> {
        Err(SystemException::new(
            ExceptionKind::NoPermission,
            9,
            Completion::No,
        ))
    }
    fn everything_that_can_be_said(
        &self,
        _: &Call<'_>,
        first: &str,
        next: &str,
        then: &str,
        last: &str,
    ) -> Answer<String> {
        Ok([first, next, then, last].concat())
    }
    fn the_longest_operation_of_all_the_operations_that_there_are(
        &self,
        _: &Call<'_>,
        how_many: u32,
    ) -> Result<Vec<Point>, LateError> {
        match how_many {
            0 => Err(SystemException::from(ExceptionKind::ImpLimit).into()),
            _ => Ok(vec![point(1, 2); how_many as usize]),
        }
    }
    #[allow(clippy::many_single_char_names, clippy::too_many_arguments)]
    fn numbers(
        &self,
        _: &Call<'_>,
        a: i16,
        b: i16,
        c: i16,
        d: i16,
        e: i16,
        f: i16,
        g: i16,
        h: i16,
        i: i16,
        j: i16,
        k: i16,
        l: i16,
        m: i16,
        n: i16,
    ) -> Answer<()> {
        let all = [a, b, c, d, e, f, g, h, i, j, k, l, m, n];
        assert!(all.into_iter().eq(1..=14));
        Ok(())
    }
}

impl WaitingServant for Servant {
    fn wait(&self, _: &Call<'_>) -> Answer<()> {
        Ok(())
    }
    fn go(&self, _: &Call<'_>) -> Answer<()> {
        Ok(())
    }
}

const fn point(x: i32, y: i32) -> Point {
    Point { x, y }
}

fn named() -> Named {
    Named {
        name: "name".into(),
        place: point(3, 4),
    }
}

/// An object of a server's, seen by a client.
struct Pair {
    orbs: Orbs,
    worker: Worker,
}

impl Pair {
    fn new() -> Self {
        let orbs = Orbs::new();
        let [_, worker] = orbs.both(Servant::default());
        Self { orbs, worker }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future + Unpin>(mut future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match Pin::new(&mut future).poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn values_go_in_and_come_out() {
    let pair = Pair::new();
    let w = &pair.worker;
    assert_eq!(w.add_async_(40, 2).wait(), Ok(42));
    assert_eq!(w.add_async(4), Ok(-4), "IDL has the name");
    assert_eq!(w.add_async_async(4).wait(), Ok(-4));
    assert_eq!(w.join_async("left", "räight").wait().unwrap(), "lefträight");
    let moved = w.move_async(&[point(1, 2), point(3, 4)], &point(10, 20), &named());
    assert_eq!(moved.wait().unwrap(), [point(14, 26), point(16, 28)]);
    let precise = LongDouble::from(0.75);
    assert_eq!(w.precise_async(precise).wait(), Ok(precise));
    assert_eq!(w.make_async("abc").wait().unwrap(), b"abc");
    assert_eq!(w.with_context_async(5).wait(), Ok(true));
    assert_eq!(w.from_async(1, 2, 3).wait(), Ok(123));
    let said = w.everything_that_can_be_said_async("a", "b", "c", "d");
    assert_eq!(said.wait().unwrap(), "abcd");
    let points = w.the_longest_operation_of_all_the_operations_that_there_are_async(2);
    assert_eq!(points.wait().unwrap(), [point(1, 2); 2]);
    let numbers = w.numbers_async(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
    assert_eq!(numbers.wait(), Ok(()));
    let text = "P(Point { x: 1, y: 2 }) [[1, 2, 3], [4, 5, 6]] Green q 12.50";
    let (either, grid) = (Either::P(point(1, 2)), [[1, 2, 3], [4, 5, 6]]);
    let sum = "12.50".parse().unwrap();
    let picked = w.pick_async(&either, &grid, Colour::Green, Char(b'q'), sum);
    assert_eq!(picked.wait().unwrap(), Either::S(text.into()));
}

#[test]
fn references_and_anys_go_in_and_come_out() {
    let pair = Pair::new();
    let w = &pair.worker;
    let what = Any::new(&point(1, 2)).unwrap();
    let kind = what.type_code();
    let near = w.find_async(Some(w), Some(w.as_object()), &what, kind);
    assert_eq!(near.wait().unwrap().as_ref(), Some(w));
    assert_eq!(w.find_async(None, None, &what, kind).wait(), Ok(None));
    let near = w.find_async(Some(w), w, &what, kind);
    assert_eq!(near.wait().unwrap().as_ref(), Some(w));
}

#[test]
fn attributes_are_read_and_written() {
    let pair = Pair::new();
    assert_eq!(pair.worker.set_label_async("a label").wait(), Ok(()));
    assert_eq!(pair.worker.label_async().wait().unwrap(), "a label");
    let base = Base::from(pair.worker.clone());
    assert_eq!(base.label_async().wait().unwrap(), "a label");
}

#[test]
fn several_results_and_new_values_come_in_structs() {
    let pair = Pair::new();
    let w = &pair.worker;
    let both = w.both_async(&[5, 6, 7]).wait().unwrap();
    assert_eq!((both.first, both.second), (point(5, 1), point(6, 2)));
    assert_eq!(w.bump_async(41).wait(), Ok(42));
    let swapped = BaseSwapAsyncResults {
        result: 7,
        a: "a!".into(),
        b: point(2, 1),
    };
    let by_base = Base::from(w.clone()).swap_async("a", &point(1, 2));
    assert_eq!(by_base.wait().unwrap(), swapped);
    // Worker has an operation of that name, which hides what Base has.
    let by_base = Base::swap_async(w, "a", &point(1, 2));
    assert_eq!(by_base.wait().unwrap(), swapped);
    let wanted = WorkerSwapAsyncAsyncResults {
        result: "old".into(),
        a: "new".into(),
    };
    assert_eq!(w.swap_async_async("old").wait().unwrap(), wanted);
    let wanted = WorkerResultAsyncResults {
        result_: 3,
        result: 10,
    };
    assert_eq!(w.result_async(3, 9).wait(), Ok(wanted));
    let words = ["first".to_owned(), "second".to_owned()];
    let mut named = named();
    let grown = w.grow_async(&named, &words).wait().unwrap();
    named.name.push_str("second");
    let wanted = WorkerGrowAsyncResults {
        result: "first".into(),
        who: named,
        grid: [[3; 3], [4; 3]],
    };
    assert_eq!(grown, wanted);
}

#[test]
fn exceptions_come_out_as_they_do_of_calls_that_wait() {
    let pair = Pair::new();
    let w = &pair.worker;
    assert_eq!(w.centre_async().wait(), Err(Lost {}.into()));
    assert_eq!(w.both_async(&[]).wait(), Err(Lost {}.into()));
    assert_eq!(w.both_async(&[8]).wait(), Err(Late { by: 8 }.into()));
    let nobody = w.grow_async(&Named::default(), &Words::default());
    assert_eq!(nobody.wait(), Err(Late { by: 3 }.into()));
    let none = w.the_longest_operation_of_all_the_operations_that_there_are_async(0);
    match none.wait() {
        Err(LateError::System(exception)) => {
            assert_eq!(exception.kind, ExceptionKind::ImpLimit);
        }
        other => panic!("{other:?}"),
    }
    // Both are longer than their bounds.
    let refused = w.make_async("more than eight").wait().unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::BadParam);
    match w.both_async(&[0; 17]).wait() {
        Err(LostOrLateError::System(exception)) => {
            assert_eq!(exception.kind, ExceptionKind::BadParam);
        }
        other => panic!("{other:?}"),
    }
}

/// Conformance: TAO 46 - asynchronous calls and servers - generated code
#[test]
fn future_poller_and_handler_return_the_same_result() {
    let pair = Pair::new();
    let begin = || pair.worker.join_async("one ", "answer");
    assert_eq!(block_on(begin()).unwrap(), "one answer");

    let mut polled = begin();
    assert!(polled.is_ready(None));
    assert_eq!(polled.response(Some(Duration::ZERO)).unwrap(), "one answer");
    let gone = polled.response(None).unwrap_err();
    assert_eq!(gone.kind, ExceptionKind::ObjectNotExist);

    let (tell, told) = mpsc::channel();
    begin().on_reply(move |outcome| tell.send(outcome).unwrap());
    assert_eq!(told.recv().unwrap().unwrap(), "one answer");

    begin().detach();
    drop(begin());
    assert_eq!(pair.worker.ping(), Ok(()));
}

/// Nothing is borrowed: a call outlives its reference and its arguments, and may
/// be handed to another thread.
#[test]
fn a_call_owns_what_it_needs() {
    let pair = Pair::new();
    let call = {
        let (worker, left) = (pair.worker.clone(), String::from("own"));
        worker.join_async(&left, "ed")
    };
    let thread = thread::spawn(move || block_on(call));
    assert_eq!(thread.join().unwrap().unwrap(), "owned");
}

#[test]
fn operations_annotated_with_false_have_the_synchronous_form_alone() {
    let pair = Pair::new();
    let refused = pair.worker.at_once().unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::NoPermission);
    let root = pair.orbs.server.root_poa();
    let waiting: Waiting = root.activate(Servant::default()).unwrap();
    let go: Asynchronous<()> = waiting.go_async();
    assert_eq!((waiting.wait(), go.wait()), (Ok(()), Ok(())));
}
