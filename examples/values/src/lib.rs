// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values over a call: a tree, a ring, and a drawing of shapes of several types.
//!
//! `cargo run -p values --bin values-server` in one terminal, `cargo run -p values --bin
//! values-client` in another. Both register the factories, so that shapes have their operations on both sides.

use orbium::SystemException;
use orbium::value::Factories;

orbium::include_idl!("gallery");

use gallery::{
    Circle, CircleOperations, CircleState, Shape, ShapeOperations, ShapeState, Square,
    SquareOperations, SquareState,
};

/// Address of the server.
pub const ADDRESS: &str = "localhost:5015";

struct Round;

impl ShapeOperations for Round {
    fn area(&self, this: &Shape) -> Result<f64, SystemException> {
        let circle: Option<Circle> = this.downcast();
        let radius = circle.map_or(0.0, |circle| circle.read().radius);
        Ok(core::f64::consts::PI * radius * radius)
    }
}

impl CircleOperations for Round {}

struct Angular;

impl ShapeOperations for Angular {
    fn area(&self, this: &Shape) -> Result<f64, SystemException> {
        let square: Option<Square> = this.downcast();
        let side = square.map_or(0.0, |square| square.read().side);
        Ok(side * side)
    }
}

impl SquareOperations for Angular {}

/// A circle with its operations.
pub fn circle(name: &str, radius: f64) -> Circle {
    let name = name.to_owned();
    let base = ShapeState { name };
    Circle::with_operations(CircleState { base, radius }, Round)
}

/// A square with its operations.
pub fn square(name: &str, side: f64) -> Square {
    let name = name.to_owned();
    let base = ShapeState { name };
    Square::with_operations(SquareState { base, side }, Angular)
}

/// How shapes that arrive are made.
pub fn register(factories: &Factories) {
    factories.register(|| circle("", 0.0));
    factories.register(|| square("", 0.0));
}
