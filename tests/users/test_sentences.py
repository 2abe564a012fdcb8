"""Which sentence was misheard."""

from __future__ import annotations

from dialgauge import score_users
from dialgauge.dialogue import Act, Dialogue, Goal, Task, Turn
from dialgauge.runs import Run
from dialgauge.users import misheard_sentences


def _act(name: str, slot: str = "", value: str = "") -> Act:
    return Act(name=name, domain=name.split("-")[0].lower(), slot=slot, values=(value,) if value else ())


def _talk(identifier: str, answer: str, said: tuple[Act, ...], heard: tuple[Act, ...]) -> Dialogue:
    wish = (_act("Hotel-Inform", "area", "north"),)
    return Dialogue(
        id=identifier,
        goal=Goal(tasks={"hotel": Task(info={"area": "north"}, requests=("phone",))}),
        turns=(
            Turn(speaker="user", text="In the north .", acts=wish, heard=wish),
            Turn(speaker="system", text=answer, acts=said, heard=heard),
        ),
    )


def test_the_sentence_with_the_value_is_named_and_its_values_are_replaced() -> None:
    said = (_act("Hotel-Inform", "name", "Acorn House"), _act("Hotel-Inform", "phone", "01223"))
    talk = _talk("d", "How about Acorn House ? Call 01223 .", said, said[:1])
    (sentence,) = misheard_sentences(score_users([talk])[0])
    assert (sentence.sentence, sentence.said, sentence.heard) == ("call [phone] .", "hotel-inform(phone)", "")
    assert (sentence.times, sentence.example, sentence.turn, sentence.speaker) == (1, "d", 1, "system")


def test_an_invented_act_is_tied_to_the_sentence_that_goes_with_it_alone() -> None:
    offer, more = _act("Hotel-Inform", "name", "Acorn House"), _act("general-reqmore")
    asked = _act("Hotel-Request", "stay", "?")
    talks = [
        _talk("a", "I can book Acorn House . Anything else for you ?", (offer, more), (offer, more, asked)),
        _talk("b", "I can book Acorn House . Welcome to our town !", (offer,), (offer, asked)),
        _talk("c", "There is Acorn House . Anything else for you ?", (offer, more), (offer,)),
    ]
    sentences = misheard_sentences(score_users(talks)[0])
    invented = [(each.sentence, each.times) for each in sentences if each.heard == "hotel-request(stay)"]
    assert invented == [("i can book [name] .", 2)]


def test_the_users_of_the_paper_mishear_the_reference_number(convlab_run: Run) -> None:
    worst, *others = misheard_sentences(convlab_run)
    assert (worst.sentence, worst.times, worst.dialogues) == ("your reference number is [ref] .", 2938, 489)
    assert (worst.said, worst.heard) == ("booking-book(ref)", "train-offerbooked(ref)")
    asked = [each for each in others if each.heard == "train-request(day)" and not each.said]
    assert sum(each.times for each in asked) == 70
    assert asked[0].sentence == "would you like me to book a train to [destination] for you ?"
    assert sum(each.times for each in (worst, *others)) == convlab_run.table("confusions").height == 13_891


def test_forgiven_repetitions_have_a_cause_and_lost_points_keep_their_fault(convlab_run: Run) -> None:
    verdicts = convlab_run.table("verdicts")
    forgiven = [row for row in verdicts.iter_rows(named=True) if row["verdict"] == "repeated-forgiven"]
    assert len(forgiven) == 758
    assert all(row["cause"] and row["fault"] is None for row in forgiven)
    assert verdicts["fault"].drop_nulls().len() == 21268 + 1704 + 529 + 344 + 176 + 28 + 15 + 14 + 1
