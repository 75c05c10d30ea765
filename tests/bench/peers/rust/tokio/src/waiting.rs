// SPDX-License-Identifier: Apache-2.0
//! Tasks that wait for each other, and a worker that waits for tasks.

use crate::with_workers;
use measure::{each, fail, figure, figures_of_samples, spin_for, wake_samples, Idleness};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{channel as words, Receiver, Sender};

async fn round_trips(there: &Sender<usize>, back: &mut Receiver<usize>, rounds: usize) {
    for word in 0..rounds {
        there.send(word).await.expect("a listener");
        if back.recv().await != Some(word + 1) {
            fail("a round trip brought something else");
        }
    }
}

pub fn channel(rounds: usize, workers: usize) {
    let spent = with_workers(workers, async move {
        let ((there, mut heard), (answer, mut back)) = (words(1), words(1));
        tokio::spawn(async move {
            while let Some(word) = heard.recv().await {
                answer.send(word + 1).await.expect("a listener");
            }
        });
        round_trips(&there, &mut back, rounds / 10 + 1).await;
        let start = Instant::now();
        round_trips(&there, &mut back, rounds).await;
        start.elapsed()
    });
    figure("ns", each(spent, rounds));
}

struct Mail {
    ran_at: Mutex<Option<Instant>>,
    ran: AtomicBool,
}

/// The spawner stays on its worker and reads the clock, so the task can only run on the thief. The newest task is in a
/// slot where thieves do not look; a second spawn moves the first task out of that slot, and wakes the thieves.
async fn sample(idle: Duration) -> Duration {
    let mail = Arc::new(Mail { ran_at: Mutex::new(None), ran: AtomicBool::new(false) });
    let shared = mail.clone();
    spin_for(idle);
    let start = Instant::now();
    tokio::spawn(async move {
        let now = Instant::now();
        *shared.ran_at.lock().unwrap() = Some(now);
        shared.ran.store(true, Ordering::Release);
    });
    let second = tokio::spawn(async {});
    while !mail.ran.load(Ordering::Acquire) {
        if start.elapsed() > Duration::from_secs(1) {
            fail("no worker came for a task within a second");
        }
    }
    let ran_at = mail.ran_at.lock().unwrap().expect("when it ran");
    second.await.expect("a task that ends");
    ran_at - start
}

pub fn wake(idle_us: usize, workers: usize) {
    if workers != 2 {
        fail("wake wants two workers");
    }
    let idle = Duration::from_micros(idle_us as u64);
    let mut samples = with_workers(workers, async move {
        let mut samples = Vec::new();
        let idleness = Idleness::begin();
        for _ in 0..wake_samples(idle_us) {
            samples.push(sample(idle).await);
        }
        idleness.figure_of_others();
        samples
    });
    figures_of_samples(&mut samples);
}
