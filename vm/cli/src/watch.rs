//! What is shown while a run goes on: one line that is drawn anew on a terminal, a line now and then elsewhere. All of it is on
//! standard error.

use std::io::IsTerminal as _;
use std::time::Duration;

use aigo_ir::text::number;
use aigo_vm::Progress;

use crate::out;

/// How often the line of a terminal is drawn.
const DRAWN: Duration = Duration::from_millis(200);
/// How often a line is written elsewhere, such as into the log of CI.
const WRITTEN: Duration = Duration::from_secs(30);
/// So many conversations have to have ended before what is left is guessed.
const LEAST_ENDED: u64 = 5;
/// The cells of the bar.
const CELLS: u64 = 20;

/// Shows how far a run is.
pub(crate) struct Watch {
    /// All conversations of the run.
    conversations: u64,
    is_terminal: bool,
}

impl Watch {
    pub(crate) fn new(conversations: u64) -> Self {
        Self { conversations, is_terminal: std::io::stderr().is_terminal() }
    }

    /// How often it wants to be told.
    pub(crate) const fn every(&self) -> Duration {
        if self.is_terminal { DRAWN } else { WRITTEN }
    }

    pub(crate) fn show(&self, progress: &Progress) {
        if self.is_terminal {
            let columns = terminal_size::terminal_size_of(std::io::stderr()).map_or(80, |(width, _)| width.0);
            let line = format!("{} {}", bar(progress.ended, self.conversations), self.line(progress));
            out::drawn(&line.chars().take(usize::from(columns).saturating_sub(1)).collect::<String>());
        } else {
            out::note(&self.line(progress));
        }
    }

    /// `412 of 2,000 conversations · 3,312 answers · 2.1M tokens · 1.32 USD · 4m10s, about 16m left`
    fn line(&self, progress: &Progress) -> String {
        let mut parts = vec![format!("{} of {} conversations", grouped(progress.ended), grouped(self.conversations))];
        if progress.open > 0 {
            parts.push(format!("{} open", grouped(progress.open)));
        }
        parts.push(format!("{} answers", grouped(progress.answers)));
        if progress.again > 0 {
            parts.push(format!("{} refused or failed, asked again", grouped(progress.again)));
        }
        if progress.tokens > 0 {
            parts.push(format!("{} tokens", short(progress.tokens)));
        }
        if progress.spent_usd > 0.0 {
            parts.push(format!("{:.2} USD", progress.spent_usd));
        }
        let left = self.left(progress).map_or_else(String::new, |left| format!(", about {} left", clock(left)));
        parts.push(format!("{}{left}", clock(progress.elapsed)));
        parts.join(" · ")
    }

    /// How long the rest takes at the pace so far.
    fn left(&self, progress: &Progress) -> Option<Duration> {
        let rest = self.conversations.saturating_sub(progress.ended + progress.open);
        (progress.ended >= LEAST_ENDED && rest > 0)
            .then(|| progress.elapsed.mul_f64(rest as f64 / progress.ended as f64))
    }
}

/// Twenty cells of how much is done.
fn bar(done: u64, of: u64) -> String {
    let full = (done.min(of) * CELLS).checked_div(of).unwrap_or(CELLS);
    (0..CELLS).map(|cell| if cell < full { '█' } else { '░' }).collect()
}

fn grouped(n: u64) -> String {
    aigo_ir::bounds::grouped(n)
}

/// `950`, `12.3k`, `2.1M`
fn short(n: u64) -> String {
    let tenths = |unit: u64| number(n.saturating_mul(10).div_euclid(unit) as f64 / 10.0);
    match n {
        0..10_000 => grouped(n),
        10_000..1_000_000 => format!("{}k", tenths(1_000)),
        _ => format!("{}M", tenths(1_000_000)),
    }
}

/// `9s`, `4m10s`, `2h05m`
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_it_is_and_what_is_left() {
        let watch = Watch { conversations: 2_000, is_terminal: false };
        let progress = Progress {
            ended: 500,
            open: 0,
            answers: 3_312,
            again: 0,
            tokens: 2_140_000,
            spent_usd: 1.316,
            elapsed: Duration::from_secs(250),
        };
        let line = "500 of 2,000 conversations · 3,312 answers · 2.1M tokens · 1.32 USD · 4m10s, about 12m30s left";
        assert_eq!(watch.line(&progress), line);
        let first = Progress { ended: 1, answers: 9, ..Progress::default() };
        assert_eq!(watch.line(&first), "1 of 2,000 conversations · 9 answers · 0s");
        let refused = Progress { again: 37, ..first };
        assert!(watch.line(&refused).contains("9 answers · 37 refused or failed, asked again"));
        let stopped = Progress { ended: 10, open: 1_990, ..progress };
        assert!(watch.line(&stopped).contains("1,990 open") && !watch.line(&stopped).contains("left"));
        assert_eq!(bar(500, 2_000), "█████░░░░░░░░░░░░░░░");
        assert_eq!(
            (bar(0, 0), short(12_345), clock(Duration::from_mins(125))),
            ("█".repeat(20), "12.3k".into(), "2h05m".into())
        );
    }
}
