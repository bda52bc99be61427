// SPDX-License-Identifier: MIT OR Apache-2.0
// A client of the Scheduling Service: `schedule REFERENCE PRIVILEGED`. Prints a line per check; the
// exit code is the number of those that failed.

#include <iostream>

#include "RTScheduler.hh"
#include "check.h"

namespace {

void application(RT_Scheduler::Scheduler_ptr scheduler) {
  const RT_Scheduler::handle_t steer = scheduler->create("Rudder::steer");
  const RT_Scheduler::handle_t read = scheduler->create("Gyro::read");
  check("handles are dense from 1", steer == 1 && read == 2);
  check("lookup", scheduler->lookup("Gyro::read") == read);
  scheduler->set(steer, 100000, 80000, 0, 500000, RT_Scheduler::HIGH_IMPORTANCE, 0, 0);
  scheduler->set(read, 20000, 0, 0, 0, RT_Scheduler::MEDIUM_IMPORTANCE, 0, 0);
  scheduler->add_dependency(steer, read, 2);
  RT_Scheduler::RT_Info_var info = scheduler->get(steer);
  check("get", std::string(info->entry_point_) == "Rudder::steer" &&
                   info->typical_execution_time_ == 80000 && info->period_ == 500000 &&
                   info->importance_ == RT_Scheduler::HIGH_IMPORTANCE &&
                   info->dependencies_.length() == 1 &&
                   info->dependencies_[0].number_of_calls == 2);
  check("DUPLICATE_NAME", raises<RT_Scheduler::DUPLICATE_NAME>(
                              [&] { scheduler->create("Gyro::read"); }));
  check("UNKNOWN_TASK",
        raises<RT_Scheduler::UNKNOWN_TASK>([&] { info = scheduler->get(9); }));
  CORBA::Long priority = 0, subpriority = 0, queue = 0;
  check("NOT_SCHEDULED", raises<RT_Scheduler::NOT_SCHEDULED>(
                             [&] { scheduler->priority(steer, priority, subpriority, queue); }));
  RT_Scheduler::RT_Info_Set_var infos;
  check("NO_PERMISSION", raises<CORBA::NO_PERMISSION>(
                             [&] { scheduler->compute_scheduling(1, 99, infos.out()); }));
}

void computed(RT_Scheduler::Scheduler_ptr scheduler, RT_Scheduler::Scheduler_ptr privileged) {
  RT_Scheduler::RT_Info_Set_var infos;
  privileged->compute_scheduling(1, 99, infos.out());
  check("compute_scheduling", infos->length() == 2 && infos[0].priority_ == 99);
  CORBA::Long priority = 0, subpriority = 0, queue = 7;
  scheduler->entry_point_priority("Gyro::read", priority, subpriority, queue);
  check("entry_point_priority", priority == 99 && queue == 0);
  const RT_Scheduler::handle_t hog = scheduler->create("Hog::run");
  scheduler->set(hog, 900000, 0, 0, 1000000, RT_Scheduler::LOW_IMPORTANCE, 0, 0);
  check("INSUFFICIENT_PRIORITY_LEVELS",
        raises<RT_Scheduler::INSUFFICIENT_PRIORITY_LEVELS>(
            [&] { privileged->compute_scheduling(5, 5, infos.out()); }));
  check("UTILIZATION_BOUND_EXCEEDED",
        raises<RT_Scheduler::UTILIZATION_BOUND_EXCEEDED>(
            [&] { privileged->compute_scheduling(1, 99, infos.out()); }));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    if (argc != 3) return 100;
    CORBA::Object_var object = orb->string_to_object(argv[1]);
    RT_Scheduler::Scheduler_var scheduler = RT_Scheduler::Scheduler::_narrow(object);
    object = orb->string_to_object(argv[2]);
    RT_Scheduler::Scheduler_var privileged = RT_Scheduler::Scheduler::_narrow(object);
    check("narrow", !CORBA::is_nil(scheduler) && !CORBA::is_nil(privileged));
    application(scheduler);
    computed(scheduler, privileged);
    orb->destroy();
  } catch (const CORBA::Exception& exception) {
    std::cout << "FAILED by " << exception._name() << std::endl;
    return 101;
  }
  return failures;
}
