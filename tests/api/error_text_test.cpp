// SPDX-License-Identifier: Apache-2.0
// janus_strerror: each error of rt.h has a name of its own, and no other value has one.
#include "tests/api/in_task.h"

namespace {

using namespace janus::test;

struct Named {
  std::int64_t value;
  const char* name;
};
#define NAMED(value) \
  { value, #value }
constexpr Named kAll[] = {
    NAMED(JANUS_SUCCESS),       NAMED(JANUS_CANCELLED), NAMED(JANUS_PANIC),     NAMED(JANUS_BUDGET_EXCEEDED),
    NAMED(JANUS_PENDING),       NAMED(JANUS_E_CLOSED),  NAMED(JANUS_E_TIMEOUT), NAMED(JANUS_E_WOULD_BLOCK),
    NAMED(JANUS_E_NO_TASK),     NAMED(JANUS_E_NO_CAP),  NAMED(JANUS_E_BUDGET),  NAMED(JANUS_E_NO_MEMORY),
    NAMED(JANUS_E_STALE),       NAMED(JANUS_E_INVALID), NAMED(JANUS_E_STATE),   NAMED(JANUS_E_DEADLOCK),
    NAMED(JANUS_E_UNSUPPORTED),
};

// True if the text has the form "NAME: something".
bool names(const char* text, const char* name) {
  while (*name != 0 && *text == *name) ++text, ++name;
  return *name == 0 && text[0] == ':' && text[1] == ' ' && text[2] != 0;
}

TASK_TEST(error_text, each_value_has_its_name_and_says_what_it_means) {
  for (const Named& each : kAll) CHECK(names(janus_strerror(each.value), each.name));
}

TASK_TEST(error_text, no_other_value_has_one) {
  for (const std::int64_t other : {std::int64_t{1}, std::int64_t{4102}, INT64_MAX})
    CHECK_STREQ(janus_strerror(other), "no error: a value of 0 or more is success");
}

// The kernel's error numbers end at EHWPOISON (133); 41 and 58 are not used.
TASK_TEST(error_text, only_values_that_the_kernel_has_may_be_the_kernels) {
  for (const std::int64_t value : {std::int64_t{-5}, std::int64_t{-32}, std::int64_t{-40}, std::int64_t{-133}})
    CHECK_STREQ(janus_strerror(value),
                "no error of janus-rt: one of the kernel, negated (errno.h), or the task's own value");
  for (const std::int64_t value : {std::int64_t{-41}, std::int64_t{-58}, std::int64_t{-134}, std::int64_t{-1000},
                                   std::int64_t{-4095}, std::int64_t{-4096}, std::int64_t{-4109}, INT64_MIN})
    CHECK_STREQ(janus_strerror(value), "no error of janus-rt: the task's own value");
}

TASK_TEST(error_text, unbuilt_functions_are_said_to_come_in_a_later_release) {
  CHECK_STREQ(janus_strerror(JANUS_E_UNSUPPORTED), "JANUS_E_UNSUPPORTED: not in this release");
}

TASK_TEST(error_text, every_error_that_rt_h_numbers_is_among_them) {
  unsigned found = 0;
  for (std::int64_t value = -5000; value <= 0; ++value) found += janus_strerror(value)[0] == 'J' ? 1u : 0u;
  CHECK_EQ(found, sizeof kAll / sizeof kAll[0]);
}

}  // namespace
