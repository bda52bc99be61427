// SPDX-License-Identifier: MIT OR Apache-2.0
//! A server that echoes trees of values and anys, and its client. `benches/omni/values.cc` is
//! equivalent.
//!
//! ```text
//! orbium-bench-values serve FILE                   writes the reference to FILE
//! orbium-bench-values call tree|any CALLS FILE     echoes a tree of 1,000 values, or 256 BinStruct in an any
//! ```
#![forbid(unsafe_code)]

use std::error::Error;
use std::process::ExitCode;

use orbium::{Any, Char, Orb};
use orbium_demo::serve_values;
use orbium_demo::ttcp::{BinStruct, Structs};
use orbium_demo::values::{Echo, Tree, TreeState};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Number of values of a tree.
const NODES: usize = 1000;

/// Number of children of a value.
const CHILDREN: usize = 10;

/// Number of structs of an any.
const STRUCTS: i32 = 256;

fn serve(file: &str) -> Outcome<()> {
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
    let echo = serve_values(&orb)?;
    // Renamed, so that a reader never sees a partial file.
    let unfinished = format!("{file}.tmp");
    std::fs::write(&unfinished, orb.object_to_string(&echo))?;
    std::fs::rename(&unfinished, file)?;
    orb.run()?;
    Ok(())
}

/// The value of that number, with its subtree: children of `n` are from `10 n + 1` on.
fn tree(n: usize) -> Tree {
    let first = CHILDREN * n + 1;
    let children = (first..first + CHILDREN).filter(|child| *child < NODES);
    Tree::new(TreeState {
        name: format!("node {n}"),
        children: children.map(|child| Some(tree(child))).collect(),
    })
}

fn count(tree: &Tree) -> usize {
    let state = tree.read();
    let below = state.children.iter().flatten().map(count);
    below.sum::<usize>() + 1
}

fn echo_trees(echo: &Echo, calls: u64) -> Outcome<()> {
    let sent = tree(0);
    let echoed = echo.echo_tree(Some(&sent))?.ok_or("no tree came back")?;
    if count(&echoed) != NODES {
        return Err("another tree came back".into());
    }
    for _ in 0..calls {
        echo.echo_tree(Some(&sent))?;
    }
    Ok(())
}

fn structs() -> Structs {
    let at = |i: i32| BinStruct {
        s: i as i16,
        c: Char(b'a' + (i % 26) as u8),
        l: i * 7,
        o: i as u8,
        d: f64::from(i) * 0.5,
    };
    (0..STRUCTS).map(at).collect()
}

fn echo_anys(echo: &Echo, calls: u64) -> Outcome<()> {
    let sent = Any::new(&structs())?;
    let echoed: Structs = echo.echo_any(&sent)?.extract()?;
    if echoed != structs() {
        return Err("other structs came back".into());
    }
    for _ in 0..calls {
        let _: Structs = echo.echo_any(&sent)?.extract()?;
    }
    Ok(())
}

fn call(what: &str, calls: u64, file: &str) -> Outcome<()> {
    let orb = Orb::builder().build()?;
    let echo: Echo = orb.resolve(std::fs::read_to_string(file)?.trim())?;
    match what {
        "tree" => echo_trees(&echo, calls),
        "any" => echo_anys(&echo, calls),
        _ => Err(format!("{what} is neither tree nor any").into()),
    }
}

fn run() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match *arguments.as_slice() {
        ["serve", file] => serve(file),
        ["call", what, calls, file] => call(what, calls.parse()?, file),
        _ => Err("usage: orbium-bench-values serve FILE | call tree|any CALLS FILE".into()),
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("orbium-bench-values: {error}");
            ExitCode::FAILURE
        }
    }
}
