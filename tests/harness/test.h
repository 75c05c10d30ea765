// SPDX-License-Identifier: Apache-2.0
// tests/harness/test.h — one way to write a test for all environments: freestanding, hosted under a sanitizer, or
// inside the root task of a program. A test registers itself in a linker section, so that no constructor runs before
// main. docs/decisions/0040
//
//   TEST(parker, a_token_left_before_park_is_not_lost) {
//     REQUIRE(parker != nullptr);              // ends the test if it does not hold
//     CHECK(parker->park(kForever));           // continues; returns whether it held
//     CHECK_EQ(fake_platform::waits(), 0u);    // reports both values; signs may differ
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

namespace janus::test {

struct Case {
  const char* suite;
  const char* name;
  void (*run)();
  const char* file;
  int line;
};

// Runs the tests that the arguments select and prints TAP 13: [--list] [NAME...], where a NAME is a part of
// "suite.name". 0: all passed; 1: some failed; 2: none was selected.
int run_all(int argc, char** argv, char** envp);

// Writes lines; each kind of main defines it.
void emit(const char* text, std::size_t count);

// --- For the macros. Any thread. ----------------------------------------------------------------------------------

// A value in the form of diagnostics.
struct Shown {
  enum Kind : std::uint8_t { kSigned, kUnsigned, kBool, kPointer, kOther } kind;
  std::uint64_t bits;
};

bool check(bool held, const char* file, int line, const char* claim);
bool check_values(bool held, const char* file, int line, const char* claim, Shown left, Shown right);
bool check_text(const char* left, const char* right, const char* file, int line, const char* claim);
void skip(const char* why);

// Writes one line of diagnostics, `# what: value`, for figures in the log.
void note(const char* what, std::uint64_t value);
void note(const char* what, const char* value);

// The value of an environment variable, or nullptr.
const char* environment(const char* name);
// A number from the environment, or `otherwise` if there is none.
std::uint64_t environment_number(const char* name, std::uint64_t otherwise);

template <class T>
constexpr bool is_number = std::is_integral_v<T> && !std::is_same_v<T, bool>;

template <class T>
Shown show(const T& value) {
  if constexpr (std::is_same_v<T, bool>)
    return {Shown::kBool, value};
  else if constexpr (std::is_enum_v<T>)
    return show(static_cast<std::underlying_type_t<T>>(value));
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return {Shown::kSigned, static_cast<std::uint64_t>(static_cast<std::int64_t>(value))};
  else if constexpr (std::is_integral_v<T>)
    return {Shown::kUnsigned, static_cast<std::uint64_t>(value)};
  else if constexpr (std::is_pointer_v<T>)
    return {Shown::kPointer, reinterpret_cast<std::uint64_t>(value)};
  else if constexpr (std::is_null_pointer_v<T>)
    return {Shown::kPointer, 0};
  else
    return {Shown::kOther, 0};
}

template <class T>
constexpr bool is_negative(T number) {
  if constexpr (std::is_signed_v<T>)
    return number < 0;
  else
    return false;
}

// Numbers are compared by value, whatever their signs, so that a test needs no casts and no suffixes.
struct Equal {
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    if constexpr (is_number<A> && is_number<B>)
      return is_negative(a) == is_negative(b) && static_cast<std::uint64_t>(a) == static_cast<std::uint64_t>(b);
    else
      return a == b;
  }
};
struct Less {
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    if constexpr (is_number<A> && is_number<B>) {
      if (is_negative(a) != is_negative(b)) return is_negative(a);
      return static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b);  // keeps the order of negatives, too
    } else {
      return a < b;
    }
  }
};
template <class Compare>
struct Not {
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return !Compare{}(a, b);
  }
};
template <class Compare>
struct Swapped {
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return Compare{}(b, a);
  }
};

template <class Compare, class A, class B>
bool compare(const A& a, const B& b, const char* file, int line, const char* claim) {
  const bool held = Compare{}(a, b);
  return check_values(held, file, line, claim, show(a), show(b));
}

}  // namespace janus::test

#define TEST(suite, name)                                                                                            \
  static void suite##_##name();                                                                                      \
  static constexpr ::janus::test::Case suite##_##name##_case = {#suite, #name, &suite##_##name, __FILE__, __LINE__}; \
  [[gnu::section("janus_tests"), gnu::used, gnu::retain]] static const ::janus::test::Case* suite##_##name##_entry = \
      &suite##_##name##_case;                                                                                        \
  static void suite##_##name()

#define CHECK(claim) ::janus::test::check(static_cast<bool>(claim), __FILE__, __LINE__, #claim)
#define CHECK_EQ(a, b) JANUS_COMPARE(Equal, a, b, " == ")
#define CHECK_NE(a, b) JANUS_COMPARE(Not<::janus::test::Equal>, a, b, " != ")
#define CHECK_LT(a, b) JANUS_COMPARE(Less, a, b, " < ")
#define CHECK_LE(a, b) JANUS_COMPARE(Not<::janus::test::Swapped<::janus::test::Less>>, a, b, " <= ")
#define CHECK_GT(a, b) JANUS_COMPARE(Swapped<::janus::test::Less>, a, b, " > ")
#define CHECK_GE(a, b) JANUS_COMPARE(Not<::janus::test::Less>, a, b, " >= ")
#define CHECK_STREQ(a, b) ::janus::test::check_text((a), (b), __FILE__, __LINE__, #a " is the text " #b)
#define REQUIRE(claim)         \
  do {                         \
    if (!CHECK(claim)) return; \
  } while (0)
// Ends the test, which then counts as skipped (unless a check failed before).
#define SKIP(why)             \
  do {                        \
    ::janus::test::skip(why); \
    return;                   \
  } while (0)

#define JANUS_COMPARE(how, a, b, sign) \
  ::janus::test::compare<::janus::test::how>((a), (b), __FILE__, __LINE__, #a sign #b)
