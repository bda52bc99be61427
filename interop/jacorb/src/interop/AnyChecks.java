// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import static interop.Checks.expect;
import static interop.Checks.require;

import Cubit.Many;
import Cubit.ManyHelper;
import Cubit.Oneof;
import Cubit.OneofHelper;
import Cubit.TooBig;
import Cubit.TooBigHelper;
import Kitchen.BoundedLongsHelper;
import Kitchen.ByBool;
import Kitchen.ByBoolHelper;
import Kitchen.ByColourHelper;
import Kitchen.ByLongHelper;
import Kitchen.Colour;
import Kitchen.ColourHelper;
import Kitchen.MatrixHelper;
import Kitchen.MixedHelper;
import Kitchen.MixedsHelper;
import Kitchen.MoneyHelper;
import Kitchen.NodeHelper;
import Kitchen.Peer;
import Kitchen.PeerHelper;
import Kitchen.PeersHelper;
import Kitchen.RefusedHelper;
import Kitchen.ScalarsHelper;
import Kitchen.StringsHelper;
import Kitchen.UuidHelper;
import interop.Checks.Needs;
import java.math.BigDecimal;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.omg.CORBA.Any;
import org.omg.CORBA.ORB;
import org.omg.CORBA.StructMember;
import org.omg.CORBA.TCKind;
import org.omg.CORBA.TypeCode;
import org.omg.DynamicAny.DynAny;
import org.omg.DynamicAny.DynAnyFactory;
import org.omg.DynamicAny.DynAnyFactoryHelper;

/** An any that holds every type there is. */
final class AnyChecks {
    private AnyChecks() {}

    static void add(Checks checks) {
        addPrimitives(checks);
        addStrings(checks);
        addConstructed(checks);
        addReferences(checks);
        addTypeCodes(checks);
    }

    /** Sends an any and requires the type of the answer to be the one sent. */
    private static Any echo(World world, Any sent) {
        Any got = world.peer().echo_any(sent);
        require(got.type().equal(sent.type()), "the TypeCode differs");
        return got;
    }

    /** Inserts, sends, extracts and compares one value. */
    private static <T> void value(World world, T sent, BiConsumer<Any, T> insert, Function<Any, T> extract) {
        Any any = world.orb().create_any();
        insert.accept(any, sent);
        expect(extract.apply(echo(world, any)), sent, "the value");
    }

    private static void addPrimitives(Checks checks) {
        checks.add("any.null", w -> echo(w, w.orb().create_any()));
        checks.add("any.boolean", w -> value(w, true, Any::insert_boolean, Any::extract_boolean));
        checks.add("any.char", w -> value(w, 'q', Any::insert_char, Any::extract_char));
        checks.add("any.octet", w -> value(w, (byte) 250, Any::insert_octet, Any::extract_octet));
        checks.add("any.wchar", Needs.WIDE, w -> value(w, '\u20ac', Any::insert_wchar, Any::extract_wchar));
        checks.add("any.short", w -> value(w, Short.MIN_VALUE, Any::insert_short, Any::extract_short));
        checks.add("any.ushort", w -> value(w, (short) 65535, Any::insert_ushort, Any::extract_ushort));
        checks.add("any.long", w -> value(w, -70000, Any::insert_long, Any::extract_long));
        checks.add("any.ulong", w -> value(w, (int) 4000000000L, Any::insert_ulong, Any::extract_ulong));
        checks.add("any.longlong", w -> value(w, -5000000000L, Any::insert_longlong, Any::extract_longlong));
        checks.add("any.ulonglong", w -> value(w, 0xfedcba9876543210L, Any::insert_ulonglong, Any::extract_ulonglong));
        checks.add("any.float", w -> value(w, 1.5e-30F, Any::insert_float, Any::extract_float));
        checks.add("any.double", w -> value(w, -2.5e300, Any::insert_double, Any::extract_double));
    }

    private static void addStrings(Checks checks) {
        checks.add("any.string", w -> value(w, "text", Any::insert_string, Any::extract_string));
        checks.add("any.string_bounded", w -> value(w, "bounded", (any, v) -> {
            any.insert_string(v);
            any.type(w.orb().create_string_tc(32));
            any.create_output_stream().write_string(v);
        }, Any::extract_string));
        checks.add("any.wstring", Needs.WIDE, w -> value(w, "wide \u20ac", Any::insert_wstring, Any::extract_wstring));
        checks.add("any.wstring_bounded", Needs.WIDE, w -> value(w, "wide", (any, v) -> {
            any.type(w.orb().create_wstring_tc(16));
            any.create_output_stream().write_wstring(v);
        }, Any::extract_wstring));
    }

    private static void addConstructed(Checks checks) {
        checks.add("any.enum", w -> value(w, Colour.blue, ColourHelper::insert, ColourHelper::extract));
        checks.add("any.struct", w -> value(w, new Many((byte) 1, -2, (short) 3), ManyHelper::insert, ManyHelper::extract));
        checks.add("any.struct_scalars", Needs.WIDE,
                w -> value(w, Specimen.scalars(7), ScalarsHelper::insert, ScalarsHelper::extract));
        checks.add("any.struct_mixed", Needs.WIDE,
                w -> value(w, Specimen.mixed(8), MixedHelper::insert, MixedHelper::extract));
        checks.add("any.struct_recursive", w -> value(w, Specimen.tree(5), NodeHelper::insert, NodeHelper::extract));
        checks.add("any.union", w -> value(w, Specimen.detail(), ByColourHelper::insert, ByColourHelper::extract));
        checks.add("any.union_default", w -> {
            // Not ByChar: JacORB's compiler makes a TypeCode for it that cannot be sent.
            Oneof v = new Oneof();
            v.m(new Many((byte) 1, -2, (short) 3));
            value(w, v, OneofHelper::insert, OneofHelper::extract);
        });
        checks.add("any.union_without_member", w -> {
            ByBool v = new ByBool();
            v.__default();
            value(w, v, ByBoolHelper::insert, ByBoolHelper::extract);
        });
        checks.add("any.sequence",
                w -> value(w, new String[] {"one", "", "three"}, StringsHelper::insert, StringsHelper::extract));
        checks.add("any.sequence_bounded",
                w -> value(w, new int[] {6, -6}, BoundedLongsHelper::insert, BoundedLongsHelper::extract));
        checks.add("any.sequence_structs", Needs.WIDE,
                w -> value(w, Specimen.refused().evidence, MixedsHelper::insert, MixedsHelper::extract));
        checks.add("any.array",
                w -> value(w, new int[][] {{1, 2, 3}, {4, 5, 6}}, MatrixHelper::insert, MatrixHelper::extract));
        checks.add("any.array_octet", w -> value(w, new byte[] {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, -1},
                UuidHelper::insert, UuidHelper::extract));
        checks.add("any.fixed", w -> value(w, new BigDecimal("-99999999.99"),
                (any, v) -> any.insert_fixed(v, w.orb().create_fixed_tc((short) 10, (short) 2)), Any::extract_fixed));
        checks.add("any.fixed_alias",
                w -> value(w, new BigDecimal("12.34"), MoneyHelper::insert, MoneyHelper::extract));
        checks.add("any.exception", AnyChecks::exception);
        checks.add("any.unknown_type", AnyChecks::unknownType);
    }

    private static void addReferences(Checks checks) {
        checks.add("any.object", w -> {
            Any any = w.orb().create_any();
            PeerHelper.insert(any, w.peer());
            Peer got = PeerHelper.extract(echo(w, any));
            expect(got, w.peer(), "the reference");
            got.ping();
        });
        checks.add("any.object_nil", w -> {
            Any any = w.orb().create_any();
            PeerHelper.insert(any, null);
            require(echo(w, any).extract_Object() == null, "the reference is not nil");
        });
        checks.add("any.object_sequence",
                w -> value(w, new Peer[] {w.peer(), null}, PeersHelper::insert, PeersHelper::extract));
        checks.add("any.any", w -> nested(w, 1));
        checks.add("any.any_deep", w -> nested(w, 10));
    }

    private static void addTypeCodes(Checks checks) {
        checks.add("any.typecode", w -> typeCode(w, w.orb().get_primitive_tc(TCKind.tk_long)));
        checks.add("any.typecode_struct", w -> typeCode(w, MixedHelper.type()));
        checks.add("any.typecode_union", w -> typeCode(w, ByLongHelper.type()));
        checks.add("any.typecode_recursive", w -> typeCode(w, NodeHelper.type()));
        checks.add("any.typecode_interface", w -> typeCode(w, PeerHelper.type()));
        checks.add("any.typecode_exception", w -> typeCode(w, RefusedHelper.type()));
    }

    private static void typeCode(World world, TypeCode sent) {
        value(world, sent, Any::insert_TypeCode, Any::extract_TypeCode);
    }

    private static void nested(World world, int levels) {
        Any any = world.orb().create_any();
        any.insert_long(77);
        for (int i = 0; i < levels; ++i) {
            Any outer = world.orb().create_any();
            outer.insert_any(any);
            any = outer;
        }
        Any got = echo(world, any);
        for (int i = 0; i < levels; ++i)
            got = got.extract_any();
        expect(got.extract_long(), 77, "the value");
    }

    private static void exception(World world) {
        Any any = world.orb().create_any();
        TooBigHelper.insert(any, new TooBig(5, "because"));
        TooBig got = TooBigHelper.extract(echo(world, any));
        expect(got.limit, 5, "the limit");
        expect(got.why, "because", "why");
    }

    /** A struct type that the other side has never seen, made at run time. */
    private static void unknownType(World world) throws Exception {
        ORB orb = world.orb();
        TypeCode type = orb.create_struct_tc("IDL:orbium.test/Unseen:1.0", "Unseen", new StructMember[] {
            new StructMember("flag", orb.get_primitive_tc(TCKind.tk_octet), null),
            new StructMember("size", orb.get_primitive_tc(TCKind.tk_double), null),
            new StructMember("names", StringsHelper.type(), null)
        });
        DynAnyFactory factory = DynAnyFactoryHelper.narrow(orb.resolve_initial_references("DynAnyFactory"));
        DynAny value = factory.create_dyn_any_from_type_code(type);
        value.insert_octet((byte) 5);
        value.next();
        value.insert_double(2.5);
        value.next();
        Any names = orb.create_any();
        StringsHelper.insert(names, new String[] {"one", "", "three"});
        value.current_component().from_any(names);
        Any got = echo(world, value.to_any());
        require(factory.create_dyn_any(got).equal(value), "the value differs");
    }
}
