// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import com.sun.corba.ee.impl.naming.cosnaming.TransientNameService;
import com.sun.corba.ee.spi.orb.ORB;
import java.util.Properties;

/** The name server of GlassFish's ORB, which descends from the JDK's: prints the root context's reference. */
public final class Names {
    private Names() {}

    /** Serves until the process ends. */
    public static void main(String[] args) throws Exception {
        Properties properties = new Properties();
        properties.setProperty("org.omg.CORBA.ORBClass", "com.sun.corba.ee.impl.orb.ORBImpl");
        properties.setProperty("com.sun.corba.ee.ORBServerHost", "127.0.0.1");
        ORB orb = (ORB) org.omg.CORBA.ORB.init(args, properties);
        TransientNameService service = new TransientNameService(orb);
        System.out.println(orb.object_to_string(service.initialNamingContext()));
        System.out.flush();
        orb.run();
    }
}
