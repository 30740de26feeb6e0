/**
 * The questions for every framework. A program defines how its framework converses in an API style:
 *
 * @typedef {object} Question
 * @property {string} prompt
 * @property {string} [json] the object that the prompt requests, if it requests one
 * @property {boolean} stream
 * @property {(input: { city: string }) => string} weather runs the tool; offer it with {@link WEATHER} unless it is absent
 *
 * @typedef {object} Program
 * @property {string} style the API style of this program
 * @property {(question: Question) => Promise<string[]>} [converse] runs the conversation to its end; resolves with the
 *   received pieces of text (one unless streamed)
 * @property {(question: Question) => Promise<unknown>} [object] requests an object with `city`, a string, and `people`, a
 *   number
 * @property {boolean} [streamsObjects] whether `object` can stream
 * @property {Record<string, string>} [limits] tests to skip because the framework itself cannot pass them: the reason, by
 *   column or by column and way (`object`, `two calls, streamed`)
 */

/** Declaration of the tool. Its input is an object with `city`, a string. */
export const WEATHER = {
  name: "weather",
  description: "The weather in a city",
  parameters: {
    type: "object",
    properties: { city: { type: "string", description: "The city's name" } },
    required: ["city"],
    additionalProperties: false,
  },
};

const TEXT = "One two three four five six seven.";
const ROME = { city: "Rome", people: 2_750_000 };

/** Runs all tests of a program. Reports each result immediately. */
export async function play(program, tell) {
  for (const stream of [false, true]) {
    const way = stream ? "streamed" : "whole";
    const attempt = async (column, work) => {
      const known = program.limits?.[`${column}, ${way}`] ?? program.limits?.[column];
      const result = { style: program.style, column, way };
      if (known !== undefined) return tell({ ...result, error: null, known });
      const error = await within(30_000, work).then(
        () => null,
        (thrown) => (thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)),
      );
      tell({ ...result, error });
    };
    if (program.converse !== undefined) {
      await attempt("text", () => text(program, stream));
      await attempt("one call", () => calls(program, stream, ["Rome"]));
      await attempt("two calls", () => calls(program, stream, ["Rome", "Oslo"]));
    }
    if (program.object !== undefined && (!stream || program.streamsObjects))
      await attempt("object", () => object(program, stream));
  }
}

async function text({ converse }, stream) {
  const pieces = await converse({ prompt: `[[say:${TEXT}]]`, stream, weather: answer });
  expect(pieces.join(""), TEXT, "the text");
  if (stream && pieces.filter((piece) => piece !== "").length < 2)
    throw new Error("the text came in one piece");
}

/** The tool must run once for each city, and the final text must quote its results. */
async function calls({ converse }, stream, cities) {
  const asked = [];
  const weather = ({ city }) => {
    asked.push(city);
    return answer({ city });
  };
  const prompt = cities.map((city) => `[[call:weather:${JSON.stringify({ city })}]]`).join("");
  const said = (await converse({ prompt, stream, weather })).join("");
  expect(asked.toSorted().join(), cities.toSorted().join(), "the cities that the tool was asked for");
  for (const city of cities) {
    if (!said.includes(answer({ city })))
      throw new Error(`the final text lacks the result for ${city}: ${said}`);
  }
}

async function object({ object }, stream) {
  const json = JSON.stringify(ROME);
  const got = await object({ prompt: `[[say:${json}]]`, json, stream, weather: answer });
  expect(JSON.stringify(got), json, "the object");
}

const answer = ({ city }) => `It is ${20 + city.length} degrees in ${city}.`;

function expect(got, wanted, what) {
  if (got !== wanted) throw new Error(`${what}: ${got}`);
}

async function within(milliseconds, work) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end after ${milliseconds / 1000} s`)), milliseconds);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
