// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import Values.Arrow;
import Values.Chain;
import Values.ChainHelper;
import Values.Describable;
import Values.Echo;
import Values.EchoHelper;
import Values.Labelled;
import Values.LabelledHelper;
import Values.Note;
import Values.Point;
import Values.PointHelper;
import Values.PointHolder;
import Values.Refused;
import Values.TextHelper;
import Values.Tree;
import Values.Two;
import Values.TwoHelper;
import interop.ValueTypes.AlarmValue;
import interop.ValueTypes.ArrowValue;
import interop.ValueTypes.ChainValue;
import interop.ValueTypes.LabelledValue;
import interop.ValueTypes.MarkedValue;
import interop.ValueTypes.NoteValue;
import interop.ValueTypes.ParcelValue;
import interop.ValueTypes.PointValue;
import interop.ValueTypes.SolidValue;
import interop.ValueTypes.TreeValue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.omg.CORBA.Any;
import org.omg.CORBA.MARSHAL;
import org.omg.CORBA.ORB;
import org.omg.PortableServer.POA;

/** Values: null, shared, cyclic, cut down, boxed, custom, in anys, through an abstract interface. */
final class ValueChecks {
    /** The body of a check. */
    interface Body {
        void run() throws Exception;
    }

    record Check(String name, Body body) {}

    /** Thrown by a check that did not find what it should. */
    static final class Failure extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Failure(String reason) {
            super(reason);
        }
    }

    final List<Check> all = new ArrayList<>();
    private final ORB orb;
    private final POA poa;
    private final Echo echo;

    ValueChecks(ORB orb, POA poa, Echo echo) {
        this.orb = orb;
        this.poa = poa;
        this.echo = echo;
        states();
        customs();
        graphs();
        anys();
        interfaces();
    }

    private void add(String name, Body body) {
        all.add(new Check("values." + name, body));
    }

    private void states() {
        add("null", () -> require(echo.echo_point(null) == null, "the point is not null"));
        add("point", () -> samePoint(echo.echo_point(point(1, -2)), 1, -2));
        add("labelled", () -> sameLabelled(echo.echo_point(labelled(3)), 3));
        add("arrow", () -> sameArrow(echo.echo_point(arrow(4)), 4));
        add("truncated", () -> sameLabelled(echo.echo_point(marked(5, null)), 5));
        add("truncated_nested", () -> sameLabelled(echo.echo_point(marked(7, arrow(6))), 7));
        add("unknown", () -> expectMarshal(() -> echo.echo_point(solid())));
        add("refused", () -> samePoint(refused(point(-8, 8)), -8, 8));
        add("refused_labelled", () -> sameLabelled(refused(labelled(-8)), -8));
        add("text", () -> expect(echo.echo_text("boxed"), "boxed", "the text"));
        add("text_null", () -> expect(echo.echo_text(null), null, "the box"));
        add("numbers", () -> {
            int[] sent = {1, -2, 3};
            require(Arrays.equals(echo.echo_numbers(sent), sent), "the numbers differ");
        });
        add("base", () -> sameLabelled(echo.echo_base(labelled(9)), 9));
        add("base_null", () -> require(echo.echo_base(null) == null, "the value is not null"));
        add("base_truncated", () -> sameLabelled(echo.echo_base(marked(10, null)), 10));
        add("event", this::event);
        add("base_unknown", () -> expectMarshal(() -> echo.echo_base(solid())));
    }

    /** What orbium declares as an event of IDL 3 is a value type here: this compiler knows no events. */
    private void event() {
        AlarmValue sent = new AlarmValue();
        sent.level = 3;
        sent.text = "hot";
        Object back = echo.echo_base(sent);
        require(back instanceof AlarmValue, "it is no Alarm");
        require(((AlarmValue) back).level == 3, "the level differs");
        expect(((AlarmValue) back).text, "hot", "the text");
    }

    private void customs() {
        add("custom", () -> custom(point(1, 2)));
        add("custom_nested", () -> custom(arrow(11)));
        add("custom_null_within", () -> custom(null));
    }

    private void graphs() {
        add("two", () -> {
            Two got = echo.echo_two(new Two(point(1, 2), point(1, 2)));
            samePoint(got.first, 1, 2);
            samePoint(got.second, 1, 2);
            require(got.first != got.second, "two values became one");
        });
        add("two_shared", () -> samePoint(shared(point(1, 2)), 1, 2));
        add("two_shared_labelled", () -> sameLabelled(shared(labelled(12)), 12));
        add("truncated_shared", () -> sameLabelled(shared(marked(13, null)), 13));
        add("truncated_part_shared", () -> {
            Point part = point(14, 15);
            Two got = echo.echo_two(new Two(marked(16, part), part));
            sameLabelled(got.first, 16);
            samePoint(got.second, 14, 15);
        });
        add("points", () -> {
            Point sent = point(1, 2);
            PointHolder both = new PointHolder(sent);
            PointHolder copy = new PointHolder();
            Point got = echo.echo_points(sent, both, copy);
            samePoint(got, 1, 2);
            require(got == both.value && got == copy.value, "one value became several");
        });
        add("chain", () -> {
            Chain sent = null;
            for (int v = 99; v >= 0; --v)
                sent = link(sent, v);
            Chain got = echo.echo_chain(sent);
            for (int v = 0; v < 100; ++v, got = got.next)
                expect(present(got).v, v, "a link");
            require(got == null, "the chain does not end");
        });
        add("cycle", () -> around(echo.echo_chain(ring(3)), 3));
        add("cycle_of_one", () -> around(echo.echo_chain(ring(1)), 1));
        add("tree", () -> {
            Tree leaf = tree("leaf");
            Tree got = present(echo.echo_tree(tree("root", leaf, null, tree("twig", leaf), leaf)));
            expect(got.children.length, 4, "the number of children");
            Tree first = present(got.children[0]);
            require(first == got.children[3], "a leaf became two");
            require(got.children[1] == null, "a child is not null");
            require(first == got.children[2].children[0], "a leaf became three");
        });
    }

    private void anys() {
        add("any", () -> {
            Any any = orb.create_any();
            PointHelper.insert(any, point(1, 2));
            samePoint(PointHelper.extract(echo.echo_any(any)), 1, 2);
        });
        add("any_null", () -> {
            Any any = orb.create_any();
            any.insert_Value(null, PointHelper.type());
            require(PointHelper.extract(echo.echo_any(any)) == null, "the point is not null");
        });
        add("any_labelled", () -> {
            Any any = orb.create_any();
            LabelledHelper.insert(any, labelled(20));
            sameLabelled(LabelledHelper.extract(echo.echo_any(any)), 20);
        });
        add("any_of_base", () -> {
            Any any = orb.create_any();
            any.insert_Value(labelled(21), PointHelper.type());
            sameLabelled(echo.echo_any(any).extract_Value(), 21);
        });
        add("any_cycle", () -> {
            Any any = orb.create_any();
            ChainHelper.insert(any, ring(2));
            around(ChainHelper.extract(echo.echo_any(any)), 2);
        });
        add("any_text", () -> {
            Any any = orb.create_any();
            TextHelper.insert(any, "boxed");
            expect(TextHelper.extract(echo.echo_any(any)), "boxed", "the text");
        });
        add("any_two_shared", () -> {
            Any any = orb.create_any();
            Point sent = point(1, 2);
            TwoHelper.insert(any, new Two(sent, sent));
            Two got = TwoHelper.extract(echo.echo_any(any));
            samePoint(got.first, 1, 2);
            require(got.first == got.second, "one value became two");
        });
        add("any_custom", () -> {
            Any any = orb.create_any();
            Packed.ParcelHelper.insert(any, parcel(null));
            expect(Packed.ParcelHelper.extract(echo.echo_any(any)).label, "label", "the label");
        });
    }

    private void interfaces() {
        add("describable_null", () -> require(echo.echo_describable(null) == null, "the item is not null"));
        add("describable_value", () -> {
            Describable got = present(echo.echo_describable(note("text")));
            require(got instanceof Note, "it is no Note");
            expect(((Note) got).text, "text", "the text");
            expect(got.describe(), "note: text", "its description");
        });
        add("describable_object", () -> {
            Describable got = present(echo.echo_describable(echo));
            require(got instanceof org.omg.CORBA.Object, "it is no object");
            expect(got.describe(), "echo", "its description");
        });
        add("description_null", () -> expect(echo.description(null), "nothing", "the text"));
        add("description_value", () -> expect(echo.description(note("own")), "note: own", "the text"));
        add("description_object", () -> {
            EchoServant servant = new EchoServant(() -> { });
            Echo own = EchoHelper.narrow(poa.servant_to_reference(servant));
            String said = echo.description(own);
            poa.deactivate_object(poa.servant_to_id(servant));
            expect(said, "echo", "the text");
        });
    }

    private Point shared(Point sent) {
        Two got = echo.echo_two(new Two(sent, sent));
        require(got.first == got.second, "one value became two");
        return got.first;
    }

    private Point refused(Point sent) {
        try {
            echo.echo_point(sent);
        } catch (Refused e) {
            return e.where;
        }
        throw new Failure("Refused was not raised");
    }

    private void custom(Point within) {
        Object back = echo.echo_base(parcel(within));
        require(back instanceof ParcelValue, "the value is no Parcel");
        ParcelValue got = (ParcelValue) back;
        expect(got.number, -17, "the number");
        expect(got.label, "label", "the label");
        Class<?> sent = within == null ? null : within.getClass();
        expect(got.within == null ? null : got.within.getClass(), sent, "the type of the value within");
    }

    private static Point point(int x, int y) {
        return at(new PointValue(), x, y);
    }

    private static <P extends Point> P at(P point, int x, int y) {
        point.x = x;
        point.y = y;
        return point;
    }

    private static Labelled labelled(int x) {
        LabelledValue v = at(new LabelledValue(), x, x + 1);
        v.text = "label " + x;
        v.setSecret(x - 1);
        return v;
    }

    /** A value with two values in its state, which are in chunks of their own. */
    private static Arrow arrow(int x) {
        ArrowValue v = at(new ArrowValue(), x, x + 1);
        v.head = point(x + 2, x + 3);
        v.tail = labelled(x + 4);
        return v;
    }

    /** A value of a type that the peer does not know. */
    private static Point marked(int x, Point part) {
        MarkedValue v = at(new MarkedValue(), x, x + 1);
        v.text = "label " + x;
        v.setSecret(x - 1);
        v.mark = 7;
        v.at = part;
        return v;
    }

    private static Point solid() {
        return at(new SolidValue(), 1, 2);
    }

    private static Packed.Parcel parcel(Point within) {
        ParcelValue v = new ParcelValue();
        v.number = -17;
        v.label = "label";
        v.within = within;
        return v;
    }

    private static Note note(String text) {
        NoteValue v = new NoteValue();
        v.text = text;
        return v;
    }

    private static Tree tree(String name, Tree... children) {
        TreeValue v = new TreeValue();
        v.name = name;
        v.children = children;
        return v;
    }

    private static Chain link(Chain next, int number) {
        ChainValue v = new ChainValue();
        v.next = next;
        v.v = number;
        return v;
    }

    /** A ring of so many links, numbered from 0. */
    private static Chain ring(int length) {
        Chain last = link(null, length - 1);
        Chain first = last;
        for (int v = length - 2; v >= 0; --v)
            first = link(first, v);
        last.next = first;
        return first;
    }

    private static void around(Chain first, int length) {
        Chain link = first;
        for (int v = 0; v < length; ++v) {
            expect(present(link).v, v, "a link");
            link = link.next;
        }
        require(link == first, "the ring is not closed");
    }

    private static void samePoint(Object got, int x, int y) {
        require(got instanceof PointValue, "the value is no Point: " + got);
        expect(((Point) got).x, x, "x");
        expect(((Point) got).y, y, "y");
    }

    private static void sameLabelled(Object got, int x) {
        require(got instanceof LabelledValue, "the value is no Labelled: " + got);
        LabelledValue v = (LabelledValue) got;
        expect(v.x, x, "x");
        expect(v.y, x + 1, "y");
        expect(v.text, "label " + x, "the text");
        expect(v.secret(), x - 1, "the private member");
    }

    private static void sameArrow(Object got, int x) {
        require(got instanceof ArrowValue, "the value is no Arrow: " + got);
        ArrowValue v = (ArrowValue) got;
        expect(v.y, x + 1, "y");
        samePoint(v.head, x + 2, x + 3);
        sameLabelled(v.tail, x + 4);
    }

    private static void expectMarshal(Body call) throws Exception {
        try {
            call.run();
        } catch (MARSHAL e) {
            return;
        }
        throw new Failure("MARSHAL was not raised");
    }

    private static <T> T present(T value) {
        require(value != null, "the value is null");
        return value;
    }

    private static void require(boolean condition, String otherwise) {
        if (!condition)
            throw new Failure(otherwise);
    }

    private static void expect(Object got, Object want, String what) {
        require(java.util.Objects.equals(got, want), what + " is " + got + " instead of " + want);
    }
}
