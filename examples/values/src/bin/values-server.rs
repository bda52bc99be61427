// SPDX-License-Identifier: MIT OR Apache-2.0
//! Serves the hall; the endpoint may be given.

use orbium::prelude::*;
use values::gallery::{Branch, Hall, HallServant, Shape, Stop};

struct Attendant;

fn sort(tree: &Branch) {
    let mut state = tree.write();
    let name = |branch: &Option<Branch>| branch.as_ref().map(|it| it.read().name.clone());
    state.branches.sort_by_key(name);
    let branches = state.branches.clone();
    drop(state);
    branches.iter().flatten().for_each(sort);
}

impl HallServant for Attendant {
    fn sorted(&self, _: &Call, tree: Option<&Branch>) -> Result<Option<Branch>> {
        // It is a copy of the client's.
        tree.into_iter().for_each(sort);
        Ok(tree.cloned())
    }

    fn turned(&self, _: &Call, ring: Option<&Stop>) -> Result<Option<Stop>> {
        let mut behind = None;
        let mut next = ring.cloned();
        while let Some(stop) = next {
            next = stop.write().next.take();
            stop.write().next.clone_from(&behind);
            behind = Some(stop);
            // Behind the last comes the first once more, which closes the ring.
        }
        Ok(ring.cloned())
    }

    fn area(&self, _: &Call, all: &[Option<Shape>]) -> Result<f64> {
        all.iter().flatten().map(|shape| shape.area()).sum()
    }

    fn largest(&self, _: &Call, all: &[Option<Shape>]) -> Result<Option<Shape>> {
        let area = |shape: &&Shape| shape.area().unwrap_or(0.0);
        let shapes = all.iter().flatten();
        Ok(shapes.max_by(|a, b| area(a).total_cmp(&area(b))).cloned())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let endpoint = std::env::args().nth(1);
    let endpoint = endpoint.unwrap_or_else(|| format!("iiop://{}", values::ADDRESS));
    let orb = Orb::builder().endpoint(&endpoint)?.build()?;
    values::register(orb.value_factories());
    let hall: Hall = orb.serve("Hall", Attendant)?;
    println!("{}", orb.object_to_string(&hall));
    Ok(orb.run()?)
}
