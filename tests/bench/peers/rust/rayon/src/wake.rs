// SPDX-License-Identifier: Apache-2.0
//! How long it takes until the other worker runs a task that this one spawns.

use crate::with_workers;
use measure::{fail, figures_of_samples, spin_for, wake_samples, Idleness};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The spawner stays on its worker and reads the clock, so the task can only run on the thief.
fn sample(idle: Duration) -> Duration {
    let ran_at = Mutex::new(None);
    let ran = AtomicBool::new(false);
    let mut start = Instant::now();
    rayon::scope(|scope| {
        spin_for(idle);
        start = Instant::now();
        scope.spawn(|_| {
            let now = Instant::now();
            *ran_at.lock().unwrap() = Some(now);
            ran.store(true, Ordering::Release);
        });
        while !ran.load(Ordering::Acquire) {
            if start.elapsed() > Duration::from_secs(1) {
                fail("no worker came for a task within a second");
            }
        }
    });
    let ran_at = ran_at.into_inner().unwrap().unwrap();
    ran_at - start
}

pub fn wake(idle_us: usize, workers: usize) {
    if workers != 2 {
        fail("wake wants two workers");
    }
    let idle = Duration::from_micros(idle_us as u64);
    let mut samples = with_workers(workers, || {
        let idleness = Idleness::begin();
        let samples: Vec<_> = (0..wake_samples(idle_us)).map(|_| sample(idle)).collect();
        idleness.figure_of_others();
        samples
    });
    figures_of_samples(&mut samples);
}
