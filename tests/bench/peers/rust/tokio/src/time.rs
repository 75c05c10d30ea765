// SPDX-License-Identifier: Apache-2.0
//! Timers that are set and cancelled, and how late sleeps end.

use crate::with_workers;
use measure::{each, figure, figures_of_samples, wake_samples};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::time::sleep;

const HOUR: Duration = Duration::from_secs(3600);

/// Polls once, which registers a timer.
struct Once<F>(Pin<Box<F>>);

impl<F: Future> Future for Once<F> {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let _ = self.0.as_mut().poll(context);
        Poll::Ready(())
    }
}

/// A timer that is set and dropped while `pending` others are set.
pub fn deadline(pending: usize, workers: usize) {
    const ROUNDS: usize = 20_000;
    let best = with_workers(workers, async move {
        let others: Vec<_> = (0..pending).map(|_| tokio::spawn(sleep(HOUR))).collect();
        tokio::task::yield_now().await;
        let mut best = HOUR;
        for _ in 0..9 {
            let start = Instant::now();
            for _ in 0..ROUNDS {
                Once(Box::pin(sleep(HOUR))).await;
            }
            best = best.min(start.elapsed());
        }
        others.iter().for_each(|other| other.abort());
        best
    });
    figure("ns", each(best, ROUNDS));
}

pub fn late(microseconds: usize, workers: usize) {
    let mut samples = with_workers(workers, async move {
        let mut samples = Vec::new();
        for _ in 0..wake_samples(microseconds) {
            let until = Instant::now() + Duration::from_micros(microseconds as u64);
            sleep(until - Instant::now()).await;
            samples.push(Instant::now().saturating_duration_since(until));
        }
        samples
    });
    figures_of_samples(&mut samples);
}
