// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** The first IIOP profile of a stringified reference: to point elsewhere, or to say an older version. */
record Ior(String type, int minor, String host, int port, boolean tls, byte[] key, byte[] profile) {
    private static final int TAG_SSL_SEC_TRANS = 20;

    static Ior parse(String text) {
        if (!text.startsWith("IOR:"))
            throw new IllegalArgumentException("not a stringified reference");
        ByteBuffer in = encapsulation(HexFormat.of().parseHex(text.trim().substring(4)));
        String type = string(in);
        for (int left = number(in); left > 0; --left) {
            int tag = number(in);
            byte[] body = octets(in);
            if (tag == 0)
                return profile(type, body);
        }
        throw new IllegalArgumentException("the reference has no IIOP profile");
    }

    private static Ior profile(String type, byte[] body) {
        ByteBuffer in = encapsulation(body);
        in.get(); // the major version
        int minor = in.get();
        String host = string(in);
        align(in, 2);
        int port = in.getShort() & 0xffff;
        byte[] key = octets(in);
        // GIOP 1.0 ends here; later versions have components.
        byte[] copy = body.clone();
        if (minor == 0)
            copy = java.util.Arrays.copyOf(copy, in.position());
        int tls = port == 0 && minor > 0 ? tlsPort(in) : 0;
        return new Ior(type, minor, host, tls == 0 ? port : tls, tls != 0, key, copy);
    }

    /** Served over TLS alone: the port stands in a component. */
    private static int tlsPort(ByteBuffer in) {
        for (int left = number(in); left > 0; --left) {
            int tag = number(in);
            byte[] body = octets(in);
            if (tag == TAG_SSL_SEC_TRANS) // byte order, padding, what is supported, what is required
                return encapsulation(body).getShort(6) & 0xffff;
        }
        return 0;
    }

    /** A corbaloc for another key at the same address, of the smaller of the two versions. */
    String corbaloc(byte[] otherKey, int otherMinor) {
        StringBuilder text = new StringBuilder("corbaloc:" + (tls ? "ssliop" : "iiop"))
            .append(":1." + Math.min(minor, otherMinor) + "@" + host + ":" + port + "/");
        for (byte octet : otherKey) {
            char c = (char) (octet & 0xff);
            if (c < 0x80 && Character.isLetterOrDigit(c))
                text.append(c);
            else
                text.append(String.format("%%%02x", octet & 0xff));
        }
        return text.toString();
    }

    /** The same object as a reference of an older version; JacORB takes the version to speak from there. */
    String downgraded(int newMinor) {
        if (newMinor >= minor)
            newMinor = minor;
        byte[] body = profile.clone();
        body[2] = (byte) newMinor;
        if (newMinor == 0) {
            ByteBuffer in = encapsulation(body);
            in.position(3);
            string(in);
            align(in, 2);
            in.getShort();
            octets(in);
            body = java.util.Arrays.copyOf(body, in.position());
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(0);
        byte[] id = (type + "\0").getBytes(StandardCharsets.ISO_8859_1);
        put(out, id.length);
        out.writeBytes(id);
        put(out, 1);
        put(out, 0);
        put(out, body.length);
        out.writeBytes(body);
        return "IOR:" + HexFormat.of().formatHex(out.toByteArray());
    }

    private static ByteBuffer encapsulation(byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        return in.order((in.get() & 1) == 1 ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
    }

    private static void align(ByteBuffer in, int size) {
        in.position((in.position() + size - 1) / size * size);
    }

    private static int number(ByteBuffer in) {
        align(in, 4);
        return in.getInt();
    }

    private static byte[] octets(ByteBuffer in) {
        byte[] octets = new byte[number(in)];
        in.get(octets);
        return octets;
    }

    private static String string(ByteBuffer in) {
        byte[] octets = octets(in);
        return new String(octets, 0, octets.length - 1, StandardCharsets.ISO_8859_1);
    }

    private static void put(ByteArrayOutputStream out, int number) {
        while (out.size() % 4 != 0)
            out.write(0);
        out.writeBytes(ByteBuffer.allocate(4).putInt(number).array());
    }
}
