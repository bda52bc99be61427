// SPDX-License-Identifier: MIT OR Apache-2.0
// A client of the Scheduling Service by TAO's interface: `rtec REFERENCE PRIVILEGED`. Prints a line per
// check; the exit code is the number of those that failed.

#include <iostream>
#include <string>

#include "RtecScheduler.hh"
#include "check.h"

namespace {

RtecScheduler::handle_t application(RtecScheduler::Scheduler_ptr scheduler) {
  using namespace RtecScheduler;
  const handle_t steer = scheduler->create("Rudder::steer");
  const handle_t read = scheduler->create("Gyro::read");
  check("lookup", steer == 1 && scheduler->lookup("Gyro::read") == read);
  scheduler->set(steer, HIGH_CRITICALITY, 100000, 80000, 0, 500000, HIGH_IMPORTANCE, 0, 0,
                 OPERATION);
  scheduler->reset(read, MEDIUM_CRITICALITY, 20000, 0, 0, 0, LOW_IMPORTANCE, 0, 0, OPERATION);
  scheduler->add_dependency(steer, read, 2, RtecBase::TWO_WAY_CALL);
  RT_Info_var info = scheduler->get(steer);
  check("get", std::string(info->entry_point) == "Rudder::steer" &&
                   info->criticality == HIGH_CRITICALITY && info->period == 500000 &&
                   info->dependencies.length() == 1 &&
                   info->dependencies[0].number_of_calls == 2 &&
                   info->dependencies[0].rt_info_depended_on == read);
  check("DUPLICATE_NAME",
        raises<DUPLICATE_NAME>([&] { scheduler->create("Gyro::read"); }));
  check("UNKNOWN_TASK", raises<UNKNOWN_TASK>([&] { info = scheduler->get(9); }));
  CORBA::Long priority = 0, subpriority = 0, queue = 0;
  check("NOT_SCHEDULED", raises<NOT_SCHEDULED>(
                             [&] { scheduler->priority(steer, priority, subpriority, queue); }));
  Scheduling_Anomaly_Set_var anomalies;
  check("NO_PERMISSION", raises<CORBA::NO_PERMISSION>(
                             [&] { scheduler->recompute_scheduling(1, 99, anomalies.out()); }));
  return steer;
}

void computed(RtecScheduler::Scheduler_ptr scheduler, RtecScheduler::Scheduler_ptr privileged,
              RtecScheduler::handle_t steer) {
  using namespace RtecScheduler;
  RT_Info_Set_var infos;
  Dependency_Set_var dependencies;
  Config_Info_Set_var configs;
  Scheduling_Anomaly_Set_var anomalies;
  privileged->compute_scheduling(1, 99, infos.out(), dependencies.out(), configs.out(),
                                 anomalies.out());
  check("compute_scheduling", infos->length() == 2 && infos[0].priority == 99 &&
                                  dependencies->length() == 1 && configs->length() == 1);
  CORBA::Long priority = 0, subpriority = 0, queue = 7;
  scheduler->priority(steer, priority, subpriority, queue);
  check("priority", priority == 99 && queue == 0);
  Dispatching_Type_t dispatching = LAXITY_DISPATCHING;
  scheduler->dispatch_configuration(0, priority, dispatching);
  check("dispatch_configuration", priority == 99 && dispatching == STATIC_DISPATCHING);
  check("UNKNOWN_PRIORITY_LEVEL",
        raises<UNKNOWN_PRIORITY_LEVEL>(
            [&] { scheduler->dispatch_configuration(1, priority, dispatching); }));
  check("last_scheduled_priority", scheduler->last_scheduled_priority() == 0);
  scheduler->set(steer, HIGH_CRITICALITY, 600000, 0, 0, 500000, HIGH_IMPORTANCE, 0, 0, OPERATION);
  check("UTILIZATION_BOUND_EXCEEDED",
        raises<UTILIZATION_BOUND_EXCEEDED>(
            [&] { privileged->recompute_scheduling(1, 99, anomalies.out()); }));
}

RtecScheduler::Scheduler_ptr scheduler(CORBA::ORB_ptr orb, const char* reference) {
  CORBA::Object_var object = orb->string_to_object(reference);
  return RtecScheduler::Scheduler::_narrow(object);
}

}  // namespace

int main(int argc, char** argv) {
  CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
  if (argc != 3) {
    std::cerr << "rtec REFERENCE PRIVILEGED" << std::endl;
    return 2;
  }
  try {
    RtecScheduler::Scheduler_var applications = scheduler(orb, argv[1]);
    RtecScheduler::Scheduler_var privileged = scheduler(orb, argv[2]);
    const RtecScheduler::handle_t steer = application(applications);
    computed(applications, privileged, steer);
  } catch (const CORBA::Exception& exception) {
    std::cout << "FAILED " << exception._name() << std::endl;
    failures += 1;
  }
  orb->destroy();
  return failures;
}
