//! What the page of the commands on a log shows is what they say of the quick start's golden log.

use super::page::Page;
use crate::golden::golden;
use crate::harness;

#[test]
fn the_commands_on_a_log_say_what_the_manual_shows() {
    let page = Page::of("spec/commands-on-a-log.md");
    let log = golden("quickstart.jsonl");
    let id = aigo_log::Log::open(&log).expect("it is a log").header().id.clone();
    let folder = harness::folder("manual-logs");
    let run = folder.join("runs").join(&id);
    std::fs::create_dir_all(&run).expect("a folder");
    std::fs::copy(log, run.join("log.jsonl")).expect("a copy");
    for (block, arguments) in
        [("verify", &["verify", "last"][..]), ("show", &["log", "show", "last", "Pro/forgets"]), ("runs", &["runs"])]
    {
        let shown = page.blocks.iter().find(|known| known.is("text") && known.says(block)).expect("the block");
        let ran = harness::run(&folder, arguments);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let mut printed = ran.out.lines();
        // The id is another whenever the log is written anew; what ends in `…` is a beginning.
        for line in shown.text.replace("20261130-210750-0411c", &id).lines() {
            let is_shown = |other: &str| line.strip_suffix('…').map_or(other == line, |begin| other.starts_with(begin));
            assert!(printed.any(is_shown), "`{line}` is not in this, or not in this order:\n{}", ran.out);
        }
    }
}
