// SPDX-License-Identifier: MIT OR Apache-2.0
//! Value types through generated code: called over TCP and by a caller of the same ORB.

use std::sync::Mutex;

use orbium::value::ValueBase;
use orbium::{Call, SystemException};
use orbium_cdr::Typed;

use crate::orbs::Orbs;

mod golden {
    include!("../golden/valuetypes.rs");
}

use golden::valuetypes::{
    Chain, ChainState, Either, Finer, FinerState, Held, Keeper, KeeperEchoChainResults,
    KeeperServant, Labelled, LabelledState, Point, PointState, Refused, RefusedError, Text, Tree,
    TreeState,
};

type Answer<T> = Result<T, SystemException>;

#[derive(Default)]
struct Servant {
    root: Mutex<Option<Tree>>,
}

impl KeeperServant for Servant {
    fn echo_point(&self, _: &Call<'_>, v: Option<&Point>) -> Result<Option<Point>, RefusedError> {
        match v {
            Some(point) if point.read().x < 0 => Err(Refused {
                at: Some(point.clone()),
            }
            .into()),
            point => Ok(point.cloned()),
        }
    }

    fn echo_chain(
        &self,
        _: &Call<'_>,
        v: Option<&Chain>,
        both: &mut Option<Chain>,
    ) -> Answer<KeeperEchoChainResults> {
        // Sharing among the arguments is there: all go back as one graph.
        let other = both.clone();
        *both = v.cloned();
        Ok(KeeperEchoChainResults {
            result: v.cloned(),
            other,
        })
    }

    fn echo_held(&self, _: &Call<'_>, v: &Held) -> Answer<Held> {
        Ok(v.clone())
    }

    fn echo_base(&self, _: &Call<'_>, v: Option<&ValueBase>) -> Answer<Option<ValueBase>> {
        Ok(v.cloned())
    }

    fn root(&self, _: &Call<'_>) -> Answer<Option<Tree>> {
        Ok(self.root.lock().unwrap().clone())
    }

    fn set_root(&self, _: &Call<'_>, value: Option<&Tree>) -> Answer<()> {
        *self.root.lock().unwrap() = value.cloned();
        Ok(())
    }
}

fn keepers(orbs: &Orbs) -> [Keeper; 2] {
    orbs.both(Servant::default())
}

fn point(x: i32) -> Point {
    Point::new(PointState { x, y: 2 })
}

/// Conformance: IDL - value types: state, null, derived values
#[test]
fn values_are_echoed_as_what_they_are() {
    let orbs = Orbs::new();
    for keeper in keepers(&orbs) {
        assert_eq!(keeper.echo_point(None).unwrap(), None);
        let given = point(1);
        let echoed = keeper.echo_point(Some(&given)).unwrap().unwrap();
        assert_eq!(*echoed.read(), PointState { x: 1, y: 2 });
        assert_ne!(echoed, given, "a call copies its values");

        let labelled = Labelled::new(LabelledState {
            base: PointState { x: 3, y: 4 },
            text: "far".to_owned(),
            hidden: 5,
        });
        let echoed = keeper.echo_point(Some(&labelled)).unwrap().unwrap();
        let echoed: Labelled = echoed.downcast().unwrap();
        assert_eq!(*echoed.read(), *labelled.read());

        let finer = Finer::new(FinerState {
            base_: PointState { x: 6, y: 7 },
            base: "wide €".to_owned(),
            other: Some(labelled.clone().into()),
        });
        let echoed = keeper.echo_point(Some(&finer)).unwrap().unwrap();
        let echoed: Finer = echoed.downcast().unwrap();
        assert_eq!(echoed.read().base, "wide €");
        let other = echoed.read().other.clone().unwrap();
        assert!(other.downcast::<Labelled>().is_some());
    }
}

orbium::codegen::idl_interface! {
    /// Returns where its octets lie.
    pub struct Places = "IDL:Places:1.0";
    operations by_octet(0, 112, &[0]);
    pub trait PlacesServant;

    fn place(v: Option<&Chain>, data: &[u8], @inout both: Option<Chain> | Option<&Chain>)
        -> Result<u64> = "place" { out(result: u64, both: Option<Chain>) gives result, };
}

impl PlacesServant for Servant {
    /// The chain gets another number, at the servant alone.
    fn place(
        &self,
        _: &Call<'_>,
        v: Option<&Chain>,
        data: &[u8],
        both: &mut Option<Chain>,
    ) -> Answer<u64> {
        let chain = v.expect("a chain");
        assert_eq!(both.as_ref(), Some(chain), "the arguments share it");
        let next = chain.read().next.clone();
        assert_eq!(next.as_ref(), Some(chain), "it is a cycle");
        chain.write().v += 1;
        Ok(data.as_ptr() as u64)
    }
}

/// The servant gets a copy of the values, sharing and cycles kept, and the caller's octets.
///
/// Conformance: TAO 35 - collocated calls behave as remote ones - values are copied, what goes with
/// them is lent
#[test]
fn values_are_copied_and_octets_that_go_with_them_are_lent() {
    let orbs = Orbs::new();
    let [here, remote]: [Places; 2] = orbs.both(Servant::default());
    let data = vec![5; 64 * 1024];
    for (places, is_lent) in [(here, true), (remote, false)] {
        let cycle = Chain::new(ChainState { next: None, v: 1 });
        cycle.write().next = Some(cycle.clone());
        let mut both = Some(cycle.clone());
        let place = places.place(Some(&cycle), &data, &mut both).unwrap();
        assert_eq!(place == data.as_ptr() as u64, is_lent);
        // What the servant did to its copy comes back in the parameter alone.
        assert_eq!(cycle.read().v, 1);
        let changed = both.unwrap();
        assert_eq!(changed.read().v, 2);
        assert_eq!(changed.read().next, Some(changed.clone()));
        changed.unlink();
        cycle.unlink();
    }
}

/// Conformance: CDR - values: null, sharing and indirections
#[test]
fn arguments_are_one_graph_and_so_are_results() {
    let orbs = Orbs::new();
    for keeper in keepers(&orbs) {
        let link = Chain::new(ChainState { next: None, v: 1 });
        let other = Chain::new(ChainState {
            next: Some(link.clone()),
            v: 2,
        });
        link.write().next = Some(other.clone());
        let mut both = Some(other);
        let results = keeper.echo_chain(Some(&link), &mut both).unwrap();
        let result = results.result.unwrap();
        assert_eq!(both, Some(result.clone()));
        assert_eq!(results.other, result.read().next);
        assert_eq!(results.other.unwrap().read().next, Some(result.clone()));
        result.unlink();
        link.unlink();
    }
}

#[test]
fn values_are_in_structs_sequences_unions_and_exceptions() {
    let orbs = Orbs::new();
    for keeper in keepers(&orbs) {
        let labelled = Labelled::new(LabelledState::default());
        let held = Held {
            p: Some(labelled.clone().into()),
            more: vec![None, Some(labelled)],
        };
        let echoed = keeper.echo_held(&held).unwrap();
        assert_eq!(echoed.more[0], None);
        assert_eq!(echoed.p.unwrap().downcast(), echoed.more[1]);

        let error = keeper.echo_point(Some(&point(-1))).unwrap_err();
        let RefusedError::Refused(refused) = error else {
            panic!("{error}");
        };
        assert_eq!(refused.at.unwrap().read().x, -1);

        let tree = |name: &str, children| {
            Some(Tree::new(TreeState {
                name: name.to_owned(),
                children,
            }))
        };
        let leaf = tree("leaf", vec![]);
        let root = tree("root", vec![leaf.clone(), None, leaf]);
        keeper.set_root(root.as_ref()).unwrap();
        let root = keeper.root().unwrap().unwrap();
        assert_eq!(root.read().children.len(), 3);
        assert_eq!(root.read().children[0], root.read().children[2]);
        assert_eq!(root.read().children[1], None);
    }
    assert_eq!(Either::default(), Either::P(None));
}

/// The example of `docs/mapping.md`.
#[test]
fn a_tree_grows_under_its_handle() {
    let leaf = Some(Tree::new(TreeState::default()));
    let root = Tree::new(TreeState {
        name: "root".to_owned(),
        children: vec![leaf.clone(), leaf],
    });
    root.write().children.push(None);
    assert_eq!(root.read().children.len(), 3);
}

#[test]
fn type_codes_tell_the_state_and_the_base() {
    let chain = Chain::type_code();
    assert_eq!(chain.id(), "IDL:Valuetypes/Chain:1.0");
    assert_eq!(Text::type_code().id(), "IDL:Valuetypes/Text:1.0");
    let any = orbium::Any::new(&chain).unwrap();
    assert_eq!(any.extract::<orbium::TypeCode>(), Ok(chain));
    let labelled = Labelled::type_code();
    let any = orbium::Any::new(&labelled).unwrap();
    assert_eq!(any.extract::<orbium::TypeCode>(), Ok(labelled));
}

/// A polymorphic drawing: values with operations, made by factories where they arrive.
mod drawing {
    use orbium::value::{Class, Factories, ValueBase, ValueType};
    use orbium::{Call, ExceptionKind, SystemException};

    use super::golden::drawing::{
        Circle, CircleOperations, CircleScaleResults, CircleState, Degenerate, DegenerateError,
        Gallery, GalleryServant, Shape, ShapeOperations, ShapeState, Square, SquareOperations,
        SquareState,
    };
    use super::{Answer, Orbs};

    struct Round;

    impl ShapeOperations for Round {
        fn area(&self, this: &Shape) -> Result<f64, DegenerateError> {
            let Some(circle) = this.downcast::<Circle>() else {
                return Err(SystemException::from(ExceptionKind::BadParam).into());
            };
            let radius = circle.read().radius;
            if radius <= 0.0 {
                let why = format!("radius {radius}");
                return Err(Degenerate { why }.into());
            }
            Ok(3.0 * radius * radius)
        }

        fn label(&self, this: &Shape) -> Answer<String> {
            Ok(format!("circle {}", this.read().name))
        }
    }

    impl CircleOperations for Round {
        fn scale(&self, this_value: &Circle, this: f64) -> Answer<CircleScaleResults> {
            let mut state = this_value.write();
            let before = state.radius;
            state.radius *= this;
            let after = state.radius;
            Ok(CircleScaleResults { before, after })
        }
    }

    struct Angular;

    impl ShapeOperations for Angular {
        fn area(&self, this: &Shape) -> Result<f64, DegenerateError> {
            let side = this.downcast::<Square>().map_or(0.0, |it| it.read().side);
            Ok(side * side)
        }

        fn label(&self, this: &Shape) -> Answer<String> {
            Ok(format!("square {}", this.read().name))
        }
    }

    impl SquareOperations for Angular {}

    fn circle(radius: f64) -> Circle {
        let base = ShapeState {
            name: "c".to_owned(),
        };
        Circle::with_operations(CircleState { base, radius }, Round)
    }

    fn square(side: f64) -> Square {
        let base = ShapeState {
            name: "s".to_owned(),
        };
        Square::with_operations(SquareState { base, side }, Angular)
    }

    fn register(factories: &Factories) {
        assert!(!factories.register(|| circle(0.0)));
        assert!(!factories.register(|| square(0.0)));
    }

    struct Hall;

    impl GalleryServant for Hall {
        fn total(&self, _: &Call<'_>, all: &[Option<Shape>]) -> Answer<f64> {
            let mut total = 0.0;
            for shape in all.iter().flatten() {
                total += match shape.area() {
                    Ok(area) => area,
                    Err(DegenerateError::Degenerate(_)) => 0.0,
                    Err(DegenerateError::System(error)) => return Err(error),
                };
            }
            Ok(total)
        }

        fn largest(&self, _: &Call<'_>, all: &[Option<Shape>]) -> Answer<Option<Shape>> {
            let area = |shape: &&Shape| shape.area().map_or(0, |area| area as i64);
            Ok(all.iter().flatten().max_by_key(area).cloned())
        }

        fn keep(&self, _: &Call<'_>, v: Option<&ValueBase>) -> Answer<Option<ValueBase>> {
            Ok(v.cloned())
        }
    }

    fn galleries(orbs: &Orbs) -> [Gallery; 2] {
        orbs.both(Hall)
    }

    /// Conformance: IDL - value types: operations, factories
    #[test]
    fn operations_go_with_the_values_where_factories_make_them() {
        let orbs = Orbs::new();
        register(orbs.server.value_factories());
        register(orbs.client.value_factories());
        let shapes = [
            Some(circle(2.0).into()),
            None,
            Some(square(3.0).into()),
            Some(circle(-1.0).into()),
        ];
        for gallery in galleries(&orbs) {
            assert_eq!(gallery.total(&shapes), Ok(21.0));
            let largest = gallery.largest(&shapes).unwrap().unwrap();
            assert_eq!(largest.label().unwrap(), "circle c");
            let largest: Circle = largest.downcast().unwrap();
            let scaled = largest.scale(2.0).unwrap();
            assert_eq!((scaled.before, scaled.after), (2.0, 4.0));
            assert_eq!(largest.area(), Ok(48.0));
        }
    }

    /// Conformance: IDL - value types: operations, factories
    #[test]
    fn a_value_without_a_factory_has_its_state_and_no_operations() {
        let orbs = Orbs::new();
        for gallery in galleries(&orbs) {
            let error = gallery.total(&[Some(circle(2.0).into())]).unwrap_err();
            assert_eq!(error.kind, ExceptionKind::NoImplement);
        }
        register(orbs.server.value_factories());
        let [_, remote] = galleries(&orbs);
        let shape = remote.largest(&[Some(circle(2.0).into())]).unwrap();
        let circle: Circle = shape.unwrap().downcast().unwrap();
        assert_eq!(circle.read().radius, 2.0);
        assert!(circle.area().is_err());
    }

    /// Where `ValueBase` is expected nothing is known but what was registered.
    ///
    /// Conformance: IDL - value types: operations, factories
    #[test]
    fn value_base_takes_the_types_that_are_registered() {
        let orbs = Orbs::new();
        let value: ValueBase = circle(2.0).into();
        for gallery in galleries(&orbs) {
            assert_eq!(gallery.keep(None), Ok(None));
            let error = gallery.keep(Some(&value)).unwrap_err();
            assert_eq!(error.kind, ExceptionKind::Marshal);
            assert_eq!(error.minor & 0xfff, 1, "no factory");
        }
        assert!(!orbs.server.value_factories().register_type::<Circle>());
        assert!(orbs.server.value_factories().register_type::<Circle>());
        orbs.client.value_factories().register_type::<Circle>();
        for gallery in galleries(&orbs) {
            let kept = gallery.keep(Some(&value)).unwrap().unwrap();
            let class: &Class = kept.class();
            assert!(class.is_a(Shape::class()));
            assert_eq!(kept.downcast::<Circle>().unwrap().read().radius, 2.0);
        }
        let id = "IDL:Drawing/Circle:1.0";
        assert!(orbs.server.value_factories().unregister(id));
        assert!(!orbs.server.value_factories().unregister(id));
    }

    /// A factory that makes values of a derived type is a fault of the program, which ends in
    /// an exception.
    #[test]
    fn a_factory_that_makes_another_type_is_refused() {
        let orbs = Orbs::new();
        let factories = orbs.server.value_factories();
        factories.register::<Shape>(|| square(1.0).into());
        let shape = Shape::new(ShapeState::default());
        for gallery in galleries(&orbs) {
            let error = gallery.largest(&[Some(shape.clone())]).unwrap_err();
            assert_eq!(error.kind, ExceptionKind::Marshal);
        }
    }
}
