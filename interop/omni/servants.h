// SPDX-License-Identifier: MIT OR Apache-2.0
// The servants of the omniORB server; the client uses PeerServant as the target of call-backs.
#pragma once

#include "specimen.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>

class CubeServant : public POA_Cubit::Cube {
public:
    explicit CubeServant(std::function<void()> on_shutdown) : on_shutdown_(std::move(on_shutdown)) {}

    void noop() override;
    void post(CORBA::Long) override;
    CORBA::Octet cube_octet(CORBA::Octet v) override;
    CORBA::Short cube_short(CORBA::Short v) override;
    CORBA::Long cube_long(CORBA::Long v) override;
    Cubit::Many cube_many(const Cubit::Many& v) override;
    Cubit::Oneof cube_union(const Cubit::Oneof& v) override;
    void cube_longs(const Cubit::Longs& v, Cubit::Longs_out cubes) override;
    Cubit::Octets* echo_octets(const Cubit::Octets& v) override;
    Cubit::Longs* echo_longs(const Cubit::Longs& v) override;
    Cubit::Manys* echo_manys(const Cubit::Manys& v) override;
    CORBA::ULongLong calls() override;
    void shutdown() override;

private:
    std::atomic<CORBA::ULongLong> calls_{0};
    std::function<void()> on_shutdown_;
};

class ReceiverServant : public POA_Ttcp::Receiver {
public:
    void send_shorts(const Ttcp::Shorts& v) override;
    void send_chars(const Ttcp::Chars& v) override;
    void send_longs(const Ttcp::Longs& v) override;
    void send_octets(const Ttcp::Octets& v) override;
    void send_doubles(const Ttcp::Doubles& v) override;
    void send_structs(const Ttcp::Structs& v) override;
    Ttcp::Tally stop_timer() override;
    void start_timer() override;
    Ttcp::Structs* echo_structs(const Ttcp::Structs& v) override;

    CORBA::Boolean _dispatch(omniCallHandle& call) override;

private:
    template <class S, class F> void add(const S& v, F value);
    void wait_for_sends(std::unique_lock<std::mutex>& lock);

    std::mutex mutex_;
    std::condition_variable changed_;
    CORBA::ULongLong arrived_ = 0;  // sends whose header was read
    CORBA::ULongLong added_ = 0;    // sends that are in the tally
    Ttcp::Tally tally_{0, 0, 0};
};

class PeerServant : public POA_Kitchen::Peer {
public:
    explicit PeerServant(PortableServer::POA_ptr poa) : poa_(PortableServer::POA::_duplicate(poa)) {}

    char* label() override;
    void label(const char* v) override;
    Kitchen::Colour shade() override { return Kitchen::blue; }
    void ping() override {}
    Kitchen::Uuid_slice* ident() override;

    Kitchen::Scalars echo_scalars(const Kitchen::Scalars& v, Kitchen::Scalars& copy, Kitchen::Scalars& both) override;
    char* echo_string(const char* v, CORBA::String_out copy, char*& both) override;
    CORBA::WChar* echo_wstring(const CORBA::WChar* v) override { return CORBA::wstring_dup(v); }
    Kitchen::Mixed* echo_mixed(const Kitchen::Mixed& v) override { return new Kitchen::Mixed(v); }
    Kitchen::Mixeds* echo_mixeds(const Kitchen::Mixeds& v) override { return new Kitchen::Mixeds(v); }
    Kitchen::Node* echo_tree(const Kitchen::Node& v) override { return new Kitchen::Node(v); }
    Kitchen::Table* echo_table(const Kitchen::Table& v) override { return new Kitchen::Table(v); }
    Kitchen::Matrix_slice* echo_matrix(const Kitchen::Matrix v) override { return Kitchen::Matrix_dup(v); }
    Kitchen::Money echo_money(const Kitchen::Money& v) override { return v; }
    Kitchen::ByColour* echo_by_colour(const Kitchen::ByColour& v) override { return new Kitchen::ByColour(v); }
    Kitchen::ByBool* echo_by_bool(const Kitchen::ByBool& v) override { return new Kitchen::ByBool(v); }
    Kitchen::ByChar* echo_by_char(const Kitchen::ByChar& v) override { return new Kitchen::ByChar(v); }
    Kitchen::ByLong* echo_by_long(const Kitchen::ByLong& v) override { return new Kitchen::ByLong(v); }
    CORBA::Any* echo_any(const CORBA::Any& v) override { return new CORBA::Any(v); }
    CORBA::Object_ptr echo_object(CORBA::Object_ptr v) override { return CORBA::Object::_duplicate(v); }
    Kitchen::Peer_ptr echo_peer(Kitchen::Peer_ptr v) override { return Kitchen::Peer::_duplicate(v); }
    Kitchen::Peers* make_peers(CORBA::ULong n) override;
    void call_back(Kitchen::Peer_ptr target, CORBA::Long depth) override;
    void refuse(CORBA::Boolean bare) override;
    void system_exception(const char* name) override { specimen::raise(name); }
    void notify(const char*) override { ++notified_; }
    CORBA::Long slow(CORBA::ULong milliseconds) override;
    CORBA::Long interface(CORBA::Long module, const char* select) override;
    CORBA::Long match(CORBA::Long self, CORBA::Long type) override { return self + type; }

    /// How often `call_back` was called on this object.
    unsigned called_back() const { return called_back_; }

private:
    PortableServer::POA_var poa_;
    std::mutex mutex_;
    std::string label_;
    std::atomic<unsigned> notified_{0};
    std::atomic<unsigned> called_back_{0};
};

/// Activates a servant of class Impl under `poa`, which then owns it, and gives its reference.
template <class Interface, class Impl>
typename Interface::_ptr_type activate(PortableServer::POA_ptr poa, Impl* servant)
{
    PortableServer::ServantBase_var owner(servant);
    PortableServer::ObjectId_var id = poa->activate_object(servant);
    CORBA::Object_var object = poa->id_to_reference(id);
    return Interface::_narrow(object);
}
