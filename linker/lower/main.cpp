// SPDX-License-Identifier: Apache-2.0
// janus-lower: lowers LLVM IR with the scheduler's opcodes, or a .qtjir file, to LLVM IR that clang compiles. janus-cc runs
// it. The files, by what they are for:
//
//     both languages   source, lexer: the text, positions in it, and its tokens
//     LLVM IR          ll_parser: a module. Uses ll_signature (how a function is called), ll_body (instructions and blocks)
//                      and ll_aliases. ll_opcodes and ll_types: operands of opcodes, types of values
//                      ll_lower: the order in which a function is rewritten. Uses ll_nurseries, ll_tasks (with ll_handles and
//                      ll_slots: which task a join waits for) and ll_checks. These edit the text through ll_rewrite (edits.h);
//                      text without an edit is copied. line_map.h: which input line an output line comes from
//     .qtjir           qtjir_parser, qtjir_check, qtjir_emit: one function after another
//                      qtjir_emit uses qtjir_{plain,calls,channels,nurseries}; the last three use qtjir_yield_points. All of
//                      these write through qtjir_text (one function's text), which uses qtjir_module (state of the file)
//     both languages   nursery_flow: which nurseries are open at each point. loops: where an iteration of a loop ends
//                      helpers: the functions that the output has besides the input's; {yield,nursery,task}_helpers
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "ll_lower.h"
#include "qtjir.h"

namespace janus::lower {
namespace {

constexpr const char* kUsage =
    "Usage: janus-lower [-o OUT] [--profile=NAME] [--llvm=VERSION] [-fno-yield-checks] [-fyield-interval=N] "
    "FILE.ll|FILE.qtjir\n"
    "       janus-lower --lines [the same]  prints pairs of lines, of the output and of the input\n"
    "lowers the opcodes of tasks and nurseries to calls of janus-rt. FILE may be -, which is LLVM IR from stdin.\n";

bool number(std::string_view text, unsigned& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value != 0 && value <= 1u << 30;
}

int refuse(const std::string& why) {
  std::fprintf(stderr, "janus-lower: error: %s\n", why.c_str());
  return 1;
}

// Returns the value of an option `--name=value`, or nullptr.
const char* value_of(const char* argument, const char* name) {
  const std::size_t length = std::strlen(name);
  return std::strncmp(argument, name, length) == 0 ? argument + length : nullptr;
}

// Returns 0 to continue, else the exit status.
int read_arguments(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const char* const argument = argv[i];
    if (std::strcmp(argument, "-o") == 0) {
      if (i + 1 == argc) return refuse("missing argument to '-o'");
      options.output = argv[++i];
    } else if (const char* profile = value_of(argument, "--profile=")) {
      options.profile = profile[0] == ':' ? profile + 1 : profile;
      if (!is_profile(options.profile))
        return refuse(std::string(argument) + ": there are core, service, cluster and sovereign");
    } else if (const char* version = value_of(argument, "--llvm=")) {
      if (!number(version, options.llvm_version)) return refuse(std::string(argument) + ": no version");
    } else if (const char* interval = value_of(argument, "-fyield-interval=")) {
      if (!number(interval, options.yield_interval)) return refuse(std::string(argument) + ": no number of iterations");
    } else if (std::strcmp(argument, "-fno-yield-checks") == 0) {
      options.has_yield_checks = false;
    } else if (std::strcmp(argument, "-fyield-checks") == 0) {
      options.has_yield_checks = true;
    } else if (std::strcmp(argument, "--lines") == 0) {
      options.shows_lines = true;
    } else if (std::strcmp(argument, "--help") == 0) {
      std::fputs(kUsage, stdout);
      std::exit(0);
    } else if (argument[0] == '-' && argument[1] != '\0') {
      return refuse(std::string(argument) + ": unknown option");
    } else if (!options.input.empty()) {
      return refuse("more than one input file");
    } else {
      options.input = argument;
    }
  }
  return options.input.empty() ? refuse("no input file") : 0;
}

bool read_file(const std::string& name, std::string& text) {
  std::FILE* const file = name == "-" ? stdin : std::fopen(name.c_str(), "rb");
  if (file == nullptr) return false;
  char piece[1 << 16];
  while (const std::size_t count = std::fread(piece, 1, sizeof piece, file)) text.append(piece, count);
  const bool is_read = std::ferror(file) == 0;
  if (file != stdin) std::fclose(file);
  return is_read;
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// The output. A file is opened when there is something to write. Output to stdout is written at the end, when it is
// known that the input has no errors.
class Output {
 public:
  explicit Output(const std::string& name) : name_(name) {}

  void write(std::string_view text) {
    if (name_.empty()) {
      for_stdout_ += text;
      return;
    }
    if (file_ == nullptr && is_right_) file_ = std::fopen(name_.c_str(), "wb");
    put(text, file_);
  }
  // Returns whether everything was written.
  bool finish() {
    if (name_.empty()) {
      put(for_stdout_, stdout);
      is_right_ = std::fflush(stdout) == 0 && is_right_;
    } else if (file_ != nullptr) {
      is_right_ = std::fclose(file_) == 0 && is_right_;
    }
    return is_right_;
  }
  // Deletes what was written, because the input has errors.
  void discard() {
    if (file_ == nullptr) return;
    (void)finish();
    std::error_code ignored;
    if (std::filesystem::is_regular_file(name_, ignored)) std::filesystem::remove(name_, ignored);
  }

 private:
  void put(std::string_view text, std::FILE* file) {
    is_right_ = is_right_ && file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  }

  std::string name_, for_stdout_;
  std::FILE* file_ = nullptr;
  bool is_right_ = true;
};

}  // namespace

int run(int argc, char** argv) {
  Options options;
  if (const int status = read_arguments(argc, argv, options)) return status;
  std::string text;
  if (!read_file(options.input, text)) return refuse(options.input + ": cannot be read: " + std::strerror(errno));
  std::error_code ignored;
  if (!options.output.empty() && std::filesystem::is_regular_file(options.output, ignored) &&
      std::filesystem::equivalent(options.input, options.output, ignored))
    return refuse(options.output + ": is the input, which the output would replace");
  if (text.size() >= UINT32_MAX) return refuse(options.input + ": larger than 4 GiB");
  Source source(options.input, std::move(text));
  Output output(options.output);
  const auto lower = ends_with(options.input, ".qtjir") ? lower_qtjir : lower_ll;
  if (!lower(source, options, [&output](std::string_view piece) { output.write(piece); })) {
    output.discard();
    return 1;
  }
  return output.finish() ? 0
                         : refuse((options.output.empty() ? "stdout" : options.output) +
                                  ": cannot be written: " + std::strerror(errno));
}

}  // namespace janus::lower

int main(int argc, char** argv) {
  return janus::lower::run(argc, argv);
}
