"""Dialog files of bAbI: what is read, what is written, what is refused; and the released files, byte for byte."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from dialgauge.dialogue import Dialogue, Fact, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import SILENCE, recognise
from support.babi_release import ALL_FILES, SPLITS, released, released_file
from support.reading import part_of, read_bytes, write_bytes
from support.soak import some

NO_RESULT = "api_call no result"

DIALOG = b"""1 hi\thello
2 cheap food\tapi_call R_cuisine R_location cheap
3 api_call no result
4 <SILENCE>\tSorry there is no restaurant
5 french food\tapi_call french R_location cheap
6 cote R_cuisine french
7 cote R_rating 10
8 \tcote is nice
9 bye\t you are welcome

"""

# dialogs, turns, fact lines, silent turns, API calls (specification, section 1.5)
COUNTS = {
    1: ([1000] * 4, [6024, 6015, 5936, 6020], [0] * 4, [2000] * 4, [1000] * 4),
    2: ([1000] * 4, [9498, 9513, 9464, 9460], [0] * 4, [3000] * 4, [2000] * 4),
    3: (
        [1000] * 4,
        [9855, 9978, 10018, 9788],
        [23359, 24486, 24262, 23898],
        [3440, 3519, 3515, 3420],
        [0] * 4,
    ),
    4: ([1000] * 4, [3507, 3529, 3498, 3510], [7000] * 4, [0] * 4, [0] * 4),
    5: (
        [1000] * 4,
        [18340, 18457, 18398, 18368],
        [23625, 23800, 23814, 23625],
        [5404, 5500, 5470, 5419],
        [2000] * 4,
    ),
    6: (
        [1618, 500, 1117],
        [14404, 4159, 11237],
        [69079, 23958, 31132],
        [3882, 1294, 2586],
        [1844, 667, 1088],
    ),
}
NO_RESULTS = {"trn": 258, "dev": 163, "tst": 41}


def test_turns_facts_and_raw_text() -> None:
    (dialogue,), _ = read_bytes("babi", DIALOG, "dialog-babi-task6-dstc2-trn.txt")
    users, bots = dialogue.turns[::2], dialogue.turns[1::2]
    assert dialogue.id == "task6-trn-0001"
    assert [turn.text for turn in users] == ["hi", "cheap food", SILENCE, "french food", "", "bye"]
    assert [turn.results for turn in users] == [
        None,
        None,
        (),
        None,
        (Fact("cote", "R_cuisine", "french"), Fact("cote", "R_rating", "10")),
        None,
    ]
    assert bots[-1].text == " you are welcome"
    assert write_bytes("babi", [dialogue])[0] == DIALOG


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        (b"1 hi\thello\nhow are you\tfine\n", 2, "'how are you\\tfine'"),
        (b"1 hi\thello\n3 so\tso\n", 2, "expected 2, found 3"),
        (b"1 hi\thello\tagain\n", 1, "one tab"),
        (b"1 hi\t\n", 1, "bot's side is empty"),
        (b"1 cote R_phone\n2 hi\thello\n", 1, "three words"),
        (b"1 cote R_fone cote_phone\n2 hi\thello\n", 1, "Did you mean 'R_phone'"),
        (b"1 hi\thello\n2 cote R_phone cote_phone\n\n", 2, "a turn must follow"),
        (b"1 api_call no result\n2 cote R_phone p\n3 hi\thello\n", 2, "cannot be mixed with"),
        (b"1 cote R_phone p\n2 api_call no result\n3 hi\thello\n", 2, "cannot be mixed with"),
        (b"1 api_call no result\n2 api_call no result\n3 hi\thello\n", 2, "cannot be mixed with"),
        (b"1 h\xff\thello\n", 1, "not UTF-8"),
    ],
)
def test_faults_name_file_line_and_text(content: bytes, line: int, said: str) -> None:
    with pytest.raises(DialgaugeError) as caught:
        read_bytes("babi", content, "mine.txt")
    assert caught.value.file == "mine.txt"
    assert caught.value.line == line
    assert said in str(caught.value)


def test_a_bot_that_speaks_unasked_answers_silence() -> None:
    turns = (Turn(speaker="system", text="welcome"), Turn(speaker="system", text="are\nyou\tthere"))
    content, notes = write_bytes("babi", [Dialogue(id="d", turns=turns)])
    assert content == b"1 <SILENCE>\twelcome\n2 <SILENCE>\tare you there\n\n"
    assert notes.counts["tab or line break in a text written as a space"] == 1


def test_what_the_format_cannot_say_is_refused_or_noted() -> None:
    hi = Turn(speaker="user", text="hi")
    with pytest.raises(DialgaugeError, match="two user turns"):
        write_bytes("babi", [Dialogue(id="d", turns=(hi, hi))])
    content, notes = write_bytes("babi", [Dialogue(id="d", turns=(hi, Turn(speaker="system", text="a"), hi))])
    assert content == b"1 hi\ta\n\n"
    assert notes.counts["last user turn without a reply dropped"] == 1
    spaced = Turn(speaker="user", text="hi", results=(Fact("two words", "R_phone", "1"),))
    content, notes = write_bytes("babi", [Dialogue(id="d", turns=(spaced, Turn(speaker="system", text="a")))])
    assert content == b"1 two_words R_phone 1\n2 hi\ta\n\n"
    assert notes.counts["white space in a fact written as an underscore"] == 1


@pytest.mark.parametrize(
    ("content", "format"),
    [
        (b"1 hi\thello\n\n1 hi\thello\n", "babi"),
        (b"1 cote R_phone p\n2 cote R_rating 1\n3 hi\thello\n", "babi"),
        (b"1 cote R_phone\tp\n1 cote R_rating\t1\n", "babi-kb"),
        (b"1 cote R_phone p\n1 cote R_rating 1\n", "babi-kb"),
        (b"1 you are welcome\n1 api_call no result\n", "babi-candidates"),
    ],
)
def test_the_four_kinds_of_file_are_told_apart(content: bytes, format: str) -> None:
    assert recognise(part_of(content, "x.txt")).name == format


texts = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12)
words = st.text(st.characters(exclude_categories=("Cs", "Cc", "Z")), min_size=1, max_size=6)
facts = st.builds(Fact, words, st.sampled_from(["R_phone", "R_cuisine", "R_rating"]), words)
results = st.none() | st.just(()) | st.lists(facts, min_size=1, max_size=3).map(tuple)
exchanges = st.tuples(texts, texts.filter(lambda text: bool(text.strip())), results)


@given(st.lists(st.lists(exchanges, min_size=1, max_size=4), min_size=1, max_size=3))
def test_writing_and_reading_back_is_the_identity(
    dialogs: list[list[tuple[str, str, tuple[Fact, ...] | None]]],
) -> None:
    dialogues = [
        Dialogue(
            id=f"x-{position:04d}",
            turns=tuple(
                turn
                for user, bot, shown in dialog
                for turn in (
                    Turn(speaker="user", text=user, results=shown),
                    Turn(speaker="system", text=bot),
                )
            ),
        )
        for position, dialog in enumerate(dialogs, start=1)
    ]
    content, _ = write_bytes("babi", dialogues)
    assert read_bytes("babi", content, "x.txt")[0] == dialogues


@pytest.mark.parametrize(("task", "split"), some(list(ALL_FILES)))
def test_released_files(shared_data: Path, task: int, split: str) -> None:
    dialogues = released(shared_data, task, split)
    turns = [turn for dialogue in dialogues for turn in dialogue.turns]
    column = SPLITS.index(split)
    counted = (
        len(dialogues),
        len(turns) // 2,
        sum(len(turn.results or ()) for turn in turns),
        sum(turn.text == SILENCE for turn in turns),
        sum(turn.text.startswith("api_call ") for turn in turns if turn.speaker == "system"),
    )
    facts = COUNTS[task][2][column]
    no_results = NO_RESULTS[split] if task == 6 else 0
    assert sum(turn.results == () for turn in turns) == no_results
    # The fact lines of the specification's table count the empty answers too.
    assert counted == tuple(row[column] if row is not COUNTS[task][2] else facts - no_results for row in COUNTS[task])
    assert write_bytes("babi", dialogues)[0] == gzip.decompress(released_file(shared_data, task, split).read_bytes())
