// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jacorb.notification.ConsoleMain;

/** JacORB's notification service at 127.0.0.1: prints the reference of its factory of channels. */
public final class Notify {
    private Notify() {}

    /** Serves until the process ends. */
    public static void main(String[] args) throws Exception {
        Path file = Files.createTempFile("orbium-jacorb-notify", ".ior");
        System.setProperty("OAIAddr", "127.0.0.1");
        System.setProperty("org.omg.CORBA.ORBClass", "org.jacorb.orb.ORB");
        System.setProperty("org.omg.CORBA.ORBSingletonClass", "org.jacorb.orb.ORBSingleton");
        System.setProperty("jacorb.log.default.verbosity", "0");
        Thread printer = new Thread(() -> print(file));
        printer.setDaemon(true);
        printer.start();
        ConsoleMain.main(new String[] {"-writeIOR", file.toString()});
    }

    /** Waits for the reference in the file. */
    private static void print(Path file) {
        try {
            String text = "";
            // Whole when it has not changed for a moment.
            while (text.length() < 100 || !text.equals(Files.readString(file))) {
                text = Files.readString(file);
                Thread.sleep(50);
            }
            Files.delete(file);
            System.out.println(text.strip());
            System.out.flush();
        } catch (IOException | InterruptedException error) {
            error.printStackTrace();
            System.exit(1);
        }
    }
}
