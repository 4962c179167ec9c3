//! Work on all cores, its results in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use crate::STACK;

/// As many threads as the machine has cores.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The most items that a thread takes at a time: each handing over wakes the thread that takes the results.
const MOST_AT_ONCE: usize = 32;
/// How often each thread comes back for more, at least: the more often, the more equal are the ends of all.
const LEAST_TURNS: usize = 16;

/// Does the work of each item, on up to `threads` threads with large stacks, and hands items and results to `take` in the order
/// of the items, each soon after all before them are there. What is handed over does not depend on the number of threads.
pub(crate) fn in_order<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
    mut take: impl FnMut(&T, R),
) {
    let threads = threads.min(items.len());
    let next = AtomicUsize::new(0);
    let at_once = (items.len() / (threads.max(1) * LEAST_TURNS)).clamp(1, MOST_AT_ONCE);
    thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        let mut started = 0;
        for _ in 0..if threads < 2 { 0 } else { threads } {
            let (sender, next, work) = (sender.clone(), &next, &work);
            let worker = move || {
                loop {
                    let first = next.fetch_add(at_once, Ordering::Relaxed);
                    let some = items.get(first..items.len().min(first + at_once)).unwrap_or_default();
                    let done: Vec<R> = some.iter().map(work).collect();
                    if some.is_empty() || sender.send((first, done)).is_err() {
                        return;
                    }
                }
            };
            // Where the system gives no further thread, those that there are do all the work.
            started += usize::from(thread::Builder::new().stack_size(STACK).spawn_scoped(scope, worker).is_ok());
        }
        drop(sender);
        if started == 0 {
            for item in items {
                take(item, work(item));
            }
            return;
        }
        let (mut early, mut wanted) = (BTreeMap::new(), 0);
        for (first, done) in results {
            early.insert(first, done);
            while let Some(done) = early.remove(&wanted) {
                let first = wanted;
                wanted += done.len();
                items.iter().skip(first).zip(done).for_each(|(item, result)| take(item, result));
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::in_order;

    #[test]
    fn results_come_in_the_order_of_the_items_at_any_number_of_threads() {
        let items: Vec<u64> = (0..500).collect();
        for threads in [0, 1, 2, 7, 600] {
            let later_is_done = AtomicBool::new(threads < 2);
            let work = |n: &u64| {
                // With several threads the first item is done after the last.
                while *n == 0 && !later_is_done.load(Ordering::Acquire) {
                    std::thread::yield_now();
                }
                later_is_done.fetch_or(*n == 499, Ordering::AcqRel);
                *n
            };
            let mut found = Vec::new();
            in_order(&items, threads, work, |item, n| found.push((*item, n)));
            assert!(found.iter().map(|(item, _)| item).eq(&items), "{threads} threads");
            assert!(found.iter().all(|(item, result)| item == result));
        }
    }
}
