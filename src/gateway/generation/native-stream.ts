import { isObject, parseObject } from "../../core/encoding/json.ts";
import { getMemberText, replaceMember } from "../../core/encoding/json-splice.ts";
import { objectsIn } from "../providers/json.ts";

const LF = 0x0a;
const CR = 0x0d;

/** The line break after an event, and the blank line: also as two line breaks of other kinds. */
const EVENT_END = /(\r\n\r\n|\n\n|\r\r)/;
const DATA_LINE = /^data:[ \t]?(.*)$/m;

/** The index after the last complete event; 0: there is none. */
function endOfEvents(bytes: Uint8Array): number {
  for (let index = bytes.length - 1; index > 0; index -= 1) {
    const byte = bytes[index];
    const before = bytes[index - 1];
    if (byte === LF && (before === LF || (before === CR && bytes[index - 2] === LF))) return index + 1;
    if (byte === CR && before === CR) return index + 1;
  }
  return 0;
}

function concat(left: Uint8Array, right: Uint8Array): Uint8Array {
  if (left.length === 0) return right;
  const joined = new Uint8Array(left.length + right.length);
  joined.set(left);
  joined.set(right, left.length);
  return joined;
}

/** What a {@link NativeStream} changes. */
export interface NativeStreamOptions {
  readonly modelPaths: readonly (readonly string[])[];
  /** The name of the model that the caller reads. */
  readonly model: string;
  /** Removes the event that states only the usage. */
  readonly hidesUsageEvent: boolean;
  /** The stream of another provider that this one continues. The caller reads both as one answer. */
  readonly continued: NativeStream | null;
}

/** Members that are equal in all chunks of one answer, apart from the model. */
const IDENTITY_MEMBERS = ["id", "created"];

const NONE = new Uint8Array();

/**
 * The bytes of a provider's event stream on their way to the caller. They leave in whole events, so that an error event
 * can follow at any time. Nothing leaves before the answer has content: until then another account may still answer.
 */
export class NativeStream {
  readonly #modelPaths: readonly (readonly string[])[];
  /** The name of the model that the caller reads, as JSON. */
  readonly model: string;
  readonly #hidesUsageEvent: boolean;
  /** Bytes that have not left: an unfinished event, and all bytes before the first content. */
  #held: Uint8Array = NONE;
  #hasContent = false;
  /** The provider states another name of the model than the caller reads. Null: no event has stated one yet. */
  #isRenamed: boolean | null = null;
  /** The values of {@link IDENTITY_MEMBERS} in the first event that left. */
  identity: ReadonlyMap<string, string> | null = null;
  readonly #continued: NativeStream | null;

  constructor({ modelPaths, model, hidesUsageEvent, continued }: NativeStreamOptions) {
    this.#modelPaths = modelPaths;
    this.model = continued?.model ?? JSON.stringify(model);
    this.#hidesUsageEvent = hidesUsageEvent;
    this.#continued = continued;
  }

  /** Takes bytes of the provider, and returns those that can leave. `hasContent`: the answer has begun. */
  push(bytes: Uint8Array, hasContent: boolean): Uint8Array {
    this.#hasContent ||= hasContent;
    const all = concat(this.#held, bytes);
    const end = this.#hasContent ? endOfEvents(all) : 0;
    this.#held = end === all.length ? NONE : all.subarray(end);
    return end === 0 ? NONE : this.#edit(all.subarray(0, end));
  }

  /** Holds the last bytes of the stream until {@link finish}. */
  hold(bytes: Uint8Array): void {
    this.#held = concat(this.#held, bytes);
  }

  /** Returns the rest of a complete stream. Its last event may lack the blank line. */
  finish(): Uint8Array {
    const rest = this.#held;
    this.#held = NONE;
    if (rest.length === 0) return NONE;
    const isLineBreakOpen = rest.at(-1) === CR;
    const whole = isLineBreakOpen ? concat(rest, new Uint8Array([LF])) : rest;
    return this.#edit(endOfEvents(whole) === whole.length ? whole : concat(whole, new Uint8Array([LF, LF])));
  }

  /** An error object that some providers append without the syntax of an event. Null: the stream has none. */
  takeAppendedError(): Uint8Array | null {
    const rest = this.#held;
    this.#held = NONE;
    const text = new TextDecoder().decode(rest).trim();
    return parseObject(text)["error"] === undefined ? null : rest;
  }

  #edit(bytes: Uint8Array): Uint8Array {
    if (this.#isRenamed === false && !this.#hidesUsageEvent && this.#continued === null) return bytes;
    const text = new TextDecoder().decode(bytes);
    let edited = "";
    const pieces = text.split(EVENT_END);
    for (let index = 0; index < pieces.length; index += 2) {
      const event = this.#editEvent(pieces[index] ?? "");
      if (event !== null) edited += event + (pieces[index + 1] ?? "");
    }
    return edited === text ? bytes : new TextEncoder().encode(edited);
  }

  /** Returns null for an event that the caller does not get. */
  #editEvent(event: string): string | null {
    const match = DATA_LINE.exec(event);
    const json = match?.[1] ?? "";
    if (match === null || !json.startsWith("{")) return event;
    try {
      if (this.#hidesUsageEvent && isUsageAlone(json)) return null;
      if (this.#continued !== null && isRoleAlone(json)) return null;
      this.identity ??= new Map(
        IDENTITY_MEMBERS.flatMap((name) => {
          const value = getMemberText(json, [name]);
          return value === null ? [] : [[name, value]];
        }),
      );
      const renamed = this.#continue(this.#isRenamed === false ? json : this.#rename(json));
      if (renamed === json) return event;
      const start = match.index + match[0].length - json.length;
      return event.slice(0, start) + renamed + event.slice(start + json.length);
    } catch {
      // The decoder reports an event that is not valid JSON.
      return event;
    }
  }

  #continue(json: string): string {
    let continued = json;
    for (const [name, value] of this.#continued?.identity ?? [])
      continued = replaceMember(continued, [name], value);
    return continued;
  }

  #rename(json: string): string {
    for (const path of this.#modelPaths) {
      const name = path.at(-1) ?? "";
      if (!json.includes(`"${name}"`)) continue;
      const stated = getMemberText(json, path);
      if (stated === null || stated === '""') continue;
      this.#isRenamed ??= stated !== this.model;
      return stated === this.model ? json : replaceMember(json, path, this.model);
    }
    return json;
  }
}

/** Whether a chunk of a chat completion states the usage and nothing else. */
function isUsageAlone(json: string): boolean {
  return (
    json.includes('"usage"') &&
    getMemberText(json, ["choices"])?.replace(/\s/g, "") === "[]" &&
    getMemberText(json, ["usage"])?.startsWith("{") === true &&
    getMemberText(json, ["prompt_filter_results"]) === null
  );
}

/** Whether a chunk of a chat completion begins the answer and has nothing else. */
function isRoleAlone(json: string): boolean {
  const [choice, ...others] = objectsIn(parseObject(json)["choices"]);
  if (choice === undefined || others.length > 0 || choice["finish_reason"]) return false;
  const delta = choice["delta"];
  if (!isObject(delta) || delta["role"] === undefined) return false;
  return Object.entries(delta).every(([name, value]) => name === "role" || value === null || value === "");
}
