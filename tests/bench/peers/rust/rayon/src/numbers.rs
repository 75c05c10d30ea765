// SPDX-License-Identifier: Apache-2.0
//! Parallel iterators over numbers.

use crate::with_workers;
use measure::{each, fail, figure};
use rayon::prelude::*;
use std::time::Instant;

const MILLION: usize = 1_000_000;

/// Random numbers that every program makes in the same way (xorshift64).
fn random(size: usize) -> Vec<u32> {
    let mut state: u64 = 88172645463325252;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as u32
    };
    (0..size).map(next).collect()
}

pub fn sort(size: usize, workers: usize) {
    let mut numbers = random(size);
    let spent = with_workers(workers, || {
        let start = Instant::now();
        numbers.par_sort_unstable();
        start.elapsed()
    });
    if numbers.windows(2).any(|pair| pair[0] > pair[1]) {
        fail("the numbers are not sorted");
    }
    figure("ms", each(spent, MILLION));
}

pub fn reduce(size: usize, workers: usize) {
    let numbers = random(size);
    let expected: u64 = numbers.iter().map(|&number| u64::from(number)).sum();
    let spent = with_workers(workers, || {
        let start = Instant::now();
        for _ in 0..10 {
            let sum = numbers.par_iter().map(|&number| u64::from(number)).reduce(|| 0, |a, b| a + b);
            if sum != expected {
                fail("the sum is wrong");
            }
        }
        start.elapsed()
    });
    figure("ms", each(spent, 10 * MILLION));
}
