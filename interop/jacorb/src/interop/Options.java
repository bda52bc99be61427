// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import java.util.Properties;
import org.omg.CORBA.ORB;

/** The command line of both programs: theirs is taken by a {@link Taker}, -Dname=value are JacORB properties. */
final class Options {
    /** Asked for an option with the argument after it; says how many arguments it took, 0 if it is not its own. */
    interface Taker {
        int take(String name, String value);
    }

    private static final String[][] DEFAULTS = {
        {"org.omg.CORBA.ORBClass", "org.jacorb.orb.ORB"},
        {"org.omg.CORBA.ORBSingletonClass", "org.jacorb.orb.ORBSingleton"},
        {"jacorb.log.default.verbosity", "0"},
        {"jacorb.native_char_codeset", "UTF8"},
        {"jacorb.native_wchar_codeset", "UTF16"},
        {"jacorb.codeset", "on"},
        {"jacorb.retries", "0"},
        {"jacorb.connection.client.connect_timeout", "10000"},
        {"jacorb.connection.client.pending_reply_timeout", "30000"},
        {"jacorb.poa.thread_pool_max", "32"},
        {"OAIAddr", "127.0.0.1"},
    };

    private final Properties properties = new Properties();
    private int giopMinor = 2;

    Options(String[] args, Taker own) {
        for (String[] pair : DEFAULTS)
            properties.setProperty(pair[0], pair[1]);
        for (int i = 0; i < args.length;) {
            String value = i + 1 < args.length ? args[i + 1] : "";
            int taken = own.take(args[i], value);
            if (taken == 0 && args[i].equals("--giop")) {
                set("jacorb.giop_minor_version=" + value.substring(value.indexOf('.') + 1));
                taken = 2;
            } else if (taken == 0 && args[i].startsWith("-D")) {
                set(args[i].substring(2));
                taken = 1;
            } else if (taken == 0) {
                throw new IllegalArgumentException("unknown option " + args[i]);
            }
            i += taken;
        }
    }

    private void set(String assignment) {
        String[] parts = assignment.split("=", 2);
        properties.setProperty(parts[0], parts.length == 2 ? parts[1] : "on");
        if (parts[0].equals("jacorb.giop_minor_version"))
            giopMinor = Integer.parseInt(parts[1]);
    }

    /** The minor number of the largest GIOP version allowed. */
    int giopMinor() {
        return giopMinor;
    }

    /** Starts the ORB. */
    ORB init() {
        // ORB.init() without arguments, which generated code calls, reads the system properties.
        properties.forEach((name, value) -> System.setProperty((String) name, (String) value));
        return ORB.init(new String[0], properties);
    }
}
