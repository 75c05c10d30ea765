// SPDX-License-Identifier: Apache-2.0
// aside_model_test.cpp — every interleaving of draws with what puts ops aside and takes them back: the mark of a keeper
// (rt/budget/keeping.cpp) and pauses (account_pauses.cpp). No op is lost, doubled or out of sight; a draw fails only if there is too
// little, or in a pause; and an account is in a pause as the marks say.
#include "rt/budget/accounts.h"
#include "rt/budget/keeping.h"
#include "rt/budget/pauses.h"
#include "tests/harness/test.h"
#include "tests/models/explorer.h"

namespace {

using janus::Account;
using janus::Accounts;
using janus::Component;
using janus::Keeping;
using janus::Pauses;
using janus::model::Fences;
using janus::model::require;

// 'd': draws an op, which is there unless there may be a pause. 'b': gives one back that it has drawn. 'k': sets the mark
// of the keeper to 1, 'x': ends that. 'p', 'r': begins a pause, or ends it. 'o': opens an account with 1 op below, and closes
// it. 'u': looks at the books. 't': tries to move an op and a spawn elsewhere, of which the latter is not there. 'c': closes
// the account. Before all that, 'K' sets the mark, and 'D' draws an op.
struct AsideWorld {
  static constexpr unsigned kMax = 3;
  static constexpr std::uint64_t kOps = 2, kAll = 10;
  const char* programs[kMax];
  Accounts accounts{};
  Account *account = nullptr, *other = nullptr;
  std::uint64_t drawn = 0, drawn_before = 0;
  bool is_marked = false, may_be_paused = false, is_told = false, is_closed = false;

  unsigned threads() const { return programs[2] == nullptr ? 2 : 3; }

  void begin() {
    require(accounts.init({{kAll, janus::kUnlimited, 0, 0, 0}}), "there is memory");
    account = accounts.open(accounts.root(), {{kOps, 0, 0, 0, 0}}, nullptr);
    for (const char* what = programs[1]; *what == 't'; ++what) other = accounts.open(accounts.root(), {}, nullptr);
    require(account != nullptr && (other != nullptr) == (*programs[1] == 't'), "there is memory for more");
    accounts.retain(account);  // who gives back after a close
    accounts.notify_of_returns([](void* told) noexcept { *static_cast<bool*>(told) = true; }, &is_told);
    for (const char* program : programs)
      for (; program != nullptr && *program != '\0'; ++program) may_be_paused |= *program == 'p';
    // What only the first keeper or pause would set.
    Keeping::set(accounts, account, 0, {});
    for (const char* what = programs[0]; *what == 'K'; ++what) keep(1);
    for (const char* what = programs[1]; *what == 'D'; ++what) drawn_before += draws(account) ? 1 : 0;
    drawn = drawn_before;
  }

  bool draws(Account* its) { return accounts.draw(its, Component::kOps, 1); }

  void keep(std::uint64_t keeper) {
    janus::LockGuard guard(accounts.queue(account).lock);
    Keeping::set(accounts, account, keeper, {{1, 0, 0, 0, 0}});
  }

  void set_paused(bool is_paused) {
    is_marked = is_paused;
    Pauses::mark(accounts, account, is_paused);
    unsigned steps = 0;
    for (std::uint32_t index = 2; index < accounts.end(); ++index)
      (void)Pauses::see_to_number(accounts, index, account, steps);
  }

  void open_one() {
    Account* const below = accounts.open(account, {{1, 0, 0, 0, 0}}, nullptr);
    require(below != nullptr, "a pause keeps nobody from opening a budget");
    if (!may_be_paused) require(draws(below), "what was given can be drawn");
    if (!may_be_paused) accounts.credit(below, Component::kOps, 1);
    accounts.close(below);
  }

  void run(unsigned thread) {
    std::uint64_t mine = thread == 1 ? drawn_before : 0;
    for (const char* what = programs[thread]; *what != '\0'; ++what) {
      switch (*what) {
        case 'd': {
          const bool is_drawn = draws(account);
          require(is_drawn || may_be_paused, "what is aside below a mark can be drawn");
          mine += is_drawn ? 1 : 0;
          drawn += is_drawn ? 1 : 0;
          break;
        }
        case 'b':
          if (mine == 0) break;
          --mine;
          --drawn;
          accounts.credit(account, Component::kOps, 1);
          break;
        case 'k':
        case 'x':
          keep(*what == 'k' ? 1 : 0);
          break;
        case 'p':
        case 'r':
          set_paused(*what == 'p');
          break;
        case 'o':
          open_one();
          break;
        case 't': {
          janus::LockGuard guard(accounts.queue(other).lock);
          require(!accounts.transfer(account, other, {{1, 0, 1, 0, 0}}, nullptr), "a spawn is not there");
          break;
        }
        case 'c':
          is_closed = true;
          accounts.close(account);
          break;
        case 'u': {
          janus::LockGuard guard(accounts.queue(account).lock);
          const janus::Books books = accounts.books(account);
          require(books.spent.of[0] + books.left.of[0] == kOps && books.left.of[0] <= kOps, "the books balance");
          break;
        }
        default:
          break;
      }
    }
  }

  void end() {
    if (is_closed) {
      require(accounts.left(accounts.root(), Component::kOps) == kAll - drawn,
              "a close loses nothing, and makes nothing");
      return accounts.release(account);
    }
    require(accounts.left_in_all(account, Component::kOps) == kOps - drawn, "no op is lost, and none is made");
    require(Pauses::is_in_pause(account) == is_marked, "it is in a pause if it is marked");
    if (is_marked) {
      require(!draws(account), "a pause leaves nothing to draw");
      set_paused(false);
    }
    const bool had_mark = Keeping::keeper(account) != 0;
    if (had_mark && drawn == 0) {
      janus::LockGuard guard(accounts.queue(account).lock);
      Keeping::renew(account);
      (void)Keeping::take_fallen(account, Component::kOps);
    }
    const bool has_mark = had_mark && drawn == 0;
    for (std::uint64_t i = drawn; i < kOps; ++i) {
      if (has_mark)
        require(!Keeping::take_fallen(account, Component::kOps), "the mark is not passed before that is so");
      require(draws(account), "all that is left can be drawn");
    }
    if (has_mark) require(Keeping::take_fallen(account, Component::kOps), "and is when less is left");
  }
};

bool goes_well(const char* name, const char* first, const char* second, const char* third = nullptr) {
  return janus::model::goes_well<AsideWorld>(name, Fences::kOwn, first, second, third);
}

TEST(aside_model, a_mark_hides_nothing_from_a_draw) {
  REQUIRE(goes_well("two who draw below it", "Kd", "d"));
  REQUIRE(goes_well("one who gives back", "Kdb", "d"));
  REQUIRE(goes_well("a mark that is set meanwhile", "kx", "d", "d"));
  REQUIRE(goes_well("set twice", "k", "k", "d"));
  REQUIRE(goes_well("with a look at the books", "Kd", "u", "d"));
  REQUIRE(goes_well("a budget below", "Kd", "o"));
  REQUIRE(goes_well("a close beside one who gives back", "Kc", "Db"));
}

TEST(aside_model, a_pause_stops_draws_and_nothing_else) {
  REQUIRE(goes_well("begin", "p", "d"));
  REQUIRE(goes_well("begin and end", "pr", "db"));
  REQUIRE(goes_well("with a mark", "Kpr", "d"));
  REQUIRE(goes_well("with a mark that comes", "pr", "kd"));
  REQUIRE(goes_well("with a look at the books", "pr", "u", "d"));
  REQUIRE(goes_well("and a mark, beside one who puts back", "prk", "t"));
  REQUIRE(goes_well("beside a budget that is opened below", "pr", "o"));
  REQUIRE(goes_well("beside one who draws and one that is opened", "p", "od"));
}

}  // namespace
