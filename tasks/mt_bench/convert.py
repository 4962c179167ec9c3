"""Writes this task with the questions of MT-Bench: `python3 convert.py MT_BENCH TO [MODEL]`.

MT_BENCH is a folder with `question.jsonl`, `reference_answers.jsonl` and `answers/MODEL.jsonl`, as FastChat has them; TO is a
new folder. The answers of MODEL (gpt-4 unless given) are what the scripted assistant says.
"""
import json
import pathlib
import shutil
import sys


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def turns(path):
    return {row["question_id"]: row["choices"][0]["turns"] for row in rows(path)}


def main(source, to, model="gpt-4"):
    here = pathlib.Path(__file__).parent
    source, to = pathlib.Path(source), pathlib.Path(to)
    answers = turns(source / "answers" / f"{model}.jsonl")
    references = turns(source / "reference_answers.jsonl")
    (to / "data").mkdir(parents=True)
    shutil.copy(here / "task.yaml", to / "task.yaml")
    with open(to / "data" / "questions.jsonl", "w", encoding="utf-8") as out:
        for row in rows(source / "question.jsonl"):
            number = row["question_id"]
            # MT-Bench itself has empty answers here and there; an assistant that says nothing is an application's failure.
            said = [text or "(no answer)" for text in answers[number]]
            sample = {"id": number, "category": row["category"], "turns": row["turns"], "answers": said}
            if number in references:
                sample["reference"] = references[number]
            out.write(json.dumps(sample, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
