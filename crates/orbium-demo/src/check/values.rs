// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values: null, shared, cyclic, truncated, boxed, custom, in anys, through an abstract interface.

use orbium::codegen::{Decode, Encode, Typed};
use orbium::value::Abstract;
use orbium::{Any, ExceptionKind, Orb};

use super::verdict::{Check, Failure, Verdict, expect, expect_raised, failed, outcome, require};
use crate::alarms::{Alarm, AlarmState};
use crate::further::{Marked, MarkedState, Solid, SolidState};
use crate::packed::{Parcel, ParcelState};
use crate::servant::{EchoServant, note, parcel, register_values};
use crate::values::{
    Arrow, ArrowState, Chain, ChainState, Describable, Echo, Labelled, LabelledState, Note,
    Numbers, Point, PointState, RefusedError, Text, Tree, TreeState, Two,
};

/// The environment of the checks.
struct World {
    orb: Orb,
    echo: Echo,
}

type Planned = (&'static str, fn(&World) -> Verdict);

/// Checks the marshalling of values. Registers their types with `orb`, and activates an object in
/// its root adapter for the peer to call back.
#[must_use]
pub fn values(orb: &Orb, echo: &Echo) -> Vec<Check> {
    register_values(orb.value_factories());
    // Fails for an ORB that was shut down; the checks will report that.
    let _ = orb.root_poa().manager().activate();
    let world = World {
        orb: orb.clone(),
        echo: echo.clone(),
    };
    let one = |(name, check): &Planned| Check {
        name,
        outcome: outcome(check(&world)),
    };
    let groups = [STATES, GRAPHS, ANYS, INTERFACES];
    groups.into_iter().flatten().map(one).collect()
}

const STATES: &[Planned] = &[
    ("values.null", |w| {
        expect("the point", &w.echo.echo_point(None)?, &None)
    }),
    ("values.point", |w| {
        same_point(w.echo.echo_point(Some(&point(1, -2)))?, 1, -2)
    }),
    ("values.labelled", |w| {
        same_labelled(w.echo.echo_point(Some(&labelled(3)))?, 3)
    }),
    ("values.arrow", |w| {
        same_arrow(w.echo.echo_point(Some(&arrow(4)))?, 4)
    }),
    ("values.truncated", |w| {
        same_labelled(w.echo.echo_point(Some(&marked(5, None)))?, 5)
    }),
    ("values.truncated_nested", |w| {
        let within = Some(arrow(6).into());
        same_labelled(w.echo.echo_point(Some(&marked(7, within)))?, 7)
    }),
    ("values.unknown", |w| {
        let base = state(1, 2);
        let got = w
            .echo
            .echo_point(Some(&Solid::new(SolidState { base, z: 3 })));
        let Err(RefusedError::System(got)) = got else {
            return Err(failed("a value was taken that cannot be cut down"));
        };
        expect("the exception", &got.kind, &ExceptionKind::Marshal)
    }),
    ("values.refused", |w| {
        same_point(refused(w, &point(-8, 8))?, -8, 8)
    }),
    ("values.refused_labelled", |w| {
        same_labelled(refused(w, &labelled(-8))?, -8)
    }),
    ("values.text", |w| {
        let got = w.echo.echo_text(Some(&Text::from("boxed".to_owned())))?;
        expect("the text", &present(got)?.read().value.as_str(), &"boxed")
    }),
    ("values.text_null", |w| {
        expect("the box", &w.echo.echo_text(None)?, &None)
    }),
    ("values.numbers", |w| {
        let got = w.echo.echo_numbers(Some(&Numbers::from(vec![1, -2, 3])))?;
        expect("the numbers", &present(got)?.read().value, &vec![1, -2, 3])
    }),
    ("values.base", |w| {
        let got = w.echo.echo_base(Some(&labelled(9)))?;
        same_labelled(present(got)?.downcast::<Point>(), 9)
    }),
    ("values.base_null", |w| {
        expect("the value", &w.echo.echo_base(None)?, &None)
    }),
    ("values.base_truncated", |w| {
        let got = w.echo.echo_base(Some(&marked(10, None)))?;
        same_labelled(present(got)?.downcast::<Point>(), 10)
    }),
    ("values.event", |w| {
        let (level, text) = (3, "hot".to_owned());
        let sent = Alarm::new(AlarmState { level, text });
        let got = w.echo.echo_base(Some(&sent))?;
        let got = present(got)?.downcast::<Alarm>();
        expect("the event", &*present(got)?.read(), &*sent.read())
    }),
    ("values.base_unknown", |w| {
        let base = state(1, 2);
        let solid = Solid::new(SolidState { base, z: 3 });
        expect_raised(w.echo.echo_base(Some(&solid)), ExceptionKind::Marshal).map(drop)
    }),
    ("values.custom", |w| custom(w, Some(&point(1, 2)))),
    ("values.custom_nested", |w| custom(w, Some(&arrow(11)))),
    ("values.custom_null_within", |w| custom(w, None)),
];

const GRAPHS: &[Planned] = &[
    ("values.two", |w| {
        let got = w.echo.echo_two(&two(point(1, 2), point(1, 2)))?;
        same_point(got.first.clone(), 1, 2)?;
        same_point(got.second.clone(), 1, 2)?;
        require(got.first != got.second, "two values became one")
    }),
    ("values.two_shared", |w| {
        let shared = point(1, 2);
        let got = w.echo.echo_two(&two(shared.clone(), shared))?;
        same_point(got.first.clone(), 1, 2)?;
        require(got.first == got.second, "one value became two")
    }),
    ("values.two_shared_labelled", |w| {
        let shared = Point::from(labelled(12));
        let got = w.echo.echo_two(&two(shared.clone(), shared))?;
        same_labelled(got.first.clone(), 12)?;
        require(got.first == got.second, "one value became two")
    }),
    ("values.truncated_shared", |w| {
        let shared = Point::clone(&marked(13, None));
        let got = w.echo.echo_two(&two(shared.clone(), shared))?;
        same_labelled(got.first.clone(), 13)?;
        require(got.first == got.second, "one value became two")
    }),
    ("values.truncated_part_shared", |w| {
        let part = point(14, 15);
        let whole = Point::clone(&marked(16, Some(part.clone())));
        let got = w.echo.echo_two(&two(whole, part))?;
        same_labelled(got.first, 16)?;
        same_point(got.second, 14, 15)
    }),
    ("values.points", |w| {
        let shared = point(1, 2);
        let mut both = Some(shared.clone());
        let got = w.echo.echo_points(Some(&shared), &mut both)?;
        same_point(got.copy.clone(), 1, 2)?;
        let is_one = got.copy == got.result && got.copy == both;
        require(is_one, "one value became several")
    }),
    ("values.chain", |w| {
        let links = (0..100).rev();
        let first = links.fold(None, |next, v| Some(Chain::new(ChainState { next, v })));
        let mut next = w.echo.echo_chain(first.as_ref())?;
        for v in 0..100 {
            let link = present(next)?;
            expect("a link", &link.read().v, &v)?;
            next = link.read().next.clone();
        }
        expect("the end", &next, &None)
    }),
    ("values.cycle", |w| cycle(w, 3)),
    ("values.cycle_of_one", |w| cycle(w, 1)),
    ("values.tree", |w| {
        let leaf = tree("leaf", vec![]);
        let children = vec![leaf.clone(), None, tree("twig", vec![leaf.clone()]), leaf];
        let root = present(w.echo.echo_tree(tree("root", children).as_ref())?)?;
        expect("the name", &root.read().name.as_str(), &"root")?;
        let state = root.read();
        let [first, None, Some(twig), last] = state.children.as_slice() else {
            return Err(failed("the children differ"));
        };
        require(first.is_some() && first == last, "a leaf became two")?;
        require(twig.read().children.first() == Some(first), "and a third")
    }),
    ("values.tree_of_1000", |w| {
        let leaves = |from: i32| (from..from + 99).map(|n| tree(&format!("leaf {n}"), vec![]));
        let twigs = (0..10).map(|n| tree("twig", leaves(100 * n).collect()));
        let sent = tree("root", twigs.collect());
        let root = present(w.echo.echo_tree(sent.as_ref())?)?;
        let state = root.read();
        let last = state.children.last().and_then(|twig| {
            let twig = twig.as_ref()?.read();
            twig.children
                .last()?
                .as_ref()
                .map(|leaf| leaf.read().name.clone())
        });
        expect("the last leaf", &last.as_deref(), &Some("leaf 998"))
    }),
];

const ANYS: &[Planned] = &[
    ("values.any", |w| {
        same_point(in_any(w, &Some(point(1, 2)))?, 1, 2)
    }),
    ("values.any_null", |w| {
        expect("the point", &in_any(w, &None::<Point>)?, &None)
    }),
    ("values.any_labelled", |w| {
        let got = in_any(w, &Some(labelled(20)))?;
        same_labelled(got.map(Point::from), 20)
    }),
    ("values.any_of_base", |w| {
        same_labelled(in_any(w, &Some(Point::from(labelled(21))))?, 21)
    }),
    ("values.any_cycle", |w| {
        let link = ring(2);
        let got = present(in_any(w, &Some(link.clone()))?)?;
        link.unlink();
        around(&got, 2)
    }),
    ("values.any_text", |w| {
        let got = in_any(w, &Some(Text::from("boxed".to_owned())))?;
        expect("the text", &present(got)?.read().value.as_str(), &"boxed")
    }),
    ("values.any_two_shared", |w| {
        let shared = point(1, 2);
        let got = in_any(w, &two(shared.clone(), shared))?;
        same_point(got.first.clone(), 1, 2)?;
        require(got.first == got.second, "one value became two")
    }),
    ("values.any_custom", |w| {
        let sent = Some(parcel(parcel_state(None)));
        let got = present(in_any(w, &sent)?)?;
        expect("the label", &got.read().label.as_str(), &"label")
    }),
];

const INTERFACES: &[Planned] = &[
    ("values.describable_null", |w| {
        expect("the item", &w.echo.echo_describable(None)?, &None)
    }),
    ("values.describable_value", |w| {
        let sent = Abstract::of_value(&note("text"));
        let got = present(w.echo.echo_describable(Some(&sent))?)?;
        let got: Note = present(got.value())?;
        expect("the text", &got.read().text.as_str(), &"text")?;
        expect("its description", &got.describe()?.as_str(), &"note: text")
    }),
    ("values.describable_object", |w| {
        let sent = Abstract::Object(Describable::from(w.echo.clone()));
        let got = present(w.echo.echo_describable(Some(&sent))?)?;
        let got = got.object().ok_or_else(|| failed("it is a value"))?;
        expect("its description", &got.describe()?.as_str(), &"echo")
    }),
    ("values.description_null", |w| {
        expect("the text", &w.echo.description(None)?.as_str(), &"nothing")
    }),
    ("values.description_value", |w| {
        let got = w
            .echo
            .description(Some(&Abstract::of_value(&note("own"))))?;
        expect("the text", &got.as_str(), &"note: own")
    }),
    ("values.description_object", |w| {
        let poa = w.orb.root_poa();
        let own: Echo = poa.activate(EchoServant)?;
        let item = Abstract::Object(Describable::from(own.clone()));
        let got = w.echo.description(Some(&item));
        poa.deactivate(&poa.reference_to_id(&own)?)?;
        expect("the text", &got?.as_str(), &"echo")
    }),
];

fn state(x: i32, y: i32) -> PointState {
    PointState { x, y }
}

fn point(x: i32, y: i32) -> Point {
    Point::new(state(x, y))
}

fn labelled_state(x: i32) -> LabelledState {
    LabelledState {
        base: state(x, x + 1),
        text: format!("label {x}"),
        hidden: x - 1,
    }
}

fn labelled(x: i32) -> Labelled {
    Labelled::new(labelled_state(x))
}

/// A value with two values in its state, which are in separate chunks.
fn arrow(x: i32) -> Arrow {
    Arrow::new(ArrowState {
        base: state(x, x + 1),
        head: Some(point(x + 2, x + 3)),
        tail: Some(labelled(x + 4)),
    })
}

/// A value of a type that the peer does not know.
fn marked(x: i32, at: Option<Point>) -> Marked {
    Marked::new(MarkedState {
        base: labelled_state(x),
        mark: 7,
        at,
    })
}

fn two(first: Point, second: Point) -> Two {
    Two {
        first: Some(first),
        second: Some(second),
    }
}

fn tree(name: &str, children: Vec<Option<Tree>>) -> Option<Tree> {
    let name = name.to_owned();
    Some(Tree::new(TreeState { name, children }))
}

fn parcel_state(within: Option<Point>) -> ParcelState {
    ParcelState {
        number: -17,
        label: "label".to_owned(),
        within,
    }
}

fn present<T>(value: Option<T>) -> Result<T, Failure> {
    value.ok_or_else(|| failed("the value is null, or of another type"))
}

fn same_point(got: Option<Point>, x: i32, y: i32) -> Verdict {
    let got = present(got)?;
    require(
        got.repository_id() == point(0, 0).repository_id(),
        "it is of another type",
    )?;
    expect("the state", &*got.read(), &state(x, y))
}

fn same_labelled(got: Option<Point>, x: i32) -> Verdict {
    let got = present(got)?;
    let got = got.downcast::<Labelled>();
    let got = got.ok_or_else(|| failed("the value is no Labelled"))?;
    expect(
        "the type",
        &got.repository_id(),
        &labelled(0).repository_id(),
    )?;
    expect("the state", &*got.read(), &labelled_state(x))
}

fn same_arrow(got: Option<Point>, x: i32) -> Verdict {
    let got = present(got)?.downcast::<Arrow>();
    let got = got.ok_or_else(|| failed("the value is no Arrow"))?;
    let got = got.read();
    expect("the base", &got.base, &state(x, x + 1))?;
    same_point(got.head.clone(), x + 2, x + 3)?;
    same_labelled(got.tail.clone().map(Point::from), x + 4)
}

/// The value in the exception that the peer raises.
fn refused(world: &World, sent: &Point) -> Result<Option<Point>, Failure> {
    match world.echo.echo_point(Some(sent)) {
        Err(RefusedError::Refused(refused)) => Ok(refused.r#where),
        Err(RefusedError::System(other)) => Err(other.into()),
        Ok(_) => Err(failed("Refused was not raised")),
    }
}

fn custom(world: &World, within: Option<&Point>) -> Verdict {
    let sent = parcel(parcel_state(within.cloned()));
    let got = present(world.echo.echo_base(Some(&sent))?)?;
    let got = present(got.downcast::<Parcel>())?;
    let got = got.read();
    expect("the number", &got.number, &-17)?;
    expect("the label", &got.label.as_str(), &"label")?;
    let got = got.within.as_ref().map(|point| point.repository_id());
    let want = within.map(|point| point.repository_id());
    expect("the value within", &got, &want)
}

/// A ring of so many links, numbered from 0.
fn ring(length: i32) -> Chain {
    let last = Chain::new(ChainState {
        next: None,
        v: length - 1,
    });
    let others = (0..length - 1).rev();
    let first = others.fold(last.clone(), |next, v| {
        let next = Some(next);
        Chain::new(ChainState { next, v })
    });
    last.write().next = Some(first.clone());
    first
}

/// Requires a ring of so many links, and breaks it.
fn around(first: &Chain, length: i32) -> Verdict {
    let mut link = first.clone();
    for v in 0..length {
        expect("a link", &link.read().v, &v)?;
        let next = present(link.read().next.clone())?;
        link = next;
    }
    let closed = require(&link == first, "the ring is not closed");
    first.unlink();
    closed
}

fn cycle(world: &World, length: i32) -> Verdict {
    let sent = ring(length);
    let got = world.echo.echo_chain(Some(&sent));
    sent.unlink();
    around(&present(got?)?, length)
}

/// The value that is returned in an any.
fn in_any<T: Typed + Encode + Decode>(world: &World, sent: &T) -> Result<T, Failure> {
    Ok(world.echo.echo_any(&Any::new(sent)?)?.extract()?)
}
