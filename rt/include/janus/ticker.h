// SPDX-License-Identifier: Apache-2.0
// janus/ticker.h: ticks at equal distances, with a rule for those that were missed. C99 and C++11; may be included alone.
//
// A ticker is plain memory of one task, and nothing has to be freed. To wait for a tick or for channels, whichever comes
// first, give `next_ns` to janus_select_until; on JANUS_E_TIMEOUT take the tick by janus_ticker_take.
#ifndef JANUS_TICKER_H
#define JANUS_TICKER_H

#include <janus/rt/result.h>
#include <janus/rt/yield.h>

#ifdef __cplusplus
extern "C" {
#endif

// What follows a tick that was taken late, by one period or more.
#define JANUS_TICKER_BURST 0u  // the missed ticks, at once, until the ticker has caught up
#define JANUS_TICKER_DELAY 1u  // the next tick, one period after the late one was taken
#define JANUS_TICKER_SKIP 2u   // the next tick that was planned and has not passed

typedef struct janus_ticker {
  uint64_t next_ns;  // when janus_now_ns() is this, the next tick is due
  uint64_t period_ns;
  uint32_t rule;  // JANUS_TICKER_...
  uint32_t reserved;
} janus_ticker;

// Sets up a ticker whose first tick is one period from now. JANUS_E_INVALID: a period of 0, or no such rule [any].
static inline int janus_ticker_init(janus_ticker* ticker, uint64_t period_ns, uint32_t rule) {
  const uint64_t now = janus_now_ns();
  if (!ticker || period_ns == 0 || rule > JANUS_TICKER_SKIP) return JANUS_E_INVALID;
  ticker->next_ns = period_ns > UINT64_MAX - now ? UINT64_MAX : now + period_ns;
  ticker->period_ns = period_ns;
  ticker->rule = rule;
  ticker->reserved = 0;
  return 0;
}

// Takes the tick that is due, and plans the next one. `*missed`, if given: how many ticks have passed besides and will not
// come (with JANUS_TICKER_BURST none, as they all come). JANUS_E_WOULD_BLOCK: none is due yet [any].
static inline int janus_ticker_take(janus_ticker* ticker, uint64_t* missed) {
  const uint64_t now = janus_now_ns();
  uint64_t late = 0, from = 0;
  if (!ticker || ticker->period_ns == 0) return JANUS_E_INVALID;
  if (now < ticker->next_ns) return JANUS_E_WOULD_BLOCK;
  from = ticker->next_ns;
  if (ticker->rule != JANUS_TICKER_BURST) late = (now - from) / ticker->period_ns;
  if (missed) *missed = late;
  from = ticker->rule == JANUS_TICKER_DELAY ? now : from + late * ticker->period_ns;
  ticker->next_ns = ticker->period_ns > UINT64_MAX - from ? UINT64_MAX : from + ticker->period_ns;
  return 0;
}

// Waits for the next tick, and takes it. JANUS_CANCELLED: the tick is still to come [task].
static inline int janus_ticker_wait(janus_ticker* ticker, uint64_t* missed) {
  int answer = JANUS_E_INVALID;
  if (!ticker || ticker->period_ns == 0) return answer;
  answer = janus_sleep_until(ticker->next_ns);
  return answer == 0 ? janus_ticker_take(ticker, missed) : answer;
}

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_TICKER_H
