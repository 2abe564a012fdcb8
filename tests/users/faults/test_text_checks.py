"""The checks of texts: for each kind what is a fault, what only looks like one, and where it cannot look."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest

from dialgauge.dialogue import Call, Dialogue, Goal, Outcome, Speaker, Turn
from dialgauge.formats import expected_calls
from dialgauge.users.faults import KINDS, FaultKind, UserFault, check_user
from dialgauge.users.faults.wordings import FAULT_WORDINGS, SCOPE_WORDINGS

ANN = "You are ann_lee_2041. You want to cancel reservation QX7RT2."
ASK = "Could you please provide your user ID and the reservation ID?"
STOP = "###STOP###"


def conversation(
    instruction: str, *said: str, first: Speaker = "user", actions: Sequence[Mapping[str, object]] = ()
) -> Dialogue:
    """Turns of user and agent by turns; messages stand at every third place of the file."""
    speakers: tuple[Speaker, Speaker] = ("user", "system") if first == "user" else ("system", "user")
    return Dialogue(
        id="d",
        turns=tuple(
            Turn(speaker=speakers[place % 2], text=text, source=3 * place + 1) for place, text in enumerate(said)
        ),
        goal=Goal(message=(instruction,)) if instruction else None,
        outcome=Outcome(success=None, expected=expected_calls(list(actions))),
    )


def faults(kind: FaultKind, dialogue: Dialogue) -> tuple[UserFault, ...]:
    return check_user(dialogue).of_kind(kind).faults


def test_every_kind_is_reported_on_whatever_the_conversation() -> None:
    for dialogue in (conversation(ANN, "hello", "hello"), Dialogue(id="e", turns=())):
        assert [finding.kind for finding in check_user(dialogue).findings] == list(KINDS)


def test_evidence_is_the_turn_and_the_message_of_the_file() -> None:
    [fault] = faults("withheld", conversation(ANN, "hi", ASK, "I forgot my ids."))[:1]
    assert (fault.turn, fault.message) == (2, 7)


class TestWithheld:
    @pytest.mark.parametrize(
        "question",
        [
            ASK,
            "I need a few things:\n\n1. Your user ID.\n2. Your reason",
            "To proceed I'll need your user ID. What is the reason?",
        ],
    )
    def test_not_given_when_asked(self, question: str) -> None:
        found = faults("withheld", conversation(ANN, "hi", question, "It is QX7RT2, my plans changed."))
        assert [fault.about for fault in found] == ["user id"]

    @pytest.mark.parametrize(
        ("question", "answer"),
        [
            (ASK, "My user id is ann_lee_2041 and the reservation is QX7RT2."),
            ("Please provide your user ID or the reservation ID.", "It is QX7RT2."),
            ("I can look up your user ID. What is the reason for cancelling QX7RT2?", "My plans changed."),
            ("Here you are:\n- User ID: ann_lee_2041\n- Reservation ID: QX7RT2\nIs that right?", "Yes."),
            (ASK, STOP),
        ],
    )
    def test_given_or_not_asked_for(self, question: str, answer: str) -> None:
        assert faults("withheld", conversation(ANN, "hi", question, answer)) == ()

    def test_what_was_said_before_need_not_be_said_again(self) -> None:
        talk = conversation(ANN, "I am ann_lee_2041, booking QX7RT2.", ASK, "I told you already.")
        assert faults("withheld", talk) == ()

    def test_a_run_counts_once_with_its_length(self) -> None:
        talk = conversation(ANN, "It is QX7RT2.", ASK, "No idea.", ASK, "Really not.", ASK, "ann_lee_2041")
        assert [(fault.turn, fault.length) for fault in faults("withheld", talk)] == [(2, 2)]

    def test_not_where_the_instruction_says_not_to(self) -> None:
        told = "You are Ann. You do not want to share your user id, which is ann_lee_2041."
        found = check_user(conversation(told, "hi", ASK, "I would rather not.")).of_kind("withheld")
        assert (found.extent, found.faults) == ("none", ())

    GIVEN = "You are Ann Lee and your user id is ann_lee_2041. You want to cancel your flights. "

    @pytest.mark.parametrize(
        "order",
        [
            "Do not give your user id, even if asked.",
            "You do not want to share your user id.",
            "You refuse to provide your user id.",
            "You do not reveal your user id to the agent.",
            "You have forgotten your user id and can not give it at first.",
            "If asked for your user id, say that you do not want to tell it.",
            "If the agent asks for your user id, decline.",
            "You don't remember your user ID for the first 3 rounds.",
            "Your user id must not be shared.",
            "Keep your user id to yourself.",
            "If asked for your user id, give a wrong one.",
            "You are not comfortable sharing personal information.",
            "Never tell anybody your phone number, e-mail or user id.",
            "Do not give your user id until the agent has asked three times.",
        ],
    )
    def test_not_where_another_sentence_says_not_to(self, order: str) -> None:
        found = check_user(conversation(self.GIVEN + order, "hi", ASK, "I would rather not.")).of_kind("withheld")
        assert (found.extent, found.faults) == ("none", ())
        assert found.scope == "the instruction says not to give its user id"

    def test_an_order_about_it_means_what_was_named_before(self) -> None:
        told = "You are Ann Lee. Your user id is ann_lee_2041. Do not tell it. You want to cancel your flights."
        assert faults("withheld", conversation(told, "hi", ASK, "I would rather not.")) == ()
        other = "You are ann_lee_2041. Your birthday is in your profile and you do not want to speak it."
        assert len(faults("withheld", conversation(other, "hi", ASK, "I would rather not."))) == 1

    @pytest.mark.parametrize(
        "order",
        [
            "Do not give your user id unless the agent asks.",
            "Do not mention your user id first.",
            "Do not hesitate to give your user id.",
            "Do not forget to give your user id.",
            "You do not remember your reservation id.",
            "You do not want to provide your birthday, give your user id instead.",
            "If the agent does not know your user id, give it.",
            "Be insistent and don't provide more information than necessary.",
            "Change the passenger to yourself.",
            "You do not know if your reservation is refundable.",
            "Do not take No for an answer.",
        ],
    )
    def test_an_order_about_something_else_excuses_nothing(self, order: str) -> None:
        [fault] = faults("withheld", conversation(self.GIVEN + order, "hi", ASK, "I would rather not."))
        assert fault.about == "user id"

    def test_what_is_secret_items_is_said_beside_what_was_looked_at(self) -> None:
        told = "You are ann_lee_2041. You don't remember your reservation id at first; it is QX7RT2."
        found = check_user(conversation(told, "hi", ASK, "I forgot.")).of_kind("withheld")
        assert found.scope == "questions for user id; it is told not to give its reservation id"
        assert [fault.about for fault in found.faults] == ["user id"]

    def test_phone_numbers_in_any_spelling(self) -> None:
        told = "You are Ann with phone number 555-010-2002."
        question = "Could you share your phone number?"
        assert faults("withheld", conversation(told, "hi", question, "(555) 010 2002")) == ()
        assert len(faults("withheld", conversation(told, "hi", question, "I have none."))) == 1


class TestInvented:
    LISTED = "I found two reservations: QX7RT2 and ZZ81PL. Which one is it?"
    TOLD = "You are ann_lee_2041. You want to change your trip from BOS to SEA on May 20."

    @pytest.mark.parametrize(
        ("answer", "about"),
        [
            ("My e-mail is ann@example.com.", "e-mail address"),
            ("The other flight leaves Denver.", "city"),
            ("It was on the 3rd of January.", "day"),
            ("My booking is PL0K9D.", "booking code"),
            ("I want flight HAT101.", "flight number"),
        ],
    )
    def test_nobody_gave_it(self, answer: str, about: str) -> None:
        [fault] = faults("invented", conversation(self.TOLD, "hi", "Tell me more.", answer))
        assert fault.about == about

    @pytest.mark.parametrize(
        "answer",
        ["I fly from Boston to Seattle on 2024-05-20.", "May 21 would do.", "Is there a flight from Denver?", "BOS"],
    )
    def test_told_or_reckoned_or_only_asked(self, answer: str) -> None:
        assert faults("invented", conversation(self.TOLD, "hi", "Tell me more.", answer)) == ()

    def test_a_guess_among_listed_bookings(self) -> None:
        [fault] = faults("invented", conversation(self.TOLD, "hi", self.LISTED, "It is ZZ81PL."))
        assert fault.about == "booking"

    @pytest.mark.parametrize(
        ("listed", "answer"),
        [
            ("- QX7RT2: from BOS to SEA\n- ZZ81PL: from SEA to BOS", "It is QX7RT2."),
            (LISTED, "Could you check QX7RT2 and ZZ81PL?"),
            (LISTED, "I do not know which."),
        ],
    )
    def test_no_guess_where_the_list_tells_or_nothing_is_claimed(self, listed: str, answer: str) -> None:
        assert faults("invented", conversation(self.TOLD, "hi", listed, answer)) == ()

    def test_what_its_own_tools_show_is_known(self) -> None:
        shown = Call(name="mailbox", result="booking PL0K9D")
        turns = (
            Turn(speaker="system", text="Which booking?"),
            Turn(speaker="user", text="It is PL0K9D.", calls=(shown,)),
        )
        assert faults("invented", Dialogue(id="d", turns=turns, goal=Goal(message=(self.TOLD,)))) == ()

    def test_it_cannot_look_without_an_instruction_or_where_inventing_is_allowed(self) -> None:
        for told in ("", f"{self.TOLD} If asked for anything else, make something up."):
            assert check_user(conversation(told, "hi", "hello")).of_kind("invented").extent == "none"
        assert check_user(conversation("Never make up a date.", "a", "b")).of_kind("invented").extent == "part"

    def test_a_listed_booking_picked_by_its_place(self) -> None:
        listed = "Your reservations are QX7RT2, ZZ1AB3 and K9LM4N. Which one is it?"
        told = "You are ann_lee_2041. You want to cancel your trip."
        [fault] = faults("invented", conversation(told, "hi", listed, "I think it's the first one."))
        assert (fault.about, fault.turn) == ("booking", 2)
        assert faults("invented", conversation(told, "hi", listed, "Is it the first one?")) == ()


class TestEarlyEnd:
    def test_stops_instead_of_answering(self) -> None:
        talk = conversation(ANN, "I want to cancel.", "Could you provide your user ID?", STOP)
        assert [fault.turn for fault in faults("early_end", talk)] == [2]

    @pytest.mark.parametrize(
        "question",
        [
            "Sure. What is your user id?",
            "I found it. What is the reason for the cancellation?",
            "Your user id?",
            "Thanks, and which of the two flights?",
            "For how many passengers?",
        ],
    )
    def test_stops_where_something_is_asked_for_in_any_words(self, question: str) -> None:
        assert len(faults("early_end", conversation(ANN, "I want to cancel.", question, STOP))) == 1

    @pytest.mark.parametrize(
        "question",
        [
            "It is done. What else can I do for you?",
            "How can I help you?",
            "That cannot be changed. What would you prefer?",
            "It is done. Would you like a hotel too?",
            "It is done. Okay?",
        ],
    )
    def test_a_question_that_leaves_it_to_the_user_may_end_it(self, question: str) -> None:
        assert faults("early_end", conversation(ANN, "I want to cancel.", question, STOP)) == ()

    @pytest.mark.parametrize("question", ["What is your user id?", "Could you provide your user id?"])
    def test_asked_for_what_it_must_not_give(self, question: str) -> None:
        for order in ("Do not give your user id.", "If the agent asks for your user id, hang up."):
            talk = conversation(f"{ANN} {order}", "I want to cancel.", question, STOP)
            assert faults("early_end", talk) == ()

    def test_confirms_and_stops(self) -> None:
        talk = conversation(ANN, "Cancel it.", "Shall I proceed with it?", f"Yes, please. {STOP}")
        assert len(faults("early_end", talk)) == 1

    @pytest.mark.parametrize(
        "last",
        ["It is cancelled. Is there anything else I can help you with?", "YOU ARE BEING TRANSFERRED TO A HUMAN AGENT."],
    )
    def test_an_end_in_good_time(self, last: str) -> None:
        assert faults("early_end", conversation(ANN, "Cancel it.", last, f"No, thank you. {STOP}")) == ()

    def test_an_expected_matter_never_spoken_of(self) -> None:
        told = "You are ann_lee_2041. You want to book a flight to SEA and take two bags along."
        bags = [{"name": "book_reservation", "kwargs": {"total_baggages": 2}}]
        silent = conversation(told, "A flight to SEA, please.", "It is booked.", STOP, actions=bags)
        assert "baggage" in faults("early_end", silent)[0].sentence
        spoken = conversation(told, "A flight to SEA and two bags.", "It is booked.", STOP, actions=bags)
        assert faults("early_end", spoken) == ()

    def test_a_condition_that_may_never_have_come_true(self) -> None:
        told = "You want to change your flight. If that is not possible, cancel it."
        cancel = [{"name": "cancel_reservation", "kwargs": {}}]
        talk = conversation(told, "Please change my flight.", "Done.", STOP, actions=cancel)
        assert faults("early_end", talk) == ()

    def test_it_cannot_look_where_nobody_knows_who_ended(self) -> None:
        turns = (Turn(speaker="user", text="one"), Turn(speaker="system", text="two"))
        found = check_user(Dialogue(id="d", turns=turns, goal=Goal(message=(ANN,)))).of_kind("early_end")
        assert found.extent == "none"

    def test_gives_up_as_out_of_scope_at_a_question(self) -> None:
        talk = conversation(ANN, "hi", "On which date do you fly?", "###OUT-OF-SCOPE###")
        assert [fault.turn for fault in faults("early_end", talk)] == [2]
        polite = conversation(ANN, "hi", "Is there anything else I can do?", "###OUT-OF-SCOPE###")
        assert faults("early_end", polite) == ()


class TestContradicted:
    FEE = "You want to change to a later flight. You are willing to pay a fee, up to $100."

    def test_more_than_the_limit(self) -> None:
        offer = "The change costs an additional $114 in total. Would you like to proceed?"
        assert len(faults("contradicted", conversation(self.FEE, "hi", offer, "Yes, please go ahead."))) == 1

    @pytest.mark.parametrize(
        ("offer", "answer"),
        [
            ("There is an additional fee of $90. Would you like to proceed?", "Yes, please go ahead."),
            ("There is an additional fee of $190. Would you like to proceed?", "Yes, but only if it is below $100."),
            ("There is an additional fee of $190. Would you like to proceed?", "No, that is too much."),
            ("The flight has a price of $190. Would you like to proceed?", "Yes, please go ahead."),
        ],
    )
    def test_within_the_limit_or_not_accepted(self, offer: str, answer: str) -> None:
        assert faults("contradicted", conversation(self.FEE, "hi", offer, answer)) == ()

    def test_a_summary_with_what_it_does_without(self) -> None:
        told = "You want to book a flight. You do not want insurance. You don't have any baggage."
        summary = "- Insurance: {}\n- Checked bags: {}\nPlease confirm."
        wrong = conversation(told, "hi", summary.format("Yes", 2), "Yes, that is right.")
        assert {fault.about for fault in faults("contradicted", wrong)} == {"insurance", "checked bags"}
        right = conversation(told, "hi", summary.format("No", 0), "Yes, that is right.")
        assert faults("contradicted", right) == ()

    SUMMARY = "Travel insurance: yes\nChecked bags: 2\nDo you confirm?"

    @pytest.mark.parametrize(
        "wish",
        [
            "You do not want to mention insurance first.",
            "You do not need insurance refunded.",
            "You do not want to talk about bags or insurance.",
            "You don't want the insurance cancelled.",
            "You do not want bags removed.",
            "You want no bag fees.",
            "You have no insurance.",
            "You do not need insurance if it costs more than $10.",
            "Under no circumstances do you give up the insurance.",
            "You don't have any bags, but want to add two bags.",
            f"You do not want {'bags ' * 60}x",
        ],
    )
    def test_how_to_talk_of_a_thing_or_what_is_done_to_it_is_no_refusal(self, wish: str) -> None:
        found = check_user(conversation(wish, "hi", self.SUMMARY, "Yes, I confirm.")).of_kind("contradicted")
        assert (found.extent, found.faults) == ("none", ())

    @pytest.mark.parametrize(
        ("wish", "about"),
        [
            ("No baggage and insurance.", {"insurance", "checked bags"}),
            ("You do not want seats, bags or insurance on the new flight.", {"insurance", "checked bags"}),
            ("You want to use your free baggage allowance but don't want insurance.", {"insurance"}),
            ("You do not want to buy any travel insurance.", {"insurance"}),
            ("You do not want insurance added.", {"insurance"}),
            ("You have no bags.", {"checked bags"}),
        ],
    )
    def test_refusals_in_other_words(self, wish: str, about: set[str]) -> None:
        found = faults("contradicted", conversation(wish, "hi", self.SUMMARY, "Yes, I confirm."))
        assert {fault.about for fault in found} == about

    def test_it_cannot_look_where_nothing_can_be_derived(self) -> None:
        assert check_user(conversation(ANN, "hi", "hello")).of_kind("contradicted").extent == "none"

    FLIGHT = "You are ann_lee_2041. You want the cheapest flight to SEA."
    BOOK = ({"name": "book_reservation", "arguments": {"flights": [{"flight_number": "HAT069"}]}},)

    def test_another_flight_than_the_expected_one_that_was_offered(self) -> None:
        offer = "There are HAT069 for $80 and HAT041 for $120. Which one would you like?"
        other = conversation(self.FLIGHT, "hi", offer, "I'll take HAT041.", actions=self.BOOK)
        assert [(fault.about, fault.turn) for fault in faults("contradicted", other)] == [("flight", 2)]
        for answer in ("I'll take HAT069.", "Is HAT041 nonstop?", "The cheaper one."):
            assert faults("contradicted", conversation(self.FLIGHT, "hi", offer, answer, actions=self.BOOK)) == ()
        unseen = "There is HAT041 for $120. Would you like it?"
        assert faults("contradicted", conversation(self.FLIGHT, "hi", unseen, "HAT041, yes.", actions=self.BOOK)) == ()

    def test_a_price_beside_one_that_keeps_the_limit_may_not_be_the_chosen_one(self) -> None:
        told = "You are willing to pay up to $100 for the change."
        offer = "Option 1 has an extra fee of $80.\nOption 2 has an extra fee of $300.\nDo you confirm option 1?"
        assert faults("contradicted", conversation(told, "hi", offer, "Yes, please go ahead.")) == ()
        dear = "Option 1 has an extra fee of $280.\nOption 2 has an extra fee of $300.\nDo you confirm option 1?"
        assert [fault.about for fault in faults("contradicted", conversation(told, "hi", dear, "Yes, please."))] == [
            "limit"
        ]


class TestMessages:
    def test_empty(self) -> None:
        assert [fault.turn for fault in faults("empty", conversation(ANN, "hi", "yes?", "", "yes?", "  "))] == [2]
        call = Turn(speaker="user", calls=(Call(name="reboot"),))
        assert faults("empty", Dialogue(id="d", turns=(call, Turn(speaker="system", text="ok")))) == ()

    @pytest.mark.parametrize(
        "text",
        [
            f"Bye. {STOP} Oh, one more thing.",
            '<tool_call>{"name": "cancel"}</tool_call>',
            "The instructions say that I should insist.",
            "You want to cancel reservation QX7RT2.",
        ],
    )
    def test_leaked(self, text: str) -> None:
        assert len(faults("leaked", conversation(ANN, text, "hello"))) == 1

    @pytest.mark.parametrize("text", ["I want to cancel reservation QX7RT2.", f"Bye. {STOP}", "You are the best."])
    def test_not_leaked(self, text: str) -> None:
        told = f"{ANN} Always end with 'You are the best agent I ever met.'"
        assert faults("leaked", conversation(told, text, "hello")) == ()

    def test_a_phrase_that_is_to_be_said_is_no_leak(self) -> None:
        told = f"{ANN} Always end with 'You are the best agent I ever met.'"
        assert faults("leaked", conversation(told, "Hi. You are the best agent I ever met.", "hello")) == ()

    @pytest.mark.parametrize("text", ["How can I help you today?", "I have cancelled your reservation."])
    def test_role_swap(self, text: str) -> None:
        assert len(faults("role_swap", conversation(ANN, "hi", "hello", text))) == 1
        assert faults("role_swap", conversation(ANN, "hi", text, "Thanks, can you help me cancel it?")) == ()

    def test_repeated(self) -> None:
        wish = "I want to change the passenger name on that booking to Omar."
        again = "Please change the passenger name on that booking to Omar!"
        refusal = "The passenger of a booking cannot be changed."
        assert len(faults("repeated", conversation(ANN, wish, refusal, again))) == 1
        asked = "Which passenger name should the booking have?"
        assert faults("repeated", conversation(ANN, wish, asked, again)) == ()
        evaded = "Lovely weather today."
        assert faults("repeated", conversation(ANN, wish, evaded, again)) == ()
        more = "Please change the passenger name on that booking to Omar and Ines for flight 12."
        assert faults("repeated", conversation(ANN, wish, refusal, more)) == ()

    SHORT = "Please cancel my flights from MCO to CLT."

    @pytest.mark.parametrize("more", ["", " Is there anything else I can help you with?"])
    def test_a_short_message_word_for_word(self, more: str) -> None:
        done = f"Your flights from MCO to CLT are cancelled.{more}"
        talk = conversation(ANN, self.SHORT, "Your user id?", "ann_lee_2041", done, self.SHORT, done, self.SHORT)
        assert [(fault.turn, fault.length) for fault in faults("repeated", talk)] == [(4, 2)]

    @pytest.mark.parametrize(
        ("said", "answer", "again"),
        [
            ("Please cancel my flights.", "Your flights are cancelled.", "Please cancel my flights."),
            (SHORT, "Your flights from MCO to CLT are cancelled.", "Cancel from CLT to MCO the flights."),
            (SHORT, "I see flights from MCO to CLT. Which ones?", SHORT),
            ("Yes, please.", "Done. Shall I cancel the next one?", "Yes, please."),
        ],
    )
    def test_a_short_message_in_other_words_or_to_a_question(self, said: str, answer: str, again: str) -> None:
        found = check_user(conversation(ANN, said, answer, again)).of_kind("repeated")
        assert found.faults == ()
        assert "of 3 or 4 weighty words, only word for word; of fewer, the third copy" in found.scope

    LOOP = "Thank you, I will wait for the agent."

    def test_the_third_copy_counts_whatever_the_agent_asks_for_in_closing(self) -> None:
        answer = "You are welcome. Please let me know if you need your flight changed."
        talk = conversation(ANN, self.LOOP, answer, self.LOOP, answer, self.LOOP, answer, self.LOOP)
        assert [(fault.turn, fault.length) for fault in faults("repeated", talk)] == [(4, 2)]

    def test_copies_that_the_agent_asks_for_again_word_for_word_are_answers(self) -> None:
        asked = "Which reservation is it?"
        assert faults("repeated", conversation(ANN, *[self.LOOP, asked] * 4)) == ()

    def test_let_me_know_is_no_request_for_what_was_said(self) -> None:
        wish = "Please change the passenger name on that booking to Omar and Ines."
        answer = "The passenger name on that booking cannot be changed. Please let me know if you want another booking."
        assert [fault.turn for fault in faults("repeated", conversation(ANN, wish, answer, wish))] == [2]


class TestDisobeyed:
    TOLD = "If the agent tells you basic economy cannot be changed (do not mention it otherwise), cancel it."

    def test_mentions_what_it_must_not(self) -> None:
        early = conversation(self.TOLD, "Change my basic economy ticket.", "Which one?")
        assert len(faults("disobeyed", early)) == 1
        asked = conversation(self.TOLD, "Change my ticket.", "It is basic economy.", "Oh, basic economy? Cancel it.")
        assert faults("disobeyed", asked) == ()

    @pytest.mark.parametrize(
        "order",
        [
            "Do not mention insurance.",
            "Do not mention insurance, even if asked.",
            "Do not mention insurance unless the agent asks.",
            "Never mention the insurance until the agent brings it up.",
            "You do not want to mention insurance first.",
            "Only mention insurance if asked.",
            "Do not mention anything about your insurance.",
            "Don't mention that you have insurance.",
            "You have insurance. Do not mention it to the agent.",
        ],
    )
    def test_an_order_whose_condition_is_that_the_agent_asks(self, order: str) -> None:
        early = check_user(conversation(order, "I have insurance, cancel it.", "Which one?")).of_kind("disobeyed")
        assert [fault.sentence for fault in early.faults] == ["mentions insurance before the agent did"]
        assert early.scope == "not to mention insurance before the agent does"
        asked = conversation(order, "Cancel it.", "Are you insured?", "I have insurance.")
        assert faults("disobeyed", asked) == ()

    def test_two_things_in_one_order(self) -> None:
        told = "Do not mention your insurance or your age."
        found = faults("disobeyed", conversation(told, "At my age, with insurance?", "Which one?"))
        assert {fault.about for fault in found} == {"insurance", "age"}

    @pytest.mark.parametrize(
        "order",
        [
            "Do not mention insurance, unless you get no refund.",
            "Do not mention insurance until the flight is cancelled.",
            "Only mention insurance if the agent offers a refund.",
            "Do not mention insurance if the agent offers a refund.",
        ],
    )
    def test_a_condition_that_cannot_be_followed_is_not_checked(self, order: str) -> None:
        found = check_user(conversation(order, "I have insurance.", "Which one?")).of_kind("disobeyed")
        assert (found.extent, found.faults) == ("none", ())
        assert found.scope == "an order about insurance, whose condition cannot be followed"
        both = check_user(conversation(f"{order} Do not mention your age.", "hi", "hello")).of_kind("disobeyed")
        assert both.extent == "part" and "age before the agent does; not checked: an order about ins" in both.scope

    @pytest.mark.parametrize("order", ["Do not mention it.", "You booked two nice rooms, do not mention it."])
    def test_an_order_about_nobody_knows_what_is_not_checked(self, order: str) -> None:
        found = check_user(conversation(order, "I booked two nice rooms.", "Which?")).of_kind("disobeyed")
        assert (found.extent, found.faults) == ("none", ())

    def test_to_name_a_reason_is_not_to_say_it(self) -> None:
        assert faults("disobeyed", conversation("Do not say the reason.", "For a good reason.", "Why?")) == ()
        told = "Never reveal that you are sick."
        assert len(faults("disobeyed", conversation(told, "I am sick.", "Oh."))) == 1

    def test_to_name_an_id_is_not_to_reveal_it(self) -> None:
        told = "You are ann_lee_2041. Do not reveal your user id."
        assert faults("disobeyed", conversation(told, "I will not tell you my user id.", "Why?")) == ()

    def test_it_cannot_look_without_an_order(self) -> None:
        assert check_user(conversation(ANN, "hi", "hello")).of_kind("disobeyed").extent == "none"


PIECES = (
    ANN, ASK, STOP, "up to\n$100", "Yes, please.", "an additional $120?", "QX7RT2, ZZ81PL", "the 31st", "'", "(",
    "\ud800", "If the agent says basic economy, cancel.", "May 99", "a@b.c", "\n- user id:", "I\u2019m", "###", "",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_said_is_checked(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(20):
        texts = ["".join(draw.choices(PIECES, k=draw.randrange(4))) for _ in range(draw.randrange(1, 7))]
        checked = check_user(conversation(" ".join(draw.choices(PIECES, k=3)), *texts))
        users = {fault.turn for fault in checked.faults}
        assert all(turn % 2 == 0 for turn in users)
        assert all(finding.reason in SCOPE_WORDINGS and finding.scope for finding in checked.findings)
        assert all(fault.reason in FAULT_WORDINGS for fault in checked.faults)
