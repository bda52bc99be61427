// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import Cubit.Cube;
import Kitchen.Peer;
import Ttcp.Receiver;
import org.omg.CORBA.ORB;
import org.omg.PortableServer.POA;

/** The object references under test and the client's own side. */
record World(ORB orb, POA poa, Cube cube, Receiver receiver, Peer peer, int giopMinor, boolean shutdown) {}
