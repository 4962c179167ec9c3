//! A program's graphs as one SVG: no script, no font, no other file.

use std::fmt::Write as _;

use super::measure::{lines, width};
use super::panel::{self, DETAIL, DETAIL_LINE, Drawn, Line, PAD, Panel, TITLE_LINE};
use super::steps::{self, Shape};
use super::{place, xml};
use crate::program::{Player, Program, Scorer};
use crate::span::SourceMap;
use crate::text::number;

const MARGIN: i64 = 24;
/// Between panels.
const APART: i64 = 36;
/// Panels stand side by side up to this width.
const WIDEST_ROW: i64 = 1500;
/// How much of a panel's heading stands above its steps.
const HEADING: i64 = 52;
/// The colours of roles that are at hand, beside that of the three that every task knows.
const COLOURS: usize = 8;

/// Colours for light and for dark; what is drawn says only what it is.
const STYLE: &str = "
text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif;fill:#1c2330}
.page{fill:#fbfbfc}.h1{font-size:20px;font-weight:600}.h2{font-size:16px;font-weight:600}.sub{font-size:12px;fill:#5a6475}
.t{font-size:13px;font-weight:600}.d{font-size:12px;fill:#3e4757}.e{font-size:12px;fill:#3e4757}
.box{fill:#ffffff;stroke:#aeb6c4;stroke-width:1}.fork{fill:#fff8e6;stroke:#c9a54a;stroke-width:1}
.region{fill:#eef1f6;fill-opacity:.6;stroke:#8791a3;stroke-width:1.2;stroke-dasharray:6 4}
.pill{fill:#e3e7ee;stroke:#8791a3;stroke-width:1}.panel{fill:none;stroke:#d4d9e2;stroke-width:1}
.way{fill:none;stroke:#667085;stroke-width:1.4}.tip{fill:#667085}.halo{fill:#fbfbfc;fill-opacity:.92}
a:hover .box,a:hover .fork{stroke:#2f6fdb;stroke-width:2}
.r0{fill:#2f6fdb}.r1{fill:#d9730d}.r2{fill:#8a4fd3}.r3{fill:#0f8f6f}.r4{fill:#c2356b}.r5{fill:#7a6a00}.r6{fill:#0b7fa3}.r7{fill:#6b7280}
@media (prefers-color-scheme:dark){
text{fill:#e6e9ef}.page{fill:#14171c}.sub{fill:#9aa4b5}.d,.e{fill:#c3cad6}
.box{fill:#1e232b;stroke:#4a5363}.fork{fill:#2b2718;stroke:#8c7433}.region{fill:#1a1f27;stroke:#6b7688}
.pill{fill:#2a313c;stroke:#6b7688}.panel{stroke:#2c333f}.way{stroke:#8a94a6}.tip{fill:#8a94a6}.halo{fill:#14171c}}
";

/// The program's graphs as a picture.
pub fn svg(program: &Program, sources: &SourceMap) -> String {
    let mut painter = Painter { program, sources, out: String::new() };
    let mut groups: Vec<(String, Vec<Titled>)> = Vec::new();
    let several = program.solves.len() > 1;
    let solves = program.solves.iter().map(|graph| Titled {
        title: if several { format!("conversation of {}", graph.name) } else { "the conversation".to_owned() },
        sub: "from top to bottom; every sample that runs it goes this way".to_owned(),
        panel: panel::panel(&steps::steps(graph, false)),
    });
    groups.push((String::new(), solves.collect()));
    let scorers: Vec<Titled> = program.scorers.iter().map(scorer).collect();
    if !scorers.is_empty() {
        groups.push(("How each conversation is scored".to_owned(), scorers));
    }
    painter.picture(groups)
}

/// A picture with its heading.
struct Titled {
    title: String,
    sub: String,
    panel: Panel,
}

fn scorer(scorer: &Scorer) -> Titled {
    let mut sub = format!("scale {}; passes from {}", scorer.scale, number(scorer.pass));
    if let Some(over) = scorer.over {
        let _ = write!(sub, "; turns joined by {}", over.word());
    }
    let panel = match &scorer.graph {
        Some(graph) => panel::panel(&steps::steps(graph, true)),
        None => panel::panel(&steps::given()),
    };
    Titled { title: scorer.name.to_string(), sub, panel }
}

impl Titled {
    /// The size with heading and frame.
    fn size(&self) -> (i64, i64) {
        let heading = width(&self.title, 18).min(420).max(width(&self.sub, DETAIL).min(420));
        (self.panel.size.0.max(heading) + 2 * PAD + 8, HEADING + self.panel.size.1 + 2 * PAD)
    }
}

struct Painter<'p> {
    program: &'p Program,
    sources: &'p SourceMap,
    out: String,
}

impl Painter<'_> {
    fn picture(&mut self, groups: Vec<(String, Vec<Titled>)>) -> String {
        let legend_rows = self.legend_rows();
        let mut y = MARGIN + 58 + 22 * i64::try_from(legend_rows.len()).unwrap_or(0) + 12;
        let mut widest = 0;
        for row in &legend_rows {
            widest = widest.max(row.iter().map(|(_, text)| width(text, DETAIL) + 34).sum::<i64>());
        }
        let mut placed: Vec<(i64, i64, Titled)> = Vec::new();
        let mut headings: Vec<(i64, String)> = Vec::new();
        for (heading, panels) in groups {
            if !heading.is_empty() {
                headings.push((y + 14, heading));
                y += 36;
            }
            let widest_panel = panels.iter().map(|panel| panel.size().0).max().unwrap_or(0);
            let most = WIDEST_ROW.max(widest_panel);
            let (mut x, mut tallest) = (0, 0);
            for panel in panels {
                let (wide, tall) = panel.size();
                if x > 0 && x + wide > most {
                    (x, y, tallest) = (0, y + tallest + APART, 0);
                }
                placed.push((MARGIN + x, y, panel));
                x += wide + APART;
                widest = widest.max(x - APART);
                tallest = tallest.max(tall);
            }
            y += tallest + APART;
        }
        let name = lines(&self.program.name, 21, 900, 1).join(" ");
        widest = widest.max(width(&name, 21)).max(720);
        let (wide, tall) = (widest + 2 * MARGIN, y - APART + MARGIN);
        self.open(wide, tall, &name);
        self.legend(&legend_rows);
        for (y, heading) in headings {
            self.words("h2", MARGIN, y + 6, &heading);
        }
        for (x, y, titled) in placed {
            self.titled(x, y, &titled);
        }
        self.out.push_str("</svg>\n");
        std::mem::take(&mut self.out)
    }

    fn open(&mut self, wide: i64, tall: i64, name: &str) {
        let epochs = match self.program.epochs {
            1 => "each sample is run once".to_owned(),
            n => format!("each sample is run {n} times"),
        };
        let _ = writeln!(
            self.out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{tall}\" viewBox=\"0 0 {wide} {tall}\" role=\"img\">"
        );
        let _ = writeln!(self.out, "<title>{}</title>\n<style>{STYLE}</style>", xml(name));
        let _ = writeln!(self.out, "<rect class=\"page\" width=\"{wide}\" height=\"{tall}\"/>");
        self.words("h1", MARGIN, MARGIN + 18, name);
        let legend = "dashed boxes are gone through several times; a box leads to its line of the task";
        self.words("sub", MARGIN, MARGIN + 40, &format!("{epochs}; {legend}"));
    }

    fn words(&mut self, class: &str, x: i64, y: i64, text: &str) {
        let _ = writeln!(self.out, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", xml(text));
    }

    /// The number of a role's colour.
    fn colour(&self, role: &str) -> Option<usize> {
        self.program.roles.iter().position(|known| *known.name == *role).map(|at| at % COLOURS)
    }

    /// Who has which colour, and who plays whom, in rows.
    fn legend_rows(&self) -> Vec<Vec<(usize, String)>> {
        let mut rows: Vec<Vec<(usize, String)>> = vec![Vec::new()];
        let mut x = 0;
        for (at, role) in self.program.roles.iter().enumerate() {
            let player = match &role.player {
                Player::Chat(model) => model.model.to_string(),
                Player::Http(_) => "an application behind http".to_owned(),
                Player::Command(_) => "a program".to_owned(),
                Player::Scripted(_) => "scripted".to_owned(),
            };
            let text = lines(&format!("{}: {player}", role.name), DETAIL, 420, 1).join(" ");
            let wide = width(&text, DETAIL) + 34;
            if x > 0 && x + wide > 1100 {
                rows.push(Vec::new());
                x = 0;
            }
            x += wide;
            if let Some(row) = rows.last_mut() {
                row.push((at % COLOURS, text));
            }
        }
        rows
    }

    fn legend(&mut self, rows: &[Vec<(usize, String)>]) {
        let mut y = MARGIN + 54;
        for row in rows {
            let mut x = MARGIN;
            for (colour, text) in row {
                let _ = writeln!(
                    self.out,
                    "<rect class=\"r{colour}\" x=\"{x}\" y=\"{y}\" width=\"12\" height=\"12\" rx=\"3\"/>"
                );
                self.words("d", x + 18, y + 10, text);
                x += width(text, DETAIL) + 34;
            }
            y += 22;
        }
    }

    fn titled(&mut self, x: i64, y: i64, titled: &Titled) {
        let (wide, tall) = titled.size();
        let title = lines(&titled.title, 17, wide - 2 * PAD, 1).join(" ");
        let sub = lines(&titled.sub, DETAIL, wide - 2 * PAD, 1).join(" ");
        let _ = writeln!(
            self.out,
            "<g>\n<title>{}</title>\n<rect class=\"panel\" x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{tall}\" rx=\"10\"/>",
            xml(&format!("{}\n{}", titled.title, titled.sub))
        );
        self.words("h2", x + PAD, y + 24, &title);
        self.words("sub", x + PAD, y + 42, &sub);
        let at = (x + (wide - titled.panel.size.0) / 2, y + HEADING + PAD);
        // Regions first: what is in them is drawn over them, and the ways over both.
        for drawn in titled.panel.boxes.iter().filter(|drawn| drawn.shape == Shape::Region) {
            self.step(drawn, at);
        }
        for line in &titled.panel.lines {
            self.way(line, at);
        }
        for drawn in titled.panel.boxes.iter().filter(|drawn| drawn.shape != Shape::Region) {
            self.step(drawn, at);
        }
        for line in &titled.panel.lines {
            self.label(line, at);
        }
        self.out.push_str("</g>\n");
    }

    fn step(&mut self, drawn: &Drawn, at: (i64, i64)) {
        let (x, y) = (drawn.at.0 + at.0, drawn.at.1 + at.1);
        let (wide, tall) = drawn.size;
        let place = place(drawn.origin, self.sources);
        let tip =
            place.as_ref().map_or_else(|| drawn.whole.clone(), |place| format!("{}\n\n{}", drawn.whole, place.line));
        match &place {
            Some(place) => {
                let _ = writeln!(self.out, "<a href=\"{}\">", xml(&place.href));
            }
            None => self.out.push_str("<g>\n"),
        }
        let _ = writeln!(self.out, "<title>{}</title>", xml(&tip));
        match drawn.shape {
            Shape::Fork => {
                let (right, bottom, middle) = (x + wide, y + tall, y + tall / 2);
                let (l, r) = (x + 14, right - 14);
                let _ = writeln!(
                    self.out,
                    "<path class=\"fork\" d=\"M{l} {y}H{r}L{right} {middle}L{r} {bottom}H{l}L{x} {middle}Z\"/>"
                );
            }
            shape => {
                let (class, round) = match shape {
                    Shape::Region => ("region", 10),
                    Shape::Pill => ("pill", tall / 2),
                    _ => ("box", 6),
                };
                let _ = writeln!(
                    self.out,
                    "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{tall}\" rx=\"{round}\"/>"
                );
            }
        }
        if let Some(colour) = drawn.role.as_ref().and_then(|role| self.colour(role)) {
            let _ = writeln!(
                self.out,
                "<rect class=\"r{colour}\" x=\"{x}\" y=\"{y}\" width=\"6\" height=\"{tall}\" rx=\"3\"/>"
            );
        }
        self.text_of(drawn, x, y);
        self.out.push_str(if place.is_some() { "</a>\n" } else { "</g>\n" });
    }

    fn text_of(&mut self, drawn: &Drawn, x: i64, y: i64) {
        let left = match drawn.shape {
            Shape::Fork => x + PAD + 18,
            Shape::Pill => x + 14,
            Shape::Box | Shape::Region => x + PAD + 6,
        };
        let mut line = y + match drawn.shape {
            Shape::Pill => 17,
            Shape::Fork => 22,
            Shape::Box => 23,
            Shape::Region => 26,
        };
        let class = if drawn.shape == Shape::Pill { "d" } else { "t" };
        for title in &drawn.title {
            self.words(class, left, line, title);
            line += TITLE_LINE;
        }
        for detail in &drawn.details {
            self.words("d", left, line - 1, detail);
            line += DETAIL_LINE;
        }
    }

    fn way(&mut self, line: &Line, at: (i64, i64)) {
        let points: Vec<(i64, i64)> = line.points.iter().map(|point| (point.0 + at.0, point.1 + at.1)).collect();
        let Some(first) = points.first() else { return };
        let mut d = format!("M{} {}", first.0, first.1);
        // Down from the box, in a bend between layers, straight through a layer.
        for (n, pair) in points.windows(2).enumerate() {
            let [(x0, y0), (x1, y1)] = [pair.first(), pair.last()].map(|point| point.copied().unwrap_or_default());
            let last = n + 2 == points.len();
            let y1 = if last { y1 - 6 } else { y1 };
            if x0 == x1 {
                let _ = write!(d, "V{y1}");
            } else {
                // The label stands on the first part, which goes straight down.
                let start = if n == 0 { y0 + 16 } else { y0 };
                let middle = i64::midpoint(start, y1);
                let _ = write!(d, "V{start}C{x0} {middle} {x1} {middle} {x1} {y1}");
            }
        }
        let Some((x, y)) = points.last().copied() else { return };
        let _ = writeln!(self.out, "<path class=\"way\" d=\"{d}\"/>");
        let (left, right, top) = (x - 4, x + 4, y - 8);
        let _ = writeln!(self.out, "<path class=\"tip\" d=\"M{left} {top}H{right}L{x} {y}Z\"/>");
    }

    fn label(&mut self, line: &Line, at: (i64, i64)) {
        let Some((x, y)) = line.points.first().filter(|_| !line.label.is_empty()).copied() else { return };
        let (x, y) = (x + at.0, y + at.1);
        let wide = panel::label_width(&line.label);
        let _ = writeln!(
            self.out,
            "<rect class=\"halo\" x=\"{}\" y=\"{}\" width=\"{wide}\" height=\"15\" rx=\"3\"/>",
            x - wide / 2,
            y + 3
        );
        let _ = writeln!(
            self.out,
            "<text class=\"e\" text-anchor=\"middle\" x=\"{x}\" y=\"{}\">{}</text>",
            y + 14,
            xml(&line.label)
        );
    }
}
