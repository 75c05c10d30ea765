// SPDX-License-Identifier: Apache-2.0
#include "rt/abi/start/runtime_options.h"

#include <bit>

#include "rt/abi/entry/budget_convert.h"

namespace janus {

RuntimeOptions options_of(const janus_rt_config& config) noexcept {
  RuntimeOptions options;
  options.workers = config.worker_count;
  options.seed = config.deterministic_seed;
  options.deterministic = (config.flags & JANUS_RT_DETERMINISTIC) != 0;
  if ((config.flags & JANUS_RT_NO_PIN) != 0) options.pin = 0;
  if ((config.flags & JANUS_RT_PIN) != 0) options.pin = 1;
  options.victim = static_cast<Victim>(config.victim_strategy);
  if (config.fair_interval != 0) options.fair_interval = config.fair_interval;
  options.yield_interval = config.profile == JANUS_PROFILE_CLUSTER ? 512 : 1024;
  if (config.yield_interval != 0) options.yield_interval = config.yield_interval;
  if (config.stack_size != 0) options.stack_class = static_cast<std::uint8_t>(stack_class_for(config.stack_size));
  if (config.stack_max != 0) {
    const std::size_t most = config.stack_max;
    options.stack_max = most < kMinStackBytes ? kMinStackBytes : std::bit_ceil(most);
  }
  options.memory = config.memory;
  options.has_root_budget = is_given(config.root_budget);
  options.root_budget = amounts_of(config.root_budget);
  options.confines_all = config.profile == JANUS_PROFILE_SOVEREIGN;
  if (config.cancel_grace_ops != 0) options.cancel_grace_ops = config.cancel_grace_ops;
  if (config.profile != JANUS_PROFILE_DEFAULT) options.profile = config.profile;
  if (config.grace_ms != 0) options.grace_ms = config.grace_ms;
  options.handles_faults = (config.flags & JANUS_RT_NO_SIGNALS) == 0;
  options.prints_stats = config.stats != 0;
  return options;
}

}  // namespace janus
