// SPDX-License-Identifier: Apache-2.0
// cxx.cpp: what C++ programs rely on, without a C++ library: constructors and destructors of globals, statics that
// tasks initialise together, new and delete, virtual calls, and the header-only parts of libstdc++.
#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include <janus/rt.h>

// Externally visible, and used through a volatile pointer. Compilers assume that a pure virtual function is never
// called; without the volatile pointer they would call the function of the only derived class directly.
struct Base;
Base* volatile under_construction;

struct Base {
  Base();
  virtual ~Base() = default;
  virtual void pure() = 0;
};
Base::Base() {
  under_construction = this;
  under_construction->pure();
}
struct Derived : Base {
  void pure() override {}
};
namespace {

void say(std::string_view text) {
  janus_write(1, text.data(), text.size());
}

struct Loud {
  explicit Loud(std::string name) : name_(std::move(name)) { say("+" + name_ + "\n"); }
  ~Loud() { say("-" + name_ + "\n"); }
  Loud(const Loud&) = delete;
  std::string name_;
};

Loud global("global");

struct Shape {
  virtual ~Shape() = default;
  virtual int corners() const = 0;
};
struct Square : Shape {
  int corners() const override { return 4; }
};

std::atomic<int> initialisations{0}, early{0};

// Slow, and it yields in the middle: other tasks arrive and must wait.
int slow_value() {
  for (int i = 0; i < 200; i++) janus_yield();
  initialisations++;
  return 42;
}

std::int64_t use_shared_static(void*) {
  static const int value = slow_value();
  if (value != 42) early++;
  return 0;
}

std::int64_t cyclic(void*);
int depends_on_itself() {
  return static_cast<int>(cyclic(nullptr));
}
std::int64_t cyclic(void*) {
  static const int value = depends_on_itself();
  return value;
}

std::int64_t out_of_range(void*) {
  return std::vector<int>(3).at(std::size_t{7});
}

std::int64_t pure_virtual(void*) {
  Derived derived;
  return 0;
}

struct alignas(256) Wide {
  char bytes[256];
};

// Volatile, so that no compiler can know that the allocation must fail.
volatile std::size_t too_much = SIZE_MAX / 2;

std::int64_t out_of_memory(void*) {
  return static_cast<char*>(operator new(too_much))[0];
}

bool library_headers_work() {
  std::vector<std::string> names;
  for (int i = 99; i >= 0; i--) names.push_back("a name too long for the small string " + std::to_string(i));
  std::sort(names.begin(), names.end());
  std::stable_sort(names.begin(), names.end(), [](auto& a, auto& b) { return a.size() < b.size(); });
  std::function<int(int)> add = [&](int n) { return n + static_cast<int>(names.size()); };
  const std::unique_ptr<Shape> shape = std::make_unique<Square>();
  auto shared = std::make_shared<std::string>("shared");
  const auto copy = shared;
  shared.reset();
  const std::variant<int, std::string> either = std::string("text");
  const std::optional<int> maybe = 3;
  std::deque<int> line{1, 2, 3};
  std::priority_queue<int> heap(line.begin(), line.end());
  std::array<char, 20> digits;
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), 12345);
  const auto [one, two] = std::tuple(1, 2);
  return names.front().ends_with("string 0") && add(shape->corners()) == 104 && *copy == "shared" &&
         copy.use_count() == 1 && std::get<std::string>(either) == "text" &&
         *maybe + std::accumulate(line.begin(), line.end(), 0) == 9 && heap.top() == 3 &&
         std::string_view(digits.data(), written.ptr) == "12345" && one + two == 3 &&
         std::span(names).subspan(90).size() == 10;
}

// The result of a nursery with `count` such tasks.
long all(janus_task_fn fn, int count) {
  janus_nursery_create();
  for (int i = 0; i < count; i++) janus_nursery_spawn(fn, nullptr);
  return janus_nursery_await_all();
}

int expect(bool held, const char* claim) {
  janus_print(1, "%s: %s\n", held ? "holds" : "BROKEN", claim);
  return held ? 0 : 1;
}

}  // namespace

int main() {
  static Loud local("local");
  int broken = 0;
  broken += expect(janus_task_id() == 1, "main is the root task");
  broken += expect(library_headers_work(), "the library's headers work");
  broken += expect(all(use_shared_static, 40) == 0 && initialisations == 1 && early == 0,
                   "a static is initialised once, others wait");
  const std::unique_ptr<Wide> wide(new Wide);
  broken += expect(reinterpret_cast<std::uintptr_t>(wide.get()) % 256 == 0, "new keeps to the alignment");
  broken += expect(operator new(too_much, std::nothrow) == nullptr, "nothrow new without memory is nullptr");
  broken += expect(all(cyclic, 1) == JANUS_PANIC, "a static that needs itself panics the task");
  broken += expect(all(out_of_range, 1) == JANUS_PANIC, "a throw of the library panics the task");
  broken += expect(all(pure_virtual, 1) == JANUS_PANIC, "a pure virtual call panics the task");
  broken += expect(all(out_of_memory, 1) == JANUS_PANIC, "new without memory panics the task");
  return broken;
}
