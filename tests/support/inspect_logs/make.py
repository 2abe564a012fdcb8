# mypy: ignore-errors
"""Made the logs beside it, with real versions of inspect_ai and its mock model; run in an environment that has one.

    python -m venv /tmp/inspect && /tmp/inspect/bin/pip install inspect_ai==0.3.200
    /tmp/inspect/bin/python tests/support/inspect_logs/make.py 0.3.200 tests/support/inspect_logs

``expected.json`` keeps what inspect itself computed. Events are left out of the logs, which makes them small.
"""

import json
import random
import sys
import tempfile
from pathlib import Path

from inspect_ai import Task, eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import Score, includes, mean, scorer, stderr
from inspect_ai.solver import generate, solver, system_message, use_tools
from inspect_ai.tool import ToolError, tool

try:  # the mock model counts tokens with it, which would fetch a table from the network
    import tiktoken

    class _Letters:
        def encode(self, text, **_):
            return list(range(len(text) // 4))

    tiktoken.get_encoding = tiktoken.encoding_for_model = lambda *_, **__: _Letters()
except ImportError:
    pass

GUESTS, EPOCHS = 5, 3


@tool
def lookup():
    async def execute(name: str):
        """Look a booking up.

        Args:
            name: whose booking
        """
        if name == "nobody":
            raise ToolError("no such guest")
        return f"{name} stays for 3 nights"

    return execute


@scorer(metrics=[mean(), stderr()])
def length():
    async def score(state, target):
        return Score(value=len(state.output.completion))

    return score


@scorer(metrics=[])
def tone():
    async def score(state, target):
        return Score(value="polite" if "please" in state.output.completion else "plain")

    return score


@solver
def breaks():
    """Fails in one epoch of one guest."""

    async def solve(state, generate):
        if state.sample_id == "guest-4" and state.epoch == 2 and BREAK:
            raise RuntimeError("the sandbox is gone")
        return state

    return solve


def outputs(right):
    made = []
    for number, is_right in enumerate(right):
        name = "nobody" if number % 5 == 4 else f"guest {number}"
        made.append(ModelOutput.for_tool_call("mockllm/model", "lookup", {"name": name}))
        text = "Yes, there is a booking" if is_right else "I cannot find any"
        made.append(ModelOutput.from_content("mockllm/model", text + (", please" if number % 2 else "")))
    return made


def evaluated(name, seed, form, folder):
    draw = random.Random(seed)
    right = [draw.random() < 0.2 + 0.15 * (number % GUESTS) for number in range(GUESTS * EPOCHS)]
    guests = [Sample(id=f"guest-{n}", input=f"Has guest {n} a booking?", target="yes") for n in range(GUESTS)]
    task = Task(
        dataset=MemoryDataset(guests),
        solver=[breaks(), system_message("You work in a hotel."), use_tools(lookup()), generate()],
        scorer=[includes(), length(), tone()],
        epochs=EPOCHS,
        message_limit=20,
        name="booking",
    )
    model = get_model("mockllm/model", custom_outputs=outputs(right))
    with tempfile.TemporaryDirectory() as scratch:
        evaluate(
            task, model=model, log_dir=scratch, log_format="eval", display="none", max_samples=1, fail_on_error=False
        )
        [made] = Path(scratch).glob("*.eval")
        log = read_eval_log(str(made))
        for sample in log.samples:
            sample.events = []
            sample.store = {}
            if hasattr(sample, "events_data"):
                sample.events_data = None
            if sample.error:
                sample.error.traceback = sample.error.traceback_ansi = ""
        target = folder / f"{name}.{form}"
        write_eval_log(log, str(target), format=form)
    return {score.name: {metric: one.value for metric, one in score.metrics.items()} for score in log.results.scores}


version, folder = sys.argv[1], Path(sys.argv[2])
expected = json.loads((folder / "expected.json").read_text()) if (folder / "expected.json").exists() else {}
BREAK = False
for name, seed, form in ((f"a-{version}", 1, "eval"), (f"a-{version}", 1, "json"), (f"b-{version}", 2, "eval")):
    expected[f"{name}.{form}"] = evaluated(name, seed, form, folder)
BREAK = True
expected[f"broken-{version}.eval"] = evaluated(f"broken-{version}", 3, "eval", folder)
(folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
