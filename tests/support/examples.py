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
    "messages": as_json(
        [
            {
                "id": "c1",
                "messages": [
                    {"role": "user", "content": "a hotel in the north"},
                    {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "find", "arguments": "{}"}}]},
                    {"role": "tool", "tool_call_id": "1", "content": "none"},
                    {"role": "assistant", "content": "there is none"},
                ],
                "success": False,
            }
        ]
    ),
    "inspect": as_json(
        {
            "version": 2,
            "status": "success",
            "eval": {
                "task": "hotel",
                "model": "mockllm/model",
                "dataset": {"samples": 1, "sample_ids": ["s1"]},
                "config": {"epochs": 1},
            },
            "results": {"total_samples": 1, "scores": []},
            "samples": [
                {
                    "id": "s1",
                    "epoch": 1,
                    "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}],
                    "scores": {"match": {"value": "C"}},
                }
            ],
        }
    ),
    "langfuse": as_json(
        [
            {
                "id": "t1",
                "timestamp": "2026-01-01T00:00:00Z",
                "sessionId": "s1",
                "observations": [
                    {
                        "id": "o1",
                        "type": "GENERATION",
                        "startTime": "2026-01-01T00:00:01Z",
                        "model": "gpt-mock",
                        "input": [{"role": "user", "content": "a room please"}],
                        "output": {"role": "assistant", "content": "for when?"},
                    }
                ],
                "scores": [{"name": "helpful", "value": 1, "dataType": "BOOLEAN"}],
            }
        ]
    ),
    "otel": as_json(
        {
            "resourceSpans": [
                {
                    "scopeSpans": [
                        {
                            "spans": [
                                {
                                    "traceId": "5b8efff798038103d269b633813fc60c",
                                    "spanId": "eee19b7ec3c1b174",
                                    "startTimeUnixNano": "1794885422204137359",
                                    "attributes": [
                                        {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
                                        {"key": "gen_ai.conversation.id", "value": {"stringValue": "c1"}},
                                        {
                                            "key": "gen_ai.input.messages",
                                            "value": {"stringValue": '[{"role": "user", "content": "a room please"}]'},
                                        },
                                    ],
                                }
                            ]
                        }
                    ]
                }
            ]
        }
    ),
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
    "llm-output": b"\n".join(
        json.dumps({"dialogue": "MUL0001.json", "turn": turn, "output": output}).encode()
        for turn, output in enumerate(['Sure! {"hotel": {"area": "east"}}', {"hotel-area": "east", "hotel-stars": 4}])
    ),
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
    "multiwoz": as_json(
        {
            "MUL0001.json": {
                "goal": {
                    "hotel": {"info": {"area": "east"}, "book": {"people": "2", "invalid": False}, "reqt": ["phone"]},
                    "taxi": {},
                    "message": ["You look for a <span class='emphasis'>place to stay</span>"],
                },
                "log": [
                    {"text": "a hotel in the east", "metadata": {}, "dialog_act": {"Hotel-Inform": [["Area", "east"]]}},
                    {
                        "text": "for how many ?",
                        "metadata": {
                            "hotel": {
                                "semi": {"area": "east", "name": "not mentioned", "type": "hotel|guesthouse"},
                                "book": {"booked": [], "people": ""},
                            },
                            "taxi": {"semi": {"leaveAt": ""}, "book": {"booked": []}},
                        },
                        "dialog_act": {"Booking-Request": [["People", "?"]], "general-reqmore": [["none", "none"]]},
                    },
                ],
            }
        }
    ),
    "sgd": as_json(
        [
            {
                "dialogue_id": "1_00000",
                "services": ["Hotels_4"],
                "turns": [
                    {
                        "speaker": "USER",
                        "utterance": "A room in London",
                        "frames": [
                            {
                                "service": "Hotels_4",
                                "actions": [{"act": "INFORM", "slot": "location", "values": ["London"]}],
                                "slots": [{"slot": "location", "start": 10, "exclusive_end": 16}],
                                "state": {
                                    "active_intent": "SearchHotel",
                                    "requested_slots": ["phone_number"],
                                    "slot_values": {"location": ["London", "london"]},
                                },
                            }
                        ],
                    },
                    {"speaker": "SYSTEM", "utterance": "Which one?", "frames": []},
                ],
            }
        ]
    ),
    "convlab3": as_json(
        [
            {
                "dataset": "multiwoz21",
                "data_split": "test",
                "dialogue_id": "multiwoz21-test-0",
                "original_id": "MUL0001.json",
                "domains": ["hotel"],
                "goal": {
                    "description": "You look for a place to stay.",
                    "inform": {"hotel": {"area": "east", "book people": "2"}},
                    "request": {"hotel": {"phone": ""}},
                },
                "turns": [
                    {
                        "speaker": "user",
                        "utterance": "the ace hotel in the east",
                        "utt_idx": 0,
                        "dialogue_acts": {
                            "categorical": [{"intent": "inform", "domain": "hotel", "slot": "area", "value": "east"}],
                            "non-categorical": [
                                {
                                    "intent": "inform",
                                    "domain": "hotel",
                                    "slot": "name",
                                    "value": "ace",
                                    "start": 4,
                                    "end": 7,
                                }
                            ],
                            "binary": [{"intent": "greet", "domain": "general", "slot": ""}],
                        },
                        "state": {"hotel": {"area": "east", "name": "ace|the ace", "price range": ""}},
                    }
                ],
            }
        ]
    ),
    "convlab3-predictions": as_json(
        [
            {
                "dialogue_id": "multiwoz21-test-0",
                "utt_idx": 0,
                "state": {"hotel": {"area": "north", "price range": ""}},
                "predictions": {"state": {"hotel": {"area": "east"}}},
            }
        ]
    ),
    "convlab3-ontology": as_json(
        {
            "domains": {"hotel": {"description": "hotels", "slots": {"area": {"possible_values": ["east", "west"]}}}},
            "intents": {"inform": {"description": ""}},
            "state": {"hotel": {"area": ""}},
        }
    ),
    "multiwoz-ontology": as_json({"hotel-semi-area": ["east", "centre|west"], "hotel-book-people": ["1", "2"]}),
    "multiwoz-acts": as_json({"MUL0001": {"1": {"Hotel-Inform": [["Area", "north"]]}, "2": "No Annotation"}}),
    "multiwoz-database": as_json([{"name": "ace", "phone": "01223", "postcode": "cb1", "price": {"single": "50"}}]),
    "schema": as_json(
        [
            {
                "service_name": "Hotels_4",
                "slots": [{"name": "stars", "is_categorical": True, "possible_values": ["1", "2"]}],
                "intents": [{"name": "SearchHotel"}],
            }
        ]
    ),
    "ids": b"MUL0001.json\nSNG0073\n",
    "babi": b"1 hi\thello what can i help you with today\n2 cote R_phone cote_phone\n3 <SILENCE>\ti'm on it\n\n",
    "babi-candidates": b"1 i'm on it\n1 api_call indian rome two cheap\n1  you are welcome\n",
    "babi-kb": b"1 cote R_cuisine\tfrench\n1 cote R_phone\tcote_phone\n",
    "tau": as_json(
        [
            {
                "task_id": 3,
                "reward": 1.0,
                "info": {
                    "task": {
                        "user_id": "mia",
                        "instruction": "You are mia. You want to fly.",
                        "actions": [],
                        "outputs": [],
                    },
                    "source": "user",
                    "user_cost": 0.01,
                    "reward_info": {"reward": 1.0, "info": {"r_actions": 1.0, "gt_data_hash": "ab"}, "actions": []},
                },
                "traj": [
                    {"role": "system", "content": "# Policy"},
                    {"role": "user", "content": "A flight, please."},
                    {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [
                            {
                                "id": "c1",
                                "type": "function",
                                "function": {"name": "find", "arguments": '{"to": "SEA", "n": 1}'},
                            }
                        ],
                    },
                    {"role": "tool", "tool_call_id": "c1", "name": "find", "content": "[]"},
                    {"role": "assistant", "content": "There is none."},
                    {"role": "user", "content": "###STOP###"},
                ],
                "trial": 0,
            }
        ]
    ),
    "tau2": as_json(
        {
            "timestamp": "2025-10-05T22:26:20",
            "info": {
                "num_trials": 2,
                "max_steps": 200,
                "max_errors": 10,
                "user_info": {"implementation": "user_simulator", "llm": "grok"},
                "agent_info": {"implementation": "llm_agent", "llm": "grok"},
                "environment_info": {"domain_name": "telecom", "policy": "# Policy", "tool_defs": None},
            },
            "tasks": [
                {
                    "id": "slow[data]",
                    "user_scenario": {
                        "persona": None,
                        "instructions": {
                            "domain": "telecom",
                            "reason_for_call": "Your phone is slow.",
                            "known_info": "You are John.",
                            "unknown_info": None,
                            "task_instructions": "Be brief.",
                        },
                    },
                    "evaluation_criteria": {"actions": [{"name": "toggle", "arguments": {}}], "communicate_info": None},
                }
            ],
            "simulations": [
                {
                    "id": "91762b0f",
                    "task_id": "slow[data]",
                    "termination_reason": "user_stop",
                    "agent_cost": 0.25,
                    "user_cost": 0.5,
                    "reward_info": {"reward": 0.0, "reward_breakdown": {"ENV_ASSERTION": 0.0}},
                    "messages": [
                        {"role": "assistant", "content": "Hi!", "tool_calls": None, "turn_idx": 0},
                        {
                            "role": "user",
                            "content": "Let me see.",
                            "tool_calls": [{"id": "u1", "name": "speed", "arguments": {}, "requestor": "user"}],
                        },
                        {"id": "u1", "role": "tool", "content": "slow", "requestor": "user", "error": False},
                        {"role": "user", "content": "It is slow. ###STOP###", "tool_calls": None},
                    ],
                    "trial": 0,
                    "seed": 7,
                }
            ],
        }
    ),
    "chat-log": (
        b'{"dialogue":"c1","speaker":"customer","text":"hi"}\n{"dialogue":"c1","speaker":"operator","text":"hello"}\n'
    ),
}
