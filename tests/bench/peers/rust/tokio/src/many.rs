// SPDX-License-Identifier: Apache-2.0
//! Many tasks: tasks that yield to each other, empty tasks, and tasks that are spawned but not run.

use crate::with_workers;
use measure::{each, fail, figure, resident_bytes};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::task::yield_now as give_way;
use tokio::task::JoinHandle;

struct Yielding {
    tasks: usize,
    rounds: usize,
    begun: AtomicUsize,
    done: AtomicUsize,
    start: Mutex<Option<Instant>>,
    end: Mutex<Option<Instant>>,
}

impl Yielding {
    /// The tasks run in step: the measurement starts with the first that begins and ends with the last that is done.
    async fn task(self: Arc<Self>) {
        give_way().await;
        give_way().await;
        if self.begun.fetch_add(1, SeqCst) == 0 {
            *self.start.lock().unwrap() = Some(Instant::now());
        }
        for _ in 0..self.rounds {
            give_way().await;
        }
        if self.done.fetch_add(1, SeqCst) + 1 == self.tasks {
            *self.end.lock().unwrap() = Some(Instant::now());
        }
    }

    fn spent(&self) -> Duration {
        self.end.lock().unwrap().expect("all done") - self.start.lock().unwrap().expect("begun")
    }
}

async fn all_of(handles: impl IntoIterator<Item = JoinHandle<()>>) {
    for handle in handles {
        handle.await.expect("a task that ends");
    }
}

pub fn yield_now(tasks: usize, workers: usize) {
    let state = Arc::new(Yielding {
        tasks,
        rounds: (4_000_000 / tasks).max(1),
        begun: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        start: Mutex::new(None),
        end: Mutex::new(None),
    });
    let shared = state.clone();
    with_workers(workers, async move {
        all_of((0..tasks).map(|_| tokio::spawn(shared.clone().task())).collect::<Vec<_>>()).await
    });
    figure("ns", each(state.spent(), tasks * state.rounds));
}

const MOST_IN_SCOPE: usize = 10_000;
#[allow(clippy::declare_interior_mutable_const)]
const UNMARKED: AtomicU8 = AtomicU8::new(0);
static MARKS: [AtomicU8; MOST_IN_SCOPE] = [UNMARKED; MOST_IN_SCOPE];

/// Each task only writes its scope's mark into its own slot.
async fn spawn_scope(scope: &mut Vec<JoinHandle<()>>, tasks: usize, mark: u8) {
    scope.extend(MARKS[..tasks].iter().map(|slot| tokio::spawn(async move { slot.store(mark, Relaxed) })));
    all_of(scope.drain(..)).await;
    if MARKS[..tasks].iter().any(|slot| slot.load(Relaxed) != mark) {
        fail("a task of a scope did not run");
    }
}

async fn spawn_scopes<const SCOPE: usize>(tasks: usize) -> Duration {
    let mut scope = Vec::with_capacity(SCOPE);
    let start = Instant::now();
    for (number, first) in (0..tasks).step_by(SCOPE).enumerate() {
        spawn_scope(&mut scope, SCOPE.min(tasks - first), number as u8 + 1).await;
    }
    start.elapsed()
}

pub fn spawn<const SCOPE: usize>(tasks: usize, workers: usize) {
    let spent = with_workers(workers, async move {
        spawn_scopes::<SCOPE>(tasks.min(100_000)).await;
        spawn_scopes::<SCOPE>(tasks).await
    });
    figure("ns", each(spent, tasks));
}

static RAN: AtomicUsize = AtomicUsize::new(0);

/// One worker, which looks at its queue only when all tasks are in it.
pub fn spawned(tasks: usize, workers: usize) {
    if workers != 1 {
        fail("spawned wants one worker");
    }
    with_workers(1, async move {
        let (before, start) = (resident_bytes(), Instant::now());
        for _ in 0..tasks {
            tokio::spawn(async { RAN.fetch_add(1, Relaxed) });
        }
        let spent = start.elapsed();
        let bytes = resident_bytes() - before;
        if RAN.load(Relaxed) != 0 {
            fail("some ran before all were spawned");
        }
        while RAN.load(Relaxed) < tasks {
            give_way().await;
        }
        figure("bytes", bytes as f64 / tasks as f64);
        figure("ns", each(spent, tasks));
    });
}

static GATE: Notify = Notify::const_new();
static WAITING: AtomicUsize = AtomicUsize::new(0);
static GONE: AtomicUsize = AtomicUsize::new(0);

struct Parked {
    create: Duration,
    teardown: Duration,
    bytes: usize,
}

async fn wait_until(counter: &AtomicUsize, value: usize) {
    while counter.load(SeqCst) < value {
        give_way().await;
    }
}

async fn park(tasks: usize) -> Parked {
    WAITING.store(0, SeqCst);
    GONE.store(0, SeqCst);
    let (before, start) = (resident_bytes(), Instant::now());
    for _ in 0..tasks {
        tokio::spawn(async {
            WAITING.fetch_add(1, Relaxed);
            GATE.notified().await;
            GONE.fetch_add(1, Relaxed);
        });
    }
    wait_until(&WAITING, tasks).await;
    let create = start.elapsed();
    let bytes = resident_bytes() - before;
    let opened = Instant::now();
    GATE.notify_waiters();
    wait_until(&GONE, tasks).await;
    Parked { create, teardown: opened.elapsed(), bytes }
}

/// With one worker, a task that has counted itself as waiting is asleep before any other task runs.
pub fn parked(tasks: usize, workers: usize) {
    if workers != 1 {
        fail("parked wants one worker");
    }
    with_workers(1, async move {
        let (first, second) = (park(tasks).await, park(tasks).await);
        figure("bytes", first.bytes as f64 / tasks as f64);
        figure("create", each(first.create, tasks));
        figure("teardown", each(first.teardown, tasks));
        figure("reuse", each(second.create, tasks));
    });
}
