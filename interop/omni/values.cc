// SPDX-License-Identifier: MIT OR Apache-2.0
#include "values.h"

namespace {

template <class Value> class Factory : public CORBA::ValueFactoryBase {
    CORBA::ValueBase* create_for_unmarshal() override { return new Value; }
};

template <class Value> void add(CORBA::ORB_ptr orb, const char* id)
{
    CORBA::ValueFactoryBase_var factory(new Factory<Value>);
    CORBA::ValueFactoryBase_var replaced(orb->register_value_factory(id, factory));
}

}  // namespace

void register_factories(CORBA::ORB_ptr orb)
{
    add<OBV_Values::Point>(orb, Values::Point::_PD_repoId);
    add<Label>(orb, Values::Labelled::_PD_repoId);
    add<OBV_Values::Arrow>(orb, Values::Arrow::_PD_repoId);
    add<OBV_Values::Chain>(orb, Values::Chain::_PD_repoId);
    add<OBV_Values::Tree>(orb, Values::Tree::_PD_repoId);
    add<SpokenNote>(orb, Values::Note::_PD_repoId);
    add<OBV_Alarms::Alarm>(orb, Alarms::Alarm::_PD_repoId);
    add<OBV_orbium::PortableInterceptor::AdapterTemplate>(orb, orbium::PortableInterceptor::AdapterTemplate::_PD_repoId);
}

Values::Point* EchoServant::echo_point(Values::Point* v)
{
    if (v && v->x() < 0) {
        Values::Refused refused;
        refused.where = shared(v);
        throw refused;
    }
    return shared(v);
}

Values::Point* EchoServant::echo_points(Values::Point* v, Values::Point*&, Values::Point_out copy)
{
    copy = shared(v);
    return shared(v);
}

char* EchoServant::description(Values::Describable_ptr v)
{
    return CORBA::is_nil(v) ? CORBA::string_dup("nothing") : v->describe();
}
