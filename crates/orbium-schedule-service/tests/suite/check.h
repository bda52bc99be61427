// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks of the clients: a line for each, and how many failed.

#ifndef CHECK_H
#define CHECK_H

#include <iostream>

#include <omniORB4/CORBA.h>

namespace {

int failures = 0;

void check(const char* what, bool holds) {
  std::cout << (holds ? "ok " : "FAILED ") << what << std::endl;
  failures += holds ? 0 : 1;
}

template <typename Exception, typename Call>
bool raises(Call call) {
  try {
    call();
  } catch (const Exception&) {
    return true;
  } catch (const CORBA::Exception& other) {
    std::cout << "raised " << other._name() << std::endl;
  }
  return false;
}

}  // namespace

#endif
