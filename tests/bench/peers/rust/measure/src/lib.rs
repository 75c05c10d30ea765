// SPDX-License-Identifier: Apache-2.0
//! What the programs in Rust share: `PROGRAM WORKLOAD SIZE WORKERS`, the clock, the CPU that a worker belongs on,
//! resident memory, and the figures that go to stdout.

use std::time::{Duration, Instant};

/// A name, and what runs it with a size and a number of workers.
pub type Workload = (&'static str, fn(usize, usize));

/// Runs what the command line names; the process ends with status 3 if that is not in `table`.
pub fn run_workload(table: &[Workload]) {
    let words: Vec<String> = std::env::args().collect();
    if words.len() != 4 {
        fail("usage: PROGRAM WORKLOAD SIZE WORKERS");
    }
    match table.iter().find(|(name, _)| *name == words[1]) {
        Some((_, run)) => run(positive(&words[2]), positive(&words[3])),
        None => std::process::exit(3),
    }
}

fn positive(text: &str) -> usize {
    match text.parse() {
        Ok(value) if value > 0 => value,
        _ => fail(&format!("{text:?} is no number of anything")),
    }
}

/// Ends the process; the last line on stderr says why.
pub fn fail(why: &str) -> ! {
    eprintln!("{why}");
    std::process::exit(1)
}

pub fn figure(name: &str, value: f64) {
    println!("{name} {value:.3}");
}

/// Nanoseconds of one of so many operations.
pub fn each(spent: Duration, operations: usize) -> f64 {
    spent.as_nanos() as f64 / operations as f64
}

pub fn figures_of_samples(samples: &mut [Duration]) {
    samples.sort_unstable();
    figure("p50", each(samples[samples.len() / 2], 1));
    figure("p99", each(samples[samples.len() * 99 / 100], 1));
}

/// What all threads of the process have run for.
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    if unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) } != 0 {
        fail("no clock of the process");
    }
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Since when, and what the process had run for then.
pub struct Idleness(Instant, Duration);

impl Idleness {
    pub fn begin() -> Idleness {
        Idleness(Instant::now(), processor_time())
    }

    /// What the others than the one that measures ran for, in percent of a CPU.
    pub fn figure_of_others(&self) {
        let (wall, busy) = (self.0.elapsed().as_secs_f64(), (processor_time() - self.1).as_secs_f64());
        figure("others_percent", 100.0 * (busy - wall) / wall);
    }
}

/// How many wake-ups to sample when each waits that long for the other side to fall asleep: half a second of them.
pub fn wake_samples(idle_us: usize) -> usize {
    (500_000 / idle_us).clamp(300, 3000)
}

pub fn spin_for(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// The CPUs that this process may use; to be asked before anything is pinned.
pub fn allowed_cpus() -> Vec<usize> {
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    if unsafe { libc::sched_getaffinity(0, std::mem::size_of_val(&set), &mut set) } != 0 {
        fail("no CPU affinity");
    }
    (0..libc::CPU_SETSIZE as usize).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect()
}

/// Worker i of several lives on the i-th of `cpus`; a single one on the last, away from what CPU 0 does for everybody.
pub fn pin(cpus: &[usize], worker: usize, workers: usize) {
    let cpu = if workers == 1 { cpus[cpus.len() - 1] } else { cpus[worker % cpus.len()] };
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    unsafe { libc::CPU_SET(cpu, &mut set) };
    if unsafe { libc::sched_setaffinity(0, std::mem::size_of_val(&set), &set) } != 0 {
        fail(&format!("cannot pin a worker to CPU {cpu}"));
    }
}

/// Page tables included.
pub fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_else(|_| fail("no /proc/self/status"));
    let kib = |line: &str| line.split_whitespace().nth(1).and_then(|word| word.parse::<usize>().ok()).unwrap_or(0);
    let counted = |line: &&str| line.starts_with("VmRSS:") || line.starts_with("VmPTE:");
    status.lines().filter(counted).map(kib).sum::<usize>() * 1024
}

/// Spawns that fib(n) makes if each call spawns one, and at least 1, since something is divided by it.
pub fn spawns_of_fib(n: usize) -> usize {
    (2..=n).fold((0, 0), |(before, spawns), _| (spawns, before + spawns + 1)).1.max(1)
}

pub fn fib_by_adding(n: usize) -> usize {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

/// All tasks of a skynet with a power of ten of leaves, the root left out.
pub fn tasks_of_skynet(leaves: usize) -> usize {
    let levels = std::iter::successors(Some(leaves), |level| Some(level / 10)).take_while(|&level| level > 1);
    levels
        .inspect(|level| {
            if level % 10 != 0 {
                fail("skynet wants a power of ten of leaves")
            }
        })
        .sum()
}

/// Checks a skynet's sum and prints its figures.
pub fn figures_of_skynet(leaves: usize, sum: usize, spent: Duration) {
    if sum != leaves * (leaves - 1) / 2 {
        fail(&format!("the leaves add up to {sum}"));
    }
    figure("ns", each(spent, tasks_of_skynet(leaves)));
    figure("ms", each(spent, 1) / 1e6);
}
