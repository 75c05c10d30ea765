// SPDX-License-Identifier: Apache-2.0
//! tokio: tasks on its multi-threaded runtime, also with one worker.

mod many;
mod sync;
mod time;
mod trees;
mod waiting;

use measure::{allowed_cpus, pin, run_workload};
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Runs `body` as a task on a worker, while this thread sleeps.
pub fn with_workers<R: Send + 'static>(workers: usize, body: impl Future<Output = R> + Send + 'static) -> R {
    let cpus = allowed_cpus();
    let started = AtomicUsize::new(0);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .on_thread_start(move || pin(&cpus, started.fetch_add(1, Relaxed), workers))
        .enable_time()
        .build()
        .expect("a runtime");
    runtime.block_on(async { tokio::spawn(body).await.expect("its result") })
}

fn main() {
    run_workload(&[
        ("yield", many::yield_now),
        ("spawn", many::spawn::<1000>),
        ("spawn_10", many::spawn::<10>),
        ("spawn_100", many::spawn::<100>),
        ("spawn_10000", many::spawn::<10_000>),
        ("spawned", many::spawned),
        ("parked", many::parked),
        ("fib", trees::fib),
        ("skynet", trees::skynet),
        ("uts", trees::uts),
        ("channel", waiting::channel),
        ("wake", waiting::wake),
        ("deadline", time::deadline),
        ("late", time::late),
        ("lock", sync::lock),
        ("contend_2", sync::contend::<2>),
        ("contend_8", sync::contend::<8>),
    ]);
}
