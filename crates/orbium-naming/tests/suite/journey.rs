// SPDX-License-Identifier: MIT OR Apache-2.0
//! Everything that a naming client does, against any server.

use orbium::{Interface, ObjectRef, config::ServerStrategy, reference::NarrowError};
use orbium_naming::cos_naming::{self, NamingContextExt};
use orbium_naming::{
    Binding, BindingKind, Name, NameComponent, NamingContext, NamingError, NotFoundReason,
};
use orbium_testkit::Served;
use orbium_testkit::probe::Target;

use crate::Tested;

/// What a server does in a way of its own.
#[derive(Clone, Copy)]
pub(crate) struct Quirks {
    /// What `unbind` says of a name that is not bound.
    pub(crate) unbind_of_nothing: NotFoundReason,
    /// What `resolve` says of a name that leads through an object.
    pub(crate) through_an_object: NotFoundReason,
    /// A component without id and kind is InvalidName.
    pub(crate) refuses_empty_components: bool,
    /// `to_string` leaves separators out, and adds some.
    pub(crate) prints_other_text: bool,
    /// `to_url` refuses addresses, or leaves blanks as they are.
    pub(crate) makes_no_urls: bool,
    /// `rebind` replaces contexts, and `rebind_context` objects.
    pub(crate) rebinds_either: bool,
}

impl Quirks {
    /// As the specification has it.
    pub(crate) const NONE: Self = Self {
        unbind_of_nothing: NotFoundReason::MissingNode,
        through_an_object: NotFoundReason::NotContext,
        refuses_empty_components: false,
        prints_other_text: false,
        makes_no_urls: false,
        rebinds_either: false,
    };
}

/// All operations and all exceptions, below a context of this test's own. The contexts
/// are empty again at the end.
pub(crate) fn everything(root: &NamingContext, quirks: Quirks) -> Tested {
    let served = Served::new(ServerStrategy::default());
    let target = served.seen_by(root.as_object().orb());
    let plant = root.bind_new_context("plant.area")?;
    binding(root, &plant, &target, quirks)?;
    contexts(root, &plant, &target, quirks)?;
    listing(&plant, &target)?;
    urls(root, &target, quirks)?;

    root.unbind("plant.area")?;
    let gone = root.resolve("plant.area/pump").unwrap_err();
    assert_eq!(
        gone,
        not_found(NotFoundReason::MissingNode, "plant.area/pump")
    );
    plant.destroy()?;
    let destroyed = plant.resolve("pump").unwrap_err();
    assert!(matches!(destroyed, NamingError::System(_)), "{destroyed}");
    served.end();
    Ok(())
}

fn not_found(why: NotFoundReason, rest: &str) -> NamingError {
    let rest = rest.parse().unwrap();
    NamingError::NotFound { why, rest }
}

/// A server may write a profile anew, with other components.
fn is_target(found: &ObjectRef, target: &Target, how: &str) {
    let place = |object: &ObjectRef| {
        let mut profiles = object.ior().iiop_profiles();
        let profile = profiles.next();
        profile.map(|it| (it.host, it.port, it.object_key))
    };
    assert_eq!(place(found), place(target.as_object()), "{how}");
}

fn same(context: &NamingContext, name: &str, target: &Target) -> Tested {
    let found: Target = context.resolve_as(name)?;
    is_target(found.as_object(), target, name);
    assert_eq!(found.echo_long(7)?, 7);
    Ok(())
}

fn binding(root: &NamingContext, plant: &NamingContext, target: &Target, quirks: Quirks) -> Tested {
    // Ids with separators, blanks and kinds; an id and a kind that are empty.
    for name in [
        "pump",
        r"a\.b\/c\\d.v\.2",
        "with blanks.and kind",
        ".kind",
        ".",
    ] {
        let bound = plant.bind(name, target);
        if quirks.refuses_empty_components && name == "." {
            assert_eq!(bound, Err(NamingError::InvalidName));
            continue;
        }
        bound?;
        same(plant, name, target)?;
        let again = plant.bind(name, target).unwrap_err();
        assert_eq!(again, NamingError::AlreadyBound, "{name}");
        plant.rebind(name, target)?;
        plant.unbind(name)?;
        let unbound = plant.unbind(name).unwrap_err();
        assert_eq!(unbound, not_found(quirks.unbind_of_nothing, name));
    }
    // A kind makes another name.
    root.bind("plant.area/pump", target)?;
    let kind = Name::new(vec![
        NameComponent::with_kind("plant", "area"),
        NameComponent::with_kind("pump", "v2"),
    ]);
    let other = root.resolve(&kind).unwrap_err();
    assert_eq!(other, not_found(NotFoundReason::MissingNode, "pump.v2"));

    let missing = root.resolve("plant.area/none/x").unwrap_err();
    assert_eq!(missing, not_found(NotFoundReason::MissingNode, "none/x"));
    let object = root.resolve("plant.area/pump/x").unwrap_err();
    assert_eq!(object, not_found(quirks.through_an_object, "pump/x"));
    let empty = root.resolve(Name::default()).unwrap_err();
    assert_eq!(empty, NamingError::InvalidName);
    let text = root.resolve("plant//pump").unwrap_err();
    assert!(matches!(text, NamingError::Syntax(_)), "{text}");
    let narrowed = root.resolve_as::<NamingContext>("plant.area/pump");
    let narrowed = narrowed.unwrap_err();
    assert_eq!(narrowed, NamingError::Narrow(NarrowError::WrongType));
    Ok(())
}

fn contexts(
    root: &NamingContext,
    plant: &NamingContext,
    target: &Target,
    quirks: Quirks,
) -> Tested {
    let full = plant.destroy().unwrap_err();
    assert_eq!(full, NamingError::NotEmpty);
    let hall = root.new_context()?;
    hall.bind("valve", target)?;
    plant.bind_context("hall", &hall)?;
    same(root, "plant.area/hall/valve", target)?;
    let again = plant.bind_context("hall", &hall).unwrap_err();
    assert_eq!(again, NamingError::AlreadyBound);
    let new = plant.bind_new_context("hall").unwrap_err();
    assert_eq!(new, NamingError::AlreadyBound);
    // What is bound as a context is not replaced by an object, nor the other way round.
    let (context, object) = (
        plant.rebind("hall", target),
        plant.rebind_context("pump", &hall),
    );
    if quirks.rebinds_either {
        assert_eq!((context, object), (Ok(()), Ok(())));
        plant.unbind("hall")?;
        plant.bind_context("hall", &hall)?;
        plant.unbind("pump")?;
        plant.bind("pump", target)?;
    } else {
        let (context, object) = (context.unwrap_err(), object.unwrap_err());
        assert_eq!(context, not_found(NotFoundReason::NotObject, "hall"));
        assert_eq!(object, not_found(NotFoundReason::NotContext, "pump"));
    }

    let other = root.new_context()?;
    other.bind("other valve", target)?;
    plant.rebind_context("hall", &other)?;
    same(root, "plant.area/hall/other valve", target)?;
    let again: NamingContext = root.resolve_context("plant.area/hall")?;
    again.unbind("other valve")?;
    plant.unbind("hall")?;
    other.destroy()?;
    hall.unbind("valve")?;
    hall.destroy()?;
    Ok(())
}

fn listing(plant: &NamingContext, target: &Target) -> Tested {
    plant.bind_new_context("sub")?;
    let mut expected = vec!["pump".to_owned(), "sub".to_owned()];
    for number in 0..23 {
        let name = format!("sensor {number}.s");
        plant.bind(&name, target)?;
        expected.push(name);
    }
    expected.sort_unstable();
    for size in [1, 4, 25, 26, 1000] {
        let listed: Result<Vec<Binding>, _> = plant.list_by(size)?.collect();
        let mut names = Vec::new();
        for Binding { name, kind } in listed? {
            let is_context = name.to_string() == "sub";
            assert_eq!(kind == BindingKind::Context, is_context, "{name}");
            names.push(name.to_string());
        }
        names.sort_unstable();
        assert_eq!(names, expected, "in batches of {size}");
    }
    // The rest stays at the server, which destroys its iterator.
    let mut some = plant.list_by(3)?;
    assert!(some.next().is_some_and(|it| it.is_ok()));
    drop(some);
    for Binding { name, kind } in plant.list()?.collect::<Result<Vec<_>, _>>()? {
        if kind == BindingKind::Context {
            plant.resolve_context(&name)?.destroy()?;
        }
        if name.to_string() != "pump" {
            plant.unbind(&name)?;
        }
    }
    assert_eq!(plant.list()?.count(), 1);
    Ok(())
}

/// The server's strings are ours, and `corbaname:` leads where `resolve` does.
fn urls(root: &NamingContext, target: &Target, quirks: Quirks) -> Tested {
    let orb = root.as_object().orb();
    let text = r"plant.area/with\.dot and blank.v\/2";
    let name: Name = text.parse()?;
    root.bind(&name, target)?;
    let url = name.to_url("rir:/TheNames")?;
    assert!(orb.string_to_object(&url).is_err(), "not registered yet");
    orb.register_initial_reference("TheNames", root)?;
    let found: Target = orb.resolve(&url)?;
    is_target(found.as_object(), target, &url);
    if let Ok(ext) = root.as_object().narrow::<NamingContextExt>() {
        let component = |it: &NameComponent| cos_naming::NameComponent {
            id: it.id.clone(),
            kind: it.kind.clone(),
        };
        let idl: Vec<_> = name.components().iter().map(component).collect();
        assert_eq!(ext.to_string(&idl)? != text, quirks.prints_other_text);
        assert_eq!(ext.to_name(text)?, idl);
        if !quirks.makes_no_urls {
            let address = ":host:99/Key";
            let (ours, theirs) = (name.to_url(address)?, ext.to_url(address, text)?);
            // Hexadecimal digits have either case.
            assert!(ours.eq_ignore_ascii_case(&theirs), "{ours} {theirs}");
        }
        let found = ext.resolve_str(text)?.ok_or("nil")?;
        is_target(&found, target, text);
    }
    root.unbind(&name)?;
    root.unbind("plant.area/pump")?;
    Ok(())
}
