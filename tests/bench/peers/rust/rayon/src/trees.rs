// SPDX-License-Identifier: Apache-2.0
//! Thousands of tasks, and trees of tasks.

use crate::with_workers;
use measure::{each, fail, fib_by_adding, figure, figures_of_skynet, figures_of_uts, spawns_of_fib, uts};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::time::{Duration, Instant};

const MOST_IN_SCOPE: usize = 10_000;
#[allow(clippy::declare_interior_mutable_const)]
const UNMARKED: AtomicU8 = AtomicU8::new(0);
static MARKS: [AtomicU8; MOST_IN_SCOPE] = [UNMARKED; MOST_IN_SCOPE];

/// Each task only writes its scope's mark into its own slot.
fn spawn_scope(tasks: usize, mark: u8) {
    rayon::scope(|scope| {
        for slot in &MARKS[..tasks] {
            scope.spawn(move |_| slot.store(mark, Relaxed));
        }
    });
    if MARKS[..tasks].iter().any(|slot| slot.load(Relaxed) != mark) {
        fail("a task of a scope did not run");
    }
}

fn spawn_scopes<const SCOPE: usize>(tasks: usize) -> Duration {
    let start = Instant::now();
    for (number, first) in (0..tasks).step_by(SCOPE).enumerate() {
        spawn_scope(SCOPE.min(tasks - first), number as u8 + 1);
    }
    start.elapsed()
}

pub fn spawn<const SCOPE: usize>(tasks: usize, workers: usize) {
    let spent = with_workers(workers, || {
        spawn_scopes::<SCOPE>(tasks.min(100_000));
        spawn_scopes::<SCOPE>(tasks)
    });
    figure("ns", each(spent, tasks));
}

/// The first half runs inline; the second half is in the deque meanwhile.
fn fib_of(n: usize) -> usize {
    if n < 2 {
        return n;
    }
    let (right, left) = rayon::join(|| fib_of(n - 2), || fib_of(n - 1));
    left + right
}

pub fn fib(n: usize, workers: usize) {
    let (result, spent) = with_workers(workers, || {
        fib_of(n.min(25));
        let start = Instant::now();
        (fib_of(n), start.elapsed())
    });
    if result != fib_by_adding(n) {
        fail(&format!("fib({n}) is not {result}"));
    }
    figure("ns", each(spent, spawns_of_fib(n)));
}

/// Ten children that can be stolen one by one. An iterator that is split down to single children takes half the time of a scope.
fn skynet_of(first: usize, leaves: usize) -> usize {
    if leaves == 1 {
        return first;
    }
    let child = |i| skynet_of(first + i * (leaves / 10), leaves / 10);
    (0..10usize).into_par_iter().with_max_len(1).map(child).sum()
}

pub fn skynet(leaves: usize, workers: usize) {
    let (sum, spent) = with_workers(workers, || {
        skynet_of(0, leaves.min(10_000));
        let start = Instant::now();
        (skynet_of(0, leaves), start.elapsed())
    });
    figures_of_skynet(leaves, sum, spent);
}

/// A job for each node, as in skynet.
fn nodes_below(state: u64, children: usize) -> usize {
    let child = |i| match uts::child(state, i) {
        child if uts::is_leaf(child) => 1,
        child => nodes_below(child, uts::CHILDREN),
    };
    1 + (0..children).into_par_iter().with_max_len(1).map(child).sum::<usize>()
}

pub fn uts(children: usize, workers: usize) {
    let (nodes, spent) = with_workers(workers, || {
        nodes_below(uts::ROOT, children.min(500));
        let start = Instant::now();
        (nodes_below(uts::ROOT, children), start.elapsed())
    });
    figures_of_uts(children, nodes, spent);
}
