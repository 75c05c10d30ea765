// SPDX-License-Identifier: Apache-2.0
// initrd.cpp — cpio(5), "new ASCII format": a header of hexadecimal digits, the name, the data, each padded to 4 bytes.
#include "kernel-free/files/initrd.h"

#include "kernel-free/cpu/assert.h"
#include "kernel-free/cpu/instructions.h"
#include "rt/platform.h"

namespace janus::bare {
namespace {

constexpr std::size_t kHeaderBytes = 110, kDigits = 8, kMaxNameBytes = 4096;
enum Field : unsigned { kInode = 0, kMode = 1, kLinks = 4, kModified = 5, kSize = 6, kNameSize = 11 };

class Reader {
 public:
  Reader(const char* archive, std::size_t bytes) : archive_(archive), bytes_(bytes) {}

  enum class Step : std::uint8_t { kEntry, kEnd, kDamaged };
  Step next(Node& node) {
    if (bytes_ - at_ < kHeaderBytes || at_ > bytes_ || !has_magic()) return Step::kDamaged;
    std::uint64_t fields[13];
    for (unsigned n = 0; n < 13; ++n)
      if (!read_hex(archive_ + at_ + 6 + n * kDigits, fields[n])) return Step::kDamaged;
    const std::size_t name_bytes = fields[kNameSize];
    const std::size_t name_at = at_ + kHeaderBytes, data_at = padded(name_at + name_bytes);
    if (name_bytes == 0 || name_bytes > kMaxNameBytes || data_at > bytes_ || fields[kSize] > bytes_ - data_at)
      return Step::kDamaged;
    Name name{archive_ + name_at, name_bytes - 1};
    if (name.text[name.bytes] != '\0') return Step::kDamaged;
    if (is_trailer(name)) return Step::kEnd;
    at_ = padded(data_at + fields[kSize]);
    node = {plain(name),
            archive_ + data_at,
            fields[kSize],
            static_cast<std::uint32_t>(fields[kInode]),
            static_cast<std::uint32_t>(fields[kMode]),
            static_cast<std::uint32_t>(fields[kLinks]),
            static_cast<std::uint32_t>(fields[kModified])};
    return Step::kEntry;
  }

 private:
  static std::size_t padded(std::size_t at) { return (at + 3) & ~std::size_t{3}; }

  [[nodiscard]] bool has_magic() const {
    constexpr char kMagic[] = "07070";
    for (unsigned n = 0; n < 5; ++n)
      if (archive_[at_ + n] != kMagic[n]) return false;
    return archive_[at_ + 5] == '1' || archive_[at_ + 5] == '2';
  }

  static bool read_hex(const char* text, std::uint64_t& value) {
    value = 0;
    for (unsigned n = 0; n < kDigits; ++n) {
      const char c = text[n];
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return false;
      value = value * 16 + static_cast<unsigned>(digit);
    }
    return true;
  }

  static bool is_trailer(Name name) {
    constexpr char kTrailer[] = "TRAILER!!!";
    if (name.bytes != sizeof kTrailer - 1) return false;
    for (std::size_t n = 0; n < name.bytes; ++n)
      if (name.text[n] != kTrailer[n]) return false;
    return true;
  }

  // "./a", "/a" and "a/" are all a; "." is the root.
  static Name plain(Name name) {
    for (;;) {
      if (name.bytes != 0 && name.text[0] == '/')
        name = {name.text + 1, name.bytes - 1};
      else if (name.bytes == 1 && name.text[0] == '.')
        name = {name.text + 1, 0};
      else if (name.bytes > 1 && name.text[0] == '.' && name.text[1] == '/')
        name = {name.text + 2, name.bytes - 2};
      else
        break;
    }
    while (name.bytes != 0 && name.text[name.bytes - 1] == '/') --name.bytes;
    return name;
  }

  const char* archive_;
  std::size_t bytes_, at_ = 0;
};

// The rank of a path's nth character in the order of the index: 0 at its end, then the slash, then all others.
int rank(Name path, std::size_t n) {
  if (n >= path.bytes) return 0;
  return path.text[n] == '/' ? 1 : 2 + static_cast<unsigned char>(path.text[n]);
}

int compare(Name a, Name b) {
  for (std::size_t n = 0;; ++n) {
    const int difference = rank(a, n) - rank(b, n);
    if (difference != 0 || n >= a.bytes) return difference;
  }
}

// Compares `path` with "directory/name", or with "name" in the root.
int compare_joined(Name path, Name directory, Name name) {
  const std::size_t skip = directory.bytes == 0 ? 0 : directory.bytes + 1;
  for (std::size_t n = 0;; ++n) {
    const int wanted = n < directory.bytes ? rank(directory, n) : n + 1 == skip && skip != 0 ? 1 : rank(name, n - skip);
    const int difference = rank(path, n) - wanted;
    if (difference != 0 || n >= path.bytes) return difference;
  }
}

bool lies_below(Name path, Name directory) {
  if (directory.bytes == 0) return path.bytes != 0;
  if (path.bytes <= directory.bytes || path.text[directory.bytes] != '/') return false;
  return compare({path.text, directory.bytes}, directory) == 0;
}

std::size_t directory_bytes(Name path) {
  std::size_t at = path.bytes;
  while (at != 0 && path.text[at - 1] != '/') --at;
  return at == 0 ? 0 : at - 1;
}

Name last_part(Name path) {
  const std::size_t bytes = directory_bytes(path);
  return bytes == 0 ? path : Name{path.text + bytes + 1, path.bytes - bytes - 1};
}

// Whether a directory can hold that name. An entry "." or ".." would lead a program that walks the tree in circles.
bool is_name(Name name) {
  const bool is_dots = name.text[0] == '.' && (name.bytes == 1 || (name.bytes == 2 && name.text[1] == '.'));
  return name.bytes <= kMaxNameLength && !is_dots;
}

// Entries of the same path are in the order of the archive.
int compare(const Node& a, const Node& b) {
  const int difference = compare(a.path, b.path);
  return difference != 0 ? difference : a.data < b.data ? -1 : 1;
}

[[gnu::noinline]] void exchange(Node& a, Node& b) {
  const Node moved = a;
  a = b;
  b = moved;
}

}  // namespace

Archive::Opened Archive::open(const char* archive, std::size_t bytes) noexcept {
  BARE_ASSERT(nodes_ == nullptr);
  std::size_t entries = 0;
  Node node;
  Reader::Step step;
  for (Reader reader(archive, bytes); (step = reader.next(node)) == Reader::Step::kEntry;) ++entries;
  if (step == Reader::Step::kDamaged) return Opened::kDamaged;
  const std::size_t table = ((entries + 1) * sizeof(Node) + 4095) & ~std::size_t{4095};
  std::byte* const pages = platform::map(table);
  if (pages == nullptr) return Opened::kNoMemory;
  nodes_ = reinterpret_cast<Node*>(pages);
  nodes_[count_++] = {{"", 0}, nullptr, 0, 1, Node::kDirectory | 0755, 2, 0};
  for (Reader reader(archive, bytes); reader.next(node) == Reader::Step::kEntry;) {
    if (node.path.bytes == 0)
      nodes_[0] = node;
    else if (is_name(last_part(node.path)))
      nodes_[count_++] = node;
  }
  BARE_ASSERT(count_ <= entries + 1);
  sort();
  keep_last_of_each();
  share_data_of_links();
  return Opened::kYes;
}

void Archive::sift_down(std::size_t from, std::size_t end) noexcept {
  for (std::size_t child; (child = 2 * from + 1) < end; from = child) {
    if (child + 1 < end && compare(nodes_[child], nodes_[child + 1]) < 0) ++child;
    if (compare(nodes_[from], nodes_[child]) >= 0) return;
    exchange(nodes_[from], nodes_[child]);
  }
}

// Heapsort: in place, and never worse than n log n, since the archive's order may be hostile.
void Archive::sort() noexcept {
  for (std::size_t n = count_ / 2; n-- > 0;) sift_down(n, count_);
  for (std::size_t end = count_; end-- > 1;) {
    exchange(nodes_[0], nodes_[end]);  // the greatest
    sift_down(0, end);
  }
}

// Of the entries of the same path only the last one stays, as if each had replaced the one before.
void Archive::keep_last_of_each() noexcept {
  std::size_t last = 0;
  for (std::size_t n = 1; n < count_; ++n) {
    if (compare(nodes_[last].path, nodes_[n].path) != 0) ++last;
    nodes_[last] = nodes_[n];
  }
  count_ = last + 1;
}

// Of several hard links to a file only one has the data in the archive; the others are made to point to it.
void Archive::share_data_of_links() noexcept {
  for (std::size_t n = 0; n < count_; ++n) {
    Node& node = nodes_[n];
    if (node.type() != Node::kRegular || node.links < 2 || node.bytes != 0) continue;
    for (std::size_t m = 0; m < count_; ++m) {
      const Node& other = nodes_[m];
      if (other.inode != node.inode || other.bytes == 0 || other.type() != Node::kRegular) continue;
      node.data = other.data;
      node.bytes = other.bytes;
      break;
    }
  }
}

std::size_t Archive::find(std::size_t directory, Name name) const noexcept {
  std::size_t low = 0, high = count_;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const int order = compare_joined(nodes_[middle].path, nodes_[directory].path, name);
    if (order == 0) return middle;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return count_;
}

std::size_t Archive::parent(std::size_t node) const noexcept {
  const Name path = nodes_[node].path;
  const std::size_t bytes = directory_bytes(path);
  const std::size_t found = bytes == 0 ? 0 : find(0, {path.text, bytes});
  return found == count_ ? 0 : found;
}

std::size_t Archive::next_in(std::size_t directory, std::size_t from) const noexcept {
  const Name path = nodes_[directory].path;
  for (; from < count_ && lies_below(nodes_[from].path, path); ++from)
    if (directory_bytes(nodes_[from].path) == path.bytes) return from;
  return count_;
}

Name Archive::name_of(std::size_t node) const noexcept {
  return last_part(nodes_[node].path);
}

}  // namespace janus::bare
