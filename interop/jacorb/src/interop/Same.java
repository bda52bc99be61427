// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import org.omg.CORBA.Any;
import org.omg.CORBA.TypeCode;
import org.omg.CORBA.portable.IDLEntity;

/** Equality of IDL values, which the generated classes do not define. Floating point is compared by bits. */
final class Same {
    private Same() {}

    static boolean same(Object a, Object b) {
        if (a == null || b == null)
            return a == b;
        if (a instanceof Any x && b instanceof Any y)
            return x.equal(y);
        if (a instanceof TypeCode x && b instanceof TypeCode y)
            return x.equal(y);
        if (a instanceof Float x && b instanceof Float y)
            return Float.floatToRawIntBits(x) == Float.floatToRawIntBits(y);
        if (a instanceof Double x && b instanceof Double y)
            return Double.doubleToRawLongBits(x) == Double.doubleToRawLongBits(y);
        if (a instanceof org.omg.CORBA.Object x && b instanceof org.omg.CORBA.Object y)
            return x._is_equivalent(y);
        if (a.getClass() != b.getClass())
            return false;
        if (a.getClass().isArray())
            return sameItems(a, b);
        // An enumeration has one object per value.
        if (a instanceof IDLEntity && !(a instanceof Kitchen.Colour))
            return sameFields(a, b);
        return a.equals(b);
    }

    private static boolean sameItems(Object a, Object b) {
        int length = Array.getLength(a);
        if (length != Array.getLength(b))
            return false;
        for (int i = 0; i < length; ++i)
            if (!same(Array.get(a, i), Array.get(b, i)))
                return false;
        return true;
    }

    private static boolean sameFields(Object a, Object b) {
        try {
            for (Field field : a.getClass().getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers()))
                    continue;
                field.setAccessible(true);
                if (!same(field.get(a), field.get(b)))
                    return false;
            }
            return true;
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}
