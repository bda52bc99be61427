// SPDX-License-Identifier: MIT OR Apache-2.0
// omni-server --ior-dir DIR [--giop 1.0|1.1] [--bidirectional] [-ORB options]: serves cubit.idl, ttcp.idl and kitchen.idl.
#include "options.h"
#include "publish.h"
#include "servants.h"

#include <csignal>
#include <iostream>
#include <thread>

namespace {

void serve(const Options& options, const std::string& dir)
{
    sigset_t signals;  // blocked before the ORB makes threads, so that only ours receives them
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);

    CORBA::ORB_var orb = options.init();
    PortableServer::POA_var poa = options.adapter(orb);
    Cubit::Cube_var cube = activate<Cubit::Cube>(poa, new CubeServant([&orb] { orb->shutdown(false); }));
    Ttcp::Receiver_var receiver = activate<Ttcp::Receiver>(poa, new ReceiverServant);
    Kitchen::Peer_var peer = activate<Kitchen::Peer>(poa, new PeerServant(poa));
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();

    publish(orb, cube, dir + "/cube.ior");
    publish(orb, receiver, dir + "/receiver.ior");
    publish(orb, peer, dir + "/peer.ior");
    std::cout << "READY" << std::endl;

    std::thread([own = CORBA::ORB_var(orb), signals] {
        int signal;
        sigwait(&signals, &signal);
        try {
            own->shutdown(false);
        } catch (const CORBA::Exception&) {
            // Cube::shutdown came first.
        }
    }).detach();
    orb->run();
    orb->destroy();
}

}  // namespace

int main(int argc, char** argv)
{
    std::string dir;
    const Options options(argc, argv, [&dir](const std::string& name, const std::string& value) {
        if (name != "--ior-dir")
            return 0;
        dir = value;
        return 2;
    });
    if (dir.empty()) {
        std::cerr << "usage: omni-server --ior-dir DIR [--giop 1.0|1.1] [--bidirectional] [-ORB options]" << std::endl;
        return 2;
    }
    try {
        serve(options, dir);
    } catch (const CORBA::Exception& e) {
        std::cerr << "omni-server: " << e._name() << std::endl;
        return 1;
    } catch (const std::exception& e) {
        std::cerr << "omni-server: " << e.what() << std::endl;
        return 1;
    }
    std::cout.flush();
    std::quick_exit(0);  // the signal thread still waits
}
