// SPDX-License-Identifier: Apache-2.0
// REFUSED: a_duration_of_more_than_584_years
#include <janus/rt.hpp>
using namespace janus::literals;
constexpr auto eternity = 99999999999_s;
