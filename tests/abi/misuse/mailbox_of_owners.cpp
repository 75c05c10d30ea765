// SPDX-License-Identifier: Apache-2.0
// REFUSED: a mailbox copies its messages byte by byte; send a pointer to what cannot be copied so
#include <janus/rt.hpp>

janus::Mailbox<janus::Channel<int>> mailbox(1);
