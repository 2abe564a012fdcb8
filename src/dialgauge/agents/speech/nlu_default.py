"""The NLU that needs no data: trained on practice turns in the words of our own templates.

The package brings the trained model along. Who changes the templates or the vocabulary trains it anew, once: the model
is kept in the user's cache folder under a checksum of all that it was made of.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

import msgspec

from dialgauge.agents.speech.nlu_model import VERSION, NluModel
from dialgauge.agents.speech.phrase_book import PHRASES
from dialgauge.errors import DialgaugeError
from dialgauge.worlds.town import SYSTEM_ACTS, USER_ACTS

#: What is trained on, and how; a new number whenever features, mentions or practice turns change.
RECIPE = {"recipe": 2, "layout": VERSION, "turns": 30_000, "epochs": 4, "seed": 14}
SHIPPED = Path(__file__).parent / "phrases" / "nlu.npz"


def recipe_checksum() -> str:
    """The checksum of all that the default model is made of."""
    digest = hashlib.sha256(msgspec.json.encode([RECIPE, USER_ACTS, SYSTEM_ACTS]))
    for file in PHRASES.values():
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def train_default() -> NluModel:
    """The default model, from nothing but templates and vocabulary."""
    from dialgauge.agents.speech.nlu_samples import PRACTICE_ONTOLOGY, practice_samples
    from dialgauge.agents.speech.nlu_training import train_nlu

    turns = practice_samples(RECIPE["turns"], seed=RECIPE["seed"])
    return train_nlu(turns, PRACTICE_ONTOLOGY, epochs=RECIPE["epochs"], recipe=recipe_checksum())


def default_model() -> NluModel:
    """The model that the package brings along; where the templates are others, one trained on those, once."""
    wanted = recipe_checksum()
    for file in (SHIPPED, _cached(wanted)):
        with suppress(DialgaugeError):  # a damaged file in a cache is as good as none
            if file.is_file() and (model := NluModel.load(file)).recipe == wanted:
                return model
    model = train_default()
    with suppress(DialgaugeError):  # a cache that cannot be written costs time, not the run
        model.save(_cached(wanted))
    return model


def _cached(checksum: str) -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("dialgauge")) / "nlu" / f"{checksum}.npz"
