// SPDX-License-Identifier: MIT OR Apache-2.0
//! The built programs of other ORBs.

use std::path::{Path, PathBuf};

use clap::Args;

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct PeerArgs {
    /// Folder of the other ORBs' programs, which interop/build.sh builds [default: interop next to
    /// the folder of this program, target/interop]
    #[arg(long, value_name = "DIR")]
    peers: Option<PathBuf>,
    /// Exclude the other ORBs
    #[arg(long)]
    no_peers: bool,
}

/// The available other ORBs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Peers {
    folder: Option<PathBuf>,
    declined: bool,
}

/// A peer, the name of its program, and the command that builds it.
const PEERS: [(&str, &str, &str); 2] = [
    ("omniORB", OMNI, "sh interop/build.sh omni"),
    ("JacORB", JACORB, "sh interop/build.sh jacorb"),
];
const OMNI: &str = "omni-experiment";
const OMNI_COUNTED: &str = "omni-experiment-counted";
const JACORB: &str = "jacorb-experiment";

impl Peers {
    /// The peers in the given folder, or else in the default one.
    pub(crate) fn find(args: &PeerArgs) -> Self {
        if args.no_peers {
            return Self::none();
        }
        let has_any = |folder: &PathBuf| PEERS.iter().any(|(_, name, _)| is_there(folder, name));
        let folder = match &args.peers {
            Some(folder) => Some(folder.clone()),
            None => candidates().into_iter().find(has_any),
        };
        Self {
            folder: folder.and_then(|folder| std::path::absolute(folder).ok()),
            declined: false,
        }
    }

    /// No peers.
    pub(crate) const fn none() -> Self {
        Self {
            folder: None,
            declined: true,
        }
    }

    fn program(&self, name: &str) -> Option<PathBuf> {
        let folder = self.folder.as_deref()?;
        is_there(folder, name).then(|| folder.join(name))
    }

    /// omniORB's program.
    pub(crate) fn omni(&self) -> Option<PathBuf> {
        self.program(OMNI)
    }

    /// The same, which also counts operations on locks.
    pub(crate) fn omni_counted(&self) -> Option<PathBuf> {
        self.program(OMNI_COUNTED)
    }

    /// JacORB's program.
    pub(crate) fn jacorb(&self) -> Option<PathBuf> {
        self.program(JACORB)
    }

    /// A sentence for each missing one.
    pub(crate) fn absent(&self) -> Vec<String> {
        let missing = PEERS
            .iter()
            .filter(|(_, program, _)| self.program(program).is_none());
        let sentences = missing.map(|(name, program, how)| {
            if self.declined {
                format!("{name} is left out, as --no-peers says.")
            } else {
                format!("{name} is left out: there is no {program} here. It is built with `{how}`.")
            }
        });
        sentences.collect()
    }
}

fn is_there(folder: &Path, name: &str) -> bool {
    folder.join(name).is_file()
}

/// The folders in which the programs may have been built.
fn candidates() -> Vec<PathBuf> {
    let named = std::env::var_os("ORBIUM_INTEROP_DIR").map(PathBuf::from);
    let own = std::env::current_exe().ok();
    // This program is in target/release.
    let near = own.and_then(|own| Some(own.parent()?.parent()?.join("interop")));
    let here = Some(PathBuf::from("target/interop"));
    [named, near, here].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_peers_are_named_with_the_command_that_builds_them() {
        let nowhere = PeerArgs {
            peers: Some("/nowhere".into()),
            no_peers: false,
        };
        let absent = Peers::find(&nowhere).absent();
        assert_eq!(absent.len(), 2);
        assert!(absent[0].starts_with("omniORB is left out: "), "{absent:?}");
        assert!(absent[1].contains("interop/build.sh jacorb"), "{absent:?}");
        assert!(Peers::none().absent()[0].contains("--no-peers"));
        assert_eq!(Peers::find(&nowhere).omni(), None);
    }
}
