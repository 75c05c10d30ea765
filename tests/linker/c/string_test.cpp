// SPDX-License-Identifier: Apache-2.0
// string_test.cpp: functions for strings and bytes give glibc's results, up to the end of a page and not one byte
// beyond.
#include <strings.h>
#include <sys/mman.h>
#include <cctype>
#include <cstring>
#include <memory>
#include <random>
#include <string>

#include "tests/harness/test.h"

extern "C" {
std::size_t jc_strlen(const char*);
std::size_t jc_strnlen(const char*, std::size_t);
int jc_strcmp(const char*, const char*);
int jc_strncmp(const char*, const char*, std::size_t);
int jc_strcasecmp(const char*, const char*);
int jc_strncasecmp(const char*, const char*, std::size_t);
char* jc_strchr(const char*, int);
char* jc_strchrnul(const char*, int);
char* jc_strrchr(const char*, int);
char* jc_strstr(const char*, const char*);
std::size_t jc_strspn(const char*, const char*);
std::size_t jc_strcspn(const char*, const char*);
char* jc_strpbrk(const char*, const char*);
char* jc_strcpy(char*, const char*);
char* jc_stpcpy(char*, const char*);
char* jc_strncpy(char*, const char*, std::size_t);
char* jc_stpncpy(char*, const char*, std::size_t);
char* jc_strcat(char*, const char*);
char* jc_strncat(char*, const char*, std::size_t);
char* jc_strtok_r(char*, const char*, char**);
char* jc_strtok(char*, const char*);
char* jc_strdup(const char*);
char* jc_strndup(const char*, std::size_t);
char* jc_strerror(int);
void* jc_memchr(const void*, int, std::size_t);
void* jc_memrchr(const void*, int, std::size_t);
void* jc_memmem(const void*, std::size_t, const void*, std::size_t);
void* jc_mempcpy(void*, const void*, std::size_t);
int jc_isalnum(int), jc_isalpha(int), jc_isblank(int), jc_iscntrl(int), jc_isdigit(int), jc_isgraph(int),
    jc_islower(int), jc_isprint(int), jc_ispunct(int), jc_isspace(int), jc_isupper(int), jc_isxdigit(int),
    jc_tolower(int), jc_toupper(int);
}

namespace {

constexpr std::size_t kPage = 4096;

// The end of an accessible page, after which an inaccessible one follows.
char* end_of_page() {
  static char* const pages = [] {
    void* mapped = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(static_cast<char*>(mapped) + kPage, kPage, PROT_NONE);
    return static_cast<char*>(mapped);
  }();
  return pages + kPage;
}

// A copy of `text` whose terminator is the last accessible byte.
char* at_page_end(const std::string& text) {
  char* at = end_of_page() - text.size() - 1;
  memcpy(at, text.c_str(), text.size() + 1);
  return at;
}

int sign(int value) {
  return (value > 0) - (value < 0);
}

std::minstd_rand random_numbers{5};

// Few different letters, so that texts often have common parts; some bytes are above 127.
std::string random_text(std::size_t most) {
  std::string text;
  for (std::size_t length = random_numbers() % (most + 1); length > 0; length--)
    text += "abAB\xe9 "[random_numbers() % 6];
  return text;
}

constexpr int kRounds = 20000;

}  // namespace

TEST(string, lengths_and_searches_are_glibcs_at_the_end_of_a_page) {
  for (int round = 0; round < kRounds; round++) {
    const std::string text = random_text(40);
    char* at = at_page_end(text);
    const std::size_t most = random_numbers() % 50;
    REQUIRE(jc_strlen(at) == text.size());
    REQUIRE(jc_strnlen(at, most) == strnlen(at, most));
    for (char c : {'a', '\xe9', 'z', '\0'}) {
      REQUIRE(jc_strchr(at, c) == strchr(at, c));
      REQUIRE(jc_strchrnul(at, c) == strchrnul(at, c));
      REQUIRE(jc_strrchr(at, c) == strrchr(at, c));
      REQUIRE(jc_memchr(at, c, text.size() + 1) == memchr(at, c, text.size() + 1));
      REQUIRE(jc_memrchr(at, c, text.size() + 1) == memrchr(at, c, text.size() + 1));
    }
  }
}

TEST(string, comparisons_have_glibcs_sign) {
  for (int round = 0; round < kRounds; round++) {
    const std::string left = random_text(6);
    const char* right = at_page_end(random_text(6));
    const std::size_t most = random_numbers() % 8;
    REQUIRE(sign(jc_strcmp(left.c_str(), right)) == sign(strcmp(left.c_str(), right)));
    REQUIRE(sign(jc_strncmp(left.c_str(), right, most)) == sign(strncmp(left.c_str(), right, most)));
    REQUIRE(sign(jc_strcasecmp(left.c_str(), right)) == sign(strcasecmp(left.c_str(), right)));
    REQUIRE(sign(jc_strncasecmp(left.c_str(), right, most)) == sign(strncasecmp(left.c_str(), right, most)));
  }
}

TEST(string, a_text_in_a_text_is_found_where_glibc_finds_it) {
  for (int round = 0; round < kRounds; round++) {
    const char* at = at_page_end(random_text(60));
    const std::string needle = random_text(5);
    REQUIRE(jc_strstr(at, needle.c_str()) == strstr(at, needle.c_str()));
    REQUIRE(jc_memmem(at, strlen(at), needle.data(), needle.size()) ==
            memmem(at, strlen(at), needle.data(), needle.size()));
    REQUIRE(jc_strspn(at, needle.c_str()) == strspn(at, needle.c_str()));
    REQUIRE(jc_strcspn(at, needle.c_str()) == strcspn(at, needle.c_str()));
    REQUIRE(jc_strpbrk(at, needle.c_str()) == strpbrk(at, needle.c_str()));
  }
}

// Both the text and the needle end at the end of a page.
const char* find(const std::string& text, const std::string& needle) {
  const char* at = end_of_page() - text.size();
  memcpy(end_of_page() - text.size(), text.data(), text.size());
  const std::unique_ptr<char[]> copy(new char[needle.size() + 1]);
  memcpy(copy.get(), needle.data(), needle.size());
  const void* found = jc_memmem(at, text.size(), copy.get(), needle.size());
  return found == nullptr ? nullptr : text.data() + (static_cast<const char*>(found) - at);
}

// Made of few letters, often a repeated word with one letter changed or a part of the word at the end.
std::string periodic_text(std::size_t most, unsigned letters) {
  std::string word, text;
  for (std::size_t length = 1 + random_numbers() % 7; length > 0; length--)
    word += static_cast<char>('a' + random_numbers() % letters);
  const std::size_t size = random_numbers() % (most + 1);
  while (text.size() < size) text += word;
  text.resize(size);
  if (size != 0 && random_numbers() % 2 == 0)
    text[random_numbers() % size] = static_cast<char>('a' + random_numbers() % letters);
  return text;
}

TEST(string, a_needle_is_found_at_its_first_place_however_it_repeats) {
  for (int round = 0; round < 40 * kRounds; round++) {
    const unsigned letters = 1 + random_numbers() % 3;
    std::string text = periodic_text(80, letters);
    const std::string needle = periodic_text(random_numbers() % 2 == 0 ? 6 : 30, letters);
    if (random_numbers() % 2 == 0) text += needle.substr(0, random_numbers() % (needle.size() + 1)) + needle;
    const std::size_t place = text.find(needle);
    REQUIRE(find(text, needle) == (place == std::string::npos ? nullptr : text.data() + place));
  }
}

// A search that compares the needle anew at each place would take years.
TEST(string, a_long_needle_takes_time_in_proportion) {
  constexpr std::size_t kLong = 32u << 20;
  const std::string text(kLong, 'a');
  std::string needle(kLong / 2, 'a');
  for (const std::size_t odd_one : {std::size_t{0}, kLong / 4, kLong / 2 - 1}) {
    needle[odd_one] = 'b';
    CHECK(jc_memmem(text.data(), kLong, needle.data(), needle.size()) == nullptr);
    CHECK(jc_strstr(text.c_str(), needle.c_str()) == nullptr);
    needle[odd_one] = 'a';
  }
  const std::string half = needle + "b" + needle;
  CHECK(jc_memmem(half.data(), half.size(), half.data() + 1, kLong / 2) == half.data() + 1);
}

TEST(string, copies_write_what_glibc_writes_and_return_what_it_returns) {
  for (int round = 0; round < kRounds; round++) {
    const char* from = at_page_end(random_text(20));
    const std::size_t most = random_numbers() % 30;
    char ours[64], theirs[64];
    memset(ours, '#', sizeof ours);
    memset(theirs, '#', sizeof theirs);
    REQUIRE(jc_stpncpy(ours, from, most) - ours == stpncpy(theirs, from, most) - theirs);
    REQUIRE(memcmp(ours, theirs, sizeof ours) == 0);
    REQUIRE(jc_stpcpy(ours, from) - ours == stpcpy(theirs, from) - theirs);
    REQUIRE(jc_strncat(ours, from, most) == ours);
    strncat(theirs, from, most);
    REQUIRE(memcmp(ours, theirs, sizeof ours) == 0);
    REQUIRE(jc_strcpy(ours, from) == ours && jc_strcat(ours, "x") == ours && jc_strncpy(ours, ours + 1, 0) == ours);
    strcat(strcpy(theirs, from), "x");
    REQUIRE(memcmp(ours, theirs, sizeof ours) == 0);
    REQUIRE(jc_mempcpy(ours, from, 1) == ours + 1);
  }
}

TEST(string, tokens_are_cut_where_glibc_cuts_them) {
  for (int round = 0; round < kRounds / 10; round++) {
    const std::string text = random_text(30);
    std::string mine = text, theirs = text;
    char *my_rest, *their_rest, *my_token = jc_strtok_r(mine.data(), " A", &my_rest),
                                *their_token = strtok_r(theirs.data(), " A", &their_rest);
    while (my_token != nullptr && their_token != nullptr) {
      REQUIRE(strcmp(my_token, their_token) == 0);
      my_token = jc_strtok_r(nullptr, " A", &my_rest);
      their_token = strtok_r(nullptr, " A", &their_rest);
    }
    REQUIRE(my_token == their_token);
  }
  char text[] = "a b";
  CHECK_STREQ(jc_strtok(text, " "), "a");
  CHECK_STREQ(jc_strtok(nullptr, " "), "b");
  CHECK(jc_strtok(nullptr, " ") == nullptr);
}

TEST(string, duplicates_are_blocks_of_their_own) {
  char* whole = jc_strdup("hello");
  char* part = jc_strndup("hello", 2);
  CHECK_STREQ(whole, "hello");
  CHECK_STREQ(part, "he");
  free(whole);
  free(part);
}

TEST(string, errors_have_the_texts_of_linux) {
  for (int error = 0; error <= 133; error++)
    if (error != 41 && error != 58) CHECK_STREQ(jc_strerror(error), strerror(error));
  for (int error : {-1, 41, 58, 134, 100000}) CHECK_STREQ(jc_strerror(error), "Unknown error");
}

TEST(string, characters_are_in_the_classes_of_the_c_locale) {
  using Class = int (*)(int);
  const struct {
    Class ours, theirs;
  } classes[] = {{jc_isalnum, isalnum}, {jc_isalpha, isalpha}, {jc_isblank, isblank}, {jc_iscntrl, iscntrl},
                 {jc_isdigit, isdigit}, {jc_isgraph, isgraph}, {jc_islower, islower}, {jc_isprint, isprint},
                 {jc_ispunct, ispunct}, {jc_isspace, isspace}, {jc_isupper, isupper}, {jc_isxdigit, isxdigit}};
  for (int c = -1; c < 256; c++) {
    for (const auto& pair : classes) REQUIRE((pair.ours(c) != 0) == (pair.theirs(c) != 0));
    REQUIRE(jc_tolower(c) == tolower(c) && jc_toupper(c) == toupper(c));
  }
  CHECK_EQ(jc_isalpha(1 << 20), 0);
}
