// SPDX-License-Identifier: MIT OR Apache-2.0
//! Completion scripts, manual pages, and suggestions for mistyped commands.

use crate::program::{Folder, Server, orbium, project_idl, run};

#[test]
fn a_mistyped_command_or_option_is_suggested() {
    let ran = run(["idll"]);
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.stderr.contains("a similar subcommand exists: 'idl'"),
        "{ran:?}"
    );
    let ran = run(["idl", "check", "--jsn", "x.idl"]);
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.stderr.contains("a similar argument exists: '--json'"),
        "{ran:?}"
    );
    assert!(!ran.stderr.contains('\x1b'), "colour outside of a terminal");
}

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = run(["completions", shell]);
        ran.assert_done();
        for word in ["doctor", "strict", "orbium-path"] {
            assert!(ran.stdout.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(run(["completions", "tcsh"]).status, Some(2));
}

/// Bash takes the script, and completes with it.
#[test]
fn bash_completes_a_command() {
    let folder = Folder::new();
    let script = folder.file("orbium.bash", &run(["completions", "bash"]).stdout);
    let commands = format!(
        "source {script} && COMP_WORDS=(orbium do) COMP_CWORD=1 && _orbium orbium do orbium && echo \"${{COMPREPLY[@]}}\""
    );
    let Ok(output) = std::process::Command::new("bash")
        .args(["-c", &commands])
        .output()
    else {
        eprintln!("SKIPPED: bash is not installed");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        text.trim(),
        "doctor",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn the_manual_page_is_printed_or_all_pages_are_written() {
    let ran = run(["man"]);
    ran.assert_done();
    assert!(ran.stdout.contains(".TH orbium 1"), "{ran:?}");
    assert!(ran.stdout.contains("orbium\\-idl(1)"), "{ran:?}");

    let folder = Folder::new();
    let pages = folder.path("share/man1");
    let ran = run(["man", &pages]);
    ran.assert_done();
    assert!(ran.stdout.lines().count() > 10, "{ran:?}");
    let check = std::fs::read_to_string(format!("{pages}/orbium-idl-check.1")).unwrap();
    assert!(check.contains(".TH orbium-idl-check 1"), "{check}");
    assert!(check.contains("\\-\\-strict"), "{check}");
    for page in ran.stdout.lines() {
        assert!(std::path::Path::new(page).is_file(), "{page}");
    }
}

/// The program completes the names of operations of the object on the command line.
#[test]
fn operations_are_completed_by_the_program() {
    let server = Server::start([]);
    let idl = project_idl("cubit.idl");
    let complete = |words: &[&str]| {
        let start = ["--", "orbium", "call"];
        let mut command = orbium(start.into_iter().chain(words.iter().copied()));
        command.env("ORBIUM_COMPLETE", "bash");
        let at = words.len() + 1;
        command.env("_CLAP_COMPLETE_INDEX", at.to_string());
        command
            .env("_CLAP_IFS", "\n")
            .env("_CLAP_COMPLETE_SPACE", "true");
        let output = command.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        String::from_utf8(output.stdout).unwrap()
    };
    let ior = server.ior("Cube");
    assert_eq!(
        complete(&["--idl", &idl, ior, "cube_lo"]),
        "cube_long\ncube_longs"
    );
    assert_eq!(
        complete(&["--idl", &idl, server.corbaloc("Cube"), "ca"]),
        "calls"
    );
    assert!(complete(&[ior, "--idl", &idl, ""]).contains("noop"));
    // Neither a wrong reference nor wrong IDL shows errors among what is typed.
    assert_eq!(complete(&["--idl", &idl, "IOR:00", "cu"]), "");
    assert_eq!(complete(&["--idl", "missing.idl", ior, "cu"]), "");
    assert_eq!(complete(&[ior, "cu"]), "");
    assert!(complete(&["--repe"]).contains("--repeat"));
}

#[test]
fn a_script_that_asks_the_program_is_printed() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = orbium([]).env("ORBIUM_COMPLETE", shell).output().unwrap();
        assert!(output.status.success());
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(script.contains("ORBIUM_COMPLETE"), "{shell}: {script}");
    }
}
