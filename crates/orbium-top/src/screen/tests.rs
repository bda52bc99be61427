// SPDX-License-Identifier: MIT OR Apache-2.0
//! Screens of synthetic snapshots.

use std::time::{Duration, Instant};

use orbium::metrics::exposition::watch::idl;
use ratatui::crossterm::event::{KeyCode, KeyEvent};

use crate::keys::{Choice, Page};
use crate::pages::text_of;
use crate::picture;
use crate::source::{Identity, Look};
use crate::view::View;
use crate::watch_object;

fn operation(name: &str, counts: &[u64], system_exceptions: u64) -> idl::Operation {
    idl::Operation {
        name: name.into(),
        lane: "orb".into(),
        system_exceptions,
        took: idl::Durations {
            counts: counts.to_vec(),
            sum_ns: 1_000_000,
            max_ns: 2_000_000,
        },
        ..idl::Operation::default()
    }
}

fn look(operations: Vec<idl::Operation>, at: Instant) -> Look {
    Look {
        snapshot: idl::Snapshot {
            program: "server".into(),
            pid: 4711,
            measuring: true,
            operations,
            lanes: vec![idl::Lane {
                name: "urgent".into(),
                priority: 100,
                queue: 16,
                waiting: 12,
                ..idl::Lane::default()
            }],
            connections: vec![idl::Connection {
                peer: "192.0.2.7:5000".into(),
                received: 4096,
                ..idl::Connection::default()
            }],
            ..idl::Snapshot::default()
        },
        at,
        identity: Identity::default(),
    }
}

/// 200 quick calls and one slow one within two seconds.
fn view() -> View {
    let begun = Instant::now();
    let before = look(vec![operation("A::B/quick", &[0, 0, 0, 100], 0)], begun);
    let mut later = vec![0; 40];
    (later[3], later[39]) = (300, 1);
    let slow = operation("A::B/slow", &[0, 5], 4);
    let now = look(
        vec![operation("A::B/quick", &later, 0), slow],
        begun + Duration::from_secs(2),
    );
    View::between(&before, &now)
}

/// Regression: escape sequences of a process reached the terminal, and a cell longer than 65,535
/// characters ended the program.
#[test]
fn text_of_a_process_is_printable_and_bounded() {
    let begun = Instant::now();
    let name = format!("A::B/\u{1b}[2J{}", "x".repeat(70_000));
    let operations = vec![operation(&name, &[1], 0); 1001];
    let [before, mut now] = [0, 2].map(|it| {
        let at = begun + Duration::from_secs(it);
        look(operations.clone(), at)
    });
    now.snapshot.lanes[0].strategy = "y".repeat(70_000);
    now.snapshot = watch_object::bounded(now.snapshot);
    assert_eq!(now.snapshot.operations.len(), 1000);
    let text = text_of(&View::between(&before, &now), 110);
    assert!(text.contains("A::B/\u{fffd}[2Jxx"));
    assert!(!text.contains('\u{1b}'));
    assert!(text.lines().all(|line| line.chars().count() < 1000));
}

/// Regression: a connection that the list before did not have was taken for a new one: its totals
/// since its beginning became rates.
#[test]
fn an_old_connection_without_predecessor_has_no_rate() {
    let begun = Instant::now();
    for (age_ms, rate) in [(1900, 2048.0), (60_000, 0.0)] {
        let mut before = look(vec![], begun);
        before.snapshot.connections.clear();
        let mut now = look(vec![], begun + Duration::from_secs(2));
        now.snapshot.connections[0].age_ms = age_ms;
        let view = View::between(&before, &now);
        assert_eq!(view.connections[0].received.to_bits(), f64::to_bits(rate));
    }
}

/// The lines of the screen.
fn screen(view: &View, choice: &Choice) -> Vec<String> {
    screen_of(view, choice, 100)
}

fn screen_of(view: &View, choice: &Choice, columns: u16) -> Vec<String> {
    let buffer = picture::drawn(view, choice, columns, 12).unwrap();
    let mut lines = Vec::new();
    for line in 0..buffer.area.height {
        let cells = (0..buffer.area.width).map(|column| buffer[(column, line)].symbol());
        lines.push(cells.collect::<String>().trim_end().to_owned());
    }
    lines
}

#[test]
fn rates_and_quantiles_are_those_between_two_looks() {
    let view = view();
    let quick = &view.operations[0];
    assert!((quick.rate - 100.5).abs() < 0.01, "{}", quick.rate);
    assert!(quick.p50 < Duration::from_nanos(300), "{:?}", quick.p50);
    assert!(quick.max > Duration::from_micros(80), "{:?}", quick.max);
    let slow = &view.operations[1];
    assert!((slow.errors - 2.0).abs() < 0.01);
}

#[test]
fn operations_come_first_and_are_sorted_by_rate() {
    let lines = screen(&view(), &Choice::at(Page::Operations));
    assert!(lines[0].starts_with("server 4711"), "{lines:#?}");
    assert!(lines[2].contains("1 operations"), "{lines:#?}");
    assert!(lines[3].starts_with("OPERATION"), "{lines:#?}");
    assert!(lines[4].starts_with("A::B/quick"), "{lines:#?}");
    assert!(lines[5].starts_with("A::B/slow"), "{lines:#?}");
    assert!(lines[11].contains("q quit"), "{lines:#?}");
}

#[test]
fn keys_choose_pages_filters_and_orders() {
    let view = view();
    let mut choice = Choice::at(Page::Operations);
    let press = |choice: &mut Choice, code| choice.press(KeyEvent::from(code), (9, 2));
    assert!(press(&mut choice, KeyCode::Char('r')));
    assert!(screen(&view, &choice)[4].starts_with("A::B/slow"));
    for code in ['/', 'q', 'u', 'i'].map(KeyCode::Char) {
        assert!(press(&mut choice, code), "q is typed, too");
    }
    press(&mut choice, KeyCode::Enter);
    let lines = screen(&view, &choice);
    assert!(lines[4].starts_with("A::B/quick") && lines[5].is_empty());
    press(&mut choice, KeyCode::Char('2'));
    let lines = screen(&view, &choice);
    assert!(lines[4].starts_with("urgent") && lines[4].contains("12/16"));
    press(&mut choice, KeyCode::Char('3'));
    let lines = screen(&view, &choice);
    assert!(lines[4].starts_with("192.0.2.7:5000"), "{lines:#?}");
    press(&mut choice, KeyCode::Char('p'));
    assert!(screen(&view, &choice)[2].contains("frozen"));
    assert!(!press(&mut choice, KeyCode::Char('q')));
}

/// Regression: each further press beyond the last row had to be reverted before the rows moved
/// again.
#[test]
fn scrolling_ends_with_the_last_row_and_begins_anew_with_a_filter() {
    let mut choice = Choice::at(Page::Operations);
    let press = |choice: &mut Choice, code| choice.press(KeyEvent::from(code), (9, 2));
    for code in [KeyCode::Down, KeyCode::Down, KeyCode::PageDown] {
        press(&mut choice, code);
        assert!(screen(&view(), &choice)[4].starts_with("A::B/slow"));
    }
    press(&mut choice, KeyCode::Up);
    assert!(screen(&view(), &choice)[4].starts_with("A::B/quick"));
    press(&mut choice, KeyCode::Down);
    for code in ['/', 'A'].map(KeyCode::Char) {
        press(&mut choice, code);
    }
    assert!(screen(&view(), &choice)[4].starts_with("A::B/quick"));
}

/// Regression: Escape ended the screen once a filter was typed.
#[test]
fn escape_removes_the_filter_and_ends_the_screen_without_one() {
    let mut choice = Choice::at(Page::Operations);
    let mut press = |code| choice.press(KeyEvent::from(code), (9, 2));
    press(KeyCode::Char('/'));
    press(KeyCode::Char('q'));
    press(KeyCode::Enter);
    assert!(press(KeyCode::Esc));
    assert!(!press(KeyCode::Esc));
}

/// Regression: neither the page nor the key that ends it was visible.
#[test]
fn a_narrow_screen_says_which_page_it_shows_and_how_it_ends() {
    for (place, page) in Page::ALL.into_iter().enumerate() {
        let lines = screen_of(&view(), &Choice::at(page), 40);
        let tab = format!("{} {}", place + 1, page.title());
        assert!(lines[2].contains(&tab), "{lines:#?}");
        assert!(lines[11].contains("q quit"), "{lines:#?}");
    }
}

#[test]
fn budgets_of_requests_have_a_page() {
    let begun = Instant::now();
    let look = |overruns| {
        let mut look = look(Vec::new(), begun);
        look.snapshot.budgets = vec![idl::Budget {
            operation: "A::B/steer".into(),
            time_ns: 2_000_000,
            requests: 40,
            overruns,
            longest_ns: 3_500_000,
        }];
        look
    };
    let view = View::between(&look(3), &look(5));
    assert_eq!(view.budgets[0].overran, 2);
    let mut choice = Choice::at(Page::Operations);
    choice.press(KeyEvent::from(KeyCode::Char('7')), (9, 2));
    let line = &screen(&view, &choice)[4];
    let cells: Vec<_> = line.split_whitespace().collect();
    assert_eq!(cells, ["A::B/steer", "2.00", "ms", "3.50", "ms", "40", "5"]);
}

#[test]
fn an_empty_page_says_why_and_how_to_change_it() {
    let now = Instant::now();
    let mut nothing = look(Vec::new(), now);
    nothing.snapshot.measuring = false;
    let view = View::between(&nothing, &nothing);
    let lines = screen(&view, &Choice::at(Page::Operations));
    assert!(lines[4].contains("-ORBmetrics true"), "{lines:#?}");
}

#[test]
fn a_picture_has_the_text_of_the_screen() {
    let buffer = picture::drawn(&view(), &Choice::at(Page::Operations), 100, 12).unwrap();
    let svg = picture::svg(&buffer);
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(
        svg.contains("A::B/quick") && svg.contains("#f47067"),
        "{svg}"
    );
}
