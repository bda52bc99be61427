// SPDX-License-Identifier: MIT OR Apache-2.0
//! Key bindings of the screen: pages, filters and orders.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    Operations,
    Lanes,
    Connections,
    Adapters,
    Bindings,
    Log,
    Budgets,
}

impl Page {
    pub(crate) const ALL: [Self; 7] = [
        Self::Operations,
        Self::Lanes,
        Self::Connections,
        Self::Adapters,
        Self::Bindings,
        Self::Log,
        Self::Budgets,
    ];

    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Operations => "operations",
            Self::Lanes => "lanes",
            Self::Connections => "connections",
            Self::Adapters => "adapters",
            Self::Bindings => "bindings",
            Self::Log => "log",
            Self::Budgets => "budgets",
        }
    }

    /// The initial sort column.
    const fn sort(self) -> usize {
        match self {
            Self::Operations => 2,
            Self::Lanes => 1,
            Self::Connections | Self::Bindings | Self::Budgets => 4,
            Self::Adapters => 0,
            Self::Log => 3,
        }
    }
}

/// The shown page, its order and its filter.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) page: Page,
    pub(crate) sort: usize,
    pub(crate) reversed: bool,
    pub(crate) filter: String,
    /// Whether keys edit the filter.
    pub(crate) is_typing: bool,
    pub(crate) is_frozen: bool,
    pub(crate) shows_help: bool,
    /// The first row shown.
    pub(crate) first: usize,
}

impl Choice {
    pub(crate) fn at(page: Page) -> Self {
        Self {
            page,
            sort: page.sort(),
            reversed: false,
            filter: String::new(),
            is_typing: false,
            is_frozen: false,
            shows_help: false,
            first: 0,
        }
    }

    /// Applies a key to a table of so many columns and rows; `false` if it ends the screen.
    pub(crate) fn press(&mut self, key: KeyEvent, (columns, rows): (usize, usize)) -> bool {
        let ends = key.code == KeyCode::Char('c') && key.modifiers == KeyModifiers::CONTROL;
        if ends {
            return false;
        }
        if self.is_typing {
            self.type_filter(key.code);
            return true;
        }
        let last = rows.saturating_sub(1);
        match key.code {
            KeyCode::Esc if !self.filter.is_empty() => self.filter.clear(),
            KeyCode::Char('q') | KeyCode::Esc => return false,
            KeyCode::Char(digit @ '1'..='7') => {
                let page = Page::ALL[digit as usize - '1' as usize];
                *self = Self {
                    is_frozen: self.is_frozen,
                    ..Self::at(page)
                };
            }
            KeyCode::Char('s') => self.sort = (self.sort + 1) % columns.max(1),
            KeyCode::Char('r') => self.reversed = !self.reversed,
            KeyCode::Char('p') => self.is_frozen = !self.is_frozen,
            KeyCode::Char('/') => self.is_typing = true,
            KeyCode::Char('?') => self.shows_help = !self.shows_help,
            KeyCode::Down => self.first = last.min(self.first + 1),
            KeyCode::Up => self.first = self.first.saturating_sub(1),
            KeyCode::PageDown => self.first = last.min(self.first + 20),
            KeyCode::PageUp => self.first = self.first.saturating_sub(20),
            KeyCode::Home => self.first = 0,
            _ => {}
        }
        true
    }

    fn type_filter(&mut self, code: KeyCode) {
        self.first = 0;
        match code {
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => {
                self.filter.clear();
                self.is_typing = false;
            }
            KeyCode::Backspace => drop(self.filter.pop()),
            KeyCode::Char(character) => self.filter.push(character),
            _ => {}
        }
    }
}
