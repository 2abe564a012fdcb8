# mypy: ignore-errors
"""Made ``spans.jsonl`` beside it, with opentelemetry-sdk 1.45.2 and opentelemetry-exporter-otlp-json-file 0.66b1.

Three conversations of an agent with a tool, after the semantic conventions for generative AI: one with content, whose
inputs grow; one that sends only what is new; one without content, as instrumentations record it unless asked.

Called with a second name, it made ``partly_named.jsonl``: spans of tools and evaluations do not say which conversation
they are of, as in the conventions; one conversation has a trace of its own, two share the trace of a run.
"""

import json
import sys

from opentelemetry.exporter.otlp.json.file import FileSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

provider = TracerProvider(resource=Resource.create({"service.name": "hotel-agent"}))
provider.add_span_processor(SimpleSpanProcessor(FileSpanExporter(sys.argv[1])))
tracer = provider.get_tracer("hotel")
names_tools = len(sys.argv) == 2


def said(role, text):
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def called(number, name):
    return {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": number, "name": "lookup", "arguments": {"name": name}}],
    }


def gave(number, text):
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": number, "response": text}]}


def chat(conversation, given, answer, *, content=True):
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-mock",
        "gen_ai.conversation.id": conversation,
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
    }
    if content:
        attributes["gen_ai.system_instructions"] = json.dumps([{"type": "text", "content": "You work in a hotel."}])
        attributes["gen_ai.input.messages"] = json.dumps(given)
        attributes["gen_ai.output.messages"] = json.dumps([{**answer, "finish_reason": "stop"}])
    with tracer.start_as_current_span("chat gpt-mock", attributes=attributes):
        pass


def use_tool(conversation, number, name, result, *, content=True):
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "lookup",
        "gen_ai.tool.call.id": number,
        **({"gen_ai.conversation.id": conversation} if names_tools else {}),
    }
    if content:
        attributes["gen_ai.tool.call.arguments"] = json.dumps({"name": name})
        attributes["gen_ai.tool.call.result"] = json.dumps(result)
    with tracer.start_as_current_span("execute_tool lookup", attributes=attributes):
        pass


def talk(conversation, guest, score, *, content=True, grows=True):
    agent = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "desk",
        "gen_ai.conversation.id": conversation,
    }
    with tracer.start_as_current_span("invoke_agent desk", attributes=agent) as span:
        first, call = said("user", f"Is {guest} here?"), called("c1", guest)
        chat(conversation, [first], call, content=content)
        use_tool(conversation, "c1", guest, "room 7", content=content)
        result, answer = gave("c1", "room 7"), said("assistant", "Yes, in room 7.")
        chat(conversation, [first, call, result] if grows else [result], answer, content=content)
        second = said("user", "Thank you.")
        chat(
            conversation,
            [first, call, result, answer, second] if grows else [second],
            said("assistant", "You are welcome."),
            content=content,
        )
        if score is not None:
            found = {"gen_ai.evaluation.name": "helpful", "gen_ai.evaluation.score.value": score,
                     "gen_ai.evaluation.score.label": "good" if score > 0.5 else "bad"}  # fmt: skip
            if names_tools:
                span.add_event("gen_ai.evaluation.result", found)
            else:
                with tracer.start_as_current_span("evaluate") as evaluation:
                    evaluation.add_event("gen_ai.evaluation.result", found)


talk("conv-1", "Ann", 0.9)
if names_tools:
    talk("conv-2", "Bob", 0.2, grows=False)
    talk("conv-3", "Cy", None, content=False)
else:
    with tracer.start_as_current_span("run", attributes={"gen_ai.operation.name": "invoke_workflow"}):
        talk("conv-2", "Bob", 0.2, grows=False)
        talk("conv-3", "Cy", 0.6, content=False)
provider.shutdown()
