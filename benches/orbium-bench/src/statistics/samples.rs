// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parser of samples of a processor, as printed by `perf script -F ip,sym,dso`.

/// A running function, or one of its callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    pub(crate) symbol: &'a str,
    /// The program or library that contains it.
    pub(crate) object: &'a str,
}

/// Prefix of the file to which Java writes the names of compiled functions, followed by the number
/// of its process and `.map`, for perf: the name is the same on every machine, independent of the
/// folder of temporary files.
pub(crate) const JAVA_SYMBOLS: &str = "/tmp/perf-";

impl Frame<'_> {
    /// Whether Java has compiled the function; the object is then the file of that name.
    pub(crate) fn is_compiled_by_java(&self) -> bool {
        let number = self.object.strip_prefix(JAVA_SYMBOLS);
        let number = number.and_then(|rest| rest.strip_suffix(".map"));
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    }
}

/// Frames of one sample, the innermost first.
pub(crate) type Sample<'a> = Vec<Frame<'a>>;

/// All samples of a text: lines of frames, with an empty line after each sample.
pub(crate) fn samples(text: &str) -> Vec<Sample<'_>> {
    let mut all = Vec::new();
    let mut current = Vec::new();
    for line in text.lines().chain([""]) {
        match frame(line) {
            Some(frame) => current.push(frame),
            None if current.is_empty() => {}
            None => all.push(std::mem::take(&mut current)),
        }
    }
    all
}

/// `ADDRESS SYMBOL (OBJECT)`, where a symbol may have spaces and parentheses.
fn frame(line: &str) -> Option<Frame<'_>> {
    let (_, rest) = line.trim().split_once(' ')?;
    let (symbol, object) = rest.rsplit_once(" (")?;
    Some(Frame {
        symbol: symbol.trim(),
        object: object.strip_suffix(')')?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_separated_by_empty_lines() {
        let text = "\n\
            \tffffffff813a4413 finish_task_switch.isra.0 ([kernel.kallsyms])\n\
            \tffffffff82202811 __x64_sys_recvfrom ([kernel.kallsyms])\n\
            \t          10a974 __libc_recv (/usr/lib/libc.so.6)\n\
            \n\n\
            \t          40a974 thunk to omni::dispatch(omniCallHandle&, int) (/opt/a program)\n";
        let all = samples(text);
        assert_eq!(all.len(), 2, "{all:?}");
        assert_eq!(all[0][0].symbol, "finish_task_switch.isra.0");
        assert_eq!(all[0][2].object, "/usr/lib/libc.so.6");
        let expected = Frame {
            symbol: "thunk to omni::dispatch(omniCallHandle&, int)",
            object: "/opt/a program",
        };
        assert_eq!(all[1], [expected]);
    }

    #[test]
    fn functions_that_java_has_compiled_are_in_the_file_of_a_process() {
        let is_compiled = |object: &str| {
            let frame = Frame {
                symbol: "f",
                object,
            };
            frame.is_compiled_by_java()
        };
        assert!(is_compiled(&format!("{JAVA_SYMBOLS}7.map")));
        for other in ["", "7", "7.so", "/../7.map", "a.map"] {
            assert!(!is_compiled(&format!("{JAVA_SYMBOLS}{other}")), "{other}");
        }
        assert!(!is_compiled("/lib/perf-7.map"));
    }

    #[test]
    fn a_text_without_frames_has_no_samples() {
        assert!(samples("").is_empty());
        assert!(samples("Warning: nothing\n\n").is_empty());
    }
}
