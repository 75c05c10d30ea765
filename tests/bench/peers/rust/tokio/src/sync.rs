// SPDX-License-Identifier: Apache-2.0
//! A mutex that is free, and one that tasks contend for.

use crate::with_workers;
use measure::{each, figure};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Mutex;

pub fn lock(size: usize, workers: usize) {
    let spent = with_workers(workers, async move {
        let mutex = Mutex::new(0u64);
        let start = Instant::now();
        for _ in 0..size {
            *mutex.lock().await += 1;
        }
        start.elapsed()
    });
    figure("ns", each(spent, size));
}

fn wait_a_little(steps: u32) {
    for step in 0..steps {
        black_box(step);
    }
}

/// A holder yields once in 64 times.
pub fn contend<const TASKS: usize>(size: usize, workers: usize) {
    let rounds = size / TASKS;
    let (spent, passed) = with_workers(workers, async move {
        let mutex = Arc::new(Mutex::new(0u64));
        let count = Arc::new(AtomicU64::new(0));
        let start = Instant::now();
        let tasks: Vec<_> = (1..=TASKS as u64)
            .map(|task| {
                let (mutex, count) = (mutex.clone(), count.clone());
                tokio::spawn(async move {
                    let mut seed = task.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
                    for _ in 0..rounds {
                        let before = count.load(Relaxed);
                        let mut passed = mutex.lock().await;
                        *passed = (*passed).max(count.load(Relaxed) - before);
                        count.store(count.load(Relaxed) + 1, Relaxed);
                        wait_a_little(20);
                        seed ^= seed << 13;
                        seed ^= seed >> 7;
                        seed ^= seed << 17;
                        if seed % 64 == 0 {
                            tokio::task::yield_now().await;
                        }
                        drop(passed);
                        wait_a_little(60);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("its end");
        }
        let passed = *mutex.lock().await;
        (start.elapsed(), passed)
    });
    figure("ns", each(spent, rounds * TASKS));
    figure("passed", passed as f64);
}
