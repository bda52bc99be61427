// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import java.io.Serializable;
import javax.rmi.CORBA.Stub;
import javax.rmi.CORBA.Tie;
import javax.rmi.CORBA.UtilDelegate;
import javax.rmi.CORBA.ValueHandler;
import org.omg.CORBA.ORB;
import org.omg.CORBA.SystemException;
import org.omg.CORBA.portable.InputStream;
import org.omg.CORBA.portable.OutputStream;
import org.omg.SendingContext.RunTime;

/**
 * What JacORB asks of RMI over IIOP when it writes a value of IDL: an id for its class, of which it makes no use then.
 * The implementation that comes with JacORB's libraries does not run in a JDK after 8.
 */
public final class RmiUtil implements UtilDelegate, ValueHandler {
    private static UnsupportedOperationException unsupported() {
        return new UnsupportedOperationException("no RMI over IIOP");
    }

    @Override
    public ValueHandler createValueHandler() {
        return this;
    }

    @Override
    @SuppressWarnings("rawtypes")
    public String getRMIRepositoryID(Class type) {
        return "RMI:" + type.getName() + ":0000000000000000";
    }

    @Override
    @SuppressWarnings("rawtypes")
    public boolean isCustomMarshaled(Class type) {
        return false;
    }

    @Override
    public RunTime getRunTimeCodeBase() {
        return null;
    }

    @Override
    public Serializable writeReplace(Serializable value) {
        return value;
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Serializable readValue(InputStream in, int offset, Class type, String id, RunTime sender) {
        throw unsupported();
    }

    @Override
    public void writeValue(OutputStream out, Serializable value) {
        throw unsupported();
    }

    @Override
    public java.rmi.RemoteException mapSystemException(SystemException exception) {
        throw unsupported();
    }

    @Override
    public void writeAny(OutputStream out, Object value) {
        throw unsupported();
    }

    @Override
    public Object readAny(InputStream in) {
        throw unsupported();
    }

    @Override
    public void writeRemoteObject(OutputStream out, Object value) {
        throw unsupported();
    }

    @Override
    public void writeAbstractObject(OutputStream out, Object value) {
        throw unsupported();
    }

    @Override
    public void registerTarget(Tie tie, java.rmi.Remote target) {
        throw unsupported();
    }

    @Override
    public void unexportObject(java.rmi.Remote target) {
        throw unsupported();
    }

    @Override
    public Tie getTie(java.rmi.Remote target) {
        throw unsupported();
    }

    @Override
    @SuppressWarnings("rawtypes")
    public String getCodebase(Class type) {
        return null;
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Class loadClass(String name, String codebase, ClassLoader loader) throws ClassNotFoundException {
        return Class.forName(name);
    }

    @Override
    public boolean isLocal(Stub stub) {
        return false;
    }

    @Override
    public java.rmi.RemoteException wrapException(Throwable exception) {
        throw unsupported();
    }

    @Override
    public Object copyObject(Object value, ORB orb) {
        throw unsupported();
    }

    @Override
    public Object[] copyObjects(Object[] values, ORB orb) {
        throw unsupported();
    }
}
