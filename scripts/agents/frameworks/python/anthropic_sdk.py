"""The SDK of anthropic: the message style, by hand and with its tool runner."""

from anthropic import Anthropic, beta_tool
from pydantic import BaseModel
from scenario import BASE, KEY, WEATHER, play

client = Anthropic(api_key=KEY, base_url=f"{BASE}/anthropic", max_retries=0, timeout=30)
REQUEST = {"model": "claude-sonnet-4-5", "max_tokens": 1000}


class City(BaseModel):
    city: str
    people: int


def converse(prompt, stream, weather):
    tools = [
        {
            "name": WEATHER["name"],
            "description": WEATHER["description"],
            "input_schema": WEATHER["parameters"],
        }
    ]
    messages = [{"role": "user", "content": prompt}]
    pieces = []
    while True:
        request = {**REQUEST, "messages": messages, "tools": tools}
        if stream:
            with client.messages.stream(**request) as events:
                pieces += events.text_stream
                message = events.get_final_message()
        else:
            message = client.messages.create(**request)
            pieces += [block.text for block in message.content if block.type == "text"]
        messages.append({"role": "assistant", "content": message.content})
        if message.stop_reason != "tool_use":
            return pieces
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": weather(**block.input)}
            for block in message.content
            if block.type == "tool_use"
        ]
        messages.append({"role": "user", "content": results})


def run_tools(prompt, stream, weather):
    @beta_tool(name=WEATHER["name"], description=WEATHER["description"])
    def tool(city: str) -> str:
        return weather(city)

    runner = client.beta.messages.tool_runner(
        **REQUEST, tools=[tool], messages=[{"role": "user", "content": prompt}], stream=stream
    )
    pieces = []
    for turn in runner:
        if stream:
            pieces += [event.text for event in turn if event.type == "text"]
        else:
            pieces += [block.text for block in turn.content if block.type == "text"]
    return pieces


def structured(prompt):
    messages = [{"role": "user", "content": prompt}]
    return client.messages.parse(**REQUEST, messages=messages, output_format=City).parsed_output.model_dump()


play(
    [
        {"style": "messages", "converse": converse, "object": structured},
        {"style": "messages, tool runner", "converse": run_tools},
    ]
)
