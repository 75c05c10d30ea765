// SPDX-License-Identifier: Apache-2.0
// REFUSED: a channel carries values
#include <janus/rt.hpp>
janus::Channel<int&> channel;
