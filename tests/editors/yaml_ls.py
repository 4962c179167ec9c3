"""Tries the schema in yaml-language-server, as an editor does: over LSP, with tasks that are wrong.

usage: yaml_ls.py [SERVER] [--show]
SERVER is the folder of an installed yaml-language-server (`npm install yaml-language-server@1.25.0` in a folder of its own gives
`node_modules/yaml-language-server`). Without it, or without node, this says so and ends with 0. `--show` prints every answer.

Each wrong task must give exactly one message, on its line, with the words that help. Hovers must show what a key means, and
completion must offer verbs and keys.
"""
import json, os, shutil, subprocess, sys, threading, queue

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = os.path.join(HERE, "../../spec/task.schema.json")

HEAD = """aigo: 1
name: seats
models:
  assistant: openai/gpt-5-mini-2025-08-07
  judge: {model: anthropic/claude-sonnet-4-5-20250929, max_tokens: 800}
dataset:
  samples:
    - {id: one, plan: Pro}
"""
STEPS = HEAD + "solvers:\n  - user: Hello\n"
SCORERS = STEPS + "  - generate\nscorers:\n"

# Name, text, and what the one message must say. `#!` marks its line, and is cut out.
WRONG = [
    ("a misspelt key of a step", STEPS + "  - generate:\n    expct: [{contains: a}] #!\n", ["expct"]),
    ("a misspelt key within generate", STEPS + "  - generate:\n      expct: [{contains: a}] #!\n", ["expct"]),
    ("a wrong verb", STEPS + "  - usr: Hello #!\n", ["usr"]),
    ("a verb of another tool", STEPS + "  - assert: Hello #!\n", ["assert"]),
    ("no verb", STEPS + "  - as: first #!\n    when: turn == 1\n", ["verb", "generate"]),
    ("two verbs", STEPS + "  - system: Be kind.\n    user: Hello #!\n", ["one verb", "system"]),
    ("a key that does not go with its verb", STEPS + "  - user: Hello\n    expect: [{contains: a}] #!\n", ["does not go with `user`"]),
    ("an unknown short step", STEPS + "  - generat #!\n", ["generate"]),
    ("a list where text belongs", STEPS + "  - user: [Hello] #!\n", ["user", "text"]),
    ("a missing key", STEPS + "  - loop: #!\n      solvers: [generate]\n", ["max_turns"]),
    ("a wrong kind, deep within", STEPS + "  - loop:\n      max_turns: many #!\n      solvers: [generate]\n", ["max_turns", "whole number"]),
    ("a number out of range", STEPS + "  - loop:\n      max_turns: 0 #!\n      solvers: [generate]\n", ["1"]),
    ("a wrong word", SCORERS + "  - name: kept\n    judge:\n      rubric: It keeps it.\n      per: turns #!\n", ["turn", "conversation"]),
    ("a scale that is none", SCORERS + "  - name: kept\n    judge:\n      rubric: It keeps it.\n      scale: 5 stars #!\n", ["scale", "1..5"]),
    ("a misspelt key of a judge", SCORERS + "  - name: kept\n    judge:\n      rubric: It keeps it.\n      anchor: {1: bad} #!\n", ["anchor"]),
    ("a scorer without a name", SCORERS + "  - check: {contains: a} #!\n", ["name"]),
    ("a misspelt scorer", SCORERS + "  - name: kept\n    chek: {contains: a} #!\n", ["chek"]),
    ("a misspelt check", SCORERS + "  - name: kept\n    check: {contain: a} #!\n", ["contain"]),
    ("a wrong kind in a check", SCORERS + "  - name: kept\n    check: {tool_calls: [{name: 5}]} #!\n", ["name"]),
    ("a misspelt role key", HEAD.replace("max_tokens", "max_token").replace("800}", "800} #!"), ["max_token"]),
    ("a model without a provider", HEAD.replace("openai/gpt-5-mini-2025-08-07", "gpt-5-mini #!"), ["openai/NAME"]),
    ("a misspelt key at the top", HEAD + "scorer: [] #!\n", ["scorer"]),
    ("a missing key at the top", "aigo: 1 #!\nname: seats\nmodels: {assistant: {scripted: [Hi]}}\n", ["dataset"]),
    ("a wrong gate", SCORERS + "  - {name: a, check: {contains: a}}\ngates:\n  - {gate: rate(a) >= 1, decide: maybe} #!\n", ["point", "sure", "safe"]),
    ("a duration without its unit", HEAD + "limits: {time: 60} #!\n", ["time", "duration"]),
    ("a source without a verb", HEAD.replace("dataset:\n  samples:\n    - {id: one, plan: Pro}\n", "dataset: #!\n  tags: [a]\n"), ["verb", "samples"]),
]

# Name, text with `|` where the hover is, words it shows.
HOVERS = [
    ("a verb", STEPS + "  - simul|ate_user: {goal: know more}\n", ["what the user says next"]),
    ("a key", STEPS + "  - loop:\n      max_|turns: 3\n      solvers: [generate]\n", ["The most passes"]),
    ("a key of a judge", SCORERS + "  - name: kept\n    judge:\n      rub|ric: It keeps it.\n", ["What is judged"]),
    ("a key at the top", HEAD + "epo|chs: 3\n", ["How often each sample is run"]),
    ("a key beside a verb", STEPS + "  - generate:\n    a|s: first\n", ["label"]),
]

# Name, text with `|` where the cursor is, labels that are offered, labels that are not.
COMPLETIONS = [
    ("verbs behind a dash", STEPS + "  - |\n", ["system", "user", "generate", "simulate_user", "loop"], ["rubric"]),
    ("verbs behind a letter", STEPS + "  - s|\n", ["system", "simulate_user", "script", "stop"], ["rubric"]),
    ("keys beside a verb", STEPS + "  - user: Hello\n    |\n", ["as", "when"], ["expect", "system"]),
    ("keys beside generate", STEPS + "  - generate:\n    |\n", ["as", "when", "expect", "on_fail"], ["system"]),
    ("keys within a loop", STEPS + "  - loop:\n      |\n", ["max_turns", "until", "solvers"], ["goal"]),
    ("kinds of scorers", SCORERS + "  - name: kept\n    |\n", ["check", "judge", "graph", "pass"], ["user"]),
    ("keys of a judge", SCORERS + "  - name: kept\n    judge:\n      |\n", ["rubric", "scale", "anchors"], ["user"]),
    ("words of a key", SCORERS + "  - name: kept\n    judge:\n      rubric: It keeps it.\n      per: |\n", ["turn", "conversation"], []),
    ("scales", SCORERS + "  - name: kept\n    judge:\n      rubric: It keeps it.\n      scale: |\n", ["boolean", "1..5"], []),
    ("checks", SCORERS + "  - name: kept\n    check:\n      |\n", ["contains", "not_matches", "tool_calls"], ["rubric"]),
    ("keys at the top", HEAD + "|\n", ["solvers", "scorers", "gates"], ["rubric"]),
    ("roles", "aigo: 1\nmodels:\n  |\n", ["assistant", "user", "judge"], ["rubric"]),
    ("an empty file", "|", ["aigo", "name", "models"], []),
]


class Server:
    """A language server over its standard input and output."""

    def __init__(self, folder):
        main = os.path.join(folder, "bin/yaml-language-server")
        self.process = subprocess.Popen(["node", main, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.answers, self.found, self.last = queue.Queue(), queue.Queue(), 0
        threading.Thread(target=self.read, daemon=True).start()
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {"textDocument": {
            "completion": {"completionItem": {"snippetSupport": True}}, "hover": {"contentFormat": ["markdown"]}}}})
        self.tell("initialized", {})

    def read(self):
        out = self.process.stdout
        while True:
            length = 0
            while (line := out.readline().strip()):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if not length:
                return
            message = json.loads(out.read(length))
            if message.get("method") == "textDocument/publishDiagnostics":
                self.found.put(message["params"])
            elif message.get("method") == "workspace/configuration":
                items = message["params"]["items"]
                yaml = {"schemas": {}, "validate": True, "hover": True, "completion": True, "schemaStore": {"enable": False}}
                self.send({"id": message["id"], "result": [yaml if item.get("section") == "yaml" else {} for item in items]})
            elif "method" in message and "id" in message:
                self.send({"id": message["id"], "result": None})
            elif "id" in message:
                self.answers.put(message)

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.process.stdin.flush()

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def ask(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        while (answer := self.answers.get(timeout=30)).get("id") != self.last:
            pass
        return answer.get("result")

    def open(self, text):
        """Opens a text under the schema, and gives its address and what is found."""
        self.last += 1
        uri = f"file:///tmp/task-{self.last}.yaml"
        first = f"# yaml-language-server: $schema=file://{os.path.abspath(SCHEMA)}\n"
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": first + text}
        self.tell("textDocument/didOpen", {"textDocument": document})
        while (found := self.found.get(timeout=30))["uri"] != uri:
            pass
        return uri, found["diagnostics"]


def cut(text, mark):
    """The text without its mark, and the place where it was, below the line that names the schema."""
    before, after = text.split(mark, 1)
    return before + after, {"line": before.count("\n") + 1, "character": len(before) - before.rfind("\n") - 1}


def main():
    arguments = [word for word in sys.argv[1:] if not word.startswith("--")]
    folder = arguments[0] if arguments else os.environ.get("YAML_LANGUAGE_SERVER", "")
    if not shutil.which("node") or not os.path.isdir(folder):
        print("skipped: name the folder of an installed yaml-language-server; it needs node")
        return
    show = "--show" in sys.argv
    server, failed = Server(folder), []

    def hold(name, well, seen):
        if show or not well:
            print(("ok     " if well else "FAILED ") + name + "\n         " + "\n         ".join(seen))
        if not well:
            failed.append(name)

    for name, text, words in WRONG:
        text, place = cut(text, "#!")
        _, found = server.open(text)
        seen = [f"{one['range']['start']['line']}:{one['range']['start']['character']} {one['message']}" for one in found]
        well = len(found) == 1 and found[0]["range"]["start"]["line"] == place["line"]
        hold(name, well and all(word in found[0]["message"] for word in words), seen)
    for name, text in [("a task without mistakes", SCORERS + "  - {name: a, check: {contains: a}}\n")]:
        _, found = server.open(text)
        hold(name, not found, [one["message"] for one in found])
    for name, text, words in HOVERS:
        text, place = cut(text, "|")
        uri, _ = server.open(text)
        hover = server.ask("textDocument/hover", {"textDocument": {"uri": uri}, "position": place})
        shown = hover["contents"]["value"] if hover else ""
        hold("hover: " + name, all(word in shown for word in words), shown.splitlines())
    for name, text, offered, absent in COMPLETIONS:
        text, place = cut(text, "|")
        uri, _ = server.open(text)
        items = server.ask("textDocument/completion", {"textDocument": {"uri": uri}, "position": place})
        labels = [item["label"] for item in (items or {}).get("items", [])]
        hold("completion: " + name, all(w in labels for w in offered) and not any(w in labels for w in absent), [", ".join(labels)])
    server.process.kill()
    count = len(WRONG) + 1 + len(HOVERS) + len(COMPLETIONS)
    print(f"{count - len(failed)} of {count} as they should be")
    sys.exit(bool(failed))


main()
