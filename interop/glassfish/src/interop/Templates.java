// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import orbium.test.Values.Echo;
import orbium.test.Values.EchoHelper;
import org.omg.CORBA.LocalObject;
import org.omg.CORBA.ORB;
import org.omg.CORBA.Policy;
import org.omg.PortableInterceptor.IORInfo;
import org.omg.PortableInterceptor.IORInterceptor_3_0;
import org.omg.PortableInterceptor.ORBInitInfo;
import org.omg.PortableInterceptor.ORBInitInfoPackage.DuplicateName;
import org.omg.PortableInterceptor.ORBInitializer;
import org.omg.PortableInterceptor.ObjectReferenceTemplate;
import org.omg.PortableServer.IdAssignmentPolicyValue;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

/**
 * glassfish-templates --echo REF: sends the object reference template of an adapter of its own to Values::Echo, and makes a
 * reference by what comes back.
 */
public final class Templates extends LocalObject implements ORBInitializer, IORInterceptor_3_0 {
    private static final long serialVersionUID = 1L;

    /** That of the adapter that was made last. */
    private static transient ObjectReferenceTemplate template;

    /** The ORB makes one. */
    public Templates() {}

    @Override public String name() {
        return "templates";
    }

    @Override public void destroy() {}

    @Override public void pre_init(ORBInitInfo info) {}

    @Override public void post_init(ORBInitInfo info) {
        try {
            info.add_ior_interceptor(this);
        } catch (DuplicateName error) {
            throw new IllegalStateException(error);
        }
    }

    @Override public void establish_components(IORInfo info) {}

    @Override public void components_established(IORInfo info) {
        template = info.adapter_template();
    }

    @Override public void adapter_manager_state_changed(int id, short state) {}

    @Override public void adapter_state_changed(ObjectReferenceTemplate[] templates, short state) {}

    private static void check(String name, boolean passed, Object seen) {
        System.out.println(passed ? "ok templates." + name : "FAIL templates." + name + ": " + seen);
    }

    /** Exit code 0: every check was made. */
    public static void main(String[] args) throws Exception {
        if (args.length != 2 || !args[0].equals("--echo")) {
            System.err.println("usage: glassfish-templates --echo REF");
            System.exit(2);
        }
        System.setProperty("org.omg.CORBA.ORBClass", "com.sun.corba.ee.impl.orb.ORBImpl");
        System.setProperty("org.omg.CORBA.ORBSingletonClass", "com.sun.corba.ee.impl.orb.ORBSingleton");
        System.setProperty("com.sun.corba.ee.ORBServerHost", "127.0.0.1");
        System.setProperty("org.omg.PortableInterceptor.ORBInitializerClass." + Templates.class.getName(), "");
        ORB orb = ORB.init(new String[0], System.getProperties());
        POA root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        root.the_POAManager().activate();
        Policy[] policies = {root.create_id_assignment_policy(IdAssignmentPolicyValue.USER_ID)};
        POA child = root.create_POA("child", root.the_POAManager(), policies);
        ObjectReferenceTemplate sent = template;
        byte[] id = "one".getBytes(UTF_8);
        child.activate_object_with_id(id, new EchoServant(() -> {}));
        Echo echo = EchoHelper.unchecked_narrow(orb.string_to_object(Files.readString(Path.of(args[1])).trim()));

        Serializable back = echo.echo_base(sent);
        check("type", back instanceof ObjectReferenceTemplate, back);
        ObjectReferenceTemplate got = (ObjectReferenceTemplate) back;
        check("equal", got.equals(sent), got);
        check("adapter", Arrays.equals(got.adapter_name(), sent.adapter_name()), Arrays.toString(got.adapter_name()));
        Echo made = EchoHelper.narrow(got.make_object(EchoHelper.id(), id));
        check("object", made.describe().equals("echo"), made);
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }
}
