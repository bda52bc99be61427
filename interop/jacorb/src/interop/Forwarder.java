// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.omg.CORBA.ARG_IN;
import org.omg.CORBA.ARG_INOUT;
import org.omg.CORBA.ARG_OUT;
import org.omg.CORBA.Any;
import org.omg.CORBA.AttributeDescription;
import org.omg.CORBA.AttributeMode;
import org.omg.CORBA.BAD_OPERATION;
import org.omg.CORBA.ExceptionDescription;
import org.omg.CORBA.ExceptionList;
import org.omg.CORBA.InterfaceDef;
import org.omg.CORBA.InterfaceDefHelper;
import org.omg.CORBA.InterfaceDefPackage.FullInterfaceDescription;
import org.omg.CORBA.NVList;
import org.omg.CORBA.ORB;
import org.omg.CORBA.OperationDescription;
import org.omg.CORBA.OperationMode;
import org.omg.CORBA.ParameterDescription;
import org.omg.CORBA.ParameterMode;
import org.omg.CORBA.Request;
import org.omg.CORBA.ServerRequest;
import org.omg.CORBA.SystemException;
import org.omg.CORBA.TCKind;
import org.omg.CORBA.TypeCode;
import org.omg.CORBA.UnknownUserException;
import org.omg.PortableServer.DynamicImplementation;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

/**
 * jacorb-forwarder --NAME REF… --ior-dir DIR: for each object a dynamic servant that passes every request on as a
 * dynamic request. It knows no IDL but CORBA's own: types come from the Interface Repository of the objects.
 */
public final class Forwarder extends DynamicImplementation {
    private record Parameter(String name, TypeCode type, int flags) {}

    private record Signature(List<Parameter> parameters, TypeCode result, List<TypeCode> exceptions, boolean oneway) {}

    private final ORB orb;
    private final org.omg.CORBA.Object target;
    private final Set<String> interfaces = new LinkedHashSet<>();
    private final Map<String, Signature> operations = new HashMap<>();

    private Forwarder(ORB orb, org.omg.CORBA.Object target) {
        this.orb = orb;
        this.target = target;
        InterfaceDef definition = InterfaceDefHelper.narrow(target._get_interface_def());
        note(definition);
        FullInterfaceDescription description = definition.describe_interface();
        for (OperationDescription it : description.operations)
            operations.put(it.name, signature(it));
        TypeCode nothing = orb.get_primitive_tc(TCKind.tk_void);
        for (AttributeDescription it : description.attributes) {
            operations.put("_get_" + it.name, new Signature(List.of(), it.type, List.of(), false));
            if (it.mode == AttributeMode.ATTR_NORMAL) {
                Parameter value = new Parameter("v", it.type, ARG_IN.value);
                operations.put("_set_" + it.name, new Signature(List.of(value), nothing, List.of(), false));
            }
        }
    }

    private void note(InterfaceDef definition) {
        interfaces.add(definition.id());
        for (InterfaceDef base : definition.base_interfaces())
            note(base);
    }

    private static Signature signature(OperationDescription it) {
        List<Parameter> parameters = new ArrayList<>();
        for (ParameterDescription parameter : it.parameters)
            parameters.add(new Parameter(parameter.name, parameter.type, flags(parameter.mode)));
        List<TypeCode> exceptions = new ArrayList<>();
        for (ExceptionDescription exception : it.exceptions)
            exceptions.add(exception.type);
        return new Signature(parameters, it.result, exceptions, it.mode == OperationMode.OP_ONEWAY);
    }

    private static int flags(ParameterMode mode) {
        if (mode == ParameterMode.PARAM_IN)
            return ARG_IN.value;
        return mode == ParameterMode.PARAM_OUT ? ARG_OUT.value : ARG_INOUT.value;
    }

    private Any empty(TypeCode type) {
        Any any = orb.create_any();
        any.type(type);
        return any;
    }

    @Override
    public String[] _all_interfaces(POA poa, byte[] id) {
        return interfaces.toArray(new String[0]);
    }

    @Override
    public void invoke(ServerRequest request) {
        Signature signature = operations.get(request.operation());
        if (signature == null)
            throw new BAD_OPERATION();
        NVList arguments = orb.create_list(0);
        for (Parameter it : signature.parameters())
            arguments.add_value(it.name(), empty(it.type()), it.flags());
        request.arguments(arguments);
        passOn(request, signature, arguments);
    }

    /** Both requests have the same list: what comes back in it is what is sent back. */
    private void passOn(ServerRequest request, Signature signature, NVList arguments) {
        ExceptionList exceptions = orb.create_exception_list();
        signature.exceptions().forEach(exceptions::add);
        Any result = empty(signature.result());
        Request call = target._create_request(null, request.operation(), arguments,
                orb.create_named_value("", result, 0), exceptions, orb.create_context_list());
        if (signature.oneway()) {
            call.send_oneway();
            return;
        }
        call.invoke();
        Exception raised = call.env().exception();
        if (raised instanceof UnknownUserException user)
            request.set_exception(user.except);
        else if (raised instanceof SystemException system)
            throw system;
        else if (signature.result().kind() != TCKind.tk_void)
            request.set_result(call.return_value());
    }

    /** Runs until it is killed. */
    public static void main(String[] args) throws Exception {
        Map<String, String> given = new HashMap<>();
        Options options = new Options(args, (name, value) -> {
            if (!List.of("--ior-dir", "--cube", "--receiver", "--peer").contains(name))
                return 0;
            given.put(name.substring(2), value);
            return 2;
        });
        String directory = given.remove("ior-dir");
        if (directory == null || given.isEmpty()) {
            System.err.println("usage: jacorb-forwarder [--cube REF] [--receiver REF] [--peer REF] --ior-dir DIR");
            System.exit(2);
        }
        ORB orb = options.init();
        POA poa = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        poa.the_POAManager().activate();
        for (Map.Entry<String, String> it : given.entrySet()) {
            String text = Files.readString(Path.of(it.getValue())).trim();
            org.omg.CORBA.Object front = poa.servant_to_reference(new Forwarder(orb, orb.string_to_object(text)));
            publish(orb, front, Path.of(directory, it.getKey() + ".ior"));
        }
        System.out.println("READY");
        System.out.flush();
        orb.run();
    }

    /** Writes the reference under another name first, so that a reader never sees half of it. */
    private static void publish(ORB orb, org.omg.CORBA.Object object, Path path) throws IOException {
        Path unfinished = path.resolveSibling(path.getFileName() + ".tmp");
        Files.writeString(unfinished, orb.object_to_string(object) + "\n");
        Files.move(unfinished, path, StandardCopyOption.ATOMIC_MOVE);
    }
}
