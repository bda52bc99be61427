// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of commands in `README.md` and `docs/command-line.md`: they have all commands of the program
//! and no others.

use std::collections::BTreeSet;
use std::path::Path;

use crate::program::run;

/// The commands that `--help` lists, but for `help`.
fn commands() -> BTreeSet<String> {
    let ran = run(["--help"]);
    ran.assert_done();
    let lines = ran.stdout.lines();
    let lines = lines.skip_while(|line| *line != "Commands:").skip(1);
    lines
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// The commands in the first column of the tables of a page.
fn tabulated(page: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(page);
    let text = std::fs::read_to_string(path).unwrap();
    let cells = text.lines().filter_map(|line| line.strip_prefix("| `"));
    let cells = cells.filter_map(|line| line.split(" |").next());
    let codes = cells.flat_map(|cell| cell.split('`').step_by(2));
    codes
        .filter_map(|code| code.strip_prefix("orbium "))
        .filter_map(|code| code.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// `name`, `sched`, `events` and `notify` were missing from the README once.
#[test]
fn tables_of_commands_are_complete() {
    let commands = commands();
    assert!(commands.len() > 15, "{commands:?}");
    for page in ["README.md", "docs/command-line.md"] {
        assert_eq!(tabulated(page), commands, "{page}");
    }
}
