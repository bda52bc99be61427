// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium shell`, through standard input and at a terminal.

use crate::program::{Folder, Server, project_idl, run_with};

const LINES: &str = "\
cube_long 3
:operations
cube_octet 300

cube_many {\"l\": 2, \"o\": 1, \"s\": 3}
:quit
cube_long 4
";

/// A line that fails ends neither the prompt nor the lines after it, but shows in the status.
#[test]
fn lines_are_calls() {
    let server = Server::start([]);
    let idl = project_idl("cubit.idl");
    let ran = run_with(["shell", "--idl", &idl, server.ior("Cube")], LINES);
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let mut lines = ran.stdout.lines();
    assert_eq!(lines.next(), Some("27"), "{ran:?}");
    assert!(ran.stdout.contains("\ncube_long v\n"), "{ran:?}");
    assert!(ran.stderr.contains("300 is out of range"), "{ran:?}");
    assert!(ran.stdout.contains("\"l\": 8"), "{ran:?}");
    assert!(!ran.stdout.contains("64"), "after :quit: {ran:?}");
    assert!(!ran.stdout.contains("> "), "no prompt without a terminal");
}

#[test]
fn lines_without_errors_are_done() {
    let server = Server::start([]);
    let idl = project_idl("kitchen.idl");
    let lines = "label '\"a b\"'\nlabel\n:describe\n:help\n  \nmatch 1 2 --json\n";
    let ran = run_with(["shell", "--idl", &idl, server.ior("Peer")], lines);
    ran.assert_done();
    assert!(ran.stdout.contains("\"a b\"\n"), "{ran:?}");
    assert!(ran.stdout.contains("interface Peer"), "{ran:?}");
    assert!(ran.stdout.contains(":operations"), "{ran:?}");
}

#[test]
fn lines_that_make_no_sense_are_refused() {
    let server = Server::start([]);
    let idl = project_idl("cubit.idl");
    for (line, sentence) in [
        ("cube_long 'a", "is not closed"),
        (":nonsense", "there is no `:nonsense`: :describe, :help"),
        ("nonsense", "has no operation `nonsense`"),
        ("help", "there is no operation `help`: try `:help`"),
        ("exit", "there is no operation `exit`: try `:quit`"),
        ("cube_long", "takes 1 argument"),
        ("cube_long -", "standard input is the prompt's own"),
        ("cube_long --nonsense", "--nonsense"),
        ("cube_long [1", "a bracket is not closed"),
    ] {
        let ran = run_with(["shell", "--idl", &idl, server.ior("Cube")], line);
        assert_eq!(ran.status, Some(1), "{line}: {ran:?}");
        assert!(ran.stderr.contains(sentence), "{line}: {ran:?}");
    }
    let ran = run_with(["shell", "--idl", &idl, "-"], "");
    assert_eq!(ran.status, Some(2), "{ran:?}");
}

/// Types at a pseudo-terminal: the tabulator completes, and lines are kept.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_has_a_prompt_completion_and_history() {
    let server = Server::start([]);
    let folder = Folder::new();
    let idl = project_idl("cubit.idl");
    let history = folder.path("history");
    let arguments = ["shell", "--idl", &idl, "--history", &history];
    let mut terminal = terminal::Terminal::start(arguments.into_iter().chain([server.ior("Cube")]));
    terminal.wait_for("Cube> ");
    terminal.write("cube_oc\t");
    terminal.wait_for("cube_octet");
    terminal.write("3\r");
    terminal.wait_for("27");
    // Until the next prompt keys go to the terminal's own line editing, which keeps an end of
    // file for itself.
    terminal.wait_for("Cube> ");
    terminal.write("\u{4}");
    assert_eq!(terminal.status(), Some(0));
    let kept = std::fs::read_to_string(&history).unwrap();
    assert!(kept.contains("cube_octet 3"), "{kept}");
}

#[cfg(target_os = "linux")]
mod terminal {
    use std::fs::File;
    use std::io::{Read as _, Write as _};
    use std::process::{Child, Stdio};
    use std::sync::mpsc::{Receiver, channel};
    use std::time::{Duration, Instant};

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use crate::program::orbium;

    /// What the program may take to answer or to end.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// The program at a pseudo-terminal.
    pub(super) struct Terminal {
        child: Child,
        keys: File,
        shown: Receiver<Vec<u8>>,
        text: String,
    }

    impl Terminal {
        pub(super) fn start<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Self {
            let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
            grantpt(&controller).unwrap();
            unlockpt(&controller).unwrap();
            let name = ptsname(&controller, Vec::new()).unwrap();
            let name = name.into_string().unwrap();
            let side = || {
                let mut options = File::options();
                Stdio::from(options.read(true).write(true).open(&name).unwrap())
            };
            let mut command = orbium(arguments);
            command.env("TERM", "xterm");
            command.stdin(side()).stdout(side()).stderr(side());
            let child = command.spawn().unwrap();
            drop(command);
            let keys = File::from(controller);
            let mut screen = keys.try_clone().unwrap();
            let (send, shown) = channel();
            std::thread::spawn(move || {
                let mut octets = [0; 4096];
                // An error once the program has ended.
                while let Ok(count @ 1..) = screen.read(&mut octets) {
                    if send.send(octets[..count].to_vec()).is_err() {
                        break;
                    }
                }
            });
            Self {
                child,
                keys,
                shown,
                text: String::new(),
            }
        }

        pub(super) fn write(&mut self, keys: &str) {
            self.keys.write_all(keys.as_bytes()).unwrap();
        }

        /// Reads until a text is shown, and drops what is before it.
        pub(super) fn wait_for(&mut self, text: &str) {
            let end = Instant::now() + PATIENCE;
            loop {
                if let Some((_, rest)) = self.text.split_once(text) {
                    self.text = rest.to_owned();
                    return;
                }
                let left = end.saturating_duration_since(Instant::now());
                let octets = self.shown.recv_timeout(left);
                let octets = octets.unwrap_or_else(|_| panic!("no {text:?} in {:?}", self.text));
                self.text.push_str(&String::from_utf8_lossy(&octets));
            }
        }

        /// How the program ends.
        pub(super) fn status(mut self) -> Option<i32> {
            let end = Instant::now() + PATIENCE;
            loop {
                if let Some(status) = self.child.try_wait().unwrap() {
                    return status.code();
                }
                assert!(Instant::now() < end, "it does not end: {:?}", self.text);
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }

    impl Drop for Terminal {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
