// SPDX-License-Identifier: MIT OR Apache-2.0
// Object references, the implicit operations and dynamic invocation.
#include "checks.h"
#include "ior.h"

namespace {

void echo_object(World& world)
{
    CORBA::Object_var got = world.peer->echo_object(world.cube);
    require(got->_is_equivalent(world.cube), "the reference differs");
    Cubit::Cube_var cube = Cubit::Cube::_narrow(got);
    require(!CORBA::is_nil(cube), "the reference cannot be narrowed");
    cube->noop();
}

void echo_object_nil(World& world)
{
    CORBA::Object_var got = world.peer->echo_object(CORBA::Object::_nil());
    require(CORBA::is_nil(got), "the reference is not nil");
}

void echo_peer(World& world)
{
    Kitchen::Peer_var got = world.peer->echo_peer(world.peer);
    require(got->_is_equivalent(world.peer), "the reference differs");
    got->ping();
}

void echo_peer_nil(World& world)
{
    Kitchen::Peer_var got = world.peer->echo_peer(Kitchen::Peer::_nil());
    require(CORBA::is_nil(got), "the reference is not nil");
}

/// An object of this process comes back as itself.
void echo_peer_own(World& world)
{
    Kitchen::Peer_var own = activate<Kitchen::Peer>(world.poa, new PeerServant(world.poa));
    own->label("own");
    Kitchen::Peer_var got = world.peer->echo_peer(own);
    CORBA::String_var label = got->label();
    expect(std::string(label.in()), std::string("own"), "the label");
    PortableServer::ObjectId_var id = world.poa->reference_to_id(own);
    world.poa->deactivate_object(id);
}

/// omniORB answers some of these from the type in the reference; a corbaloc has none, so it has to ask.
CORBA::Object_ptr untyped(World& world, CORBA::Object_ptr object)
{
    CORBA::String_var text = world.orb->object_to_string(object);
    return world.orb->string_to_object(ior::corbaloc(ior::parse(text.in()), world.giop_minor).c_str());
}

void is_a(World& world, const char* type, bool want)
{
    CORBA::Object_var object = untyped(world, world.peer);
    expect(object->_is_a(type), want, std::string("_is_a ") + type);
}

/// A reference to an object that is not there, at the address of the server.
CORBA::Object_ptr stranger(World& world, CORBA::Object_ptr object, bool same_adapter)
{
    CORBA::String_var text = world.orb->object_to_string(object);
    ior::Profile profile = ior::parse(text.in());
    profile.key = same_adapter ? profile.key + "gone" : "NoSuchObject";
    return world.orb->string_to_object(ior::corbaloc(profile, world.giop_minor).c_str());
}

void non_existent(World& world, bool same_adapter)
{
    CORBA::Object_var object = stranger(world, world.cube, same_adapter);
    require(object->_non_existent(), "_non_existent is false");
}

void call_not_exist(World& world, bool same_adapter)
{
    CORBA::Object_var object = stranger(world, world.cube, same_adapter);
    Cubit::Cube_var cube = Cubit::Cube::_unchecked_narrow(object);
    try {
        cube->cube_long(3);
    } catch (const CORBA::OBJECT_NOT_EXIST&) {
        return;
    }
    throw std::runtime_error("OBJECT_NOT_EXIST was not raised");
}

void dynamic_call(World& world)
{
    CORBA::Request_var request = world.cube->_request("cube_long");
    request->add_in_arg("v") <<= CORBA::Long(11);
    request->set_return_type(CORBA::_tc_long);
    request->invoke();
    CORBA::Long result = 0;
    require(request->return_value() >>= result, "no result");
    expect(result, 1331, "11 cubed");
}

void unknown_operation(World& world, CORBA::Object_ptr object)
{
    CORBA::Request_var request = object->_request("no_such_operation");
    request->add_in_arg("v") <<= CORBA::Long(11);
    request->set_return_type(CORBA::_tc_long);
    try {
        request->invoke();
        if (CORBA::Exception* e = request->env()->exception())
            e->_raise();
    } catch (const CORBA::BAD_OPERATION& e) {
        expect(e.completed(), CORBA::COMPLETED_NO, "the completion status");
        world.peer->ping();  // the connection goes on
        return;
    }
    throw std::runtime_error("BAD_OPERATION was not raised");
}

/// A client knows the exceptions of an operation only from its IDL.
void dynamic_user_exception(World& world)
{
    CORBA::Request_var request = world.cube->_request("cube_long");
    request->add_in_arg("v") <<= CORBA::Long(5000);
    request->set_return_type(CORBA::_tc_long);
    request->exceptions()->add(Cubit::_tc_TooBig);
    try {
        request->invoke();
        if (CORBA::Exception* e = request->env()->exception())
            e->_raise();
    } catch (const CORBA::UnknownUserException& e) {
        const Cubit::TooBig* held;
        require(const_cast<CORBA::UnknownUserException&>(e).exception() >>= held, "not a TooBig");
        expect(held->limit, 1290, "the limit");
        return;
    }
    throw std::runtime_error("TooBig was not raised");
}

}  // namespace

void add_object(Checks& checks)
{
    auto add = [&checks](const char* name, std::function<void(World&)> run) {
        checks.push_back({std::string("object.") + name, NOTHING, std::move(run)});
    };
    add("echo", echo_object);
    add("echo_nil", echo_object_nil);
    add("echo_peer", echo_peer);
    add("echo_peer_nil", echo_peer_nil);
    add("echo_peer_own", echo_peer_own);
    add("is_a", [](World& w) { is_a(w, "IDL:orbium.test/Kitchen/Peer:1.0", true); });
    add("is_a_base", [](World& w) { is_a(w, "IDL:orbium.test/Kitchen/Base:1.0", true); });
    add("is_a_other", [](World& w) { is_a(w, "IDL:orbium.test/Kitchen/Other:1.0", true); });
    add("is_a_object", [](World& w) { is_a(w, "IDL:omg.org/CORBA/Object:1.0", true); });
    add("is_a_wrong", [](World& w) { is_a(w, "IDL:Cubit/Cube:1.0", false); });
    add("existent", [](World& w) { require(!w.cube->_non_existent(), "_non_existent is true"); });
    add("non_existent_key", [](World& w) { non_existent(w, false); });
    add("non_existent_id", [](World& w) { non_existent(w, true); });
    add("not_exist_key", [](World& w) { call_not_exist(w, false); });
    add("not_exist_id", [](World& w) { call_not_exist(w, true); });
    add("corbaloc_call", [](World& w) {
        CORBA::Object_var object = untyped(w, w.cube);
        Cubit::Cube_var cube = Cubit::Cube::_narrow(object);
        expect(cube->cube_long(5), 125, "5 cubed");
    });
    add("dynamic_call", dynamic_call);
    add("dynamic_user_exception", dynamic_user_exception);
    add("unknown_operation_cube", [](World& w) { unknown_operation(w, w.cube); });
    add("unknown_operation_peer", [](World& w) { unknown_operation(w, w.peer); });
}
