//! The picture of a run in the README is of what `aigo run tasks/quickstart` prints. `BLESS=1` draws it anew.

use std::fmt::Write as _;

use crate::golden::compare_at;
use crate::harness::{folder, root, run};

/// The advance of a character in tenths of a pixel, and the height of a line in pixels, at a size of 14.
const ADVANCE: usize = 84;
const LINE: usize = 20;
const MARGIN: usize = 20;
/// The bar at the top of the window.
const BAR: usize = 36;

const STYLE: &str = "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d4d8de;white-space:pre}\
.prompt{fill:#8b949e}.typed{fill:#fff;font-weight:bold}.bad{fill:#ff7b72;font-weight:bold}.good{fill:#7ee787}\
.why{fill:#e3b341}.words{fill:#fff}.quote{fill:#ffd866;font-weight:bold}.head{fill:#8b949e}";

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A piece of a line in a class.
fn piece(class: &str, text: &str) -> String {
    if class.is_empty() { escaped(text) } else { format!("<tspan class=\"{class}\">{}</tspan>", escaped(text)) }
}

/// A line of the report with its classes.
fn coloured(line: &str) -> String {
    let whole = |class: &str| piece(class, line);
    if line.starts_with('✗') || line.starts_with("FAILED") || line.starts_with(" red ") {
        return whole("bad");
    }
    if line.starts_with("PASSED") || line.starts_with(" ok ") {
        return whole("good");
    }
    if line.starts_with("scorer ")
        || line.starts_with("…")
        || line.starts_with(" conversations")
        || line.starts_with(" calls")
    {
        return whole("head");
    }
    if line.starts_with("    > ") {
        let mut parts = String::new();
        let mut rest = line;
        while let Some((before, quoted)) = rest.split_once(">>") {
            let (quote, after) = quoted.split_once("<<").unwrap_or((quoted, ""));
            parts.push_str(&piece("words", before));
            parts.push_str(&piece("quote", &format!(">>{quote}<<")));
            rest = after;
        }
        return parts + &piece("words", rest);
    }
    if line.starts_with("  ") && line.contains("   why: ") {
        return whole("why");
    }
    piece("", line)
}

/// A terminal with what was typed and what came out.
fn drawn(typed: &str, printed: &str) -> String {
    let lines: Vec<&str> = printed.lines().collect();
    let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let width = (longest.max(60) * ADVANCE).div_ceil(10) + 2 * MARGIN;
    let height = BAR + (lines.len() + 1) * LINE + MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#161b22\"/>\n",
        escaped(typed)
    );
    for (at, colour) in ["#ff5f56", "#ffbd2e", "#27c93f"].iter().enumerate() {
        writeln!(svg, "<circle cx=\"{}\" cy=\"18\" r=\"6\" fill=\"{colour}\"/>", 20 + at * 20).expect("it is text");
    }
    let mut line = |at: usize, text: &str, count: usize| {
        if count > 0 {
            let y = BAR + at * LINE + 14;
            // The length is given, so that every viewer's font fits.
            let (length, tenths) = (count * ADVANCE / 10, count * ADVANCE % 10);
            let length = if tenths == 0 { length.to_string() } else { format!("{length}.{tenths}") };
            let fits = format!("textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\"");
            writeln!(svg, "<text x=\"{MARGIN}\" y=\"{y}\" {fits}>{text}</text>").expect("it is text");
        }
    };
    line(0, &format!("{}{}", piece("prompt", "$ "), piece("typed", typed)), typed.chars().count() + 2);
    for (at, text) in lines.iter().enumerate() {
        line(at + 1, &coloured(text), text.chars().count());
    }
    svg.push_str("</svg>\n");
    svg
}

#[test]
fn the_picture_is_of_what_the_quick_start_prints() {
    let folder = folder("picture");
    let runs = folder.join("runs");
    let typed = "aigo run tasks/quickstart";
    let ran = run(root(), &["run", "tasks/quickstart", "--runs", runs.to_str().unwrap()]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    // The name of the run is another each time.
    let printed: Vec<&str> = ran.out.lines().filter(|line| !line.starts_with(" run ")).collect();
    compare_at(&root().join("spec/book/src/run.svg"), &drawn(typed, &printed.join("\n")));
}
