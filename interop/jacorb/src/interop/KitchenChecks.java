// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import static interop.Checks.expect;

import Kitchen.ByBool;
import Kitchen.ByChar;
import Kitchen.ByColour;
import Kitchen.ByLong;
import Kitchen.Colour;
import Kitchen.Mixed;
import Kitchen.Node;
import Kitchen.Scalars;
import Kitchen.ScalarsHolder;
import interop.Checks.Needs;
import java.math.BigDecimal;
import java.util.Arrays;
import org.omg.CORBA.Any;
import org.omg.CORBA.DATA_CONVERSION;
import org.omg.CORBA.StringHolder;

/** The echo operations of kitchen.idl. */
final class KitchenChecks {
    private KitchenChecks() {}

    static void add(Checks checks) {
        addScalars(checks);
        addStrings(checks);
        addConstructed(checks);
        addUnions(checks);
    }

    private static void addScalars(Checks checks) {
        checks.add("kitchen.scalars", Needs.WIDE, w -> echoScalars(w, Specimen.scalars(1)));
        checks.add("kitchen.scalars_max", Needs.WIDE, w -> echoScalars(w, new Scalars(true, '\u007f', (byte) 0xff,
                Short.MAX_VALUE, (short) 0xffff, Integer.MAX_VALUE, -1, Long.MAX_VALUE, -1L, Float.MAX_VALUE,
                Double.POSITIVE_INFINITY, '\ufffd')));
        checks.add("kitchen.scalars_min", Needs.WIDE, w -> echoScalars(w, new Scalars(false, '\0', (byte) 0,
                Short.MIN_VALUE, (short) 0, Integer.MIN_VALUE, 0, Long.MIN_VALUE, 0L, Float.MIN_VALUE, -0.0, '\0')));
        checks.add("kitchen.scalars_nan", Needs.WIDE, w -> {
            Scalars sent = Specimen.scalars(1);
            sent.f = Float.intBitsToFloat(0x7fc12345);
            sent.d = Double.longBitsToDouble(0xfff8123456789abcL);
            echoScalars(w, sent);
        });
        checks.add("kitchen.char_latin1", Needs.WIDE, KitchenChecks::charLatin1);
    }

    private static void addStrings(Checks checks) {
        checks.add("kitchen.string", w -> echoString(w, "Hello, world"));
        checks.add("kitchen.string_empty", w -> echoString(w, ""));
        checks.add("kitchen.string_latin1", Needs.CODE_SET, w -> echoString(w, "gr\u00fc\u00dfe \u00e5\u00e9\u00f1"));
        checks.add("kitchen.string_unicode", Needs.CODE_SET,
                w -> echoString(w, "gr\u00fc\u00dfe \u2014 \u03a9 \u6f22\u5b57"));
        checks.add("kitchen.string_beyond_bmp", Needs.CODE_SET, w -> echoString(w, "clef \ud834\udd1e"));
        checks.add("kitchen.string_5mb", w -> {
            char[] text = new char[5 * 1024 * 1024];
            for (int i = 0; i < text.length; ++i)
                text[i] = (char) (' ' + i % 95);
            echoString(w, new String(text));
        });
        checks.add("kitchen.wstring", Needs.WIDE, w -> echoWstring(w, "Hello, world"));
        checks.add("kitchen.wstring_empty", Needs.WIDE, w -> echoWstring(w, ""));
        checks.add("kitchen.wstring_unicode", Needs.WIDE,
                w -> echoWstring(w, "gr\u00fc\u00dfe \u2014 \u03a9 \u6f22\u5b57"));
        checks.add("kitchen.wstring_surrogates", Needs.WIDE, w -> echoWstring(w, "<\ud834\udd1e>"));
        checks.add("kitchen.wstring_large", Needs.WIDE, w -> echoWstring(w, "\u6f22".repeat(100000)));
    }

    private static void addConstructed(Checks checks) {
        checks.add("kitchen.mixed", Needs.WIDE, w -> echoMixed(w, Specimen.mixed(1)));
        checks.add("kitchen.mixed_bounds", Needs.WIDE, w -> echoMixed(w, atTheBounds()));
        checks.add("kitchen.mixeds_empty", w -> echoMixeds(w, 0));
        checks.add("kitchen.mixeds", Needs.WIDE, w -> echoMixeds(w, 3));
        checks.add("kitchen.mixeds_large", Needs.WIDE, w -> echoMixeds(w, 500));
        checks.add("kitchen.tree_leaf", w -> echoTree(w, Specimen.tree(0)));
        checks.add("kitchen.tree_deep", w -> echoTree(w, Specimen.tree(50)));
        checks.add("kitchen.tree_broad", w -> {
            Node[] children = new Node[200];
            for (int i = 0; i < children.length; ++i)
                children[i] = Specimen.tree(i % 4);
            echoTree(w, new Node("root", children));
        });
        checks.add("kitchen.table_empty", w -> echoTable(w, 0));
        checks.add("kitchen.table", w -> echoTable(w, 23));
        checks.add("kitchen.matrix", w -> {
            int[][] sent = {{1, -2, 3}, {-Integer.MAX_VALUE, Integer.MAX_VALUE, 0}};
            expect(w.peer().echo_matrix(sent), sent, "the result");
        });
        checks.add("kitchen.money_zero", w -> echoMoney(w, "0.00"));
        checks.add("kitchen.money", w -> echoMoney(w, "1234.50"));
        checks.add("kitchen.money_max", w -> echoMoney(w, "99999999.99"));
        checks.add("kitchen.money_min", w -> echoMoney(w, "-99999999.99"));
        checks.add("kitchen.money_cent", w -> echoMoney(w, "-0.01"));
    }

    private static void addUnions(Checks checks) {
        checks.add("kitchen.by_colour_red", w -> {
            ByColour v = new ByColour();
            v.l(-5);
            expect(w.peer().echo_by_colour(v), v, "the result");
        });
        checks.add("kitchen.by_colour_green", w -> byColour(w, Colour.green));
        checks.add("kitchen.by_colour_blue", w -> byColour(w, Colour.blue));
        checks.add("kitchen.by_bool_true", Needs.WIDE, w -> {
            ByBool v = new ByBool();
            v.m(Specimen.mixed(4));
            expect(w.peer().echo_by_bool(v), v, "the result");
        });
        checks.add("kitchen.by_bool_false", w -> {
            ByBool v = new ByBool();
            v.__default();
            expect(w.peer().echo_by_bool(v), v, "the result");
        });
        checks.add("kitchen.by_char_a", w -> {
            ByChar v = new ByChar();
            v.o((byte) 200);
            expect(w.peer().echo_by_char(v), v, "the result");
        });
        checks.add("kitchen.by_char_b", w -> {
            ByChar v = new ByChar();
            v.tree(new Node[] {Specimen.tree(3), new Node("", new Node[0])});
            expect(w.peer().echo_by_char(v), v, "the result");
        });
        checks.add("kitchen.by_char_default", w -> {
            ByChar v = new ByChar();
            v.d(2.75);
            expect(w.peer().echo_by_char(v), v, "the result");
        });
        checks.add("kitchen.by_char_default_kept", KitchenChecks::discriminatorLost);
        checks.add("kitchen.by_long_neg", w -> {
            ByLong v = new ByLong();
            v.neg("negative");
            expect(w.peer().echo_by_long(v), v, "the result");
        });
        checks.add("kitchen.by_long_scalars", Needs.WIDE, w -> {
            ByLong v = new ByLong();
            v.s(Specimen.scalars(5));
            expect(w.peer().echo_by_long(v), v, "the result");
        });
        checks.add("kitchen.by_long_default", w -> {
            Any held = w.orb().create_any();
            held.insert_long(4711);
            ByLong v = new ByLong();
            v.other(held);
            expect(w.peer().echo_by_long(v).other().extract_long(), 4711, "the value held");
        });
        checks.add("kitchen.by_long_default_kept", KitchenChecks::discriminatorLost);
    }

    /** For the default arm of a union the generated classes allow the discriminator 0 alone. */
    static void discriminatorLost(World world) {
        throw new Checks.Skip("JacORB's unions have only discriminator 0 for the default arm");
    }

    // Result and copy are the first argument, the inout argument comes back as it was.
    private static void echoScalars(World world, Scalars sent) {
        ScalarsHolder copy = new ScalarsHolder();
        ScalarsHolder both = new ScalarsHolder(Specimen.scalars(9));
        expect(world.peer().echo_scalars(sent, copy, both), sent, "the result");
        expect(copy.value, sent, "the copy");
        expect(both.value, Specimen.scalars(9), "the inout argument");
    }

    // A char beyond ASCII does not exist in every transmission code set (one octet of UTF-8 cannot be one).
    private static void charLatin1(World world) {
        Scalars sent = Specimen.scalars(1);
        sent.c = '\u00e5';
        try {
            echoScalars(world, sent);
        } catch (DATA_CONVERSION e) {
            throw new Checks.Skip("the transmission code set has no such char");
        }
    }

    private static void echoString(World world, String sent) {
        StringHolder copy = new StringHolder();
        StringHolder both = new StringHolder("in and out");
        expect(world.peer().echo_string(sent, copy, both), sent, "the result");
        expect(copy.value, sent, "the copy");
        expect(both.value, "in and out", "the inout argument");
    }

    private static void echoWstring(World world, String sent) {
        expect(world.peer().echo_wstring(sent), sent, "the result");
    }

    private static void echoMixed(World world, Mixed sent) {
        expect(world.peer().echo_mixed(sent), sent, "the result");
    }

    private static Mixed atTheBounds() {
        Mixed v = Specimen.mixed(3);
        v.name = "n".repeat(32);
        v.wide = "\u03a9".repeat(16);
        v.few = new int[16];
        Arrays.setAll(v.few, i -> i - 8);
        v.list = new String[0];
        v.flags = new boolean[0];
        return v;
    }

    private static void echoMixeds(World world, int length) {
        Mixed[] sent = new Mixed[length];
        Arrays.setAll(sent, Specimen::mixed);
        Mixed[] got = world.peer().echo_mixeds(sent);
        expect(got.length, length, "the length");
        expect(got, sent, "the content");
    }

    private static void echoTree(World world, Node sent) {
        expect(world.peer().echo_tree(sent), sent, "the result");
    }

    private static void echoTable(World world, int rows) {
        String[][] sent = new String[rows][];
        for (int i = 0; i < rows; ++i) {
            sent[i] = new String[i % 5];
            for (int j = 0; j < i % 5; ++j)
                sent[i][j] = String.valueOf((char) ('a' + j)).repeat(j * 7);
        }
        expect(world.peer().echo_table(sent), sent, "the result");
    }

    private static void echoMoney(World world, String amount) {
        BigDecimal got = world.peer().echo_money(new BigDecimal(amount));
        expect(got.toPlainString(), amount, "the result");
    }

    private static void byColour(World world, Colour colour) {
        ByColour v = new ByColour();
        v.text(colour, "paint");
        expect(world.peer().echo_by_colour(v), v, "the result");
    }
}
