// SPDX-License-Identifier: Apache-2.0
//! crossbeam-deque alone, on one core and without contention.

use crossbeam_deque::{Steal, Stealer, Worker};
use measure::{allowed_cpus, each, fail, figure, pin, run_workload};
use std::time::{Duration, Instant};

const BATCH: usize = 1000;

fn stolen(stealer: &Stealer<usize>) -> usize {
    loop {
        match stealer.steal() {
            Steal::Success(item) => return item,
            Steal::Retry => continue,
            Steal::Empty => fail("nothing to steal where something was pushed"),
        }
    }
}

/// Steals one batch; pushing the batch is not timed.
fn steal_batch(deque: &Worker<usize>, stealer: &Stealer<usize>) -> Duration {
    (0..BATCH).for_each(|item| deque.push(item));
    let start = Instant::now();
    let sum: usize = (0..BATCH).map(|_| stolen(stealer)).sum();
    let spent = start.elapsed();
    if sum != BATCH * (BATCH - 1) / 2 || !deque.is_empty() {
        fail("the stolen items are not those that were pushed");
    }
    spent
}

fn steal(items: usize, _: usize) {
    pin(&allowed_cpus(), 0, 1);
    let deque = Worker::new_lifo();
    let stealer = deque.stealer();
    let _warm_up: Duration = (0..10).map(|_| steal_batch(&deque, &stealer)).sum();
    let batches = (items + BATCH - 1) / BATCH;
    let spent: Duration = (0..batches).map(|_| steal_batch(&deque, &stealer)).sum();
    figure("ns", each(spent, batches * BATCH));
}

fn push_and_pop(deque: &Worker<usize>, pairs: usize) -> Duration {
    let start = Instant::now();
    for item in 0..pairs {
        deque.push(item);
        if deque.pop() != Some(item) {
            fail("what was pushed does not come back");
        }
    }
    start.elapsed()
}

fn deque(pairs: usize, _: usize) {
    pin(&allowed_cpus(), 0, 1);
    let deque = Worker::new_lifo();
    push_and_pop(&deque, pairs / 10);
    figure("ns", each(push_and_pop(&deque, pairs), pairs));
}

fn main() {
    run_workload(&[("steal", steal), ("deque", deque)]);
}
