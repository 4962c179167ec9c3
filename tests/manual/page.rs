//! A page of the manual, taken apart: blocks, tables, links, headings.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::harness;

/// A Markdown file.
pub(super) struct Page {
    pub(super) path: PathBuf,
    pub(super) text: String,
    pub(super) blocks: Vec<Block>,
}

/// A fenced block.
pub(super) struct Block {
    /// The words behind the fence.
    pub(super) words: Vec<String>,
    pub(super) text: String,
    /// The line of the fence, from 1.
    line: usize,
}

impl Block {
    pub(super) fn is(&self, kind: &str) -> bool {
        self.words.first().is_some_and(|word| word == kind)
    }

    /// Whether the block is a file that others read: its second word is a file's name.
    pub(super) fn is_file(&self) -> bool {
        self.words.get(1).is_some_and(|name| name.contains('.'))
    }

    pub(super) fn says(&self, word: &str) -> bool {
        self.words.iter().skip(1).any(|known| known == word)
    }

    /// For messages.
    pub(super) fn place(&self, page: &Page) -> String {
        format!("{}:{}", page.name(), self.line)
    }
}

/// Every page: the README, everything under `spec`, and the pages of tasks.
pub(super) fn pages() -> Vec<Page> {
    let mut paths = vec![harness::root().join("README.md")];
    let mut folders = vec![harness::root().join("spec"), harness::root().join("tasks")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths.iter().map(|path| Page::read(path)).collect()
}

impl Page {
    /// A page by its path in the project.
    pub(super) fn of(path: &str) -> Self {
        Self::read(&harness::root().join(path))
    }

    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut blocks = Vec::new();
        let mut open: Option<Block> = None;
        for (at, line) in text.lines().enumerate() {
            match (line.strip_prefix("```"), open.take()) {
                (Some(info), None) => {
                    let words = info.split_whitespace().map(str::to_owned).collect();
                    open = Some(Block { words, text: String::new(), line: at + 1 });
                }
                (Some(_), Some(block)) => blocks.push(block),
                (None, Some(mut block)) => {
                    block.text.push_str(line);
                    block.text.push('\n');
                    open = Some(block);
                }
                (None, None) => {}
            }
        }
        assert!(open.is_none(), "{}: a block is not closed", path.display());
        Self { path: path.to_owned(), text, blocks }
    }

    pub(super) fn name(&self) -> String {
        self.path.strip_prefix(harness::root()).unwrap_or(&self.path).display().to_string()
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.path.parent().map(Path::to_owned).unwrap_or_default()
    }

    /// The lines outside of blocks.
    fn prose(&self) -> impl Iterator<Item = &str> {
        let mut inside = false;
        self.text.lines().filter(move |line| {
            let fence = line.starts_with("```");
            inside ^= fence;
            !inside && !fence
        })
    }

    /// The rows of the one table whose first header is `head`, each a list of cells.
    pub(super) fn table(&self, head: &str) -> Vec<Vec<String>> {
        let cells = |line: &str| -> Vec<String> {
            let line = line.replace("\\|", "\u{1}");
            let inner = line.trim().trim_start_matches('|').trim_end_matches('|').to_owned();
            inner.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect()
        };
        let lines: Vec<&str> = self.prose().collect();
        let is_head =
            |pair: &[&str]| pair[1].starts_with("|--") && cells(pair[0]).first().is_some_and(|cell| cell == head);
        let tables: Vec<usize> =
            lines.windows(2).enumerate().filter(|(_, pair)| is_head(pair)).map(|(at, _)| at).collect();
        let [at] = tables[..] else {
            panic!("{}: {} tables with the first header `{head}`", self.name(), tables.len())
        };
        lines.into_iter().skip(at + 2).take_while(|line| line.starts_with('|')).map(cells).collect()
    }

    /// The targets of links.
    pub(super) fn links(&self) -> Vec<String> {
        let parts = self.prose().flat_map(|line| line.split("](").skip(1));
        parts.filter_map(|part| part.split_once(')').map(|(link, _)| link.to_owned())).collect()
    }

    /// The anchors of headings, as they are commonly made.
    pub(super) fn anchors(&self) -> BTreeSet<String> {
        let headings = self.prose().filter(|line| line.starts_with('#'));
        let anchor = |line: &str| -> String {
            let text = line.trim_start_matches('#').trim().to_lowercase();
            let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        };
        headings.map(anchor).collect()
    }
}
