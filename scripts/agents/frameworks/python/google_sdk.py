"""The SDK of google genai: the content-generation style, by hand and with functions that it calls itself."""

from google import genai
from google.genai import types
from pydantic import BaseModel
from scenario import BASE, KEY, WEATHER, play

client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=BASE, timeout=30_000))
MODEL = "gemini-2.5-pro"


class City(BaseModel):
    city: str
    people: int


def converse(prompt, stream, weather):
    declaration = types.FunctionDeclaration(
        name=WEATHER["name"],
        description=WEATHER["description"],
        parameters_json_schema=WEATHER["parameters"],
    )
    config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[declaration])])
    chat = client.chats.create(model=MODEL, config=config)
    message = prompt
    pieces = []
    while True:
        if stream:
            chunks = list(chat.send_message_stream(message))
        else:
            chunks = [chat.send_message(message)]
        parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts or []]
        pieces += [part.text for part in parts if part.text and not part.thought]
        calls = [part.function_call for part in parts if part.function_call]
        if not calls:
            return pieces
        message = [
            types.Part.from_function_response(name=call.name, response={"result": weather(**call.args)})
            for call in calls
        ]


def call_functions(prompt, stream, weather_in):
    def weather(city: str) -> str:
        """The weather in a city"""
        return weather_in(city)

    chat = client.chats.create(model=MODEL, config=types.GenerateContentConfig(tools=[weather]))
    if not stream:
        return [chat.send_message(prompt).text]
    return [chunk.text or "" for chunk in chat.send_message_stream(prompt)]


def structured(prompt):
    config = types.GenerateContentConfig(response_mime_type="application/json", response_schema=City)
    return client.models.generate_content(model=MODEL, contents=prompt, config=config).parsed.model_dump()


play(
    [
        {"style": "content-generation", "converse": converse, "object": structured},
        {"style": "content-generation, functions called by the SDK", "converse": call_functions},
    ]
)
