// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jacorb.naming.NameServer;

/** JacORB's name server on a free port of 127.0.0.1: prints the root context's reference. */
public final class Names {
    private Names() {}

    /** Serves until the process ends. */
    public static void main(String[] args) throws Exception {
        Path file = Files.createTempFile("orbium-jacorb-names", ".ior");
        System.setProperty("OAIAddr", "127.0.0.1");
        System.setProperty("OAPort", "0");
        System.setProperty("jacorb.naming.ior_filename", file.toString());
        Thread printer = new Thread(() -> print(file));
        printer.setDaemon(true);
        printer.start();
        NameServer.main(args);
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
