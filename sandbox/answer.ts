import { fromBase64 } from "../src/core/encoding/bytes.ts";
import { Directives, unescapeText } from "./directives.ts";
import { type SandboxCall, writeCalls } from "./markup.ts";
import type { ParsedPrompt } from "./prompt.ts";
import { findRequestedCalls } from "./tools.ts";
import type { Turn } from "./turn.ts";

/** One search result, numbered from 1. */
export interface SearchResult {
  readonly index: number;
  readonly url: string;
  readonly title: string;
}

/** The complete content of a turn, before it is split into events and before faults are injected. */
export interface Answer {
  readonly reasoning: string;
  readonly text: string;
  readonly search: readonly SearchResult[];
  readonly finish: "stop" | "length" | "content_filter";
  /** The stop sequence that ended the text; null: none. */
  readonly stopSequence: string | null;
}

/** A text file that was attached to the turn. */
export interface Attachment {
  readonly filename: string;
  readonly bytes: number;
}

const RESULTS: readonly SearchResult[] = [
  { index: 1, url: "https://example.com/one", title: "Example One" },
  { index: 2, url: "https://example.org/two", title: "Example Two" },
];
const LONG_LINE_CHARACTERS = 1_200_000;

/** Composes the answer to a turn. Deterministic: the same turn always gets the same answer. */
export function composeAnswer(
  turn: Turn,
  reading: ParsedPrompt,
  directives: Directives,
  attachments: readonly Attachment[],
): Answer {
  const wordless = reading.toolResults.length === 0 && directives.has("call-in-reasoning");
  const calls = wordless ? writeCalls(composeDirectiveCalls(directives), drift(directives)) : "";
  const full = wordless ? "" : composeText(turn, reading, directives, attachments);
  const { text, stopSequence } = truncateAtStop(full, turn.stop);
  const searched = turn.search || directives.has("citations") || directives.has("references");
  return {
    reasoning: composeReasoning(turn, reading, directives) + calls,
    text,
    search: searched && reading.toolResults.length === 0 ? RESULTS : [],
    stopSequence,
    finish: directives.has("length")
      ? "length"
      : directives.has("content_filter")
        ? "content_filter"
        : "stop",
  };
}

function composeText(
  turn: Turn,
  reading: ParsedPrompt,
  directives: Directives,
  attachments: readonly Attachment[],
): string {
  if (reading.toolResults.length > 0) return afterTools(reading, directives);
  if (directives.has("echo")) return JSON.stringify(turn);
  const written = composeDirectiveText(directives);
  const big = directives.numberArgument("big", 100_000);
  if (big !== undefined) return fill(big);
  const longLine = directives.numberArgument("longline", LONG_LINE_CHARACTERS);
  if (longLine !== undefined) return written + fill(longLine - written.length);
  if (directives.has("text-and-call"))
    return `Let me look that up.\n\n${written}\n\nNow I wait for the result.`;
  if (written !== "") return written;
  if (directives.has("say") || directives.has("say64")) return "";
  if (directives.has("citations")) {
    return "Water boils at 100 degrees [citation:1] at sea level [citation:2], and lower on mountains [citation:1][citation:2].";
  }
  if (directives.has("references")) {
    return directives.lastArgument("references") === "1"
      ? "The first source [reference:1] and the second [reference:2] agree."
      : "The first source [reference:0] and the second [reference:1] agree.";
  }
  const asked = findRequestedCalls(directives.remainder, reading.before);
  if (asked.length > 0) return writeCalls(asked, drift(directives));
  return defaultText(turn, reading, attachments);
}

/** Text of `say`, `say64` and `call`, in their order. Adjacent calls share one wrapper. */
function composeDirectiveText(directives: Directives): string {
  let text = "";
  let pending: SandboxCall[] = [];
  const flush = (): void => {
    if (pending.length > 0) text += writeCalls(pending, drift(directives));
    pending = [];
  };
  for (const { name, arg } of directives.all) {
    if (name === "call") pending.push(readCall(arg ?? ""));
    if (name !== "say" && name !== "say64") continue;
    flush();
    text += name === "say" ? unescapeText(arg ?? "") : decodeBase64(arg ?? "");
  }
  flush();
  if (text === "" && directives.has("drift"))
    return writeCalls(composeDirectiveCalls(directives), drift(directives));
  return text;
}

const drift = (directives: Directives): string => directives.lastArgument("drift") ?? "canonical";

/** The calls that directives name. If a call is requested but not named, a call of `get_weather`. */
function composeDirectiveCalls(directives: Directives): SandboxCall[] {
  const calls = directives.all.filter(({ name }) => name === "call").map(({ arg }) => readCall(arg ?? ""));
  return calls.length > 0 ? calls : [{ name: "get_weather", args: { city: "Paris" } }];
}

function readCall(arg: string): SandboxCall {
  const colon = arg.indexOf(":");
  if (colon === -1) return { name: arg, args: {} };
  const name = arg.slice(0, colon);
  try {
    const args: unknown = JSON.parse(arg.slice(colon + 1));
    return { name, args: typeof args === "object" && args !== null ? { ...args } : { value: args } };
  } catch {
    return { name, args: { value: arg.slice(colon + 1) } };
  }
}

function afterTools(reading: ParsedPrompt, directives: Directives): string {
  const then = directives.lastArgument("then");
  if (then !== undefined) return unescapeText(then ?? "");
  const quotes = reading.toolResults.map((result) => `> ${clip(result, 400).replaceAll("\n", "\n> ")}`);
  const noun = quotes.length === 1 ? "The tool answered" : `The ${quotes.length} tools answered`;
  return `${noun}:\n\n${quotes.join("\n\n")}\n\nThat settles it.`;
}

function composeReasoning(turn: Turn, reading: ParsedPrompt, directives: Directives): string {
  const think = directives.lastArgument("think");
  if (think !== undefined) return unescapeText(think ?? "");
  if (reading.toolResults.length > 0)
    return turn.thinking ? "The tools have answered. I will report what they said." : "";
  if (!turn.thinking && !directives.has("empty")) return "";
  const subject = clip(firstParagraph(reading.user).replace(/\s+/g, " "), 120);
  return subject === ""
    ? "There is little to go on here. I will answer briefly."
    : `The user wrote “${subject}”. I have no knowledge of my own, so I will repeat it and say what I am.`;
}

function defaultText(turn: Turn, reading: ParsedPrompt, attachments: readonly Attachment[]): string {
  const wrote = clip(firstParagraph(reading.user), 2000);
  const parts = ["Hello from the sandbox!"];
  if (wrote !== "") parts.push(`You wrote: “${wrote}”.`);
  for (const { filename, bytes } of attachments) parts.push(`You attached ${filename} (${bytes} bytes).`);
  parts.push(
    `I am the stand-in provider, answering as the ${turn.model} model: I understand nothing and only repeat. Connect a real engine to hear a real answer.`,
  );
  if (turn.search) parts.push("I pretended to search as well [citation:1][citation:2].");
  return parts.join(" ");
}

function truncateAtStop(text: string, stop: Turn["stop"]): Pick<Answer, "text" | "stopSequence"> {
  const stops = stop === undefined ? [] : typeof stop === "string" ? [stop] : stop;
  const ends = stops
    .filter((word) => word !== "" && text.includes(word))
    .sort((one, other) => text.indexOf(one) - text.indexOf(other));
  const [first] = ends;
  return first === undefined
    ? { text, stopSequence: null }
    : { text: text.slice(0, text.indexOf(first)), stopSequence: first };
}

/** First paragraph of the message. The gateway may have appended the rest. */
const firstParagraph = (user: string): string => new Directives(user.split(/\n\s*\n/)[0] ?? "").remainder;

const FILLER = "The quick brown fox jumps over the lazy dog. ";

const fill = (characters: number): string =>
  characters <= 0 ? "" : FILLER.repeat(Math.ceil(characters / FILLER.length)).slice(0, characters);

const clip = (text: string, limit: number): string =>
  text.length <= limit ? text : `${text.slice(0, limit)}…`;

function decodeBase64(base64: string): string {
  try {
    return new TextDecoder().decode(fromBase64(base64));
  } catch {
    return "(the argument of say64 is not base64)";
  }
}
