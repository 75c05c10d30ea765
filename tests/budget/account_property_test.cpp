// SPDX-License-Identifier: Apache-2.0
// tests/budget/account_property_test.cpp — INVARIANT conservation, for random trees of accounts and random operations.
// With one thread it holds exactly after every operation, the records of accounts included. With several threads,
// outstanding charges never exceed what the root was given, and at the end everything is back. Also tests INVARIANT
// one-line-of-credit with the same operations.
#include "rt/base/rng.h"
#include "rt/budget/accounts.h"
#include "tests/harness/test.h"
#include "tests/harness/thread_group.h"

namespace {

using janus::Account;
using janus::Accounts;
using janus::Amounts;
using janus::Component;
using janus::kComponents;
using janus::kUnlimited;
using janus::MemoryCache;
using janus::Rng;

constexpr Amounts kTotal{{100'000, 1'000'000, 5'000, 50'000, 777}};
constexpr unsigned kMaxOpen = 24;
constexpr std::uint64_t kCredit = 3'000;
constexpr std::uint64_t kRecord = 70;  // the price of an account's record, paid by the account above

Component random_component(Rng& rng) {
  return static_cast<Component>(rng.below(kComponents));
}

// Amounts of all sizes: often none, sometimes all that there is.
Amounts random_wish(Rng& rng) {
  Amounts wish{};
  for (unsigned i = 0; i < kComponents; ++i) {
    if (rng.below(3) == 0) continue;
    wish.of[i] = rng.below(40) == 0 ? kUnlimited : rng.below(1 + kTotal.of[i] / 4) >> rng.below(12);
  }
  return wish;
}

// An outstanding charge.
struct Charge {
  Account* account;
  Component component;
  std::uint64_t amount;
};

// ---- One thread: the sums are exact after every operation ---------------------------------------------------------

class Books {
 public:
  explicit Books(std::uint64_t seed) : rng_(seed) {
    CHECK(accounts_.init(kTotal));
    accounts_.charge_records(kRecord, nullptr);
    for (MemoryCache& cache : caches_) accounts_.register_cache(cache);
    open_[0] = accounts_.root();
  }
  ~Books() { accounts_.destroy(); }
  Books(const Books&) = delete;
  Books& operator=(const Books&) = delete;

  void step() {
    switch (rng_.below(11)) {
      case 10:
        return withdraw();
      case 0:
        return open();
      case 1:
        return close();
      case 2:
        return transfer();
      case 8:
        return borrow();
      case 9:
        return end_loan();
      case 3:
      case 4:
      case 5:
        return draw();
      default:
        return credit();
    }
  }

  // True if what all accounts have left and all outstanding charges add up to what the root was given plus its loans.
  [[nodiscard]] bool are_balanced() {
    for (unsigned i = 0; i < kComponents; ++i) {
      const auto component = static_cast<Component>(i);
      std::uint64_t sum = used_.of[i];
      for (unsigned k = 0; k < open_count_; ++k) sum += accounts_.left(open_[k], component);
      for (unsigned k = 0; k < charge_count_; ++k) sum += charges_[k].component == component ? charges_[k].amount : 0;
      for (unsigned k = 0; k < loan_count_; ++k) sum += component == Component::kOps ? loans_[k].amount : 0;
      const std::uint64_t on_loan = component == Component::kOps ? accounts_.on_loan(accounts_.root()) : 0;
      if (component == Component::kMemory) sum += paid_for_records();
      if (!CHECK_EQ(sum, kTotal.of[i] + on_loan) || !CHECK_LE(on_loan, kCredit)) return false;
    }
    for (unsigned k = 1; k < open_count_; ++k) {
      if (!is_booked(open_[k])) return false;
    }
    return true;
  }

  // INVARIANT books-balance: all that came in is spent, left or returned; and what tasks have drawn and not credited is spent.
  [[nodiscard]] bool is_booked(const Account* account) {
    const janus::Books books = accounts_.books(account);
    for (unsigned i = 0; i < kComponents; ++i) {
      std::uint64_t drawn = 0;
      for (unsigned k = 0; k < charge_count_; ++k) {
        const bool counts = charges_[k].account == account && charges_[k].component == static_cast<Component>(i);
        drawn += counts ? charges_[k].amount : 0;
      }
      if (!CHECK_EQ(books.left.of[i], accounts_.left(account, static_cast<Component>(i)))) return false;
      if (!CHECK_LE(drawn, books.spent.of[i])) return false;
      if (!CHECK_LE(books.spent.of[i], kTotal.of[i] * 1'000)) return false;  // it has not passed 0
    }
    return CHECK_LE(books.held, books.most_held) && CHECK_LE(books.most_held, kTotal[Component::kMemory]);
  }

  // What all accounts, open or closed, hold beyond the outstanding charges. It must be the price of whole records, and
  // of no more records than exist.
  [[nodiscard]] std::uint64_t paid_for_records() {
    std::uint64_t held = 0, charged = 0;
    for (std::uint32_t index = 2; index < accounts_.end(); ++index) held += accounts_.held(accounts_.at(index));
    for (unsigned k = 0; k < charge_count_; ++k) {
      const bool counts = charges_[k].component == Component::kMemory && charges_[k].account != accounts_.root();
      charged += counts ? charges_[k].amount : 0;
    }
    CHECK_LE(charged, held);
    CHECK_EQ((held - charged) % kRecord, 0u);
    CHECK_LE((held - charged) / kRecord, accounts_.count() - 1);
    records_ += (held - charged) / kRecord;
    return held - charged;
  }

  void wind_up() {
    while (charge_count_ != 0) credit();
    while (loan_count_ != 0) end_loan();
    while (open_count_ > 1) close();
    CHECK(are_balanced());
    CHECK_EQ(accounts_.count(), 1);
    CHECK_EQ(accounts_.left(accounts_.root(), Component::kMemory), kTotal[Component::kMemory]);
  }

  [[nodiscard]] std::uint64_t draws() const { return draws_; }
  [[nodiscard]] std::uint64_t withdrawals() const { return withdrawals_; }
  [[nodiscard]] std::uint64_t paid_loans() const { return paid_loans_; }
  [[nodiscard]] std::uint64_t opens() const { return opens_; }
  [[nodiscard]] std::uint64_t records() const { return records_; }

 private:
  Account*& random_open() { return open_[rng_.below(open_count_)]; }
  MemoryCache* random_cache() {
    const std::uint64_t number = rng_.below(kCaches + 1);
    return number < kCaches ? &caches_[number] : nullptr;
  }

  void open() {
    if (open_count_ == kMaxOpen) return;
    Component short_of{};
    Account* const parent = random_open();
    Account* const child = accounts_.open(parent, random_wish(rng_), &short_of);
    if (child == nullptr) return;
    CHECK_EQ(child->parent(), parent);
    open_[open_count_++] = child;
    ++opens_;
  }

  // Closes any account but the root, possibly before its children.
  void close() {
    if (open_count_ == 1) return;
    const std::uint64_t number = 1 + rng_.below(open_count_ - 1);
    forget_flows_of(open_[number]);
    // The borrowing tasks have ended.
    for (unsigned k = loan_count_; k-- > 0;) {
      if (loans_[k].account == open_[number]) end_loan(k);
    }
    accounts_.close(open_[number]);
    open_[number] = open_[--open_count_];
  }

  // After an account's close only memory may be credited to it; charges of other components count as used.
  void forget_flows_of(const Account* account) {
    for (unsigned k = 0; k < charge_count_;) {
      if (charges_[k].account != account || charges_[k].component == Component::kMemory) {
        ++k;
        continue;
      }
      used_[charges_[k].component] += charges_[k].amount;
      charges_[k] = charges_[--charge_count_];
    }
  }

  void transfer() {
    Account* const from = random_open();
    Account* const to = rng_.below(4) == 0 ? accounts_.root() : random_open();
    const Amounts wish = random_wish(rng_);
    if (rng_.below(2) == 0) return (void)accounts_.transfer(from, to, wish);
    const std::uint64_t before = accounts_.on_loan(to);
    (void)accounts_.recharge(from, to, wish);
    paid_loans_ += accounts_.on_loan(to) < before ? 1 : 0;
  }

  // What is withdrawn was left, is returned now, and is left in the account above, or pays the debt there.
  void withdraw() {
    if (open_count_ == 1) return;
    Account* const account = open_[1 + rng_.below(open_count_ - 1)];
    const Amounts most = random_wish(rng_);
    const janus::Books before = accounts_.books(account);
    const Amounts taken = accounts_.withdraw(account, most);
    const janus::Books after = accounts_.books(account);
    for (unsigned i = 0; i < kComponents; ++i) {
      CHECK_EQ(taken.of[i], before.left.of[i] < most.of[i] ? before.left.of[i] : most.of[i]);
      CHECK_EQ(after.left.of[i], before.left.of[i] - taken.of[i]);
      CHECK_EQ(after.returned.of[i], before.returned.of[i] + taken.of[i]);
      CHECK_EQ(after.spent.of[i], before.spent.of[i]);
      withdrawals_ += taken.of[i] != 0 ? 1 : 0;
    }
  }

  void borrow() {
    if (loan_count_ == kMaxCharges) return;
    Account* const account = random_open();
    const std::uint64_t wanted = rng_.below(500);
    const std::uint64_t before = accounts_.on_loan(account);
    const std::uint64_t amount = accounts_.borrow(account, wanted, kCredit);
    CHECK_EQ(amount, wanted < kCredit - before ? wanted : kCredit - before);
    if (amount != 0) loans_[loan_count_++] = {account, Component::kOps, amount};
  }

  // Ends a loan, of which a random part was spent.
  void end_loan() {
    if (loan_count_ != 0) end_loan(static_cast<unsigned>(rng_.below(loan_count_)));
  }
  void end_loan(unsigned number) {
    Charge& loan = loans_[number];
    const std::uint64_t spent = rng_.below(loan.amount + 1);
    used_[Component::kOps] += spent;
    accounts_.give_back(loan.account, loan.amount - spent);
    loan = loans_[--loan_count_];
  }

  void draw() {
    if (charge_count_ == kMaxCharges) return;
    const Charge charge{random_open(), random_component(rng_), rng_.below(2000) >> rng_.below(11)};
    const std::uint64_t before = accounts_.left(charge.account, charge.component);
    const bool is_drawn = charge.component == Component::kMemory
                              ? accounts_.draw_memory(random_cache(), charge.account, charge.amount)
                              : accounts_.draw(charge.account, charge.component, charge.amount);
    CHECK_EQ(is_drawn, before >= charge.amount);
    if (!is_drawn) return;
    charges_[charge_count_++] = charge;
    ++draws_;
  }

  void credit() {
    if (charge_count_ == 0) return;
    Charge& charge = charges_[rng_.below(charge_count_)];
    if (charge.component == Component::kMemory) {
      accounts_.credit_memory(random_cache(), charge.account, charge.amount);
    } else {
      accounts_.credit(charge.account, charge.component, charge.amount);
    }
    charge = charges_[--charge_count_];
  }

  static constexpr unsigned kCaches = 3;
  static constexpr unsigned kMaxCharges = 200;

  Rng rng_;
  Accounts accounts_{};
  MemoryCache caches_[kCaches]{};
  Account* open_[kMaxOpen];
  unsigned open_count_ = 1;
  Charge charges_[kMaxCharges];
  unsigned charge_count_ = 0;
  Charge loans_[kMaxCharges];
  unsigned loan_count_ = 0;
  std::uint64_t paid_loans_ = 0;
  Amounts used_{};
  std::uint64_t draws_ = 0;
  std::uint64_t opens_ = 0;
  std::uint64_t withdrawals_ = 0;
  std::uint64_t records_ = 0;
};

TEST(account_property, books_balance_after_every_operation) {
  const std::uint64_t seed = janus::test::environment_number("JANUS_TEST_SEED", 1);
  std::uint64_t draws = 0;
  std::uint64_t opens = 0;
  std::uint64_t paid_loans = 0, records = 0, withdrawals = 0;
  for (std::uint64_t round = 0; round < 200; ++round) {
    Books books(seed + round);
    for (unsigned i = 0; i < 1'000; ++i) {
      books.step();
      if (!books.are_balanced()) return janus::test::note("seed", seed + round);
    }
    books.wind_up();
    draws += books.draws();
    opens += books.opens();
    records += books.records();
    withdrawals += books.withdrawals();
    paid_loans += books.paid_loans();
  }
  // Check that the random operations included enough of each kind.
  CHECK_GT(draws, 20'000u);
  CHECK_GT(opens, 5'000u);
  CHECK_GT(paid_loans, 40u);
  CHECK_GT(records, 10'000u);
  CHECK_GT(withdrawals, 5'000u);
}

// ---- Several threads ----------------------------------------------------------------------------------------------

constexpr unsigned kThreads = 4;
constexpr unsigned kTrunk = 6;  // accounts under which all threads open children, which they draw on and close
// outstanding memory charges that any thread may credit, as when another worker frees a block
constexpr unsigned kBoxes = 128;

struct World {
  Accounts accounts{};
  MemoryCache caches[kThreads]{};
  Account* trunk[kTrunk]{};
  std::atomic<std::uint64_t> outstanding[kComponents]{};
  std::atomic<std::uint64_t> boxes[kBoxes]{};  // index of the account << 32 | bytes
  std::atomic<std::uint64_t> borrowed{0};
  std::atomic<bool> has_minted{false};
  std::atomic<std::uint64_t> draws{0};

  // An amount is counted after it was drawn and until it is credited, so the count is never higher than the truth.
  void count(Component component, std::uint64_t amount) {
    const auto i = static_cast<unsigned>(component);
    if (outstanding[i].fetch_add(amount) + amount > kTotal.of[i]) has_minted = true;
    draws.fetch_add(1, std::memory_order_relaxed);
  }
  void discount(Component component, std::uint64_t amount) {
    outstanding[static_cast<unsigned>(component)].fetch_sub(amount);
  }
};

World* world;

class Player {
 public:
  explicit Player(unsigned number)
      : rng_(Rng::for_worker(janus::test::environment_number("JANUS_TEST_SEED", 1), number)),
        cache_(&world->caches[number]) {
    world->accounts.register_cache(*cache_);
  }

  void step() {
    switch (rng_.below(12)) {
      case 11:
        return withdraw();
      case 0:
        return open();
      case 1:
        return close();
      case 2:
        return (void)world->accounts.transfer(random_account(), random_account(), random_wish(rng_));
      case 9:
        return (void)world->accounts.recharge(random_account(), random_account(), random_wish(rng_));
      case 10:
        return borrow();
      case 3:
      case 4:
        return flow();
      case 5:
        return empty(rng_.below(kBoxes));
      default:
        return post();
    }
  }

  void wind_up() {
    while (count_ != 0) close();
    world->accounts.unregister_cache(*cache_);
  }

  static void empty(MemoryCache* cache, std::uint64_t box) {
    const std::uint64_t content = world->boxes[box].exchange(0, std::memory_order_acquire);
    if (content == 0) return;
    const std::uint64_t bytes = content & 0xffff'ffff;
    world->discount(Component::kMemory, bytes);
    world->accounts.credit_memory(cache, world->accounts.at(static_cast<std::uint32_t>(content >> 32)), bytes);
  }

 private:
  // An account that stays open while this thread uses it: one of its own, of the common trunk, or the root.
  Account* random_account() {
    const std::uint64_t number = rng_.below(count_ + 3);
    if (number < count_) return own_[number];
    return number == count_ ? world->accounts.root() : world->trunk[rng_.below(kTrunk)];
  }

  void open() {
    if (count_ == kMaxOpen) return close();
    Account* const account = world->accounts.open(random_account(), random_wish(rng_), nullptr);
    if (account != nullptr) own_[count_++] = account;
  }

  void close() {
    if (count_ == 0) return;
    const std::uint64_t number = rng_.below(count_);
    world->accounts.close(own_[number]);
    own_[number] = own_[--count_];
  }

  // Draws a slice and gives all of it back.
  void flow() {
    Account* const account = random_account();
    const Component component = random_component(rng_);
    const std::uint64_t amount = 1 + rng_.below(64);
    if (!world->accounts.draw(account, component, amount)) return;
    world->count(component, amount);
    world->discount(component, amount);
    world->accounts.credit(account, component, amount);
  }

  void withdraw() {
    Account* const account = random_account();
    if (account->parent() == nullptr) return;
    const janus::LockGuard guard(world->accounts.queue(account).lock);
    (void)world->accounts.withdraw(account, random_wish(rng_));
  }

  // Takes a loan and gives all of it back. If the root is recharged meanwhile, it pays for the loan and may lend as
  // much again; the unpaid loans never exceed the line of credit.
  void borrow() {
    Account* const account = random_account();
    const std::uint64_t amount = world->accounts.borrow(account, 1 + rng_.below(2'000), kCredit);
    if (amount == 0) return;
    if (world->accounts.on_loan(account) > kCredit) world->has_minted = true;
    world->borrowed.fetch_add(1, std::memory_order_relaxed);
    world->accounts.give_back(account, amount);
  }

  // Charges memory that another thread may free later.
  void post() {
    Account* const account = random_account();
    const std::uint64_t bytes = 1 + rng_.below(rng_.below(10) == 0 ? 60'000 : 500);
    if (!world->accounts.draw_memory(cache_, account, bytes)) return;
    world->count(Component::kMemory, bytes);
    const std::uint64_t box = rng_.below(kBoxes);
    empty(box);
    std::uint64_t expected = 0;
    const std::uint64_t content = (std::uint64_t{account->index()} << 32) | bytes;
    if (world->boxes[box].compare_exchange_strong(expected, content, std::memory_order_release)) return;
    world->discount(Component::kMemory, bytes);
    world->accounts.credit_memory(cache_, account, bytes);
  }

  void empty(std::uint64_t box) { empty(cache_, box); }

  Rng rng_;
  MemoryCache* cache_;
  Account* own_[kMaxOpen];
  std::uint64_t count_ = 0;
};

void play(unsigned number) {
  Player player(number);
  const std::uint64_t steps = janus::test::environment_number("JANUS_TEST_STEPS", 100'000);
  for (std::uint64_t i = 0; i < steps; ++i) player.step();
  player.wind_up();
}

TEST(account_property, threads_neither_mint_nor_lose) {
  static World the_world;
  world = &the_world;
  REQUIRE(world->accounts.init(kTotal));
  world->accounts.charge_records(kRecord, nullptr);
  for (unsigned i = 0; i < kTrunk; ++i) {
    Account* const parent = i == 0 ? world->accounts.root() : world->trunk[i - 1];
    world->trunk[i] = world->accounts.open(parent, {{20'000, 300'000, 900, 9'000, 100}}, nullptr);
    if (world->trunk[i] == nullptr)
      world->trunk[i] = world->accounts.open(parent, {{100, 12'000 - 1'500 * i, 10, 10, 10}}, nullptr);
    REQUIRE(world->trunk[i] != nullptr);
  }
  REQUIRE(janus::test::ThreadGroup::run(kThreads, play));
  CHECK(!world->has_minted);
  CHECK_GT(world->draws.load(), 10'000u);
  CHECK_GT(world->borrowed.load(), 1'000u);
  CHECK_EQ(world->accounts.on_loan(world->accounts.root()), 0);

  // Closes the trunk from the outside in, while memory is still charged to some of its accounts.
  for (Account* account : world->trunk) world->accounts.close(account);
  for (unsigned box = 0; box < kBoxes; ++box) Player::empty(nullptr, box);
  for (unsigned i = 0; i < kComponents; ++i) {
    CHECK_EQ(world->outstanding[i].load(), 0);
    CHECK_EQ(world->accounts.left(world->accounts.root(), static_cast<Component>(i)), kTotal.of[i]);
  }
  CHECK_EQ(world->accounts.count(), 1);
  world->accounts.destroy();
}

}  // namespace
