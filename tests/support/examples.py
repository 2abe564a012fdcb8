"""One tiny valid file for every registered format, so that one test can push the same faults through all of them.

The owner of a format adds its entry: the format's name, and the bytes of a file with at least one dialogue (or, for a
resource, one entry). The entry must be recognised as that format and as no other.
"""

from __future__ import annotations

import json
from typing import Any


def as_json(value: Any) -> bytes:
    """The value as indented UTF-8 JSON, the way people publish it."""
    return json.dumps(value, indent=1, ensure_ascii=False).encode()


#: Format name to the content of a file in that format.
EXAMPLES: dict[str, bytes] = {
    "native": b'{"id":"d1","turns":[{"speaker":"user","text":"hi","state":{"hotel":{"area":["east"]}}}]}\n',
    "gcdf1": as_json(
        [
            {
                "dialogue_id": "d1",
                "goal": {"hotel": {"info": {"area": "east"}, "reqt": {"phone": "?"}}},
                "metrics": {},
                "turns": [
                    {
                        "speaker": "USER",
                        "turn_id": "0",
                        "utterance": "a hotel in the east",
                        "frames": [
                            {
                                "service": "hotel",
                                "actions": [{"act": "Hotel-Inform", "slot": "area", "values": ["east"]}],
                                "slots": [],
                                "state": {"active_intent": "find_hotel", "requested_slots": [], "slot_values": {}},
                            }
                        ],
                    }
                ],
            }
        ]
    ),
    "canonical-map": as_json(
        {"area": {"east": ["east", "the east"], "special_keys": {"multiple_acts": [], "noise": [], "not_in_goal": {}}}}
    ),
    "flags": as_json({"MUL0001.json": {"0": [1, 0] + [1] * 28, "1": [1] * 30}}),
    "hi-dst": as_json(
        {
            "MUL0001.json": {
                "0": {
                    "gt": {"hotel-area": "north"},
                    "pr_turn": {"hotel-area": "east"},
                    "slots": {"hotel-area": ["value"]},
                },
                "1": {"gt": {"hotel-area": "north"}, "pr_turn": {"hotel-book day": "monday"}, "slots": {}},
            }
        }
    ),
    "human-eval": b"""Dialogue ID : MUL0001.json
----------------------
Turn: 0
Sys :
Usr : A hotel in the north, please.

GT  : {'hotel': {'area': 'north'}}
PR  : {{}}

Matched : False

----------------------
Turn: 1
Sys : There are two.
Which one?
Usr : The cheaper one.

GT  : {'hotel': {'area': 'north', 'pricerange': 'cheap'}}
PR  : {'hotel': {'area': 'north', 'pricerange': 'cheap'}}

Matched : True

----------------------
""",
    "mwzeval": as_json(
        {"mul0001": [{"response": "which area ?", "state": {"hotel": {"area": "east"}}, "active_domains": ["hotel"]}]}
    ),
    "nested": as_json(
        {
            "MUL0001.json": {
                "0": {"gt": {"hotel": {"area": "north"}}, "pr": {"hotel": {"area": "east", "book day": "monday"}}},
                "1": {"gt": {"hotel": {"area": "north"}}, "pr": {}},
            }
        }
    ),
    "simpletod": as_json(
        {
            "MUL0001.json": {
                "generated_turn_belief": [["hotel area east"], ["hotel area east", "hotel book stay 2"]],
                "target_turn_belief": [["hotel area north"], ["hotel area north", "hotel book stay 2"]],
                "model_context": ["...", "..."],
            }
        }
    ),
    "som-dst": as_json(
        {
            "MUL0001.json_0": [["hotel-area-east"], ["hotel-area-north"]],
            "MUL0001.json_1": [["hotel-area-east", "hotel-book people-2"], ["hotel-area-north", "hotel-name-a-b"]],
        }
    ),
    "t5-dst": as_json(
        {"MUL0001.json": {"domain": "hotel", "turns": {"0": {"turn_belief": ["hotel-area-north"], "pred_belief": []}}}}
    ),
    "trade": as_json(
        {"MUL0001.json": {"0": {"turn_belief": ["hotel-area-north"], "pred_bs_ptr": ["hotel-area-east"]}}}
    ),
    "trippy": as_json(
        [
            {
                "guid": ["test", "MUL0001.json", "0"],
                "class_prediction_hotel-area": 2,
                "class_label_id_hotel-area": 2,
                "slot_prediction_hotel-area": "east",
                "slot_groundtruth_hotel-area": "north",
            }
        ]
    ),
}
