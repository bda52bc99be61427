// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import java.util.StringJoiner;
import org.omg.CORBA.AttributeDescription;
import org.omg.CORBA.AttributeMode;
import org.omg.CORBA.Contained;
import org.omg.CORBA.Container;
import org.omg.CORBA.ContainerHelper;
import org.omg.CORBA.ContainerPackage.Description;
import org.omg.CORBA.DefinitionKind;
import org.omg.CORBA.ExceptionDefHelper;
import org.omg.CORBA.ExceptionDescription;
import org.omg.CORBA.IDLTypeHelper;
import org.omg.CORBA.InterfaceDef;
import org.omg.CORBA.InterfaceDefHelper;
import org.omg.CORBA.InterfaceDefPackage.FullInterfaceDescription;
import org.omg.CORBA.ORB;
import org.omg.CORBA.OperationDescription;
import org.omg.CORBA.OperationMode;
import org.omg.CORBA.ParameterDescription;
import org.omg.CORBA.Repository;
import org.omg.CORBA.RepositoryHelper;
import org.omg.CORBA.TypeCode;
import org.omg.CORBA.TypeCodePackage.BadKind;
import org.omg.CORBA.TypeCodePackage.Bounds;

/**
 * Walks an Interface Repository: {@code Definitions REPOSITORY [OBJECT]} prints a line for each definition, the
 * description of each interface, and the id of the interface that the object has.
 */
public final class Definitions {
    private final Repository repository;

    private Definitions(Repository repository) {
        this.repository = repository;
    }

    /** Walks, and ends with 1 if something contradicts something else. */
    public static void main(String[] args) throws Exception {
        ORB orb = ORB.init(new String[0], null);
        Repository repository = RepositoryHelper.narrow(orb.string_to_object(args[0]));
        new Definitions(repository).walk(repository);
        if (args.length > 1) {
            InterfaceDef own = InterfaceDefHelper.narrow(orb.string_to_object(args[1])._get_interface_def());
            System.out.println("object " + own.id());
        }
        System.out.flush();
        orb.shutdown(true);
    }

    private void walk(Container container) throws BadKind, Bounds {
        Contained[] contents = container.contents(DefinitionKind.dk_all, true);
        Description[] described = container.describe_contents(DefinitionKind.dk_all, true, -1);
        require(contents.length == described.length, "contents and describe_contents differ");
        for (int i = 0; i < contents.length; i++) {
            Contained it = contents[i];
            DefinitionKind kind = it.def_kind();
            String id = it.id();
            require(kind == described[i].kind && kind == it.describe().kind, id + " has two kinds");
            require(described[i].contained_object.id().equals(id), id + " is described in another place");
            require(repository.lookup_id(id).absolute_name().equals(it.absolute_name()), id + " has two names");
            require(container.lookup(it.name()).id().equals(id), it.name() + " has two ids");
            System.out.println(kind.value() + " " + id + " " + it.absolute_name() + type(it, kind));
            if (kind == DefinitionKind.dk_Interface || kind == DefinitionKind.dk_AbstractInterface) {
                describe(InterfaceDefHelper.narrow(it));
            }
            if (it._is_a(ContainerHelper.id())) {
                walk(ContainerHelper.narrow(it));
            }
        }
    }

    private static void require(boolean condition, String otherwise) {
        if (!condition) {
            System.err.println(otherwise);
            System.exit(1);
        }
    }

    private static String type(Contained it, DefinitionKind kind) throws BadKind, Bounds {
        if (kind == DefinitionKind.dk_Exception) {
            return " " + whole(ExceptionDefHelper.narrow(it).type());
        }
        return it._is_a(IDLTypeHelper.id()) ? " " + whole(IDLTypeHelper.narrow(it).type()) : "";
    }

    private static void describe(InterfaceDef definition) throws BadKind {
        FullInterfaceDescription description = definition.describe_interface();
        for (AttributeDescription it : description.attributes) {
            String mode = it.mode == AttributeMode.ATTR_READONLY ? "readonly " : "";
            System.out.println(description.id + " " + mode + "attribute " + it.name + " " + used(it.type));
        }
        for (OperationDescription it : description.operations) {
            StringJoiner parameters = new StringJoiner(",", "(", ")");
            for (ParameterDescription parameter : it.parameters) {
                parameters.add(parameter.mode.value() + " " + parameter.name + " " + used(parameter.type));
            }
            StringJoiner raises = new StringJoiner(",", "[", "]");
            for (ExceptionDescription raised : it.exceptions) {
                raises.add(raised.id);
            }
            String mode = it.mode == OperationMode.OP_ONEWAY ? "oneway " : "";
            System.out.println(description.id + " " + mode + it.name + " " + used(it.result) + parameters + raises);
        }
    }

    /** A type as it is used: those with an id by it. */
    private static String used(TypeCode code) throws BadKind {
        int kind = code.kind().value();
        switch (kind) {
            case org.omg.CORBA.TCKind._tk_string:
            case org.omg.CORBA.TCKind._tk_wstring:
                return kind + "<" + code.length() + ">";
            case org.omg.CORBA.TCKind._tk_sequence:
            case org.omg.CORBA.TCKind._tk_array:
                return kind + "<" + used(code.content_type()) + "," + code.length() + ">";
            case org.omg.CORBA.TCKind._tk_fixed:
                return kind + "<" + code.fixed_digits() + "," + code.fixed_scale() + ">";
            case org.omg.CORBA.TCKind._tk_objref:
            case org.omg.CORBA.TCKind._tk_struct:
            case org.omg.CORBA.TCKind._tk_union:
            case org.omg.CORBA.TCKind._tk_enum:
            case org.omg.CORBA.TCKind._tk_alias:
            case org.omg.CORBA.TCKind._tk_except:
            case org.omg.CORBA.TCKind._tk_value:
            case org.omg.CORBA.TCKind._tk_value_box:
            case org.omg.CORBA.TCKind._tk_abstract_interface:
                return kind + " " + code.id();
            default:
                return String.valueOf(kind);
        }
    }

    /** A type with its members. */
    private static String whole(TypeCode code) throws BadKind, Bounds {
        StringJoiner members = new StringJoiner(",", "{", "}");
        switch (code.kind().value()) {
            case org.omg.CORBA.TCKind._tk_alias:
            case org.omg.CORBA.TCKind._tk_value_box:
                members.add(used(code.content_type()));
                break;
            case org.omg.CORBA.TCKind._tk_enum:
                for (int i = 0; i < code.member_count(); i++) {
                    members.add(code.member_name(i));
                }
                break;
            case org.omg.CORBA.TCKind._tk_union:
                members.add(used(code.discriminator_type()) + " " + code.default_index());
                addMembers(code, members);
                break;
            case org.omg.CORBA.TCKind._tk_struct:
            case org.omg.CORBA.TCKind._tk_except:
            case org.omg.CORBA.TCKind._tk_value:
                addMembers(code, members);
                break;
            default:
                break;
        }
        return used(code) + members;
    }

    private static void addMembers(TypeCode code, StringJoiner members) throws BadKind, Bounds {
        for (int i = 0; i < code.member_count(); i++) {
            members.add(used(code.member_type(i)) + " " + code.member_name(i));
        }
    }
}
