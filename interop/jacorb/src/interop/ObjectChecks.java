// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import static interop.Checks.expect;
import static interop.Checks.require;

import Cubit.CubeHelper;
import Cubit.TooBigHelper;
import Kitchen.Peer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.omg.CORBA.BAD_OPERATION;
import org.omg.CORBA.CompletionStatus;
import org.omg.CORBA.OBJECT_NOT_EXIST;
import org.omg.CORBA.Request;
import org.omg.CORBA.TCKind;
import org.omg.CORBA.UnknownUserException;

/** Object references, the implicit operations and dynamic invocation. */
final class ObjectChecks {
    private ObjectChecks() {}

    static void add(Checks checks) {
        addReferences(checks);
        checks.add("object.is_a", w -> isA(w, "IDL:orbium.test/Kitchen/Peer:1.0", true));
        checks.add("object.is_a_base", w -> isA(w, "IDL:orbium.test/Kitchen/Base:1.0", true));
        checks.add("object.is_a_other", w -> isA(w, "IDL:orbium.test/Kitchen/Other:1.0", true));
        checks.add("object.is_a_object", w -> isA(w, "IDL:omg.org/CORBA/Object:1.0", true));
        checks.add("object.is_a_wrong", w -> isA(w, "IDL:Cubit/Cube:1.0", false));
        checks.add("object.existent", w -> require(!w.cube()._non_existent(), "_non_existent is true"));
        checks.add("object.non_existent_key", w -> nonExistent(w, false));
        checks.add("object.non_existent_id", w -> nonExistent(w, true));
        checks.add("object.not_exist_key", w -> callNotExist(w, false));
        checks.add("object.not_exist_id", w -> callNotExist(w, true));
        checks.add("object.corbaloc_call",
                w -> expect(CubeHelper.narrow(untyped(w, w.cube())).cube_long(5), 125, "5 cubed"));
        checks.add("object.dynamic_call", ObjectChecks::dynamicCall);
        checks.add("object.dynamic_user_exception", ObjectChecks::dynamicUserException);
        checks.add("object.unknown_operation_cube", w -> unknownOperation(w, w.cube()));
        checks.add("object.unknown_operation_peer", w -> unknownOperation(w, w.peer()));
    }

    private static void addReferences(Checks checks) {
        checks.add("object.echo", w -> {
            org.omg.CORBA.Object got = w.peer().echo_object(w.cube());
            expect(got, w.cube(), "the reference");
            CubeHelper.narrow(got).noop();
        });
        checks.add("object.echo_nil", w -> require(w.peer().echo_object(null) == null, "the reference is not nil"));
        checks.add("object.echo_peer", w -> {
            Peer got = w.peer().echo_peer(w.peer());
            expect(got, w.peer(), "the reference");
            got.ping();
        });
        checks.add("object.echo_peer_nil", w -> require(w.peer().echo_peer(null) == null, "the reference is not nil"));
        checks.add("object.echo_peer_own", w -> {
            PeerServant servant = new PeerServant(w.poa());
            servant.label("own");
            expect(w.peer().echo_peer(PeerServant.activate(w.poa(), servant)).label(), "own", "the label");
            w.poa().deactivate_object(w.poa().servant_to_id(servant));
        });
    }

    /** An ORB may answer _is_a from the type in the reference; a corbaloc has none, so it has to ask. */
    private static org.omg.CORBA.Object untyped(World world, org.omg.CORBA.Object object) {
        Ior ior = Ior.parse(world.orb().object_to_string(object));
        return world.orb().string_to_object(ior.corbaloc(ior.key(), world.giopMinor()));
    }

    /** A reference to an object that is not there, at the address of the server. */
    private static org.omg.CORBA.Object stranger(World world, boolean sameAdapter) {
        Ior ior = Ior.parse(world.orb().object_to_string(world.cube()));
        byte[] key = "NoSuchObject".getBytes(StandardCharsets.US_ASCII);
        if (sameAdapter) {
            key = Arrays.copyOf(ior.key(), ior.key().length + 4);
            System.arraycopy("gone".getBytes(StandardCharsets.US_ASCII), 0, key, ior.key().length, 4);
        }
        return world.orb().string_to_object(ior.corbaloc(key, world.giopMinor()));
    }

    private static void isA(World world, String type, boolean want) {
        expect(untyped(world, world.peer())._is_a(type), want, "_is_a " + type);
    }

    private static void nonExistent(World world, boolean sameAdapter) {
        require(stranger(world, sameAdapter)._non_existent(), "_non_existent is false");
    }

    private static void callNotExist(World world, boolean sameAdapter) throws Exception {
        try {
            CubeHelper.unchecked_narrow(stranger(world, sameAdapter)).cube_long(3);
        } catch (OBJECT_NOT_EXIST e) {
            return;
        }
        throw new Checks.Failure("OBJECT_NOT_EXIST was not raised");
    }

    private static Request request(World world, org.omg.CORBA.Object object, String operation, int argument) {
        Request request = object._request(operation);
        request.add_in_arg().insert_long(argument);
        request.set_return_type(world.orb().get_primitive_tc(TCKind.tk_long));
        return request;
    }

    private static Exception invoke(Request request) {
        try {
            request.invoke();
        } catch (org.omg.CORBA.SystemException e) {
            return e;
        }
        return request.env().exception();
    }

    private static void dynamicCall(World world) throws Exception {
        Request request = request(world, world.cube(), "cube_long", 11);
        Exception raised = invoke(request);
        if (raised != null)
            throw raised;
        expect(request.return_value().extract_long(), 1331, "11 cubed");
    }

    private static void dynamicUserException(World world) throws Exception {
        Request request = request(world, world.cube(), "cube_long", 5000);
        request.exceptions().add(TooBigHelper.type());
        Exception raised = invoke(request);
        if (!(raised instanceof UnknownUserException unknown))
            throw new Checks.Failure("TooBig was not raised but " + raised);
        expect(TooBigHelper.extract(unknown.except).limit, 1290, "the limit");
    }

    private static void unknownOperation(World world, org.omg.CORBA.Object object) {
        Exception raised = invoke(request(world, object, "no_such_operation", 11));
        if (!(raised instanceof BAD_OPERATION e))
            throw new Checks.Failure("BAD_OPERATION was not raised but " + raised);
        require(e.completed == CompletionStatus.COMPLETED_NO, "the completion status differs");
        world.peer().ping(); // the connection goes on
    }
}
