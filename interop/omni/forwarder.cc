// SPDX-License-Identifier: MIT OR Apache-2.0
// omni-forwarder --NAME REF… --ior-dir DIR [-ORB options]: for each object a dynamic servant that passes every request on
// as a dynamic request. It knows no IDL but CORBA's own: types come from the Interface Repository of the objects.
#define ENABLE_CLIENT_IR_SUPPORT
#include "options.h"
#include "publish.h"

#include <iostream>
#include <map>
#include <vector>

namespace {

struct Parameter {
    std::string name;
    CORBA::TypeCode_var type;
    CORBA::Flags flags;
};

struct Signature {
    std::vector<Parameter> parameters;
    CORBA::TypeCode_var result = CORBA::TypeCode::_duplicate(CORBA::_tc_void);
    std::vector<CORBA::TypeCode_var> exceptions;
    bool is_oneway = false;
};

CORBA::TypeCode_ptr copy(CORBA::TypeCode_ptr type) { return CORBA::TypeCode::_duplicate(type); }

CORBA::Flags flags(CORBA::ParameterMode mode)
{
    return mode == CORBA::PARAM_IN ? CORBA::ARG_IN : mode == CORBA::PARAM_OUT ? CORBA::ARG_OUT : CORBA::ARG_INOUT;
}

Signature signature(const CORBA::OperationDescription& it)
{
    Signature signature;
    for (CORBA::ULong i = 0; i < it.parameters.length(); ++i) {
        const CORBA::ParameterDescription& parameter = it.parameters[i];
        signature.parameters.push_back({parameter.name.in(), copy(parameter.type), flags(parameter.mode)});
    }
    for (CORBA::ULong i = 0; i < it.exceptions.length(); ++i)
        signature.exceptions.push_back(copy(it.exceptions[i].type));
    signature.result = copy(it.result);
    signature.is_oneway = it.mode == CORBA::OP_ONEWAY;
    return signature;
}

class Forwarder : public PortableServer::DynamicImplementation {
public:
    Forwarder(CORBA::ORB_ptr orb, CORBA::Object_ptr target)
        : orb_(CORBA::ORB::_duplicate(orb)), target_(CORBA::Object::_duplicate(target))
    {
        CORBA::InterfaceDef_var definition = target->_get_interface();
        CORBA::InterfaceDef::FullInterfaceDescription_var description = definition->describe_interface();
        id_ = description->id.in();
        for (CORBA::ULong i = 0; i < description->operations.length(); ++i)
            operations_[description->operations[i].name.in()] = signature(description->operations[i]);
        for (CORBA::ULong i = 0; i < description->attributes.length(); ++i) {
            const CORBA::AttributeDescription& it = description->attributes[i];
            operations_[std::string("_get_") + it.name.in()].result = copy(it.type);
            if (it.mode == CORBA::ATTR_NORMAL)
                operations_[std::string("_set_") + it.name.in()].parameters.push_back({"v", copy(it.type), CORBA::ARG_IN});
        }
    }

    void invoke(CORBA::ServerRequest_ptr request) override
    {
        const auto found = operations_.find(request->operation());
        if (found == operations_.end())
            throw CORBA::BAD_OPERATION(0, CORBA::COMPLETED_NO);
        const Signature& signature = found->second;
        CORBA::NVList_var arguments;
        orb_->create_list(0, arguments);
        for (const Parameter& it : signature.parameters) {
            CORBA::Any value;
            value.replace(it.type, nullptr);
            arguments->add_value(it.name.c_str(), value, it.flags);
        }
        CORBA::NVList_ptr shared = CORBA::NVList::_duplicate(arguments);
        request->arguments(shared);
        pass_on(*request, signature, arguments);
    }

    char* _primary_interface(const PortableServer::ObjectId&, PortableServer::POA_ptr) override
    {
        return CORBA::string_dup(id_.c_str());
    }

    CORBA::Boolean _is_a(const char* id) override { return target_->_is_a(id); }

private:
    /// Both requests have the same list: what comes back in it is what is sent back.
    void pass_on(CORBA::ServerRequest& request, const Signature& signature, CORBA::NVList_ptr arguments)
    {
        CORBA::NamedValue_var result;
        orb_->create_named_value(result);
        result->value()->replace(signature.result, nullptr);
        CORBA::ExceptionList_var exceptions;
        orb_->create_exception_list(exceptions);
        for (const CORBA::TypeCode_var& it : signature.exceptions)
            exceptions->add(it);
        CORBA::Request_var call;
        target_->_create_request(CORBA::Context::_nil(), request.operation(), arguments, result, exceptions,
                                 CORBA::ContextList::_nil(), call, 0);
        if (signature.is_oneway)
            return call->send_oneway();
        call->invoke();
        CORBA::Exception* raised = call->env()->exception();
        if (CORBA::UnknownUserException* user = CORBA::UnknownUserException::_downcast(raised))
            return request.set_exception(user->exception());
        if (raised)
            raised->_raise();
        if (signature.result->kind() != CORBA::tk_void)
            request.set_result(*call->result()->value());
    }

    CORBA::ORB_var orb_;
    CORBA::Object_var target_;
    std::string id_;
    std::map<std::string, Signature> operations_;
};

void serve(const Options& options, const std::map<std::string, std::string>& targets, const std::string& dir)
{
    CORBA::ORB_var orb = options.init();
    PortableServer::POA_var poa = options.adapter(orb);
    for (const auto& [name, reference] : targets) {
        std::string text = reference;
        std::ifstream(reference) >> text;
        CORBA::Object_var target = orb->string_to_object(text.c_str());
        PortableServer::ObjectId_var id = poa->activate_object(new Forwarder(orb, target));
        CORBA::Object_var front = poa->id_to_reference(id);
        publish(orb, front, dir + "/" + name + ".ior");
    }
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    std::cout << "READY" << std::endl;
    orb->run();
}

}  // namespace

int main(int argc, char** argv)
{
    std::string dir;
    std::map<std::string, std::string> targets;
    const Options options(argc, argv, [&](const std::string& name, const std::string& value) {
        if (name == "--ior-dir")
            dir = value;
        else if (name == "--cube" || name == "--receiver" || name == "--peer")
            targets[name.substr(2)] = value;
        else
            return 0;
        return 2;
    });
    if (dir.empty() || targets.empty()) {
        std::cerr << "usage: omni-forwarder [--cube REF] [--receiver REF] [--peer REF] --ior-dir DIR [-ORB options]" << std::endl;
        return 2;
    }
    try {
        serve(options, targets, dir);
    } catch (const CORBA::Exception& e) {
        std::cerr << "omni-forwarder: " << e._name() << std::endl;
        return 1;
    } catch (const std::exception& e) {
        std::cerr << "omni-forwarder: " << e.what() << std::endl;
        return 1;
    }
    return 0;
}
