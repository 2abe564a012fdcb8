"""Stand-ins for personal data: what is found, what is not, and that nothing of it is left in what is passed on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge.cli import main
from dialgauge.explorer import redacted_runs
from dialgauge.personal_fields import personal_fields
from dialgauge.redaction import NOT_FOUND, Redactor
from dialgauge.runs import Store
from dialgauge.tasks import score_results

SECRETS = (
    "ann.lee@example.com",
    "415-555-0123",
    "4111 1111 1111 1111",
    "sk-abcdefghijklmnop1234567",
    "user_001",
    "4711-X",
    "mia_li_3668",
    "1990-04-05",
    "Sunset",
    "credit_card_4421486",
)
SAID = (
    "I am user_001, ann.lee@example.com, phone 415-555-0123. My card is 4111 1111 1111 1111, my key "
    "sk-abcdefghijklmnop1234567, my locker 4711-X. Again: ANN.LEE@example.com."
)
DONE = "Done, mia_li_3668: paid with credit_card_4421486, born on 1990-04-05, of 975 Sunset Drive."


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


PROFILE = {
    "name": {"first_name": "Mia", "last_name": "Li"},
    "address": {"address1": "975 Sunset Drive", "city": "Austin", "country": "USA", "zip": "78750"},
    "dob": "1990-04-05",
    "payment_methods": {"credit_card_4421486": {"source": "credit_card", "last_four": "7447"}},
    "reservations": ["NO6JO3"],
}


def _redactor(*values: object) -> Redactor:
    return Redactor(fields=[field for value in values for field in personal_fields(value)])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Thank you, Mia Li.", "Thank you, [name 1] [name 2]."),
        ("born 1990-04-05, April 5, 1990, 5th April 1990 or 04/05/1990", "born " + "[birth date 1], " * 2
         + "[birth date 1] or [birth date 1]"),
        ("975 sunset drive, 78750 Austin", "[address 1], [address 2] Austin"),  # a city alone is no secret
        ("credit_card_4421486, card 4421486, ending in 7447", "[payment 1], card [payment 1], ending in [card 1]"),
        ("my 7447 card, HAT7447, $7447", "my [card 1] card, HAT7447, $7447"),
        ("mia and Lima, 2024-05-20, May 20, 2024, NO6JO3", "mia and Lima, 2024-05-20, May 20, 2024, NO6JO3"),
    ],
)  # fmt: skip
def test_what_a_tool_call_names_as_personal_is_found_in_texts(text: str, shown: str) -> None:
    assert _redactor(PROFILE).text(text) == shown


def test_results_keep_their_form_and_stand_ins_are_replaced_once() -> None:
    redactor = _redactor(PROFILE)
    shown = json.loads(redactor.text(json.dumps(PROFILE)))
    assert shown == {
        "name": {"first_name": "[name 1]", "last_name": "[name 2]"},
        "address": {
            "address1": "[address 1]", "city": "[address 2]", "country": "[address 3]", "zip": "[address 4]"
        },
        "dob": "[birth date 1]",
        "payment_methods": {"[payment 1]": {"source": "credit_card", "last_four": "[card 1]"}},
        "reservations": ["NO6JO3"],
    }  # fmt: skip
    assert json.loads(redactor.text(json.dumps(shown))) == shown


@pytest.mark.parametrize(
    ("member", "kinds"),
    [
        ({"userId": "u_100", "cabin": "economy"}, ["user id"]),
        ({"Passenger-First-Name": "Ann"}, ["name"]),
        ({"name": "Ann Lee", "email": "ann@example.com"}, ["name", "e-mail"]),
        ({"name": "Nandos", "phone": "01223 327908"}, ["phone"]),  # a venue has a phone too
        ({"city": "Paris", "date": "2024-05-20"}, []),
        ({"city": "Paris", "street": "Rue 5"}, ["address", "address"]),
        ({"user_id": None, "dob": "", "phone": "unknown"}, []),
        ({"customer_ids": ["c_1001"], "pass": 1}, ["user id"]),
        ({"payment_method_ids": ["pm_10011", "pm_10012"]}, ["payment", "payment"]),
        ({"content": '[{"ssn": "078-05-1120"}]'}, ["id number"]),
        ({"content": '{"ssn": ' + "[" * 100_000}, []),
    ],
)
def test_members_are_personal_by_what_they_are_called(member: dict[str, object], kinds: list[str]) -> None:
    assert [field.kind for field in personal_fields(member)] == kinds


@pytest.fixture
def store(tmp_path: Path) -> Store:
    call = {"name": "find", "arguments": json.dumps({"mail": "ann.lee@example.com"})}
    other = {"name": "get_user", "arguments": json.dumps({"user_id": "mia_li_3668"})}
    talk = [
        {"role": "user", "content": SAID},
        {"role": "assistant", "tool_calls": [{"id": "1", "function": call}]},
        {"role": "tool", "tool_call_id": "1", "content": "user_001"},
        {"role": "assistant", "tool_calls": [{"id": "2", "function": other}]},
        {"role": "tool", "tool_call_id": "2", "content": json.dumps(PROFILE)},
        {"role": "assistant", "content": DONE},
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
    assert dialogue.turns[1].text == (
        "Done, [user id 1]: paid with [payment 1], born on [birth date 1], of [address 1]."
    )
    assert redactor.replaced["e-mail"] >= 3
    assert NOT_FOUND in run.manifest.notes[-1] and redactor.sentence().endswith(NOT_FOUND)


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
    said = " ".join(capsys.readouterr().err.split())
    assert "1 e-mail address" in said and NOT_FOUND in said
    if command == "report":
        written = target.read_text()
    else:
        copied = Store(target)
        written = next(copied.open(copied.list()[0].id).dialogues()).turns[0].text
    assert "[e-mail 1]" in written
    if command == "report":
        assert "Not found: names, birth dates, addresses and ids" in written
    assert not [secret for secret in SECRETS if secret in written]
