// SPDX-License-Identifier: Apache-2.0
// random_words: prints whether the machine has random numbers, and whether they differ from each other.
#include <errno.h>
#include <janus/rt.h>

int main(void) {
  unsigned long words[40];
  const int answer = janus_entropy(words, sizeof words);
  int equal = 0;
  for (int n = 0; answer == 0 && n < 40; ++n)
    for (int m = 0; m < n; ++m) equal += words[n] == words[m];
  janus_print(1, "%s, %d words are equal\n", answer == 0 ? "random" : answer == -ENODEV ? "no source" : "?", equal);
  return 0;
}
