// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import java.io.Serializable;
import java.util.function.Supplier;
import org.omg.CORBA.ORB;
import org.omg.CORBA.portable.ValueFactory;

/** The value types of idl/values.idl, further.idl, packed.idl, alarms.idl and interop/templates.idl as these programs implement them. */
final class ValueTypes {
    private ValueTypes() {}

    static final class PointValue extends Values.Point {
        private static final long serialVersionUID = 1L;
    }

    static final class LabelledValue extends Values.Labelled {
        private static final long serialVersionUID = 1L;

        /** The private member. */
        int secret() {
            return hidden;
        }

        void setSecret(int value) {
            hidden = value;
        }
    }

    static final class ArrowValue extends Values.Arrow {
        private static final long serialVersionUID = 1L;
    }

    static final class ChainValue extends Values.Chain {
        private static final long serialVersionUID = 1L;
    }

    static final class TreeValue extends Values.Tree {
        private static final long serialVersionUID = 1L;
    }

    static final class NoteValue extends Values.Note {
        private static final long serialVersionUID = 1L;

        @Override
        public String describe() {
            return "note: " + text;
        }
    }

    /** An event, which is a value of its members. */
    static final class AlarmValue extends Alarms.Alarm {
        private static final long serialVersionUID = 1L;
    }

    /** An object reference template of orbium. */
    static final class TemplateValue extends orbium.PortableInterceptor.AdapterTemplate {
        private static final long serialVersionUID = 1L;
    }

    static final class ParcelValue extends Packed.Parcel {
        private static final long serialVersionUID = 1L;

        @Override
        public void marshal(org.omg.CORBA.DataOutputStream out) {
            out.write_long(number);
            out.write_string(label);
            out.write_Value(within);
        }

        @Override
        public void unmarshal(org.omg.CORBA.DataInputStream in) {
            number = in.read_long();
            label = in.read_string();
            within = (Values.Point) in.read_Value();
        }
    }

    /** A value of a type for which no factory is registered: who receives it does not know the type. */
    static final class MarkedValue extends Further.Marked {
        private static final long serialVersionUID = 1L;

        void setSecret(int value) {
            hidden = value;
        }
    }

    /** As above, and not to be cut down to its base. */
    static final class SolidValue extends Further.Solid {
        private static final long serialVersionUID = 1L;
    }

    static void register(ORB orb) {
        add(orb, Values.PointHelper.id(), PointValue::new);
        add(orb, Values.LabelledHelper.id(), LabelledValue::new);
        add(orb, Values.ArrowHelper.id(), ArrowValue::new);
        add(orb, Values.ChainHelper.id(), ChainValue::new);
        add(orb, Values.TreeHelper.id(), TreeValue::new);
        add(orb, Values.NoteHelper.id(), NoteValue::new);
        add(orb, Packed.ParcelHelper.id(), ParcelValue::new);
        add(orb, Alarms.AlarmHelper.id(), AlarmValue::new);
        add(orb, orbium.PortableInterceptor.AdapterTemplateHelper.id(), TemplateValue::new);
    }

    private static void add(ORB orb, String id, Supplier<? extends Serializable> make) {
        ValueFactory factory = in -> in.read_value(make.get());
        ((org.omg.CORBA_2_3.ORB) orb).register_value_factory(id, factory);
    }
}
