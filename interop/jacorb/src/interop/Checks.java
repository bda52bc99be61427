// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import java.util.ArrayList;
import java.util.List;

/** The list of checks, and what they need to state an expectation. */
final class Checks {
    /** What a message has to carry for a check to make sense. */
    enum Needs {
        NOTHING,
        /** wchar or wstring: GIOP 1.1. */
        WIDE,
        /** A negotiated code set for char data: GIOP 1.1. */
        CODE_SET
    }

    /** The body of a check. */
    interface Body {
        void run(World world) throws Exception;
    }

    record Check(String name, Needs needs, Body body) {}

    /** Thrown by a check that did not find what it should. */
    static final class Failure extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Failure(String reason) {
            super(reason);
        }
    }

    /** Thrown by a check that cannot be made here. */
    static final class Skip extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Skip(String reason) {
            super(reason);
        }
    }

    final List<Check> all = new ArrayList<>();

    void add(String name, Body body) {
        add(name, Needs.NOTHING, body);
    }

    void add(String name, Needs needs, Body body) {
        all.add(new Check(name, needs, body));
    }

    static void require(boolean condition, String otherwise) {
        if (!condition)
            throw new Failure(otherwise);
    }

    /** Requires two values to be the same in the sense of {@link Same}. */
    static void expect(Object got, Object want, String what) {
        if (Same.same(got, want))
            return;
        boolean printable = want instanceof Number || want instanceof String || want instanceof Boolean;
        throw new Failure(what + (printable ? " is " + abbreviated(got) + " instead of " + abbreviated(want) : " differs"));
    }

    private static String abbreviated(Object value) {
        String text = String.valueOf(value);
        return text.length() > 80 ? text.substring(0, 80) + "…" : text;
    }
}
