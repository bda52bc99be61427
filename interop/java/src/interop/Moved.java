// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import java.io.Serializable;

/**
 * A class as Java's RMI sends it. Its senders have a compatible version of it, with the members x and fresh: this program knows by
 * their code base what is in a value.
 */
public final class Moved implements Serializable {
    private static final long serialVersionUID = 1L;

    /** In both versions. */
    int x;

    /** In this version alone: whoever makes one without its constructor leaves 0. */
    int kept = 5;
}
