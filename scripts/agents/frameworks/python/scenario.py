"""What every Python SDK is asked; `../scenario.mjs` is the same for JavaScript.

A program hands `play` the styles that its SDK speaks. Each is a dictionary: `style`; `converse(prompt, stream, weather)`, which takes
the conversation to its end and returns the pieces of text as they came; and, where the SDK has such a thing, `object(prompt)`.
"""

import json
import sys

BASE, KEY = sys.argv[1:3]

WEATHER = {
    "name": "weather",
    "description": "The weather in a city",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "The city's name"}},
        "required": ["city"],
        "additionalProperties": False,
    },
}

TEXT = "One two three four five six seven."
ROME = {"city": "Rome", "people": 2_750_000}


def answer(city):
    return f"It is {20 + len(city)} degrees in {city}."


def expect(got, wanted, what):
    if got != wanted:
        raise AssertionError(f"{what}: {got}")


def text(program, stream):
    pieces = program["converse"](f"[[say:{TEXT}]]", stream, answer)
    expect("".join(pieces), TEXT, "the text")
    if stream and len([piece for piece in pieces if piece]) < 2:
        raise AssertionError("the text came in one piece")


def calls(program, stream, cities):
    asked = []

    def weather(city):
        asked.append(city)
        return answer(city)

    prompt = "".join(f"[[call:weather:{json.dumps({'city': city})}]]" for city in cities)
    said = "".join(program["converse"](prompt, stream, weather))
    expect(sorted(asked), sorted(cities), "the cities that the tool was asked for")
    for city in cities:
        if answer(city) not in said:
            raise AssertionError(f"the final text lacks the result for {city}: {said}")


def structured(program):
    expect(program["object"](f"[[say:{json.dumps(ROME)}]]"), ROME, "the object")


def play(programs):
    for program in programs:
        for stream in (False, True):
            attempts = {
                "text": lambda: text(program, stream),
                "one call": lambda: calls(program, stream, ["Rome"]),
                "two calls": lambda: calls(program, stream, ["Rome", "Oslo"]),
            }
            if "object" in program and not stream:
                attempts["object"] = lambda: structured(program)
            for column, attempt in attempts.items():
                try:
                    attempt()
                    error = None
                except Exception as thrown:
                    error = f"{type(thrown).__name__}: {thrown}"
                way = "streamed" if stream else "whole"
                result = {"style": program["style"], "column": column, "way": way, "error": error}
                print(f"\n@result {json.dumps(result)}", flush=True)
