// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import Kitchen.ByBool;
import Kitchen.ByChar;
import Kitchen.ByColour;
import Kitchen.ByLong;
import Kitchen.Colour;
import Kitchen.Empty;
import Kitchen.Mixed;
import Kitchen.Node;
import Kitchen.Peer;
import Kitchen.PeerHelper;
import Kitchen.PeerPOA;
import Kitchen.Refused;
import Kitchen.Scalars;
import Kitchen.ScalarsHolder;
import java.math.BigDecimal;
import java.util.concurrent.atomic.AtomicInteger;
import org.omg.CORBA.Any;
import org.omg.CORBA.INTERNAL;
import org.omg.CORBA.StringHolder;
import org.omg.CORBA.UserException;
import org.omg.PortableServer.POA;

/** Kitchen::Peer; the client uses it as the target of call-backs. */
final class PeerServant extends PeerPOA {
    private final POA poa;
    private final AtomicInteger notified = new AtomicInteger();
    private final AtomicInteger calledBack = new AtomicInteger();
    private volatile String label = "";

    PeerServant(POA poa) {
        this.poa = poa;
    }

    /** A new object under the adapter. */
    static Peer activate(POA poa, PeerServant servant) {
        try {
            return PeerHelper.narrow(poa.servant_to_reference(servant));
        } catch (UserException e) {
            throw new INTERNAL(e.toString());
        }
    }

    /** How often call_back was called on this object. */
    int calledBack() {
        return calledBack.get();
    }

    @Override public String label() {
        return label;
    }

    @Override public void label(String v) {
        label = v;
    }

    @Override public Colour shade() {
        return Colour.blue;
    }

    @Override public void ping() {}

    @Override public byte[] ident() {
        byte[] id = new byte[16];
        for (int i = 0; i < id.length; ++i)
            id[i] = (byte) i;
        return id;
    }

    @Override public Scalars echo_scalars(Scalars v, ScalarsHolder copy, ScalarsHolder both) {
        copy.value = v;
        return v;
    }

    @Override public String echo_string(String v, StringHolder copy, StringHolder both) {
        copy.value = v;
        return v;
    }

    @Override public String echo_wstring(String v) {
        return v;
    }

    @Override public Mixed echo_mixed(Mixed v) {
        return v;
    }

    @Override public Mixed[] echo_mixeds(Mixed[] v) {
        return v;
    }

    @Override public Node echo_tree(Node v) {
        return v;
    }

    @Override public String[][] echo_table(String[][] v) {
        return v;
    }

    @Override public int[][] echo_matrix(int[][] v) {
        return v;
    }

    @Override public BigDecimal echo_money(BigDecimal v) {
        return v;
    }

    @Override public ByColour echo_by_colour(ByColour v) {
        return v;
    }

    @Override public ByBool echo_by_bool(ByBool v) {
        return v;
    }

    @Override public ByChar echo_by_char(ByChar v) {
        return v;
    }

    @Override public ByLong echo_by_long(ByLong v) {
        return v;
    }

    @Override public Any echo_any(Any v) {
        return v;
    }

    @Override public org.omg.CORBA.Object echo_object(org.omg.CORBA.Object v) {
        return v;
    }

    @Override public Peer echo_peer(Peer v) {
        return v;
    }

    @Override public Peer[] make_peers(int n) {
        Peer[] peers = new Peer[n];
        for (int i = 0; i < n; ++i)
            peers[i] = activate(poa, new PeerServant(poa));
        return peers;
    }

    @Override public void call_back(Peer target, int depth) {
        calledBack.incrementAndGet();
        if (depth > 0)
            target.call_back(_this(), depth - 1);
    }

    @Override public void refuse(boolean bare) throws Empty, Refused {
        if (bare)
            throw new Empty();
        throw Specimen.refused();
    }

    @Override public void system_exception(String name) {
        throw Specimen.systemException(name);
    }

    @Override public void _notify(String what) {
        notified.incrementAndGet();
    }

    @Override public int slow(int milliseconds) {
        try {
            Thread.sleep(Integer.toUnsignedLong(milliseconds));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return milliseconds;
    }

    @Override public int _interface(int module, String select) {
        return module + select.length();
    }

    @Override public int match(int self, int type) {
        return self + type;
    }
}
