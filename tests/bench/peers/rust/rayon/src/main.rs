// SPDX-License-Identifier: Apache-2.0
//! rayon: joins, scopes and parallel iterators in its own thread pool.

mod numbers;
mod queens;
mod trees;
mod wake;

use measure::{allowed_cpus, pin, run_workload};

/// Runs `body` on a worker of a pool of pinned threads. Their stacks are large, since a worker that waits runs other jobs
/// on top of what it waits in; they take memory only where they are touched.
pub fn with_workers<R: Send>(workers: usize, body: impl FnOnce() -> R + Send) -> R {
    let cpus = allowed_cpus();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(workers)
        .stack_size(64 << 20)
        .start_handler(move |worker| pin(&cpus, worker, workers))
        .build()
        .expect("a pool");
    pool.install(body)
}

fn main() {
    run_workload(&[
        ("spawn", trees::spawn::<1000>),
        ("spawn_10", trees::spawn::<10>),
        ("spawn_100", trees::spawn::<100>),
        ("spawn_10000", trees::spawn::<10_000>),
        ("fib", trees::fib),
        ("fork", trees::fib),
        ("sort", numbers::sort),
        ("reduce", numbers::reduce),
        ("skynet", trees::skynet),
        ("uts", trees::uts),
        ("nqueens", queens::nqueens),
        ("wake", wake::wake),
    ]);
}
