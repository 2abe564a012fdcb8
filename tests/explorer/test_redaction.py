"""Stand-ins for personal data: what is found, what is not, and that nothing of it is left in what is passed on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge.cli import main
from dialgauge.explorer import redacted_runs
from dialgauge.redaction import Redactor
from dialgauge.runs import Store
from dialgauge.tasks import score_results

SECRETS = (
    "ann.lee@example.com",
    "415-555-0123",
    "4111 1111 1111 1111",
    "sk-abcdefghijklmnop1234567",
    "user_001",
    "4711-X",
)
SAID = (
    "I am user_001, ann.lee@example.com, phone 415-555-0123. My card is 4111 1111 1111 1111, my key "
    "sk-abcdefghijklmnop1234567, my locker 4711-X. Again: ANN.LEE@example.com."
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ann@example.com and bob@example.com", "[e-mail 1] and [e-mail 2]"),
        ("call (415) 555-0123 or 415-555-0123 or +49 30 1234567", "call [phone 1] or [phone 1] or [phone 2]"),
        ("4111-1111-1111-1111", "[card 1]"),
        ("4111-1111-1111-1112", "4111-1111-1111-1112"),  # no card: its check digit is wrong
        ("on 2024-05-12 at 10:30 for $1,016.50, flight HAT123", "on 2024-05-12 at 10:30 for $1,016.50, flight HAT123"),
        ("password: hunter22!", "password: [key 1]"),
        ("Authorization: Bearer abc123def456", "Authorization: Bearer [key 1]"),
        ("I forgot my password again", "I forgot my password again"),
        ("ghp_0123456789abcdefghijABCDEFGHIJ", "[key 1]"),
        ("Anna Lee, 5 Mill Lane", "Anna Lee, 5 Mill Lane"),  # what has no shape of its own is not found
    ],
)
def test_what_is_replaced_and_what_is_not(text: str, shown: str) -> None:
    assert Redactor().text(text) == shown


def test_known_values_are_whole_words_and_short_ones_are_left_and_told() -> None:
    redactor = Redactor(["user_001", "7"])
    assert redactor.text("USER_001 is not user_0011, room 7") == "[known 1] is not user_0011, room 7"
    assert "1 value that a user knows (once); left, as shorter than 4 letters: 1 known value" in redactor.sentence()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    call = {"name": "find", "arguments": json.dumps({"mail": "ann.lee@example.com"})}
    talk = [
        {"role": "user", "content": SAID},
        {"role": "assistant", "tool_calls": [{"id": "1", "function": call}]},
        {"role": "tool", "tool_call_id": "1", "content": "user_001"},
        {"role": "assistant", "content": "Hello"},
    ]
    record = {
        "id": "ann.lee@example.com",
        "messages": talk,
        "success": True,
        "knows": {"locker": "4711-X"},
        "instruction": "Your user id is user_001.",
    }
    (tmp_path / "log.jsonl").write_text(json.dumps(record))
    made = Store(tmp_path / "runs")
    made.add(score_results([tmp_path / "log.jsonl"])[0])
    return made


def test_a_redacted_run_has_nothing_left_and_holds_together(store: Store) -> None:
    [run], redactor = redacted_runs([store.open(store.list()[0].id)])
    [dialogue] = run.dialogues()
    everything = repr(dialogue) + "".join(str(run.table(name).rows()) for name in run.tables) + repr(run.manifest)
    assert not [secret for secret in SECRETS if secret.lower() in everything.lower()]
    assert dialogue.id == "[e-mail 1]" and set(run.table("dialogue_scores")["dialogue"]) == {"[e-mail 1]"}
    assert dialogue.turns[0].text.endswith("Again: [e-mail 1].")
    assert redactor.replaced["e-mail"] >= 3


@pytest.mark.parametrize("command", ["report", "export"])
def test_commands_pass_on_stand_ins_only(command: str, store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    target = store.folder.parent / "out"
    run = store.list()[0].id
    words = (
        ["report", run, "--out", str(target)] if command == "report" else ["runs", "export", run, "--out", str(target)]
    )
    with pytest.raises(SystemExit) as ended:
        main([*words, "--store", str(store.folder), "--redact"])
    assert not ended.value.code
    assert "replaced: 1 e-mail address" in capsys.readouterr().err
    if command == "report":
        written = target.read_text()
    else:
        copied = Store(target)
        written = next(copied.open(copied.list()[0].id).dialogues()).turns[0].text
    assert "[e-mail 1]" in written
    assert not [secret for secret in SECRETS if secret in written]
