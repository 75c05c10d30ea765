// SPDX-License-Identifier: Apache-2.0
#include "rt/abi/start/config.h"
#include "rt/abi/start/runtime_options.h"

#include "rt/abi/entry/budget_convert.h"
#include "tests/harness/test.h"

namespace {

using janus::Complaint;
using janus::Settings;

struct Parsed {
  bool is_good;
  Settings settings;
  Complaint complaint;
};

// Parses an environment of up to three entries.
Parsed parse(const char* first, const char* second = nullptr, const char* third = nullptr) {
  const char* const environment[] = {first, second, third, nullptr};
  Parsed parsed{};
  parsed.is_good = janus::parse_settings(environment, parsed.settings, parsed.complaint);
  return parsed;
}

bool has_any(const Settings& settings) {
  return settings.has_workers || settings.has_seed || settings.has_stack || settings.has_stack_max ||
         settings.has_memory || settings.has_pin || settings.has_profile || settings.has_grace || settings.has_stats ||
         settings.has_trace || settings.has_sigpipe || settings.has_core;
}

TEST(settings, an_empty_environment_asks_for_nothing) {
  Settings settings{};
  Complaint complaint;
  CHECK(janus::parse_settings(nullptr, settings, complaint));
  CHECK(!has_any(settings));
  CHECK(parse(nullptr).is_good);
}

TEST(settings, each_name_is_read) {
  const char* const environment[] = {"JANUS_WORKERS=12",
                                     "JANUS_SEED=0x2A",
                                     "JANUS_STACK=64k",
                                     "JANUS_MEMORY=3g",
                                     "JANUS_PIN=1",
                                     "JANUS_PROFILE=sovereign",
                                     "JANUS_GRACE=250",
                                     "JANUS_STATS=1",
                                     "JANUS_TRACE=/tmp/trace.json",
                                     "JANUS_SIGPIPE=ignore",
                                     "JANUS_CORE=1",
                                     "HOME=JANUS_PIN=abc",
                                     nullptr};
  Settings settings{};
  Complaint complaint;
  REQUIRE(janus::parse_settings(environment, settings, complaint));
  CHECK(settings.has_workers && settings.has_seed && settings.has_stack && settings.has_memory && settings.has_pin);
  CHECK(settings.has_profile && settings.has_grace && settings.has_stats && settings.has_trace);
  CHECK_EQ(settings.workers, 12);
  CHECK_EQ(settings.seed, 42);
  CHECK_EQ(settings.stack, 64 * 1024);
  CHECK_EQ(settings.memory, std::uint64_t{3} << 30);
  CHECK(settings.pin);
  CHECK_EQ(settings.profile, JANUS_PROFILE_SOVEREIGN);
  CHECK_EQ(settings.grace_ms, 250);
  CHECK(settings.stats);
  CHECK_STREQ(settings.trace, "/tmp/trace.json");
  CHECK(settings.has_sigpipe && settings.ignores_sigpipe);
  CHECK(settings.has_core && settings.core);
}

TEST(settings, the_ends_of_each_range_are_inside_it) {
  const char* const good[] = {
      "JANUS_WORKERS=1",
      "JANUS_WORKERS=1024",
      "JANUS_WORKERS=0007",
      "JANUS_SEED=0",
      "JANUS_SEED=0x0",
      "JANUS_SEED=18446744073709551615",
      "JANUS_STACK=1",
      "JANUS_STACK_MAX=1",
      "JANUS_STACK_MAX=8M",
      "JANUS_STACK_MAX=8388608",
      "JANUS_STACK=1048576",
      "JANUS_SEED=0xffffffffffffffff",
      "JANUS_STACK=1M",
      "JANUS_STACK=1024K",
      "JANUS_MEMORY=9223372036854775807",
      "JANUS_MEMORY=1m",
      "JANUS_MEMORY=1048576",
      "JANUS_PIN=0",
      "JANUS_STATS=0",
      "JANUS_GRACE=0",
      "JANUS_GRACE=4294967295",
      "JANUS_PROFILE=service",
      "JANUS_TRACE=t",
      "JANUS_PROFILE=cluster",
      "JANUS_MEMORY=8589934591g",
  };
  for (const char* entry : good) {
    const Parsed parsed = parse(entry);
    if (!CHECK(parsed.is_good)) janus::test::note("entry", entry);
    CHECK(has_any(parsed.settings));
  }
}

TEST(settings, senseless_values_are_refused_by_name) {
  const char* const bad[] = {
      "JANUS_WORKERS=",       "JANUS_WORKERS=0",
      "JANUS_WORKERS=1025",   "JANUS_WORKERS=abc",
      "JANUS_WORKERS=4x",     "JANUS_WORKERS=-1",
      "JANUS_WORKERS=+1",     "JANUS_WORKERS= 4",
      "JANUS_WORKERS=4 ",     "JANUS_WORKERS=0x4",
      "JANUS_WORKERS=4k",     "JANUS_WORKERS=18446744073709551617",
      "JANUS_SEED=",          "JANUS_SEED=0x",
      "JANUS_SEED=x1",        "JANUS_SEED=18446744073709551616",
      "JANUS_SEED=12fg",      "JANUS_SEED=0x1g",
      "JANUS_SEED=-0",        "JANUS_SEED=0x10000000000000000",
      "JANUS_STACK_MAX=",     "JANUS_STACK_MAX=0",
      "JANUS_STACK_MAX=9m",   "JANUS_STACK_MAX=8388609",
      "JANUS_STACK=",         "JANUS_STACK=0",
      "JANUS_STACK=0k",       "JANUS_STACK=1048577",
      "JANUS_STACK=2m",       "JANUS_STACK=k",
      "JANUS_STACK=8kb",      "JANUS_STACK=17179869184g",
      "JANUS_MEMORY=",        "JANUS_MEMORY=0",
      "JANUS_MEMORY=1",       "JANUS_MEMORY=1048575",
      "JANUS_MEMORY=1023k",   "JANUS_MEMORY=0m",
      "JANUS_MEMORY=1t",      "JANUS_MEMORY=9223372036854775808",
      "JANUS_MEMORY=1.5g",    "JANUS_MEMORY=8589934592g",
      "JANUS_PIN=",           "JANUS_PIN=2",
      "JANUS_PIN=yes",        "JANUS_PIN=01",
      "JANUS_PROFILE=",       "JANUS_PROFILE=Service",
      "JANUS_PROFILE=servic", "JANUS_PROFILE=services",
      "JANUS_GRACE=",         "JANUS_GRACE=4294967296",
      "JANUS_GRACE=5s",       "JANUS_STATS=",
      "JANUS_STATS=true",     "JANUS_TRACE=",
  };
  for (const char* entry : bad) {
    const Parsed parsed = parse("HOME=/", entry);
    if (!CHECK(!parsed.is_good)) janus::test::note("entry", entry);
    // The line must begin with "janus: NAME=VALUE: not".
    const char* const line = parsed.complaint.data();
    std::size_t same = 0;
    while (entry[same] != '\0' && line[7 + same] == entry[same]) ++same;
    CHECK_EQ(entry[same], '\0');
    CHECK_EQ(line[7 + same], ':');
    CHECK(!parsed.complaint.is_cut());
  }
  CHECK_STREQ(parse("JANUS_WORKERS=abc").complaint.data(), "janus: JANUS_WORKERS=abc: not a number from 1 to 1024");
}

TEST(settings, a_stack_grows_to_what_the_environment_says_unless_the_program_does) {
  const Parsed parsed = parse("JANUS_STACK_MAX=64k");
  REQUIRE(parsed.is_good);
  CHECK_EQ(merge(parsed.settings, nullptr).stack_max, 65536u);
  janus_rt_config program{};
  program.stack_max = 131072;
  CHECK_EQ(merge(parsed.settings, &program).stack_max, 131072u);
  CHECK_EQ(merge(parse("A=b").settings, nullptr).stack_max, 0u);
}

TEST(settings, the_maximum_of_a_stack_is_rounded_up_to_a_class) {
  const struct {
    std::uint32_t asked;
    std::size_t most;
  } cases[] = {{0, 262144}, {1, 8192}, {8192, 8192}, {8193, 16384}, {100000, 131072}, {8 << 20, 8 << 20}};
  for (const auto& each : cases) {
    janus_rt_config config{};
    config.stack_max = each.asked;
    CHECK_EQ(janus::options_of(config).stack_max, each.most);
  }
}

TEST(settings, other_names_are_ignored) {
  for (const char* entry : {"JANUS_FOO=bar", "JANUS_WORKERS_MAX=abc", "JANUS_WORKER=abc", "JANUS_WORKERS",
                            "XJANUS_WORKERS=abc", "janus_workers=abc", "", "=", "JANUS_"}) {
    const Parsed parsed = parse(entry, "A=b");
    CHECK(parsed.is_good);
    CHECK(!has_any(parsed.settings));
  }
}

// The notes about misspelled names.
janus::Notes notes_of(const char* first, const char* second = nullptr) {
  const char* const environment[] = {first, second, nullptr};
  janus::Notes notes;
  janus::note_misspelt(environment, parse(first, second).settings, notes);
  return notes;
}

TEST(settings, a_name_that_is_one_letter_off_is_answered_with_the_right_one) {
  CHECK_STREQ(notes_of("JANUS_WORKER=4").data(), "janus: JANUS_WORKER is no setting; did you mean JANUS_WORKERS?\n");
  constexpr char kAnswer[] = " is no setting; did you mean JANUS_WORKERS?\n";
  for (const char* entry : {"JANUS_WORKERSS=4", "JANUS_WORKERZ=4", "JANUS_ORKERS=4", "JANUSWORKERS=4",
                            "JANUS__WORKERS=4", "JANUS_WORKERS_=4", "jANUS_WORKERS=4"}) {
    const janus::Notes notes = notes_of("HOME=/", entry);
    if (!CHECK_GT(notes.size(), sizeof kAnswer)) janus::test::note("entry", entry);
    CHECK_STREQ(notes.data() + notes.size() - (sizeof kAnswer - 1), kAnswer);
  }
  CHECK_STREQ(notes_of("JANUS_SEEDS=1", "JANUS_STAT=1").data(),
              "janus: JANUS_SEEDS is no setting; did you mean JANUS_SEED?\n"
              "janus: JANUS_STAT is no setting; did you mean JANUS_STATS?\n");
}

TEST(settings, names_that_are_right_or_further_off_are_not_answered) {
  for (const char* entry :
       {"JANUS_WORKERS=4", "JANUS_WORKE=4", "JANUS_WROKERS=4", "JANUS_INIT=1", "JANUS_PORT=x", "JANUS_", "WORKERS=4",
        "JANUS_STACK=64k", "JANUS_STACK_MAX=1m", "", "=", "JANUS_SEED_FILE=f"})
    if (!CHECK_EQ(notes_of(entry).size(), 0u)) janus::test::note("entry", entry);
  CHECK_EQ(notes_of("JANUS_WORKER=4", "JANUS_WORKERS=2").size(), 0u);  // the correct name is set as well
}

TEST(settings, the_first_of_two_values_counts) {
  const Parsed parsed = parse("JANUS_WORKERS=3", "JANUS_WORKERS=abc");
  REQUIRE(parsed.is_good);
  CHECK_EQ(parsed.settings.workers, 3);
  CHECK(!parse("JANUS_WORKERS=abc", "JANUS_WORKERS=3").is_good);
}

TEST(settings, a_complaint_is_one_short_printable_line) {
  CHECK_STREQ(parse("JANUS_PIN=a\nb\x1b[2J\xff").complaint.data(), "janus: JANUS_PIN=a\\x0ab\\x1b[2J\\xff: not 0 or 1");
  char entry[5000] = "JANUS_PIN=";
  for (std::size_t i = 10; i + 1 < sizeof entry; ++i) entry[i] = '%';
  const Parsed parsed = parse(entry);
  CHECK(!parsed.is_good);
  CHECK_LT(parsed.complaint.size(), 120u);
  CHECK_STREQ(parsed.complaint.data() + 7 + 10 + 64, "...: not 0 or 1");
}

// ---- A program's fields -------------------------------------------------------------------------------------------

TEST(settings, a_program_s_fields_win_where_they_are_not_zero) {
  const char* const environment[] = {
      "JANUS_WORKERS=3",       "JANUS_SEED=5",  "JANUS_STACK=16k", "JANUS_MEMORY=64m", "JANUS_PIN=1",
      "JANUS_PROFILE=cluster", "JANUS_GRACE=7", "JANUS_TRACE=env", "JANUS_STATS=1",    nullptr};
  Settings settings{};
  Complaint complaint;
  REQUIRE(janus::parse_settings(environment, settings, complaint));

  janus_rt_config program{};
  program.worker_count = 8;
  program.deterministic_seed = 9;
  program.stack_size = 8192;
  program.memory = 1 << 20;
  program.flags = JANUS_RT_NO_PIN | JANUS_RT_NO_SIGNALS;
  program.profile = JANUS_PROFILE_SERVICE;
  program.grace_ms = 100;
  program.trace = "own";
  program.yield_interval = 77;
  janus_rt_config merged = janus::merge(settings, &program);
  CHECK_EQ(merged.size, sizeof merged);
  CHECK_EQ(merged.worker_count, 8);
  CHECK_EQ(merged.deterministic_seed, 9);
  CHECK_EQ(merged.stack_size, 8192);
  CHECK_EQ(merged.memory, 1 << 20);
  CHECK_EQ(merged.flags, JANUS_RT_NO_PIN | JANUS_RT_NO_SIGNALS | JANUS_RT_DETERMINISTIC);
  CHECK_EQ(merged.profile, JANUS_PROFILE_SERVICE);
  CHECK_EQ(merged.grace_ms, 100);
  CHECK_STREQ(merged.trace, "own");
  CHECK_EQ(merged.yield_interval, 77);
  CHECK_EQ(merged.stats, 1);

  merged = janus::merge(settings, nullptr);
  CHECK_EQ(merged.worker_count, 3);
  CHECK_EQ(merged.deterministic_seed, 5);
  CHECK_EQ(merged.stack_size, 16384);
  CHECK_EQ(merged.memory, 64 << 20);
  CHECK_EQ(merged.flags, JANUS_RT_PIN | JANUS_RT_DETERMINISTIC);
  CHECK_EQ(merged.profile, JANUS_PROFILE_CLUSTER);
  CHECK_EQ(merged.grace_ms, 7);
  CHECK_STREQ(merged.trace, "env");
}

TEST(settings, nothing_asked_for_merges_to_defaults) {
  const janus_rt_config merged = janus::merge(Settings{}, nullptr);
  CHECK_EQ(merged.size, sizeof merged);
  CHECK_EQ(merged.worker_count, 0);
  CHECK_EQ(merged.flags, 0);
  CHECK_EQ(merged.grace_ms, 0);
  CHECK_EQ(merged.trace, nullptr);
}

TEST(settings, unset_settings_are_as_the_header_says) {
  const janus::RuntimeOptions options = janus::options_of(janus::merge(Settings{}, nullptr));
  CHECK_EQ(options.workers, 0u);  // 0: one per CPU
  CHECK(!options.deterministic);
  CHECK_EQ(options.victim, janus::Victim::kRandom);
  CHECK_EQ(janus::stack_class_bytes(options.stack_class), 8192u);
  CHECK_EQ(options.stack_max, 256u << 10);
  CHECK_EQ(options.yield_interval, 1024u);
  CHECK_EQ(options.fair_interval, 61u);
  CHECK_EQ(options.cancel_grace_ops, 65536u);
  CHECK_EQ(options.grace_ms, 5000u);
  CHECK_EQ(options.memory, 0u);  // 0: three quarters of the machine's memory
  CHECK(!options.has_root_budget);
  CHECK_EQ(options.profile, JANUS_PROFILE_SERVICE);
}

TEST(settings, zeros_of_the_environment_are_not_mistaken_for_absence) {
  const Parsed parsed = parse("JANUS_SEED=0", "JANUS_PIN=0", "JANUS_GRACE=0");
  const janus_rt_config merged = janus::merge(parsed.settings, nullptr);
  CHECK_EQ(merged.flags, JANUS_RT_DETERMINISTIC | JANUS_RT_NO_PIN);
  CHECK_EQ(merged.deterministic_seed, 0);
  CHECK_EQ(merged.grace_ms, 1);  // 0 would ask for the default, so the shortest grace it is
}

TEST(settings, a_sensible_config_is_accepted_and_each_senseless_field_named) {
  Complaint complaint;
  janus_rt_config config{};
  CHECK_EQ(janus::check_config(config, complaint), 0);
  config.size = sizeof config;
  config.worker_count = 1024;
  config.flags = JANUS_RT_DETERMINISTIC | JANUS_RT_NO_PIN | JANUS_RT_NO_SIGNALS;
  config.profile = JANUS_PROFILE_CLUSTER;
  config.yield_interval = 1 << 20;
  config.stack_size = 1 << 20;
  config.victim_strategy = JANUS_VICTIM_LEAST_LOADED;
  config.stats = 1;
  CHECK_EQ(janus::check_config(config, complaint), 0);

  const auto refuses = [&config](auto janus_rt_config::*field, auto value, const char* line) {
    Complaint said;
    janus_rt_config wrong = config;
    wrong.*field = value;
    CHECK_EQ(janus::check_config(wrong, said), JANUS_E_INVALID);
    CHECK_STREQ(said.data(), line);
  };
  refuses(&janus_rt_config::size, 255u, "janus: janus_rt_config.size: not 0 or sizeof(janus_rt_config)");
  refuses(&janus_rt_config::worker_count, 1025u, "janus: janus_rt_config.worker_count: not a number up to 1024");
  refuses(&janus_rt_config::flags, 32u, "janus: janus_rt_config.flags: not made of JANUS_RT_* flags");
  refuses(&janus_rt_config::profile, 4u, "janus: janus_rt_config.profile: not one of JANUS_PROFILE_*");
  refuses(&janus_rt_config::yield_interval, (1u << 20) + 1,
          "janus: janus_rt_config.yield_interval: not a number up to 1048576");
  refuses(&janus_rt_config::stack_size, (1u << 20) + 1,
          "janus: janus_rt_config.stack_size: not a number up to 1048576");
  refuses(&janus_rt_config::stack_max, (8u << 20) + 1, "janus: janus_rt_config.stack_max: not a number up to 8388608");
  for (const std::uint64_t memory : {~std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << 20) - 1})
    refuses(&janus_rt_config::memory, memory, "janus: janus_rt_config.memory: not 0 or a number of bytes from 1048576");
  refuses(&janus_rt_config::victim_strategy, 3u, "janus: janus_rt_config.victim_strategy: not one of JANUS_VICTIM_*");
  refuses(&janus_rt_config::stats, 2u, "janus: janus_rt_config.stats: not 0 or 1");
  refuses(&janus_rt_config::report_failures, 2u, "janus: janus_rt_config.report_failures: not 0 or 1");
  refuses(&janus_rt_config::flags, JANUS_RT_PIN | JANUS_RT_NO_PIN,
          "janus: janus_rt_config.flags: not one of JANUS_RT_PIN and JANUS_RT_NO_PIN");
  const auto postpones = [&config](auto janus_rt_config::*field, auto value, const char* line) {
    Complaint said;
    janus_rt_config later = config;
    later.*field = value;
    CHECK_EQ(janus::check_config(later, said), JANUS_E_UNSUPPORTED);
    CHECK_STREQ(said.data(), line);
  };
  postpones(&janus_rt_config::slice_ops, std::uint64_t{1}, "janus: janus_rt_config.slice_ops: not in this release");
  postpones(&janus_rt_config::stack_cache, 1u, "janus: janus_rt_config.stack_cache: not in this release");
  postpones(&janus_rt_config::trace, static_cast<const char*>("trace.json"),
            "janus: janus_rt_config.trace (JANUS_TRACE): not in this release");
  const janus_start_thread_fn refuse = [](void (*)(void*), void*, void*) { return -1; };
  postpones(&janus_rt_config::start_thread, refuse, "janus: janus_rt_config.start_thread: not in this release");
  config.reserved[sizeof config.reserved - 1] = 1;
  CHECK_EQ(janus::check_config(config, complaint), JANUS_E_INVALID);
  CHECK_STREQ(complaint.data(), "janus: janus_rt_config.reserved: not zero");
}

// ---- Budgets as amounts -------------------------------------------------------------------------------------------

TEST(amounts, all_bits_set_mean_unlimited_on_both_sides) {
  const janus::Amounts amounts = janus::amounts_of(JANUS_BUDGET_ALL);
  for (const std::uint64_t amount : amounts.of) CHECK_EQ(amount, janus::kUnlimited);
  const janus_budget budget = janus::budget_of(amounts);
  CHECK_EQ(budget.ops, UINT32_MAX);
  CHECK_EQ(budget.memory, SIZE_MAX);
  CHECK_EQ(budget.spawn_count, UINT16_MAX);
  CHECK_EQ(budget.channel_ops, UINT16_MAX);
  CHECK_EQ(budget.syscalls, UINT16_MAX);
}

TEST(amounts, finite_ones_never_read_back_as_unlimited) {
  const janus_budget budget = janus::budget_of({{1u << 31, 5, 65535, 65534, 1'000'000}});
  CHECK_EQ(budget.ops, 1u << 31);
  CHECK_EQ(budget.memory, 5);
  CHECK_EQ(budget.spawn_count, 65534);
  CHECK_EQ(budget.channel_ops, 65534);
  CHECK_EQ(budget.syscalls, 65534);
  CHECK_EQ(janus::budget_of({{std::uint64_t{1} << 40, 0, 0, 0, 0}}).ops, UINT32_MAX - 1);
}

TEST(amounts, a_budget_is_given_when_any_component_is) {
  CHECK(!janus::is_given(janus_budget{}));
  CHECK(janus::is_given(janus_budget{1, 0, 0, 0, 0}));
  CHECK(janus::is_given(janus_budget{0, 1, 0, 0, 0}));
  CHECK(janus::is_given(janus_budget{0, 0, 1, 0, 0}));
  CHECK(janus::is_given(janus_budget{0, 0, 0, 1, 0}));
  CHECK(janus::is_given(janus_budget{0, 0, 0, 0, 1}));
}

}  // namespace
