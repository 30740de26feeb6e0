import fc from "fast-check";
import type { ProxySocket } from "../../../src/gateway/upstream/proxy/socket.ts";
import type { Failure } from "../gateway/tools/properties.ts";
import { random } from "../gateway/tools/support.ts";
import { changedJson } from "./json-change.ts";

/** A parser that strangers' words reach, and what holds of it for every input. */
export interface Target {
  readonly name: string;
  /** Inputs that mean something, from which others are made. */
  readonly corpus: readonly string[];
  /** How many inputs of a parser take as long as one of these. */
  readonly cost: number;
  /** Tries `runs` inputs; resolves to the smallest that fails. */
  check(seed: number, runs: number): Promise<Failure | undefined>;
  /** Tries one input; rejects if it fails. */
  repeat(input: string): Promise<void>;
}

/** Pieces that mean something to one parser or another: put in at random places. */
const WORDS = [
  ..."{}[]\",:\\/<>&='`#?@.;%+-\r\n\t \0",
  "null",
  "true",
  "1e999",
  "-0",
  "9007199254740993",
  '"__proto__"',
  '"constructor"',
  "\\u0000",
  "\\ud83d",
  "\ud83d",
  "\u2028",
  "\ufeff",
  "ï»¿",
  "data: ",
  "event: error\n",
  "\n\n",
  "\r\n\r\n",
  "[DONE]",
  "--boundary",
  "--boundary--\r\n",
  'Content-Disposition: form-data; name="file"; filename="a"\r\n',
  "Transfer-Encoding: chunked\r\n",
  "Content-Length: 5\r\n",
  "HTTP/1.1 200 OK\r\n",
  "ffffffffffff\r\n",
  "0\r\n\r\n",
  "<![CDATA[",
  "]]>",
  "<tool_calls>",
  "</invoke>",
  "<script>",
  "<!--",
  "<base href='//x'>",
  "127.0.0.1",
  "[::1]",
  "0x7f.1",
  "localhost.",
  "xn--",
  "//",
  "a".repeat(300),
];

/** A change of a text: what kind, where (0 to 1), how much (0 to 1), and which word. */
type Change = readonly [kind: number, place: number, size: number, word: number];

function changed(text: string, [kind, place, size, word]: Change): string {
  if (kind > 7) return changedJson(text, kind, place, size);
  const at = Math.floor(place * (text.length + 1));
  const end = Math.min(text.length, at + 1 + Math.floor(size ** 3 * 40));
  const piece = text.slice(at, end);
  switch (kind) {
    case 0:
      return text.slice(0, at) + text.slice(end);
    case 1:
      return text.slice(0, at) + piece.repeat(1 + Math.floor(size * 20)) + text.slice(at);
    case 2:
      return text.slice(0, at);
    case 3:
      return text.slice(0, at) + String.fromCharCode(Math.floor(size * 255)) + text.slice(at + 1);
    case 4:
      return text.slice(end) + text.slice(0, at);
    default:
      return text.slice(0, at) + (WORDS[word % WORDS.length] ?? "") + text.slice(kind === 5 ? at : end);
  }
}

const part = fc.double({ min: 0, max: 1, noNaN: true });
const change = fc.tuple(fc.nat(11), part, part, fc.nat(WORDS.length - 1));

/** Inputs near those of a corpus: changed in a few places, or put together from two. */
export function near(corpus: readonly string[]): fc.Arbitrary<string> {
  const one = fc.constantFrom(...corpus);
  return fc
    .tuple(one, one, part, part, fc.array(change, { maxLength: 6 }))
    .map(([first, second, cut, join, changes]) => {
      const spliced =
        join < 0.2 ? first.slice(0, cut * first.length) + second.slice(cut * second.length) : first;
      return changes.reduce(changed, spliced).slice(0, 64 * 1024);
    });
}

/**
 * Makes a target.
 *
 * @param corpus inputs that mean something.
 * @param holds throws, or rejects, if the input is not treated as it should be.
 * @param inputs what is tried; texts near those of the corpus unless given.
 * @param cost see {@link Target.cost}; 1 unless given.
 */
export function target(
  name: string,
  corpus: readonly string[],
  holds: (input: string) => void | Promise<void>,
  { inputs = near(corpus), cost = 1 }: { inputs?: fc.Arbitrary<string>; cost?: number } = {},
): Target {
  const repeat = async (input: string) => holds(input);
  return {
    name,
    corpus,
    cost,
    repeat,
    async check(seed, numRuns) {
      const details = await fc.check(fc.asyncProperty(inputs, repeat), { seed, numRuns });
      if (!details.failed) return undefined;
      const { errorInstance: error } = details;
      const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return { seed, reason, value: details.counterexample?.[0] };
    },
  };
}

/** Runs work of which nothing but errors of the given classes may come. Returns undefined if one did. */
export async function only<T>(
  classes: readonly (abstract new (...given: never[]) => Error)[],
  work: () => T | Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (classes.some((one) => error instanceof one)) return undefined;
    throw error;
  }
}

/** A text's bytes; a unit up to 255 is one byte, so that any bytes can be made. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return /^[\0-\xff]*$/.test(text)
    ? Uint8Array.from(text, (unit) => unit.charCodeAt(0))
    : Uint8Array.from(new TextEncoder().encode(text));
}

/** Bytes in pieces whose sizes the text itself decides, so that a failure can be repeated. */
export function cut(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const next = random(bytes.length);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + Math.floor(next() ** 3 * 40);
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

/** A connection to a proxy that answers anything with `reply`, one chunk per read, and calls `onRead` with each chunk. */
export function saying(
  reply: readonly Uint8Array<ArrayBuffer>[],
  onRead: (bytes: Uint8Array) => void = () => undefined,
): ProxySocket {
  const left = reply.values();
  return {
    readable: new ReadableStream({
      pull(controller) {
        const { done, value } = left.next();
        if (done) return controller.close();
        onRead(value);
        controller.enqueue(value);
      },
    }),
    writable: new WritableStream(),
    opened: Promise.resolve(),
    startTls: () => saying(reply, onRead),
    close: () => undefined,
  };
}
