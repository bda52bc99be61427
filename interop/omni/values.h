// SPDX-License-Identifier: MIT OR Apache-2.0
// The values of idl/values.idl, and the template of interop/templates.idl, as this program makes them, and the servant that echoes them.
#pragma once

#include "alarms.hh"
#include "further.hh"
#include "templates.hh"

#include <functional>
#include <string>
#include <vector>

/// Gives the private member to those who ask.
class Label : public OBV_Values::Labelled {
public:
    Label() = default;
    // Bases are virtual: the constructors that omniidl makes for derived values do not reach the base's members.
    Label(CORBA::Long x, CORBA::Long y, const char* text, CORBA::Long hidden)
        : OBV_Values::Point(x, y), OBV_Values::Labelled(x, y, text, hidden)
    {
    }

    CORBA::Long secret() const { return hidden(); }
    Values::Labelled* _copy_value() override { return new Label(x(), y(), text(), hidden()); }
};

/// A value of a type that the receiver does not know: it has no factory for it.
class Mark : public OBV_Further::Marked {
public:
    Mark(CORBA::Long x, CORBA::Long y, const char* text, CORBA::Long hidden, Values::Point* part)
        : OBV_Values::Point(x, y), OBV_Values::Labelled(x, y, text, hidden), OBV_Further::Marked(x, y, text, hidden, 7, part)
    {
    }
};

class SpokenNote : public OBV_Values::Note, public CORBA::DefaultValueRefCountBase {
public:
    SpokenNote() = default;
    explicit SpokenNote(const char* text) : OBV_Values::Note(text) {}

    char* describe() override { return CORBA::string_dup((std::string("note: ") + text()).c_str()); }
    Values::Note* _copy_value() override { return new SpokenNote(text()); }
};

/// One more owner of a value.
template <class V> V* shared(V* v)
{
    CORBA::add_ref(v);
    return v;
}

void register_factories(CORBA::ORB_ptr orb);

class EchoServant : public POA_Values::Echo {
public:
    explicit EchoServant(std::function<void()> on_shutdown) : on_shutdown_(std::move(on_shutdown)) {}

    char* describe() override { return CORBA::string_dup("echo"); }
    Values::Point* echo_point(Values::Point* v) override;
    Values::Two* echo_two(const Values::Two& v) override { return new Values::Two(v); }
    Values::Point* echo_points(Values::Point* v, Values::Point*& both, Values::Point_out copy) override;
    Values::Chain* echo_chain(Values::Chain* v) override { return shared(v); }
    Values::Tree* echo_tree(Values::Tree* v) override { return shared(v); }
    Values::Text* echo_text(Values::Text* v) override { return shared(v); }
    Values::Numbers* echo_numbers(Values::Numbers* v) override { return shared(v); }
    CORBA::Any* echo_any(const CORBA::Any& v) override { return new CORBA::Any(v); }
    CORBA::ValueBase* echo_base(CORBA::ValueBase* v) override { return shared(v); }
    Values::Describable_ptr echo_describable(Values::Describable_ptr v) override { return Values::Describable::_duplicate(v); }
    char* description(Values::Describable_ptr v) override;
    void shutdown() override { on_shutdown_(); }

private:
    std::function<void()> on_shutdown_;
};

/// A check of the client, and the object that it calls.
struct ValueCheck {
    std::string name;
    std::function<void(Values::Echo_ptr, PortableServer::POA_ptr)> run;
};

std::vector<ValueCheck> value_checks();
