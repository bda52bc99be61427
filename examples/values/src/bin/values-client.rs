// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sends a tree, a ring and a drawing; the reference may be given.

use orbium::Orb;
use values::gallery::{Branch, BranchState, Circle, Hall, Stop, StopState};

fn branch(name: &str, branches: Vec<Option<Branch>>) -> Option<Branch> {
    let name = name.to_owned();
    Some(Branch::new(BranchState { name, branches }))
}

fn shown(tree: &Branch) -> String {
    let state = tree.read();
    let branches: Vec<_> = state.branches.iter().flatten().map(shown).collect();
    match branches.as_slice() {
        [] => state.name.clone(),
        all => format!("{}({})", state.name, all.join(" ")),
    }
}

/// A ring of stops.
fn ring(names: &[&str]) -> Option<Stop> {
    let stop = |name: &&str| {
        let name = (*name).to_owned();
        Stop::new(StopState { name, next: None })
    };
    let stops: Vec<_> = names.iter().map(stop).collect();
    for (stop, next) in stops.iter().zip(stops.iter().cycle().skip(1)) {
        stop.write().next = Some(next.clone());
    }
    stops.first().cloned()
}

/// The names from one stop around to itself.
fn around(first: &Stop) -> Vec<String> {
    let mut names = vec![first.read().name.clone()];
    let mut next = first.read().next.clone();
    while let Some(stop) = next.filter(|stop| stop != first) {
        names.push(stop.read().name.clone());
        next = stop.read().next.clone();
    }
    names
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let reference = std::env::args().nth(1);
    let reference = reference.unwrap_or_else(|| format!("corbaloc::{}/Hall", values::ADDRESS));
    let orb = Orb::builder().build()?;
    values::register(orb.value_factories());
    let hall: Hall = orb.resolve(&reference)?;

    let twigs = vec![branch("north", vec![]), branch("east", vec![])];
    let tree = branch("trunk", vec![branch("top", twigs), branch("low", vec![])]);
    let sorted = hall.sorted(tree.as_ref())?.ok_or("no tree")?;
    println!("{}", shown(&sorted));

    let line = ring(&["Market", "Harbour", "Station"]).ok_or("no ring")?;
    let turned = hall.turned(Some(&line))?.ok_or("no ring")?;
    println!("{}", around(&turned).join(" > "));
    // The stops of a ring hold one another: they are freed once it is broken.
    line.unlink();
    turned.unlink();

    let drawing = [
        Some(values::square("window", 2.0).into()),
        None,
        Some(values::circle("sun", 3.0).into()),
    ];
    println!("{:.2}", hall.area(&drawing)?);
    let largest = hall.largest(&drawing)?.ok_or("no shape")?;
    let circle: Circle = largest.downcast().ok_or("no circle")?;
    let (name, radius) = (circle.read().name.clone(), circle.read().radius);
    println!("{name}: radius {radius}, area {:.2}", circle.area()?);
    Ok(())
}
