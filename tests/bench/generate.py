"""Task files as people write them, for the benchmark and the tests: the same seed gives the same bytes.

Each file has about 3.4 KB: chat models with prices, a dataset (a matrix, or samples written out), a system prompt in a block
scalar with conditions, a loop with a simulated user, judges with rubrics and anchors, checks, gates. All pass
`aigo check --deny warnings`. The large file has the same parts, as many as make one megabyte.

usage: generate.py FOLDER [--files 1000] [--seed 1] [--large BYTES]
"""
import argparse, os, random

NAMES = "seats invoices refunds plans exports logins webhooks quotas reports members storage imports".split()
PLANS = "Free Pro Team Business Scale Enterprise".split()
PERSONAS = {
    "terse": "You write three words where others write a sentence, and never a greeting.",
    "confused": "You mix up the names of things, and ask again when the answer is long.",
    "mind_changer": "You ask for one thing first, and for another one two messages later.",
    "under_specifier": "You leave out what matters until you are asked for it.",
    "impatient": "You repeat your question when the answer does not begin with it.",
    "polite": "You thank for every answer, also for those that help nobody.",
}
FACTS = [
    "A seat that is removed is paid until the end of the month.",
    "Invoices are sent on the first day of the month, as PDF.",
    "An export holds at most 50,000 rows; larger ones are split.",
    "Refunds take up to ten days, and go back to the card that paid.",
    "Only the owner of a workspace may change its plan.",
    "A webhook is tried five times, and then switched off.",
    "Members see the projects that they were invited to, and no others.",
    "Deleted files can be brought back for thirty days.",
]
RUBRICS = [
    "The assistant asks for nothing that the user has already said. Reading a fact back before acting on it is no question.",
    "Every answer about {topic} fits the plan that the user named, and none speaks of another plan.",
    "The assistant admits what it does not know, and says where the answer about {topic} can be found.",
    "No step is left out: after the last answer, the user could do it without asking anybody.",
    "The tone is that of a colleague who likes the product: no flattery, no blame, no lecture.",
]
LINES = [
    "Could you tell me how {topic} work on {{{{ plan }}}}?",
    "We are {{{{ seats }}}} people, and I need this by Friday.",
    "I read that {topic} can be shared, is that right?",
    "What happens with {topic} when somebody leaves?",
    "And what would you do in my place?",
    "That is not what your colleague told me.",
]


def block(text, indent, width=100):
    """Text as the lines of a block scalar."""
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    lines.append(line)
    return "\n".join(" " * indent + line for line in lines)


def models(dice):
    judge = dice.choice(["claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "llama3.3:70b"])
    return f"""models:
  assistant:                                   # the application's model
    model: openai_compatible/gpt-5-mini-2025-08-07
    base_url: https://api.example.com/v1
    max_tokens: {dice.choice([400, 600, 800])}
    price: {{input: {dice.choice([0.25, 0.5, 3])}, output: {dice.choice([2, 15])}}}
  user: {{model: openai_compatible/llama3.3:70b, base_url: "http://localhost:11434/v1", max_tokens: 300, temperature: 1}}
  judge: {{model: openai_compatible/{judge}, base_url: "https://judge.example.com/v1", max_tokens: 800, price: {{input: 1.75, output: 14}}}}
"""


def matrix(dice, topic):
    plans = ", ".join(dice.sample(PLANS, 3))
    personas = dice.sample(sorted(PERSONAS), 3)
    texts = "\n".join(f"      - {{id: {name}, text: {PERSONAS[name]!r}}}" for name in personas)
    return f"""dataset:
  matrix:
    plan: [{plans}]
    seats: [{dice.randint(1, 4)}, {dice.randint(5, 50)}]
    goal:
      - {{id: learn, text: Find out how {topic} are changed and what it costs.}}
      - {{id: complain, text: "Get an apology, since {topic} were lost last week."}}
    persona:
{texts}
"""


def samples(dice, topic, count):
    rows = []
    for at in range(count):
        persona = dice.choice(sorted(PERSONAS))
        rows.append(
            f"    - id: {topic}-{at + 1}\n"
            f"      plan: {dice.choice(PLANS)}\n"
            f"      seats: {dice.randint(1, 99)}\n"
            f"      goal: {{text: 'Ask about {topic}, case {at + 1}, and do not give up.'}}\n"
            f"      persona: {{text: {PERSONAS[persona]!r}}}\n"
            f"      tags: [{dice.choice(['p0', 'p1', 'slow'])}, {topic}]\n"
        )
    return "dataset:\n  samples:\n" + "".join(rows)


def system(dice, topic):
    facts = "\n".join(f"      - {fact}" for fact in dice.sample(FACTS, 2))
    return f"""  - system: |
      You are Acme's support assistant for {topic}. Never quote a price, and never promise a date.
      {{% if plan == '{dice.choice(PLANS)}' %}}
      The account is on the {{{{ plan }}}} plan, which has no phone support.
      {{% elif seats > {dice.randint(2, 9)} %}}
      The account has {{{{ seats }}}} seats, and an account manager.
      {{% else %}}
      The account is small: keep answers short.
      {{% endif %}}
      What is true of everybody:
{facts}
"""


def simulated(dice):
    return f"""  - loop:
      max_turns: {dice.randint(6, 14)}
      solvers:
        - simulate_user:
            goal: "{{{{ goal.text }}}}"
            persona: "{{{{ persona.text }}}}"
            knows: You are on the {{{{ plan }}}} plan with {{{{ seats }}}} seats.
            min_turns: {dice.randint(2, 3)}
        - generate
"""


def scripted(dice, topic, number):
    first, second = (line.format(topic=topic) for line in dice.sample(LINES, 2))
    return f"""  - user: {first}
  - generate:
    as: answer_{number}
    expect:
      - {{not_matches: '\\$\\s?\\d'}}
      - {{not_contains: "{dice.choice(['As an AI', 'I cannot', 'dear customer'])}"}}
  - if:
      when: seats >= {dice.randint(2, 20)} and 'sorry' not in last.text
      then:
        - user: {second}
        - generate
"""


def judge(dice, topic, name):
    rubric = block(f"{dice.choice(RUBRICS)} {dice.choice(RUBRICS)}".format(topic=topic), 8)
    if dice.random() < 0.5:
        scale = "      scale: boolean\n      evidence: commission\n"
    else:
        scale = (
            "      scale: 1..5\n      anchors:\n        1: It would have been better to say nothing.\n"
            f"        3: The user learns something about {topic}, and has to ask again.\n        5: Nothing is left to ask.\n"
        )
    per = "      per: turn\n" if dice.random() < 0.3 else ""
    return f"  - name: {name}\n    judge:\n      rubric: |\n{rubric}\n{per}{scale}"


def task(number, seed=1):
    """The text of one task file."""
    dice = random.Random(f"{seed}/{number}")
    topic = dice.choice(NAMES)
    parts = [
        # What lints would say of files that a generator writes is not what is measured: they look, and are silent.
        f"# {topic.capitalize()}: what support says about them, and how. Written by a generator.\n"
        "# aigo: allow(all_simulated, not_locked) there is nobody to talk to\n"
        f"aigo: 1\nname: {topic}_{number}\n",
        f"description: A support assistant answers about {topic}, keeps the plan in mind and quotes no price.\n\n",
        models(dice),
        "\n",
        matrix(dice, topic) if dice.random() < 0.6 else samples(dice, topic, 6),
        "\nsolvers:\n",
        system(dice, topic),
        scripted(dice, topic, 1),
        simulated(dice),
        "\nscorers:\n",
        judge(dice, topic, "keeps_the_plan"),
        judge(dice, topic, "asks_once"),
        "  - name: no_dollar_amount\n    check: {not_matches: '\\$\\s?\\d'}\n",
        "  - name: names_the_plan\n    check: {contains: \"{{ plan }}\", turns: any}\n",
        "\ngates:\n  - {gate: rate(no_dollar_amount) >= 0.8, min_n: 4}\n  - rate(names_the_plan) >= 0.5\n  - rate(keeps_the_plan) >= 0.6\n  - rate(asks_once) >= 0.6\n",
        "limits: {calls: 9000, time: 60m}\n",
    ]
    return "".join(parts)


def large(size, seed=1):
    """The text of one file of about that many bytes, in equal thirds of samples, steps and scorers."""
    dice = random.Random(f"{seed}/large/{size}")
    topic = dice.choice(NAMES)

    def fill(make):
        parts, length = [], 0
        while length < size // 3:
            parts.append(make(len(parts) + 1))
            length += len(parts[-1])
        return "".join(parts)

    rows = samples(dice, topic, size // 3 // 220)
    steps = system(dice, topic) + fill(lambda n: scripted(dice, topic, n))
    scorers = fill(lambda n: judge(dice, topic, f"judge_{n}"))
    head = f"# aigo: allow(unused_field, unused_role, not_locked) its steps are scripted, so nobody reads what a simulated user would\naigo: 1\nname: large\n{models(dice)}"
    count = scorers.count("  - name: judge_")
    gates = "".join(f"  - rate(judge_{n}) >= 0.5\n" for n in range(1, count + 1))
    return f"{head}{rows}solvers:\n{steps}scorers:\n{scorers}gates:\n{gates}"


def write(folder, files, seed=1):
    """Writes task files in folders of a hundred; gives their paths."""
    paths = []
    for number in range(files):
        inner = os.path.join(folder, f"{number // 100:03}")
        os.makedirs(inner, exist_ok=True)
        paths.append(os.path.join(inner, f"task_{number:05}.yaml"))
        with open(paths[-1], "w") as file:
            file.write(task(number, seed))
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--large", type=int, metavar="BYTES", help="write `large.yaml` of that size too")
    arguments = parser.parse_args()
    paths = write(arguments.folder, arguments.files, arguments.seed)
    print(f"{len(paths)} files, {sum(map(os.path.getsize, paths))} bytes")
    if arguments.large:
        with open(os.path.join(arguments.folder, "large.yaml"), "w") as file:
            file.write(large(arguments.large, arguments.seed))


if __name__ == "__main__":
    main()
