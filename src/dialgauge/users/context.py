"""One dialogue while it is being scored: prepared turns, the goal, the options, and the records that build up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dialgauge.dialogue import Task
from dialgauge.errors import DialgaugeError
from dialgauge.users.config import GcdfConfig
from dialgauge.users.normalise import Attempt, Normaliser
from dialgauge.users.profile import DatasetProfile
from dialgauge.users.records import Behaviour, Measure
from dialgauge.users.turns import BETWEEN, INFORM, SLOT_VALUE, PreparedTurn, Utterance

#: Service to parameter text to the positions at which it was said.
Parameters = dict[str, dict[str, list[int]]]


class DialogueContext:
    """The turns of a dialogue with everything the rules ask about them; remembers what is asked often."""

    def __init__(
        self,
        moments: list[PreparedTurn],
        tasks: dict[str, Task],
        config: GcdfConfig,
        profile: DatasetProfile,
        normaliser: Normaliser,
    ) -> None:
        self.moments = moments
        self.tasks = tasks
        self.config = config
        self.profile = profile
        self.behaviours: list[Behaviour] = []
        self.attempts: list[tuple[str, int, Attempt]] = []
        #: What is odd about the dialogue, each sentence once, in order of appearance.
        self.warnings: dict[str, None] = {}
        self.requests_removed: list[str] = []
        self._normaliser = normaliser
        self._user_parameters: Parameters | None = None
        self._system_parameters: Parameters | None = None
        self._said: dict[tuple[Utterance, int], tuple[dict[str, list[str]], list[Attempt]]] = {}
        self._warn_of_torn_values()

    def fault(self, message: str, turn: int | None = None) -> None:
        """Something the reference aborts on: the dialogue fails in reference mode, and is warned about otherwise."""
        if self.config.strict:
            raise DialgaugeError(f"{message}; the reference evaluator aborts here", turn=turn)
        self.warnings[message if turn is None else f"turn {turn}: {message}"] = None

    def _warn_of_torn_values(self) -> None:
        """The reference takes values apart at its own separator, so that one said value counts as several."""
        for moment in self.moments:
            if moment.said.torn:
                warning = (
                    f"turn {moment.position}: the value '{moment.said.torn}' contains '{BETWEEN}' and is taken apart"
                )
                self.warnings[warning] = None

    def empty(self) -> None:
        """The conversation has no turns. The reference gives it 0 like any silent user; better is to refuse it."""
        message = "the conversation is empty"
        if not self.config.strict:
            raise DialgaugeError(f"{message}: there is no user to measure", turn=0)
        self.warnings[f"{message}, and counts as a user that says nothing"] = None

    def record(
        self,
        measure: Measure,
        label: str,
        domain: str,
        item: str = "",
        *,
        turns: tuple[int, ...] = (),
        count: int = 0,
        expected: str = "",
    ) -> None:
        """Note a behaviour."""
        self.behaviours.append(Behaviour(measure, label, domain, item, turns, count, expected))

    def require_domain(self, name: str, turn: int) -> None:
        """A rule needs to know the entities of a goal domain."""
        if self.profile.domain(name) is None:
            self.fault(f"the profile {self.profile.name} does not know the domain '{name}' of the goal", turn)

    def with_booking(self, domain: str) -> tuple[str, ...]:
        """The domain and, where the dataset has one, the booking service."""
        return (domain, self.profile.booking_service) if self.profile.booking_service else (domain,)

    def system_before(self, position: int) -> Iterator[PreparedTurn]:
        """The system turns before a user turn, most recent first."""
        return (self.moments[place] for place in range(position - 1, 0, -2))

    def span(self, first: int, second: int) -> list[PreparedTurn]:
        """The system turns between two user turns, most recent first."""
        return [self.moments[place] for place in range(second - 1, first, -2)]

    def user_parameters(self) -> Parameters:
        """What the user informed of, with canonical values."""
        if self._user_parameters is None:
            self._user_parameters = self._parameters("user", INFORM, range(0, len(self.moments), 2))
        return self._user_parameters

    def system_parameters(self) -> Parameters:
        """What the system said, with canonical values."""
        if self._system_parameters is None:
            self._system_parameters = self._parameters("system", SLOT_VALUE, range(1, len(self.moments), 2))
        return self._system_parameters

    def heard(self, position: int, domain: str) -> Iterable[str]:
        """What the system understood the user to inform of in a user turn, with canonical values."""
        heard = self.moments[position].heard
        return () if heard is None else self._texts("nlu", position, heard, INFORM).get(domain, ())

    def _parameters(self, source: str, families: int, positions: Iterable[int]) -> Parameters:
        found: Parameters = {}
        for position in positions:
            said = self.moments[position].said
            if not said.families & families:
                continue
            for service, texts in self._texts(source, position, said, families).items():
                constraints = found.setdefault(service, {})
                for text in texts:
                    constraints.setdefault(text, []).append(position)
        return found

    def _texts(self, source: str, position: int, said: Utterance, families: int) -> dict[str, list[str]]:
        """The distinct parameters of one turn by service, normalised; what that took is kept with the turn."""
        known = self._said.get((said, families))
        if known is None:
            try:
                known = self._said[said, families] = self._normalised(said, families)
            except DialgaugeError as error:
                raise error.at(turn=position) from error
        texts, attempts = known
        if attempts:
            self.attempts.extend((source, position, attempt) for attempt in attempts)
        return texts

    def _normalised(self, said: Utterance, families: int) -> tuple[dict[str, list[str]], list[Attempt]]:
        """Acts with several values come last, later acts first: the order in which the reference takes them."""
        found: dict[str, list[str]] = {}
        attempts: list[Attempt] = []
        for service, acts in said.services.items():
            chosen = [act for act in acts if act.families & families and act.parameters]
            if not chosen:
                continue
            parameters = [act.parameters[0] for act in chosen if len(act.parameters) == 1]
            if len(parameters) < len(chosen):
                several = [act for act in reversed(chosen) if len(act.parameters) > 1]
                parameters += [parameter for act in several for parameter in act.parameters]
            texts, tried = self._normaliser.texts(service, parameters)
            attempts += tried
            found[service] = list(dict.fromkeys(texts))
        return found, attempts
