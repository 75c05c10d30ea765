// SPDX-License-Identifier: Apache-2.0
// REFUSED: unknown type name
#include <janus/rt.h>
nursery_options without_prefix;
