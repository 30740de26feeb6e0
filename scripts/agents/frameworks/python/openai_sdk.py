"""The SDK of openai: chat completions and responses, with its stream accumulators."""

import json

from openai import OpenAI
from pydantic import BaseModel
from scenario import BASE, KEY, WEATHER, play

client = OpenAI(api_key=KEY, base_url=f"{BASE}/v1", max_retries=0, timeout=30)


class City(BaseModel):
    city: str
    people: int


def chat(prompt, stream, weather):
    tools = [{"type": "function", "function": {**WEATHER, "strict": True}}]
    messages = [{"role": "user", "content": prompt}]
    pieces = []
    while True:
        request = {"model": "gpt-4o", "messages": messages, "tools": tools}
        if stream:
            with client.chat.completions.stream(**request) as events:
                pieces += [event.delta for event in events if event.type == "content.delta"]
                message = events.get_final_completion().choices[0].message
        else:
            message = client.chat.completions.create(**request).choices[0].message
            pieces.append(message.content or "")
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return pieces
        for call in message.tool_calls:
            result = weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def responses(prompt, stream, weather):
    tools = [{"type": "function", **WEATHER, "strict": True}]
    items = [{"role": "user", "content": prompt}]
    pieces = []
    while True:
        request = {"model": "gpt-5", "input": items, "tools": tools}
        if stream:
            with client.responses.stream(**request) as events:
                pieces += [event.delta for event in events if event.type == "response.output_text.delta"]
                response = events.get_final_response()
        else:
            response = client.responses.create(**request)
            pieces.append(response.output_text)
        items += response.output
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return pieces
        for call in calls:
            result = weather(**json.loads(call.arguments))
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": result})


def chat_object(prompt):
    messages = [{"role": "user", "content": prompt}]
    completion = client.chat.completions.parse(model="gpt-4o", messages=messages, response_format=City)
    return completion.choices[0].message.parsed.model_dump()


def responses_object(prompt):
    return client.responses.parse(model="gpt-5", input=prompt, text_format=City).output_parsed.model_dump()


play(
    [
        {"style": "chat completions", "converse": chat, "object": chat_object},
        {"style": "responses", "converse": responses, "object": responses_object},
    ]
)
