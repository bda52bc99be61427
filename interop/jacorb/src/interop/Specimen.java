// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import Kitchen.ByColour;
import Kitchen.Colour;
import Kitchen.Mixed;
import Kitchen.Node;
import Kitchen.Refused;
import Kitchen.Scalars;
import java.util.List;
import org.omg.CORBA.BAD_PARAM;
import org.omg.CORBA.CompletionStatus;
import org.omg.CORBA.SystemException;

/** The agreed sample values of interop/README.md. */
final class Specimen {
    /** The minor code and completion of every exception raised by system_exception. */
    static final int MINOR = 42;
    static final CompletionStatus COMPLETED = CompletionStatus.COMPLETED_MAYBE;

    /** The names that system_exception has to know. */
    static final List<String> SYSTEM_EXCEPTIONS = List.of(
            "UNKNOWN", "BAD_PARAM", "NO_MEMORY", "IMP_LIMIT", "COMM_FAILURE", "INV_OBJREF", "OBJECT_NOT_EXIST",
            "NO_PERMISSION", "INTERNAL", "MARSHAL", "INITIALIZE", "NO_IMPLEMENT", "BAD_TYPECODE", "BAD_OPERATION",
            "NO_RESOURCES", "NO_RESPONSE", "PERSIST_STORE", "BAD_INV_ORDER", "TRANSIENT", "FREE_MEM", "INV_IDENT",
            "INV_FLAG", "INTF_REPOS", "BAD_CONTEXT", "OBJ_ADAPTER", "DATA_CONVERSION", "TRANSACTION_REQUIRED",
            "TRANSACTION_ROLLEDBACK", "INVALID_TRANSACTION", "INV_POLICY", "CODESET_INCOMPATIBLE", "REBIND", "TIMEOUT",
            "TRANSACTION_UNAVAILABLE", "TRANSACTION_MODE", "BAD_QOS");

    private Specimen() {}

    static Scalars scalars(int n) {
        return new Scalars(n % 2 == 1, (char) ('a' + n % 26), (byte) (128 + n % 128), (short) -n, (short) (65535 - n),
                -70000 - n, (int) (4000000000L + n), -5000000000L - n, Long.MIN_VALUE + n, n + 0.5F, -n - 0.25, '\u20ac');
    }

    static Mixed mixed(int n) {
        int[][] matrix = new int[2][3];
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 3; ++j)
                matrix[i][j] = n * 100 + i * 10 + j;
        byte[] id = new byte[16];
        for (int i = 0; i < 16; ++i)
            id[i] = (byte) (n + i);
        return new Mixed("name-" + n, "wide-\u20ac-" + n, Colour.from_int(n % 3), matrix, id,
                new String[] {"one", "", "three"}, new int[] {n, -n}, new boolean[] {true, false, true}, scalars(n));
    }

    static Node tree(int depth) {
        if (depth == 0)
            return new Node("depth 0", new Node[0]);
        Node child = tree(depth - 1);
        Node[] children = depth % 2 == 1 ? new Node[] {child, new Node("leaf", new Node[0])} : new Node[] {child};
        return new Node("depth " + depth, children);
    }

    static ByColour detail() {
        ByColour detail = new ByColour();
        detail.text(Colour.blue, "detail");
        return detail;
    }

    static Refused refused() {
        return new Refused("refused", detail(), new Mixed[] {mixed(1), mixed(2)});
    }

    /** The value of every octet of a bulk test: not constant, and not a divisor of any buffer size. */
    static byte bulk(int i) {
        return (byte) (i % 251);
    }

    /** The system exception of that name; BAD_PARAM with minor code 1 when there is none. */
    static SystemException systemException(String name) {
        if (!SYSTEM_EXCEPTIONS.contains(name))
            return new BAD_PARAM(1, CompletionStatus.COMPLETED_NO);
        try {
            return (SystemException) Class.forName("org.omg.CORBA." + name)
                    .getConstructor(int.class, CompletionStatus.class).newInstance(MINOR, COMPLETED);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
