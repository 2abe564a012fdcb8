"""Stand-ins for personal data: what is found, what is not, and that nothing of it is left in what is passed on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge import review
from dialgauge.cli import main
from dialgauge.explorer import redacted_runs
from dialgauge.redaction import NOT_FOUND, Redactor, ids_of_things, personal_fields
from dialgauge.runs import Store

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
        (
            "1-415-555-0155, 415 5550133, 415\u00a0555\u00a00133, 4155550177",
            "[phone 1], [phone 2], [phone 2], [phone 3]",
        ),
        ("0171 2345678, 030/1234567, 020 7946 0018, 01223327908", "[phone 1], [phone 2], [phone 3], [phone 4]"),
        ("+1 415 555 0155 is 415-555-0155; call me at 555-0144", "[phone 1] is [phone 1]; call me at [phone 2]"),
        ("Tel. 089 / 123 456-78, 212/555-0170", "Tel. [phone 1], [phone 2]"),
        ("my card ****1881, its last four digits are 1881", "my card ****[card 1], its last four digits are [card 1]"),
        ("hf_AbCdEfGhIjKlMnOpQrStUv and glpat-abcdefghij0123456789", "[key 1] and [key 2]"),
        ("SG.abcdefghijklmnop.qrstuvwxyz0123 whsec_abcdefghijklmnop12", "[key 1] [key 2]"),
        ("xapp-1-A0000-123-abcdef0123, 5f4dcc3b5aa765d61d8327deb882cf99", "[key 1], [key 2]"),
        ("-----BEGIN PRIVATE KEY-----\nMIIBVgIBADANBgkq\n-----END PRIVATE KEY-----", "[key 1]"),
        ("token=qwertyasdf99&x=1, API token: abcd1234efgh", "token=[key 1]&x=1, API token: [key 2]"),
        ("password=hunter, my password is Sommer2024", "password=[key 1], my password is [key 2]"),
        ("Authorization: Basic YWxhZGRpbjpvcGVu", "Authorization: Basic [key 1]"),
        ("my PIN is 4821, the verification code 884213", "my PIN is [key 1], the verification code [key 2]"),
        ("o'brien@example.com, joe.li@localhost", "[e-mail 1], [e-mail 2]"),
        ("219-09-9999, GB29 NWBK 6016 1331 9268 19", "[id number 1], [payment 1]"),
        ("dop_v1_0123456789abcdef0123456789abcdef, ann＠example.com", "[key 1], [e-mail 1]"),
        (
            "AccountName=x;AccountKey=short123==;SharedAccessKey=ab12=",
            "AccountName=x;AccountKey=[key 1];SharedAccessKey=[key 2]",
        ),
        ("Anna Lee, 5 Mill Lane", "Anna Lee, 5 Mill Lane"),  # what has no shape of its own is not found
    ],
)
def test_what_is_replaced_and_what_is_not(text: str, shown: str) -> None:
    assert Redactor().text(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Reference 00000057 and TR5QSKM1, order #6086499569, 05/12/2024 10:30, 12.05.2024, 05-12-2024",
        "run 20261118-010345-trials-tau2-telecom-workflow-grok-3-84c8 of /data/tau/tau_airline_gpt-4o_2024.json",
        "123e4567-e89b-12d3-a456-426614174000, 0.3333333333333333, 1,234,567.89, 1715000000, 1715000000000, "
        "model_v1_checkpoint20000000000steps",
        "the token is invalid, the password is required and mine is not working; max_tokens=4096, tokens: 128000",
        "call get_user_details 3 times, call on 2024-05-20, phone plan for 100 200, from 08:00 to 17:45, CB2 1AB",
    ],
)
def test_dates_prices_references_and_ids_of_things_stay(text: str) -> None:
    assert Redactor().text(text) == text


def test_ids_that_tools_give_to_things_are_no_phone_numbers_and_no_keys() -> None:
    made = "0f8fad5bd9cb469fa16570867728950e"
    ids = ids_of_things({"items": '[{"item_id": "6086499569", "customer_id": "4155550177"}]', "trace_id": made})
    assert Redactor(ids=ids).text(f"6086499569, 4155550177, {made}") == f"6086499569, [phone 1], {made}"


def test_names_of_members_and_measures_have_stand_ins_too() -> None:
    redactor = Redactor(["text"])
    shown = redactor.value({"ann@example.com": 1, "Ann@example.com": 2, "text": "text", "Label[x=bob@example.com]": 3})
    assert shown == {"[e-mail 1]": 1, "[e-mail 1] (2)": 2, "text": "[known 1]", "Label[x=e-mail 2]": 3}
    signature = "measure:Label[x=bob@example.com]|trials:1"
    assert redactor.name(signature) == "measure:Label[x=e-mail 2]|trials:1"


def test_known_values_are_whole_words_and_short_ones_are_left() -> None:
    redactor = Redactor(["user_001", "7"])
    assert redactor.text("USER_001 is not user_0011, room 7") == "[known 1] is not user_0011, room 7"
    assert Redactor(["4821"]).text("4821, $4821") == "[known 1], $4821"


def test_a_known_code_is_found_whatever_stands_between_its_parts() -> None:
    redactor = Redactor(["LK-003-Z", "#W7731234", "A-17"])
    assert redactor.text("LK003Z, lk 003 z, LK-003-Z") == "[known 1], [known 1], [known 1]"
    assert redactor.text("W7731234, W-7731234, W77312345") == "[known 2], [known 2], W77312345"
    assert redactor.text("A17, A-17, a 17") == "A17, [known 3], a 17"  # too short: it may be anything


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
    made.add(review([tmp_path / "log.jsonl"])[0])
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


def test_labels_file_names_and_what_the_user_is_told_have_stand_ins(tmp_path: Path) -> None:
    told = "You are Zaphod Beeble. Your customer code is ZQ0003KK and your pet is 'Marvinoid'. "
    told += "Your dog's name is Rexomatic3. Your order: #W7731234."
    said = "Zaphod here, code ZQ0003KK, pet marvinoid, dog rexomatic3, order W7731234."
    call = {"id": "1", "function": {"name": "find", "arguments": json.dumps({"ann@key.com": 1})}}
    talk = [
        {"role": "user", "content": said},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "none"},
        {"role": "assistant", "content": "No."},
    ]
    record = {"messages": talk, "success": True, "instruction": told, "scores": {"tone": "ann@tone.com"}}
    path = tmp_path / "ann@file.com.jsonl"
    path.write_text(json.dumps({"id": "a", **record}) + "\n" + json.dumps({"id": "b", **record}))
    made = Store(tmp_path / "runs")
    made.add(review([path])[0])
    [run], _ = redacted_runs([made.open(made.list()[0].id)])
    everything = repr(list(run.dialogues())) + repr(run.manifest)
    everything += "".join(str(run.table(name).rows()) for name in run.tables)
    leaked = ("ann@", "ann-file", "zaphod", "zq0003kk", "marvinoid", "rexomatic3", "w7731234")
    assert not [secret for secret in leaked if secret in everything.lower()]
    assert "Label[tone=e-mail 2]" in run.scores and run.id.startswith(made.list()[0].id[:15])


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
    assert "1 e-mail," in said and NOT_FOUND in said
    if command == "report":
        written = target.read_text()
    else:
        copied = Store(target)
        written = next(copied.open(copied.list()[0].id).dialogues()).turns[0].text
    assert "[e-mail 1]" in written
    if command == "report":
        assert "Not found: names, birth dates, addresses and ids" in written
    assert not [secret for secret in SECRETS if secret in written]
