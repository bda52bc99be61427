// SPDX-License-Identifier: MIT OR Apache-2.0
// Values: null, shared, cyclic, cut down, boxed, in anys, through an abstract interface.
#include "values.h"

#include <sstream>
#include <stdexcept>

namespace {

using Echo = Values::Echo_ptr;
using Poa = PortableServer::POA_ptr;
using Point = Values::Point_var;

void require(bool condition, const std::string& otherwise)
{
    if (!condition)
        throw std::runtime_error(otherwise);
}

template <class A, class B> void expect(const A& got, const B& want, const std::string& what)
{
    if (got == want)
        return;
    std::ostringstream text;
    text << what << " is " << got << " instead of " << want;
    throw std::runtime_error(text.str());
}

std::string label_of(CORBA::Long x) { return "label " + std::to_string(x); }

Values::Point* point(CORBA::Long x, CORBA::Long y) { return new OBV_Values::Point(x, y); }

Values::Labelled* labelled(CORBA::Long x) { return new Label(x, x + 1, label_of(x).c_str(), x - 1); }

// A value with two values in its state, which are in chunks of their own.
Values::Arrow* arrow(CORBA::Long x)
{
    return new OBV_Values::Arrow(x, x + 1, point(x + 2, x + 3), labelled(x + 4));
}

Further::Marked* marked(CORBA::Long x, Values::Point* part)
{
    return new Mark(x, x + 1, label_of(x).c_str(), x - 1, part);
}

Values::Two two(Values::Point* first, Values::Point* second)
{
    Values::Two v;
    v.first = shared(first);
    v.second = shared(second);
    return v;
}

void same_point(Values::Point* got, CORBA::Long x, CORBA::Long y)
{
    require(got, "the point is null");
    expect(std::string(got->_NP_repositoryId()), Values::Point::_PD_repoId, "the type");
    expect(got->x(), x, "x");
    expect(got->y(), y, "y");
}

void same_labelled(CORBA::ValueBase* got, CORBA::Long x)
{
    Label* label = dynamic_cast<Label*>(got);
    require(label, got ? std::string("the value is a ") + got->_NP_repositoryId() : "the value is null");
    expect(std::string(got->_NP_repositoryId()), Values::Labelled::_PD_repoId, "the type");
    expect(label->x(), x, "x");
    expect(label->y(), x + 1, "y");
    expect(std::string(label->text()), label_of(x), "the text");
    expect(label->secret(), x - 1, "the private member");
}

void same_arrow(Values::Point* got, CORBA::Long x)
{
    Values::Arrow* arrow = Values::Arrow::_downcast(got);
    require(arrow, "the value is no Arrow");
    expect(arrow->y(), x + 1, "y");
    same_point(arrow->head(), x + 2, x + 3);
    same_labelled(arrow->tail(), x + 4);
}

void labelled_comes_back(Echo echo, Values::Point* sent, CORBA::Long x)
{
    Point owner = sent;
    Point got = echo->echo_point(sent);
    same_labelled(got, x);
}

Values::Tree* tree(const char* name, std::initializer_list<Values::Tree*> children)
{
    Values::Trees list;
    list.length(static_cast<CORBA::ULong>(children.size()));
    CORBA::ULong i = 0;
    for (Values::Tree* child : children)
        list[i++] = shared(child);
    return new OBV_Values::Tree(name, list);
}

// A ring of so many links, numbered from 0.
Values::Chain* ring(CORBA::Long length)
{
    Values::Chain_var last = new OBV_Values::Chain(nullptr, length - 1);
    Values::Chain_var first = shared(last.in());
    for (CORBA::Long v = length - 2; v >= 0; --v)
        first = new OBV_Values::Chain(first._retn(), v);
    last->next(first);
    return first._retn();
}

void around(Values::Chain* first, CORBA::Long length)
{
    Values::Chain* link = first;
    for (CORBA::Long v = 0; v < length; ++v) {
        require(link, "the ring is open");
        expect(link->v(), v, "a link");
        link = link->next();
    }
    require(link == first, "the ring is not closed");
}

void cycle(Echo echo, CORBA::Long length)
{
    Values::Chain_var sent = ring(length);
    Values::Chain_var got = echo->echo_chain(sent);
    sent->next(nullptr);
    around(got, length);
    got->next(nullptr);
}

Values::Refused refused(Echo echo, Values::Point* sent)
{
    try {
        Point got = echo->echo_point(sent);
    } catch (const Values::Refused& refused) {
        return refused;
    }
    throw std::runtime_error("Refused was not raised");
}

template <class F> void expect_marshal(F call)
{
    try {
        call();
    } catch (const CORBA::MARSHAL&) {
        return;
    }
    throw std::runtime_error("MARSHAL was not raised");
}

void one_or_two(Echo echo, Values::Point* first, Values::Point* second, bool one)
{
    const Values::Two sent = two(first, second);
    Values::Two_var got = echo->echo_two(sent);
    require(got->first.in() && got->second.in(), "a value is null");
    require((got->first.in() == got->second.in()) == one, one ? "one value became two" : "two values became one");
}

using Add = std::function<void(const char*, std::function<void(Echo, Poa)>)>;

void add_states(const Add& add)
{
    add("null", [](Echo e, Poa) {
        Point got = e->echo_point(nullptr);
        require(!got.in(), "the point is not null");
    });
    add("point", [](Echo e, Poa) {
        Point sent = point(1, -2), got = e->echo_point(sent);
        same_point(got, 1, -2);
    });
    add("labelled", [](Echo e, Poa) { labelled_comes_back(e, labelled(3), 3); });
    add("arrow", [](Echo e, Poa) {
        Point sent = arrow(4), got = e->echo_point(sent);
        same_arrow(got, 4);
    });
    add("truncated", [](Echo e, Poa) { labelled_comes_back(e, marked(5, nullptr), 5); });
    add("truncated_nested", [](Echo e, Poa) { labelled_comes_back(e, marked(7, arrow(6)), 7); });
    add("unknown", [](Echo e, Poa) {
        Point sent = new OBV_Further::Solid(1, 2, 3);
        expect_marshal([&] { Point got = e->echo_point(sent); });
    });
    add("refused", [](Echo e, Poa) {
        Point sent = point(-8, 8);
        same_point(refused(e, sent).where, -8, 8);
    });
    add("refused_labelled", [](Echo e, Poa) {
        Point sent = labelled(-8);
        same_labelled(refused(e, sent).where, -8);
    });
    add("text", [](Echo e, Poa) {
        Values::Text_var sent = new Values::Text("boxed"), got = e->echo_text(sent);
        require(got.in(), "the box is null");
        expect(std::string(got->_value()), "boxed", "the text");
    });
    add("text_null", [](Echo e, Poa) {
        Values::Text_var got = e->echo_text(nullptr);
        require(!got.in(), "the box is not null");
    });
    add("numbers", [](Echo e, Poa) {
        Values::Numbers_var sent = new Values::Numbers;
        sent->length(3);
        for (CORBA::ULong i = 0; i < 3; ++i)
            (*sent)[i] = static_cast<CORBA::Long>(i) - 1;
        Values::Numbers_var got = e->echo_numbers(sent);
        require(got.in() && got->length() == 3, "the length differs");
        for (CORBA::ULong i = 0; i < 3; ++i)
            expect((*got)[i], (*sent)[i], "a number");
    });
    add("base", [](Echo e, Poa) {
        CORBA::ValueBase_var sent = labelled(9), got = e->echo_base(sent);
        same_labelled(got, 9);
    });
    add("base_null", [](Echo e, Poa) {
        CORBA::ValueBase_var got = e->echo_base(nullptr);
        require(!got.in(), "the value is not null");
    });
    add("base_truncated", [](Echo e, Poa) {
        CORBA::ValueBase_var sent = marked(10, nullptr), got = e->echo_base(sent);
        same_labelled(got, 10);
    });
    add("event", [](Echo e, Poa) {
        CORBA::ValueBase_var sent = new OBV_Alarms::Alarm(3, "hot"), got = e->echo_base(sent);
        Alarms::Alarm* alarm = dynamic_cast<Alarms::Alarm*>(got.in());
        require(alarm, "the value is no Alarm");
        expect(alarm->level(), 3, "the level");
        expect(std::string(alarm->text()), "hot", "the text");
    });
    add("base_unknown", [](Echo e, Poa) {
        CORBA::ValueBase_var sent = new OBV_Further::Solid(1, 2, 3);
        expect_marshal([&] { CORBA::ValueBase_var got = e->echo_base(sent); });
    });
}

void add_graphs(const Add& add)
{
    add("two", [](Echo e, Poa) {
        Point first = point(1, 2), second = point(1, 2);
        one_or_two(e, first, second, false);
    });
    add("two_shared", [](Echo e, Poa) {
        Point sent = point(1, 2);
        one_or_two(e, sent, sent, true);
    });
    add("two_shared_labelled", [](Echo e, Poa) {
        Point sent = labelled(12);
        one_or_two(e, sent, sent, true);
    });
    add("truncated_shared", [](Echo e, Poa) {
        Point sent = marked(13, nullptr);
        one_or_two(e, sent, sent, true);
    });
    add("truncated_part_shared", [](Echo e, Poa) {
        Point part = point(14, 15);
        Point whole = marked(16, shared(part.in()));
        const Values::Two sent = two(whole, part);
        Values::Two_var got = e->echo_two(sent);
        same_labelled(got->first.in(), 16);
        same_point(got->second.in(), 14, 15);
    });
    add("points", [](Echo e, Poa) {
        Point sent = point(1, 2), both = shared(sent.in()), copy;
        Point got = e->echo_points(sent, both.inout(), copy.out());
        same_point(got, 1, 2);
        require(got.in() == copy.in() && got.in() == both.in(), "one value became several");
    });
    add("chain", [](Echo e, Poa) {
        Values::Chain_var first;
        for (CORBA::Long v = 99; v >= 0; --v)
            first = new OBV_Values::Chain(first._retn(), v);
        Values::Chain_var got = e->echo_chain(first);
        Values::Chain* link = got;
        for (CORBA::Long v = 0; v < 100; ++v, link = link->next()) {
            require(link, "the chain ends too early");
            expect(link->v(), v, "a link");
        }
        require(!link, "the chain does not end");
    });
    add("cycle", [](Echo e, Poa) { cycle(e, 3); });
    add("cycle_of_one", [](Echo e, Poa) { cycle(e, 1); });
    add("tree", [](Echo e, Poa) {
        Values::Tree_var leaf = tree("leaf", {}), twig = tree("twig", {leaf});
        Values::Tree_var sent = tree("root", {leaf, nullptr, twig, leaf});
        Values::Tree_var got = e->echo_tree(sent);
        require(got.in(), "the tree is null");
        Values::Trees& children = got->children();
        expect(children.length(), 4U, "the number of children");
        require(children[0].in() && children[0].in() == children[3].in(), "a leaf became two");
        require(!children[1].in(), "a child is not null");
        require(children[2]->children()[0].in() == children[0].in(), "a leaf became three");
    });
}

void add_anys(const Add& add)
{
    add("any", [](Echo e, Poa) {
        Point sent = point(1, 2);
        CORBA::Any any;
        any <<= sent.in();
        CORBA::Any_var got = e->echo_any(any);
        Values::Point* value;
        require(got >>= value, "the any has another type");
        same_point(value, 1, 2);
    });
    add("any_null", [](Echo e, Poa) {
        CORBA::Any any;
        any <<= static_cast<Values::Point*>(nullptr);
        CORBA::Any_var got = e->echo_any(any);
        Values::Point* value;
        require(got >>= value, "the any has another type");
        require(!value, "the point is not null");
    });
    add("any_labelled", [](Echo e, Poa) {
        Values::Labelled_var sent = labelled(20);
        CORBA::Any any;
        any <<= sent.in();
        CORBA::Any_var got = e->echo_any(any);
        Values::Labelled* value;
        require(got >>= value, "the any has another type");
        same_labelled(value, 20);
    });
    add("any_of_base", [](Echo e, Poa) {
        Point sent = labelled(21);
        CORBA::Any any;
        any <<= sent.in();
        CORBA::Any_var got = e->echo_any(any);
        Values::Point* value;
        require(got >>= value, "the any has another type");
        same_labelled(value, 21);
    });
    add("any_cycle", [](Echo e, Poa) {
        Values::Chain_var sent = ring(2);
        CORBA::Any any;
        any <<= sent.in();
        CORBA::Any_var got = e->echo_any(any);
        Values::Chain* value;
        require(got >>= value, "the any has another type");
        around(value, 2);
    });
    add("any_text", [](Echo e, Poa) {
        Values::Text_var sent = new Values::Text("boxed");
        CORBA::Any any;
        any <<= sent.in();
        CORBA::Any_var got = e->echo_any(any);
        Values::Text* value;
        require((got >>= value) && value, "the any has another type");
        expect(std::string(value->_value()), "boxed", "the text");
    });
    add("any_two_shared", [](Echo e, Poa) {
        Point sent = point(1, 2);
        CORBA::Any any;
        any <<= two(sent, sent);
        CORBA::Any_var got = e->echo_any(any);
        const Values::Two* value;
        require(got >>= value, "the any has another type");
        require(value->first.in() && value->first.in() == value->second.in(), "one value became two");
    });
}

void add_interfaces(const Add& add)
{
    add("describable_null", [](Echo e, Poa) {
        Values::Describable_var got = e->echo_describable(Values::Describable::_nil());
        require(CORBA::is_nil(got), "the item is not nil");
    });
    add("describable_value", [](Echo e, Poa) {
        Values::Note_var sent = new SpokenNote("text");
        Values::Describable_var got = e->echo_describable(sent.in());
        CORBA::ValueBase_var value = got->_to_value();
        Values::Note* note = Values::Note::_downcast(value);
        require(note, "it is no Note");
        expect(std::string(note->text()), "text", "the text");
        CORBA::String_var said = got->describe();
        expect(std::string(said.in()), "note: text", "its description");
    });
    add("describable_object", [](Echo e, Poa) {
        Values::Describable_var got = e->echo_describable(e);
        CORBA::String_var said = got->describe();
        expect(std::string(said.in()), "echo", "its description");
    });
    add("description_null", [](Echo e, Poa) {
        CORBA::String_var said = e->description(Values::Describable::_nil());
        expect(std::string(said.in()), "nothing", "the text");
    });
    add("description_value", [](Echo e, Poa) {
        Values::Note_var sent = new SpokenNote("own");
        CORBA::String_var said = e->description(sent.in());
        expect(std::string(said.in()), "note: own", "the text");
    });
    add("description_object", [](Echo e, Poa poa) {
        PortableServer::Servant_var<EchoServant> servant(new EchoServant([] {}));
        PortableServer::ObjectId_var id = poa->activate_object(servant);
        Values::Echo_var own = servant->_this();
        CORBA::String_var said = e->description(own.in());
        poa->deactivate_object(id);
        expect(std::string(said.in()), "echo", "the text");
    });
}

}  // namespace

std::vector<ValueCheck> value_checks()
{
    std::vector<ValueCheck> checks;
    const Add add = [&checks](const char* name, std::function<void(Echo, Poa)> run) {
        checks.push_back({std::string("values.") + name, std::move(run)});
    };
    add_states(add);
    add_graphs(add);
    add_anys(add);
    add_interfaces(add);
    return checks;
}
