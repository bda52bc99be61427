// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import Values.Chain;
import Values.Describable;
import Values.EchoPOA;
import Values.Point;
import Values.PointHolder;
import Values.Refused;
import Values.Tree;
import Values.Two;
import java.io.Serializable;
import org.omg.CORBA.Any;

/** Values::Echo. */
final class EchoServant extends EchoPOA {
    // An abstract interface makes its servants serializable in Java.
    private static final long serialVersionUID = 1L;
    private final transient Runnable onShutdown;

    EchoServant(Runnable onShutdown) {
        this.onShutdown = onShutdown;
    }

    @Override
    public String describe() {
        return "echo";
    }

    @Override
    public Point echo_point(Point v) throws Refused {
        if (v != null && v.x < 0)
            throw new Refused(v);
        return v;
    }

    @Override
    public Two echo_two(Two v) {
        return v;
    }

    @Override
    public Point echo_points(Point v, PointHolder both, PointHolder copy) {
        copy.value = v;
        return v;
    }

    @Override
    public Chain echo_chain(Chain v) {
        return v;
    }

    @Override
    public Tree echo_tree(Tree v) {
        return v;
    }

    @Override
    public String echo_text(String v) {
        return v;
    }

    @Override
    public int[] echo_numbers(int[] v) {
        return v;
    }

    @Override
    public Any echo_any(Any v) {
        return v;
    }

    /** What another version of a class has sent comes back as a point of this one's members. */
    @Override
    public Serializable echo_base(Serializable v) {
        if (!(v instanceof Moved))
            return v;
        ValueTypes.PointValue seen = new ValueTypes.PointValue();
        seen.x = ((Moved) v).x;
        seen.y = ((Moved) v).kept;
        return seen;
    }

    @Override
    public Describable echo_describable(Describable v) {
        return v;
    }

    @Override
    public String description(Describable v) {
        return v == null ? "nothing" : v.describe();
    }

    @Override
    public void shutdown() {
        onShutdown.run();
    }
}
