// SPDX-License-Identifier: Apache-2.0
// containers.cpp: a long random sequence of operations on C++ containers, whose course it prints. The host's compiler
// builds it as well, and both programs must print the same. Trees are checked for the red-black properties.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

namespace {

std::uint64_t state = 1;

unsigned next(unsigned below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<unsigned>(state >> 33) % below;
}

std::uint64_t digest = 14695981039346656037u;

void note(std::uint64_t value) {
  digest = (digest ^ value) * 1099511628211u;
}

void say(const char* what) {
  std::printf("%s %016llx\n", what, static_cast<unsigned long long>(digest));
}

// The number of black nodes on each path below `node`; -1 if the paths differ, a red node has a red child, or a link is
// wrong.
int black_height(const std::_Rb_tree_node_base* node) {
  if (node == nullptr) return 0;
  for (const auto* child : {node->_M_left, node->_M_right}) {
    if (child == nullptr) continue;
    if (child->_M_parent != node) return -1;
    if (node->_M_color == std::_S_red && child->_M_color == std::_S_red) return -1;
  }
  const int left = black_height(node->_M_left), right = black_height(node->_M_right);
  if (left < 0 || left != right) return -1;
  return left + (node->_M_color == std::_S_black ? 1 : 0);
}

template <class Set>
bool is_red_black(const Set& set) {
  const auto* const header = set.end()._M_node;
  const auto* const root = header->_M_parent;
  if (root == nullptr) return set.empty() && header->_M_left == header && header->_M_right == header;
  return root->_M_parent == header && root->_M_color == std::_S_black && black_height(root) > 0 &&
         header->_M_left == set.begin()._M_node && header->_M_right == std::prev(set.end())._M_node;
}

bool trees() {
  std::multiset<unsigned> set;
  std::map<std::string, unsigned> map;
  for (int round = 0; round < 20000; round++) {
    // The containers grow for a while, then shrink to nothing, again and again.
    const bool grows = round / 1500 % 2 == 0;
    if (next(4) != 0 ? grows : !grows) {
      set.insert(next(400));
    } else if (!set.empty()) {
      auto at = set.lower_bound(next(400));
      set.erase(at == set.end() ? std::prev(at) : at);
    }
    if (round % 16 == 0 && !is_red_black(set)) return false;
    map[std::to_string(next(300))] += next(10);
    if (next(3) == 0) map.erase(std::to_string(next(300)));
    note(set.empty() ? 0 : *set.begin() + 1000 * *set.rbegin() + 1000000 * set.size());
  }
  for (auto at = map.rbegin(); at != map.rend(); ++at) note(std::hash<unsigned>()(at->second) + at->first.size());
  std::map<std::string, unsigned> copy = map, moved;
  moved.merge(copy);
  auto node = moved.extract(moved.begin());
  note(moved.size() + node.mapped() + copy.size());
  std::swap(map, moved);
  while (!set.empty()) set.erase(set.begin());
  return is_red_black(set);
}

void tables() {
  std::unordered_map<std::string, unsigned> map;
  std::unordered_set<std::uint64_t> set;
  for (int round = 0; round < 20000; round++) {
    map["a key that is longer than a short string " + std::to_string(next(900))] += next(9);
    if (next(3) == 0) map.erase("a key that is longer than a short string " + std::to_string(next(900)));
    set.insert(next(100000));
    note(map.size() + set.size());
  }
  std::vector<std::pair<std::string, unsigned>> all(map.begin(), map.end());
  std::ranges::sort(all);
  for (const auto& [key, value] : all) note(value + key.back());
  note(map.load_factor() <= map.max_load_factor() && map.bucket_count() >= map.size());
  set.max_load_factor(0.5F);
  set.rehash(0);
  note(set.bucket_count() >= 2 * set.size());
  set.reserve(500000);
  note(set.bucket_count() >= 1000000 && set.contains(*set.begin()));
  set.clear();
}

void lists() {
  std::list<int> one, other;
  for (int round = 0; round < 3000; round++) {
    (next(2) ? one : other).push_front(static_cast<int>(next(1000)));
    if (next(5) == 0) one.splice(one.begin(), other);
    if (next(50) == 0) one.sort();
    if (next(20) == 0) one.reverse();
    if (next(9) == 0) one.swap(other);
    if (next(9) == 0) std::swap(other, one);
    if (!one.empty() && next(3) == 0) one.pop_back();
    note(one.size() + 10000 * other.size() + (one.empty() ? 0U : static_cast<unsigned>(one.front())));
  }
  one.sort();
  other.sort();
  one.merge(other);
  one.unique();
  for (int value : one) note(static_cast<unsigned>(value));
  std::list<int> none, none_either;
  none.swap(none_either);
  none.swap(one);
  note(one.empty() + none.size());
}

void the_rest() {
  std::vector<std::string> words;
  for (unsigned i = 0; i < 500; i++) words.push_back(std::string(next(40), static_cast<char>('a' + i % 26)));
  std::sort(words.begin(), words.end());
  std::stable_sort(words.begin(), words.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  for (const std::string& word : words) note(word.size() + (word.empty() ? 0U : static_cast<unsigned>(word[0])));

  std::deque<unsigned> deque;
  std::priority_queue<unsigned> heap;
  for (int i = 0; i < 2000; i++) {
    deque.push_back(next(99));
    heap.push(next(99));
    if (next(2) == 0) deque.pop_front();
  }
  note(deque.size() + heap.top());

  std::array<char, 24> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), 1234567890123LL, 36).ptr;
  long long parsed = 0;
  std::from_chars(text.data(), end, parsed, 36);
  note(static_cast<std::uint64_t>(parsed));
  note(static_cast<std::uint64_t>(std::stol("-77") + 100));

  const std::function<unsigned(unsigned)> twice = [&deque](unsigned x) {
    return 2 * x + static_cast<unsigned>(deque.size());
  };
  const auto shared = std::make_shared<std::string>("shared");
  const std::weak_ptr<std::string> weak = shared;
  auto unique = std::make_unique<std::vector<unsigned>>(7, 3U);
  std::variant<int, std::string> either = "text";
  const std::optional<unsigned> some = unique->size() == 7 ? std::optional<unsigned>(8) : std::nullopt;
  note(twice(21) + weak.lock()->size() + *some + std::span(*unique).subspan(2).size());
  note(std::visit([](const auto& held) { return sizeof held; }, either) + std::string_view("view").find('w'));
}

}  // namespace

int main() {
  if (!trees()) {
    std::printf("a tree is out of order\n");
    return 1;
  }
  say("trees");
  tables();
  say("tables");
  lists();
  say("lists");
  the_rest();
  say("the rest");
  return 0;
}
